//! What a server says when it refuses a request. The rest of the answer is left out, because S3 repeats what was
//! signed.

/// What a refusal means.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub what: String,
    pub help: &'static str,
}

/// Explains a request that the Hugging Face Hub refused. `code` is that of its header `X-Error-Code`.
pub(super) fn on_hub(code: &str, text: &str, status: Option<u16>) -> Refusal {
    let (what, help) = match code {
        "GatedRepo" => ("the data set is gated", "accept its conditions on the Hub, and set HF_TOKEN of that account"),
        "RepoNotFound" => (
            "there is no such data set, or it is private",
            "check owner and name; for a private data set, set HF_TOKEN, or run `hf auth login`",
        ),
        "RevisionNotFound" => ("there is no such revision", "check the branch, tag or commit that follows the @"),
        _ => ("access was refused", "check HF_TOKEN, or run `hf auth login`; the token must be allowed to read it"),
    };
    refusal(what, status, &short(if code.is_empty() { text } else { code }), help)
}

/// Explains a refused request. `text` is the body of the answer, or ends with it. `region` is the region of the
/// bucket, if the head of the answer names it.
pub(super) fn of(text: &str, status: Option<u16>, region: Option<&str>) -> Refusal {
    let (what, help) = match status {
        Some(401 | 403) => ("access was refused", "check the credentials and the right to read this object"),
        Some(301 | 307 | 308) => ("the bucket is elsewhere", "check the region and the endpoint"),
        _ => ("the request was refused", "check the region, the endpoint and the credentials"),
    };
    let code = element(text, "Code");
    let is_elsewhere = match code {
        _ if matches!(status, Some(301 | 307 | 308)) => true,
        Some("AuthorizationHeaderMalformed" | "PermanentRedirect" | "IllegalLocationConstraintException") => true,
        code => code.is_none() && status == Some(400),
    };
    let region = region.or_else(|| element(text, "Region")).filter(|_| is_elsewhere);
    // Errors of S3 that the status does not explain.
    let help = match code.unwrap_or_default() {
        _ if region.is_some() => "set the storage option region, or AWS_REGION, to the region of the bucket",
        "SignatureDoesNotMatch" => "check the secret access key, and that it belongs to this access key",
        "InvalidAccessKeyId" => "check the access key: the server does not know it",
        "ExpiredToken" | "InvalidToken" | "TokenRefreshRequired" => "get new credentials: the token is not valid",
        "RequestTimeTooSkewed" => "set the clock of this machine",
        "AccessDenied" => {
            "check the credentials, the right to read this object (s3:GetObject), and its name: without the right to \
             list, a missing object looks the same"
        }
        _ => help,
    };
    let said = match (region, code) {
        (Some(region), _) => format!("the bucket is in the region {}", short(region)),
        (None, Some(code)) => short(&[code, element(text, "Message").unwrap_or_default()].join(": ")),
        // XML without a code may contain secrets, so none of it is shown.
        (None, None) if text.contains("<?xml") => String::new(),
        (None, None) => short(text),
    };
    refusal(what, status, said.trim_end_matches(':'), help)
}

fn refusal(what: &str, status: Option<u16>, said: &str, help: &'static str) -> Refusal {
    let status = status.map_or_else(String::new, |status| format!(" (HTTP {status})"));
    let what = if said.is_empty() { format!("{what}{status}") } else { format!("{what}{status}: {said}") };
    Refusal { what, help }
}

/// Turns the help for a refused read into the help for a refused write.
pub(super) fn help_to_write(help: &'static str) -> &'static str {
    let is_about_reading = help.contains("the right to read");
    if is_about_reading { "check the credentials, and the right to write there (on S3, s3:PutObject)" } else { help }
}

/// The text of an XML element that contains no elements.
fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    let (found, _) = rest.split_once(&format!("</{name}>"))?;
    (!found.is_empty() && !found.contains('<')).then_some(found)
}

/// Shortens a text, and puts it on one line.
fn short(text: &str) -> String {
    const MOST: usize = 300;
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An error of S3: the text that was signed contains the session token.
    const SIGNED: &str = "Server returned non-2xx status code: 403 Forbidden: <?xml version=\"1.0\"?>\n<Error>\
        <Code>SignatureDoesNotMatch</Code><Message>The request signature does\n not match.</Message>\
        <AWSAccessKeyId>AK</AWSAccessKeyId><CanonicalRequest>x-amz-security-token:hunter2</CanonicalRequest></Error>";

    #[test]
    fn refusals_say_what_does_not_fit_and_nothing_of_what_was_signed() {
        let refusal = of(SIGNED, Some(403), Some("eu-west-1"));
        let what = "access was refused (HTTP 403): SignatureDoesNotMatch: The request signature does not match.";
        assert!(refusal.what == what && refusal.help.contains("secret access key"), "{refusal:?}");
        let denied = of("<Error><Code>AccessDenied</Code></Error>", Some(403), None);
        assert!(denied.what.ends_with("403): AccessDenied") && denied.help.contains("s3:GetObject"), "{denied:?}");
        let unknown = of("<?xml version=\"1.0\"?><Secret>hunter2</Secret>", Some(403), None);
        assert_eq!(unknown.what, "access was refused (HTTP 403)");
        assert_eq!(of(" no\n entry ", Some(401), None).what, "access was refused (HTTP 401): no entry");
    }

    #[test]
    fn the_region_of_a_bucket_is_named() {
        let malformed = "<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-west-1</Region></Error>";
        for (text, status, region) in
            [("no location", 301, Some("eu-west-1")), ("", 400, Some("eu-west-1")), (malformed, 400, None)]
        {
            let refusal = of(text, Some(status), region);
            assert!(refusal.what.ends_with("the bucket is in the region eu-west-1"), "{refusal:?}");
            assert!(refusal.help.contains("AWS_REGION"), "{refusal:?}");
        }
        let expired = of("<Error><Code>ExpiredToken</Code></Error>", Some(400), Some("eu-west-1"));
        assert!(expired.help.contains("token"), "{expired:?}");
    }
}
