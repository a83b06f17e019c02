//! Why a request failed, and what to do about it.

use object_store::client::HttpError;
use object_store::path::Path as Key;

use super::aws::NoCredentials;
use super::http::Answer;
use super::redirect_policy::Refused;
use super::refusal;

/// Why a request failed.
#[derive(Debug, Clone)]
pub(super) struct Failure {
    pub what: String,
    pub help: &'static str,
    pub kind: Kind,
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
pub(super) fn refuse(what: impl Into<String>, help: &'static str) -> Failure {
    Failure { what: what.into(), help, kind: Kind::Other }
}

pub(super) fn passing(what: impl Into<String>) -> Failure {
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
pub(super) fn explain(e: &object_store::Error, answer: &Answer, key: &Key) -> Failure {
    use object_store::Error as E;
    let status = answer.status();
    let said = |what: &str| status.map_or_else(|| what.to_owned(), |status| format!("{what} (HTTP {status})"));
    let refused = || {
        let refusal::Refusal { what, help } = match answer.hub_code() {
            Some(code) => refusal::on_hub(code, &cause(e), status),
            None => refusal::of(&cause(e), status, answer.region()),
        };
        refuse(what, help)
    };
    if let Some(none) = inside::<NoCredentials>(e) {
        return refuse(none.to_string(), "run the command by hand, and sign in if it asks for that");
    }
    if let Some(refused) = inside::<Refused>(e) {
        return refuse(refused.to_string(), refused.help());
    }
    if status.is_some_and(|status| status >= 400) && inside::<HttpError>(e).is_some() {
        return passing(said("the server's explanation of the error broke off"));
    }
    match (e, status) {
        (E::NotFound { .. }, _) if matches!(answer.hub_code(), Some("RepoNotFound" | "RevisionNotFound")) => refused(),
        (E::NotFound { .. }, _) => {
            let help = "check the location: bucket or host, and path";
            Failure { what: said("there is no such object"), help, kind: Kind::NotFound }
        }
        (E::Precondition { .. }, _) => {
            let what = said("the object was replaced while it was open");
            refuse(what, "open the data set again")
        }
        (E::PermissionDenied { .. } | E::Unauthenticated { .. }, _) | (_, Some(401 | 403)) => refused(),
        (E::NotImplemented { .. }, _) | (_, Some(501)) => {
            let what = said("the server does not support this request");
            Failure { what, help: "use another server", kind: Kind::Unsupported }
        }
        (E::NotSupported { .. }, _) => refuse(
            said("the server does not support requests for ranges of bytes"),
            "use another server, or fetch a local copy first",
        ),
        (_, Some(408 | 409 | 425 | 429 | 500..=599)) => failing(status),
        (_, Some(416)) => {
            let what = said("the object is shorter than it was");
            Failure { what, help: "open the data set again", kind: Kind::BeyondEnd }
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
    // The words of the location itself say nothing about the failure.
    let mut text = format!("{e:?}").to_ascii_lowercase().replace("continuation-token", "");
    for part in key.parts() {
        text = text.replace(&format!("/{}", part.as_ref().to_ascii_lowercase()), "/");
    }
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if has(&["certificate", "unknownissuer"]) {
        let (what, help) = match () {
            () if has(&["unknownissuer"]) => (
                "is signed by an authority that this machine does not know",
                "name a file of certificates that includes it: the storage option ca_bundle, or SSL_CERT_FILE",
            ),
            () if has(&["expired"]) => ("has expired", "renew it on the server, or set the clock of this machine"),
            () if has(&["notvalidyet"]) => ("is not valid yet", "set the clock of this machine"),
            () if has(&["notvalidforname"]) => ("is for another host", "check the host name or the endpoint"),
            () => ("is not accepted", "check the host name and the certificates of this machine"),
        };
        return refuse(format!("the server's certificate {what}: {}", cause(e)), help);
    }
    if has(&["dns error", "failed to lookup", "name or service not known"]) {
        return refuse(
            format!("the host name cannot be resolved: {}", cause(e)),
            "check the bucket, the region and the endpoint",
        );
    }
    if has(&["unexpectedrange", "parsecontentrange", "nocontentrange"]) {
        return refuse(
            "the server sent a different range of the file than vidrec requested",
            "use another server, or fetch a local copy first",
        );
    }
    if has(&["content-length header missing", "missingcontentlength"]) {
        return refuse(
            "the server does not say how long the file is",
            "use another server, or fetch a local copy first",
        );
    }
    if has(&["169.254.169.254", "metadata", "credential", "oauth", "token"]) && status.is_none() {
        return refuse(
            format!("there are no credentials: {}", cause(e)),
            "set them in the environment or as storage options; for a public bucket, set the option skip_signature to true",
        );
    }
    let unreached = refuse("", "check the host, the port and the endpoint");
    if has(&["timed out", "timedout"]) {
        return failing(None);
    }
    if has(&["connection refused", "connectionrefused"]) {
        return Failure { what: "the connection was refused".into(), ..unreached };
    }
    if has(&["kind: connect,"]) {
        return Failure { what: format!("could not connect: {}", cause(e)), ..unreached };
    }
    passing(format!("the request failed: {}", cause(e)))
}
