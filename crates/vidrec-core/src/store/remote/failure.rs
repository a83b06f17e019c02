//! Why a request failed, and what to do about it.

use std::borrow::Cow;
use std::fmt;

use object_store::client::HttpError;
use object_store::path::Path as Key;

/// Why a request failed. Inside an error of object_store, it is what this module says of the error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    pub what: Cow<'static, str>,
    pub help: &'static str,
    pub kind: Kind,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Failure {}

impl From<Failure> for object_store::Error {
    fn from(failure: Failure) -> Self {
        object_store::Error::Generic { store: "vidrec", source: failure.into() }
    }
}

/// The server's last response to one request, and the number of times that the request was sent.
#[derive(Debug, Default, Clone)]
pub(super) struct ResponseInfo {
    /// The status; `None` before the first response.
    pub status: Option<u16>,
    pub sent: u64,
    /// The region of the bucket, if S3 names it in a header.
    pub region: Option<String>,
    /// The code of the error, if the Hugging Face Hub answered; empty if it names none.
    pub hub_code: Option<String>,
}

/// The kinds of failures that callers tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Another try may succeed.
    Passing,
    NotFound,
    /// The object ends before the start of the range.
    BeyondEnd,
    /// The server does not support the request.
    Unsupported,
    Other,
}

/// A failure that another try would repeat.
pub(super) fn refuse(what: impl Into<Cow<'static, str>>, help: &'static str) -> Failure {
    Failure { what: what.into(), help, kind: Kind::Other }
}

pub(super) fn passing(what: impl Into<Cow<'static, str>>) -> Failure {
    Failure { what: what.into(), help: "check the connection, or allow more time", kind: Kind::Passing }
}

/// The failure of a server that answers with `status`, or not at all.
pub(super) fn failing(status: Option<u16>) -> Failure {
    passing(match status {
        Some(status @ (429 | 503)) => format!("the server is overloaded (HTTP {status})"),
        Some(status @ 400..) => format!("the server failed (HTTP {status})"),
        _ => "no complete answer".to_owned(),
    })
}

/// The innermost cause, which contains no URL.
pub(super) fn cause(e: &(dyn std::error::Error + 'static)) -> String {
    let mut inner = e;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}

/// Explains a failed request: what it means, and what to do about it.
pub(super) fn explain(e: &object_store::Error, answer: &ResponseInfo, key: &Key) -> Failure {
    use object_store::Error as E;
    let status = answer.status;
    let said = |what: &str| status.map_or_else(|| what.to_owned(), |status| format!("{what} (HTTP {status})"));
    let refused = || match answer.hub_code.as_deref() {
        Some(code) => on_hub(code, &cause(e), status),
        None => of_answer(&cause(e), status, answer.region.as_deref()),
    };
    if let Some(failure) = inside::<Failure>(e) {
        return failure.clone();
    }
    if status.is_some_and(|status| status >= 400) && inside::<HttpError>(e).is_some() {
        return passing(said("the server's explanation of the error broke off"));
    }
    match (e, status) {
        (E::NotFound { .. }, _) if matches!(answer.hub_code.as_deref(), Some("RepoNotFound" | "RevisionNotFound")) => {
            refused()
        }
        (E::NotFound { .. }, _) => {
            let help = "check the location: bucket or host, and path";
            Failure { what: said("there is no such object").into(), help, kind: Kind::NotFound }
        }
        (E::Precondition { .. }, _) => {
            let what = said("the object was replaced while it was open");
            refuse(what, "open the data set again")
        }
        (E::PermissionDenied { .. } | E::Unauthenticated { .. }, _) | (_, Some(401 | 403)) => refused(),
        (E::NotImplemented { .. }, _) => {
            let what = said("the server does not support this request");
            Failure { what: what.into(), help: "use another server", kind: Kind::Unsupported }
        }
        (E::NotSupported { .. }, _) => refuse(
            said("the server does not support requests for ranges of bytes"),
            "use another server, or fetch a local copy first",
        ),
        (_, Some(408 | 409 | 425 | 429 | 500..=599)) => failing(status),
        (_, Some(416)) => {
            let what = said("the object is shorter than it was");
            Failure { what: what.into(), help: "open the data set again", kind: Kind::BeyondEnd }
        }
        (_, Some(301 | 307 | 308 | 400..=499)) => refused(),
        _ => transport(e, status, key),
    }
}

/// The error of type `E` inside another error.
fn inside<'a, E: std::error::Error + 'static>(e: &'a (dyn std::error::Error + 'static)) -> Option<&'a E> {
    std::iter::successors(Some(e), |e| e.source()).find_map(|e| e.downcast_ref())
}

