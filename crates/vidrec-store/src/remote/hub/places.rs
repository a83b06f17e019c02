//! The URLs to which the Hub redirects requests for its files.
//!
//! Such a URL is signed and holds for some minutes to hours. The Hub limits how often each client may ask for one, so
//! it is asked again only when the URL is refused. The tag of a file is that which the Hub names, because it is also
//! in lists, and the same on all hosts.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use object_store::client::HttpResponse;
use reqwest::header::{ETAG, HeaderValue};
use reqwest::{StatusCode, Url};

/// The most URLs that are remembered.
const MOST: usize = 100_000;

/// Where each file of the commits that a client reads is, by its URL on the Hub.
#[derive(Default)]
pub struct Places(Mutex<HashMap<Url, Place>>);

/// A file on another host.
#[derive(Clone)]
pub struct Place {
    pub url: Url,
    tag: Option<HeaderValue>,
}

impl Places {
    pub fn put(&self, file: Url, place: Place) {
        let mut places = self.lock();
        if places.len() >= MOST {
            places.clear();
        }
        places.insert(file, place);
    }

    pub fn lock(&self) -> MutexGuard<'_, HashMap<Url, Place>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// URLs are signed, so none is shown.
impl fmt::Debug for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Places").field(&self.lock().len()).finish()
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
