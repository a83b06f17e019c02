//! Redirects: which of them are followed, and what the next host is sent.
//!
//! Model hubs and content delivery networks answer with redirects. A location's permissions hold for its own host
//! only. A redirect never leads from TLS to clear text, or from the Internet into a private network. Another host
//! receives neither credentials nor the location that was asked for.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use object_store::ClientOptions;
use object_store::client::{HttpClient, HttpError, HttpErrorKind, HttpRequest, HttpResponse};
use reqwest::header::{
    ACCEPT, ETAG, HeaderMap, HeaderName, HeaderValue, IF_MATCH, IF_NONE_MATCH, IF_UNMODIFIED_SINCE, LOCATION, RANGE,
};
use reqwest::{Certificate, Method, StatusCode, Url};

use super::addresses::Names;
use super::client::client;
use super::redirect_policy::{Refused, next};

/// The most redirects that one request follows.
const MOST: usize = 10;
/// The most places of files that are remembered.
const MOST_PLACES: usize = 100_000;
/// The headers that another host may receive: which part of which version is asked for.
const FOR_OTHERS: [HeaderName; 5] = [ACCEPT, RANGE, IF_MATCH, IF_NONE_MATCH, IF_UNMODIFIED_SINCE];

/// Sends requests, and follows the redirects of requests that only read.
#[derive(Debug)]
pub(super) struct Following {
    /// The client for all hosts. It follows no redirects itself.
    http: HttpClient,
    names: Names,
    /// The headers of all requests to the host of the location.
    headers: HeaderMap,
    /// Where the files are, if this is for the Hugging Face Hub at one commit.
    places: Option<Mutex<HashMap<Url, Place>>>,
}

impl Following {
    /// Creates the client. It trusts `authorities` beside those of the system.
    pub fn new(options: &ClientOptions, authorities: &[Certificate], is_hub: bool) -> object_store::Result<Self> {
        let names = Names::default();
        let http = HttpClient::new(client(options, authorities, names.clone())?);
        let headers = options.get_default_headers().cloned().unwrap_or_default();
        Ok(Following { http, names, headers, places: is_hub.then(Mutex::default) })
    }

    pub async fn send(&self, mut request: HttpRequest) -> Result<HttpResponse, HttpError> {
        request.headers_mut().extend(self.headers.clone());
        let location = Url::parse(&request.uri().to_string()).map_err(|_| refused(Refused::NO_URL))?;
        let Some(places) = &self.places else { return Ok(self.follow(&location, request).await?.0) };
        let places = || places.lock().unwrap_or_else(PoisonError::into_inner);
        // The files of a commit do not change, and other hosts have other tags.
        request.headers_mut().remove(IF_MATCH);
        let known = places().get(&location).cloned();
        if let Some(place) = known {
            let answer = self.http.execute(again(&request, &place.url, false)?).await?;
            if Place::is_given(&answer) {
                return Ok(place.tagged(answer));
            }
            places().remove(&location);
        }
        let (answer, place, is_own) = self.follow(&location, request).await?;
        let answer = place.tagged(answer);
        if !is_own && answer.status().is_success() {
            let mut places = places();
            if places.len() >= MOST_PLACES {
                places.clear();
            }
            places.insert(location, place);
        }
        Ok(answer)
    }

    /// Returns the answer and the place that it comes from, with whether that is the location's own server.
    async fn follow(&self, location: &Url, request: HttpRequest) -> Result<(HttpResponse, Place, bool), HttpError> {
        let only_reads = [Method::GET, Method::HEAD].contains(request.method());
        let mut answer = self.http.execute(request.clone()).await?;
        let mut place = Place::new(location.clone(), &answer);
        let (mut is_own, mut is_guarded, mut count) = (true, false, 0);
        while let Some(to) = sent_to(&answer).filter(|_| only_reads) {
            let next = next(location, &place.url, to).map_err(refused)?;
            is_own &= next.origin() == location.origin();
            if next.host_str() != place.url.host_str() {
                is_guarded |= self.names.is_public(&place.url);
                if is_guarded {
                    self.names.guard(&next).map_err(refused)?;
                }
            }
            count += 1;
            if count > MOST {
                return Err(refused(Refused::TOO_MANY));
            }
            answer = self.http.execute(again(&request, &next, is_own)?).await?;
            place.url = next;
        }
        Ok((answer, place, is_own))
    }
}

/// Where the Hugging Face Hub redirects requests for a file. Such a URL is signed and holds for some minutes to hours. The
/// Hub limits how often each client may ask for one, so it is asked again only when the URL is refused.
#[derive(Clone)]
struct Place {
    url: Url,
    /// The tag that the Hub names, because it is also in lists, and the same on all hosts.
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
    fn new(url: Url, first: &HttpResponse) -> Self {
        let tag = first.headers().get("x-linked-etag").or_else(|| first.headers().get(ETAG));
        // A weak tag comes from a host that compresses. The file is that of the commit all the same.
        let tag = tag.and_then(|tag| tag.to_str().ok()).map(|tag| tag.trim_start_matches("W/").trim_matches('"'));
        Place { url, tag: tag.and_then(|tag| HeaderValue::from_str(&format!("\"{tag}\"")).ok()) }
    }

    /// Whether the host gave the file, and did not refuse the URL.
    fn is_given(answer: &HttpResponse) -> bool {
        let status = answer.status();
        !status.is_redirection() && (!status.is_client_error() || status == StatusCode::TOO_MANY_REQUESTS)
    }

    /// Gives an answer the tag that the Hub names.
    fn tagged(&self, mut answer: HttpResponse) -> HttpResponse {
        if let Some(tag) = self.tag.clone().filter(|_| answer.status().is_success()) {
            answer.headers_mut().insert(ETAG, tag);
        }
        answer
    }
}

/// The same request for another URL.
fn again(request: &HttpRequest, url: &Url, is_own: bool) -> Result<HttpRequest, HttpError> {
    let mut request = request.clone();
    *request.uri_mut() = url.as_str().parse().map_err(|_| refused(Refused::NO_URL))?;
    if !is_own {
        let mut headers = std::mem::take(request.headers_mut());
        let allowed = FOR_OTHERS.into_iter().filter_map(|name| Some((headers.remove(&name)?, name)));
        *request.headers_mut() = allowed.map(|(value, name)| (name, value)).collect();
    }
    Ok(request)
}

/// The URL to which an answer redirects its client.
fn sent_to(response: &HttpResponse) -> Option<&str> {
    let is_redirect = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    // A location that is not text is replaced by one that is refused.
    is_redirect.then(|| response.headers().get(LOCATION).map(|to| to.to_str().unwrap_or("http://"))).flatten()
}

fn refused(why: Refused) -> HttpError {
    HttpError::new(HttpErrorKind::Unknown, why)
}

#[cfg(test)]
mod tests {
    use object_store::client::HttpRequestBody;

    use super::*;

    #[test]
    fn other_hosts_hear_nothing_but_what_is_asked_for() {
        let secret = ["authorization", "cookie", "x-amz-security-token", "x-ms-version", "x-api-key", "referer"];
        let mut asked = HttpRequest::new(HttpRequestBody::empty());
        for name in secret.iter().chain(&["range", "if-match", "accept"]) {
            asked.headers_mut().insert(name.parse::<HeaderName>().unwrap(), "hunter2".parse().unwrap());
        }
        let to = Url::parse("https://cdn.example/x").unwrap();
        assert_eq!(again(&asked, &to, false).unwrap().headers().len(), 3);
        assert_eq!(again(&asked, &to, true).unwrap().headers().len(), 9);
    }
}