/// Explains a failure outside HTTP. Only the words of the error tell such failures apart.
fn transport(e: &object_store::Error, status: Option<u16>, key: &Key) -> Failure {
    const OTHER: &str = "use another server, or fetch a local copy first";
    const CERTIFICATE: &str = "check the host name and the clock of this machine; to trust another authority, name a file \
        of its certificates: the storage option ca_bundle, or SSL_CERT_FILE";
    const KEYS: &str =
        "set them in the environment or as storage options; for a public bucket, set the option skip_signature to true";
    const HOST: &str = "check the host, the port and the endpoint";
    // The words of the location itself say nothing about the failure.
    let mut text = format!("{e:?}").to_ascii_lowercase().replace("continuation-token", "");
    for part in key.parts() {
        text = text.replace(&format!("/{}", part.as_ref().to_ascii_lowercase()), "/");
    }
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let with_cause = |what: &str, help| refuse(format!("{what}: {}", cause(e)), help);
    let is_certificate = has(&["certificate", "unknownissuer"]);
    let is_credential = has(&["169.254.169.254", "metadata", "credential", "oauth", "token"]) && status.is_none();
    match () {
        () if is_certificate => with_cause("the server's certificate is not accepted", CERTIFICATE),
        () if has(&["dns error", "failed to lookup", "name or service not known"]) => {
            with_cause("the host name cannot be resolved", "check the bucket, the region and the endpoint")
        }
        () if has(&["unexpectedrange", "parsecontentrange", "nocontentrange"]) => {
            refuse("the server sent a different range of the file than vidrec requested", OTHER)
        }
        () if has(&["content-length header missing", "missingcontentlength"]) => {
            refuse("the server does not say how long the file is", OTHER)
        }
        () if is_credential => with_cause("there are no credentials", KEYS),
        () if has(&["timed out", "timedout"]) => failing(None),
        () if has(&["connection refused", "connectionrefused"]) => refuse("the connection was refused", HOST),
        () if has(&["kind: connect,"]) => with_cause("could not connect", HOST),
        () => passing(format!("the request failed: {}", cause(e))),
    }
}

/// Explains a request that the Hugging Face Hub refused. `code` is that of its header `X-Error-Code`.
fn on_hub(code: &str, text: &str, status: Option<u16>) -> Failure {
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
pub(super) fn of_answer(text: &str, status: Option<u16>, region: Option<&str>) -> Failure {
    const REFUSED: &str =
        "check the credentials, and the right to read or write this object (on S3, s3:GetObject or s3:PutObject)";
    let (what, help) = match status {
        Some(401 | 403) => ("access was refused", REFUSED),
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
    let help = match code.unwrap_or_default() {
        _ if region.is_some() => "set the storage option region, or AWS_REGION, to the region of the bucket",
        "AccessDenied" => {
            "check the credentials, the right to read this object (s3:GetObject) or to write it (s3:PutObject), and its \
             name: without the right to list, a missing object looks the same"
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

fn refusal(what: &str, status: Option<u16>, said: &str, help: &'static str) -> Failure {
    let status = status.map_or_else(String::new, |status| format!(" (HTTP {status})"));
    let what = if said.is_empty() { format!("{what}{status}") } else { format!("{what}{status}: {said}") };
    refuse(what, help)
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
        let refusal = of_answer(SIGNED, Some(403), Some("eu-west-1"));
        let what = "access was refused (HTTP 403): SignatureDoesNotMatch: The request signature does not match.";
        assert_eq!(refusal.what, what);
        let denied = of_answer("<Error><Code>AccessDenied</Code></Error>", Some(403), None);
        assert!(denied.what.ends_with("403): AccessDenied") && denied.help.contains("s3:GetObject"), "{denied:?}");
        let unknown = of_answer("<?xml version=\"1.0\"?><Secret>hunter2</Secret>", Some(403), None);
        assert_eq!(unknown.what, "access was refused (HTTP 403)");
        assert_eq!(of_answer(" no\n entry ", Some(401), None).what, "access was refused (HTTP 401): no entry");
    }

    #[test]
    fn the_region_of_a_bucket_is_named() {
        let malformed = "<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-west-1</Region></Error>";
        for (text, status, region) in
            [("no location", 301, Some("eu-west-1")), ("", 400, Some("eu-west-1")), (malformed, 400, None)]
        {
            let refusal = of_answer(text, Some(status), region);
            assert!(refusal.what.ends_with("the bucket is in the region eu-west-1"), "{refusal:?}");
            assert!(refusal.help.contains("AWS_REGION"), "{refusal:?}");
        }
    }
}
