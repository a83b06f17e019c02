//! The URL to which the Hub redirects requests for a file.
//!
//! Such a URL is signed and holds for some minutes to hours. The Hub limits how often each client may ask for one, so
//! it is asked again only when the URL is refused. The tag of a file is that which the Hub names, because it is also
//! in lists, and the same on all hosts.

use std::fmt;

use object_store::client::HttpResponse;
use reqwest::header::{ETAG, HeaderValue};
use reqwest::{StatusCode, Url};

/// Where a file is.
#[derive(Clone)]
pub struct Place {
    pub url: Url,
    tag: Option<HeaderValue>,
}

/// The URL is signed, so it is not shown.
impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Place")
    }
}

impl Place {
    /// The place `url` of a file, for which the Hub gave the answer `first`.
    pub fn new(url: Url, first: &HttpResponse) -> Self {
        let tag = first.headers().get("x-linked-etag").or_else(|| first.headers().get(ETAG));
        // A weak tag comes from a host that compresses. The file is that of the commit all the same.
        let tag = tag.and_then(|tag| tag.to_str().ok()).map(|tag| tag.trim_start_matches("W/").trim_matches('"'));
        Place { url, tag: tag.and_then(|tag| HeaderValue::from_str(&format!("\"{tag}\"")).ok()) }
    }

    /// Whether the host gave the file, and did not refuse the URL.
    pub fn is_given(answer: &HttpResponse) -> bool {
        let status = answer.status();
        !status.is_redirection() && (!status.is_client_error() || status == StatusCode::TOO_MANY_REQUESTS)
    }

    /// Gives an answer the tag that the Hub names.
    pub fn tagged(&self, mut answer: HttpResponse) -> HttpResponse {
        if let Some(tag) = self.tag.clone().filter(|_| answer.status().is_success()) {
            answer.headers_mut().insert(ETAG, tag);
        }
        answer
    }
}
