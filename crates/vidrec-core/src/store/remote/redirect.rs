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
use tokio::sync::OnceCell;

use super::addresses::{Names, is_public_host};
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
    /// Whether the host of the location is public.
    is_public: OnceCell<bool>,
    /// The headers of all requests to the host of the location.
    headers: HeaderMap,
    /// Where the files are, if this is for the Hugging Face Hub at one commit.
    places: Option<Mutex<HashMap<Url, Place>>>,
}

impl Following {
    /// The client trusts `authorities` beside those of the system.
    pub fn new(options: &ClientOptions, authorities: &[Certificate], is_hub: bool) -> object_store::Result<Self> {
        let names = Names::default();
        let http = HttpClient::new(client(options, authorities, names.clone())?);
        let headers = options.get_default_headers().cloned().unwrap_or_default();
        Ok(Following { http, names, is_public: OnceCell::new(), headers, places: is_hub.then(Mutex::default) })
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
            let answer = self.ask(&request, &place).await?;
            let status = answer.status();
            let is_refused = status.is_client_error() && status != StatusCode::TOO_MANY_REQUESTS;
            if !is_refused && !status.is_redirection() {
                return Ok(place.tagged(answer));
            }
            places().remove(&location);
        }
        let (answer, place) = self.follow(&location, request).await?;
        let answer = place.tagged(answer);
        if !place.is_own && answer.status().is_success() {
            let mut places = places();
            if places.len() >= MOST_PLACES {
                places.clear();
            }
            places.insert(location, place);
        }
        Ok(answer)
    }

    /// Returns the answer and the place that it comes from.
    async fn follow(&self, location: &Url, request: HttpRequest) -> Result<(HttpResponse, Place), HttpError> {
        let only_reads = [Method::GET, Method::HEAD].contains(request.method());
        let mut answer = self.http.execute(request.clone()).await?;
        let mut place = Place::new(location.clone(), &answer);
        let (mut count, mut is_guarded) = (0, false);
        while let Some(to) = sent_to(&answer).filter(|_| only_reads) {
            let next = next(location, &place.url, to).map_err(refused)?;
            if !is_guarded && next.host_str() != place.url.host_str() {
                is_guarded = match place.url.host_str() == location.host_str() {
                    true => *self.is_public.get_or_init(|| is_public_host(location)).await,
                    false => is_public_host(&place.url).await,
                };
            }
            if is_guarded {
                // There may be open connections to the location's own host, for which its name is not resolved again.
                let allowed = match next.host_str() == location.host_str() {
                    true if self.is_public.get() == Some(&false) => Err(Refused::PRIVATE),
                    true => Ok(()),
                    false => self.names.guard(&next),
                };
                allowed.map_err(refused)?;
            }
            count += 1;
            if count > MOST {
                return Err(refused(Refused::TOO_MANY));
            }
            place.is_own &= next.origin() == location.origin();
            place.url = next;
            answer = self.ask(&request, &place).await?;
        }
        Ok((answer, place))
    }

    /// Makes the same request at another place.
    async fn ask(&self, request: &HttpRequest, place: &Place) -> Result<HttpResponse, HttpError> {
        let mut request = request.clone();
        *request.uri_mut() = place.url.as_str().parse().map_err(|_| refused(Refused::NO_URL))?;
        if !place.is_own {
            let mut headers = std::mem::take(request.headers_mut());
            let allowed = FOR_OTHERS.into_iter().filter_map(|name| Some((headers.remove(&name)?, name)));
            *request.headers_mut() = allowed.map(|(value, name)| (name, value)).collect();
        }
        self.http.execute(request).await
    }
}

/// Where the Hugging Face Hub redirects requests for a file. Such a URL is signed and holds for some minutes to hours. The
/// Hub limits how often each client may ask for one, so it is asked again only when the URL is refused.
#[derive(Clone)]
struct Place {
    url: Url,
    /// Whether this is the server of the location.
    is_own: bool,
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
    /// The location `url` itself, for which its server gave the answer `first`.
    fn new(url: Url, first: &HttpResponse) -> Self {
        let tag = first.headers().get("x-linked-etag").or_else(|| first.headers().get(ETAG));
        // A weak tag comes from a host that compresses. The file is that of the commit all the same.
        let tag = tag.and_then(|tag| tag.to_str().ok()).map(|tag| tag.trim_start_matches("W/").trim_matches('"'));
        let tag = tag.and_then(|tag| HeaderValue::from_str(&format!("\"{tag}\"")).ok());
        Place { url, is_own: true, tag }
    }

    /// Gives an answer the tag that the Hub names.
    fn tagged(&self, mut answer: HttpResponse) -> HttpResponse {
        if let Some(tag) = self.tag.clone().filter(|_| answer.status().is_success()) {
            answer.headers_mut().insert(ETAG, tag);
        }
        answer
    }
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
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use async_trait::async_trait;
    use object_store::client::{HttpRequestBody, HttpService};

    use super::*;

    /// A server for all hosts, and the number of requests that reached it.
    #[derive(Debug, Clone, Default)]
    struct Server {
        routes: HashMap<&'static str, &'static str>,
        requests: Arc<AtomicUsize>,
    }

    #[async_trait]
    impl HttpService for Server {
        async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
            let url = request.uri().to_string();
            let mut answer = HttpResponse::new(String::new().into());
            if let Some(to) = self.routes.get(&*url) {
                *answer.status_mut() = StatusCode::FOUND;
                answer.headers_mut().insert(LOCATION, HeaderValue::from_static(to));
            }
            self.requests.fetch_add(1, Relaxed);
            Ok(answer)
        }
    }

    /// Asks for a location. Returns the refusal, if there is one, and the number of requests.
    fn follow(routes: &[(&'static str, &'static str)], location: &str) -> (Option<String>, usize) {
        let server = Server { routes: routes.iter().copied().collect(), ..Server::default() };
        let (http, names, is_public) = (HttpClient::new(server.clone()), Names::default(), OnceCell::new());
        let following = Following { http, names, is_public, headers: HeaderMap::new(), places: None };
        let mut request = HttpRequest::new(HttpRequestBody::empty());
        *request.uri_mut() = location.parse().unwrap();
        let answer = crate::store::remote::pending::runtime().unwrap().block_on(following.send(request));
        (answer.err().map(|e| e.to_string()), server.requests.load(Relaxed))
    }

    #[test]
    fn a_public_host_leads_to_no_private_address() {
        for host in ["127.0.0.1", "169.254.169.254", "[::1]", "0x7f.1", "10.0.0.1", "[::ffff:10.0.0.1]"] {
            let to: &str = format!("https://{host}/x").leak();
            let (refusal, requests) = follow(&[("https://8.8.8.8/", to)], "https://8.8.8.8/");
            assert!(refusal.is_some_and(|words| words.contains("private network")) && requests == 1, "{host}");
            // Nor by way of a private one.
            let routes = [("https://10.0.0.9/", "https://8.8.8.8/"), ("https://8.8.8.8/", to)];
            let (refusal, requests) = follow(&routes, "https://10.0.0.9/");
            assert!(refusal.is_some_and(|words| words.contains("private network")) && requests == 2, "{host}");
            let routes = [("https://localhost/", "https://8.8.8.8/"), ("https://8.8.8.8/", "https://localhost/x")];
            let (refusal, requests) = follow(&routes, "https://localhost/");
            assert!(refusal.is_some_and(|words| words.contains("private network")) && requests == 2);
            // A private one may.
            let (refusal, requests) = follow(&[("https://10.0.0.9/", to)], "https://10.0.0.9/");
            assert_eq!((refusal, requests), (None, 2));
        }
    }
}
