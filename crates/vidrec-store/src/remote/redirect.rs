//! Redirects: which of them are followed, and what the next host is sent.
//!
//! Model hubs and content delivery networks answer with redirects. A location's permissions hold for its own host
//! only. A redirect never leads from TLS to clear text, or from the Internet into a private network. Another host
//! receives neither credentials nor the location that was asked for.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use object_store::ClientOptions;
use object_store::client::{HttpClient, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody, HttpResponse};
use reqwest::header::{ACCEPT, HeaderMap, HeaderName, IF_MATCH, IF_NONE_MATCH, IF_UNMODIFIED_SINCE, LOCATION, RANGE};
use reqwest::{Certificate, Url};

use super::addresses::{Guarded, is_public, is_public_host, literal};
use super::client::client;
use super::hub::{Place, Places};
use super::redirect_policy::{Refused, next};

/// The most redirects that one request follows.
const MOST: usize = 10;
/// The most other hosts to which one server may redirect its clients.
const MOST_HOSTS: usize = 1000;
/// The headers that another host may receive: which part of which version is asked for.
const FOR_OTHERS: [HeaderName; 5] = [ACCEPT, RANGE, IF_MATCH, IF_NONE_MATCH, IF_UNMODIFIED_SINCE];

/// Sends requests, and follows the redirects of requests that only read.
#[derive(Debug)]
pub(super) struct Following {
    /// The client for the host of the location. It follows no redirects itself.
    own: HttpClient,
    /// The client for all other hosts, without anything that is meant for the host of the location. It is created
    /// when it is first needed, because few servers redirect their clients, and reading the authorities of the system
    /// takes some milliseconds.
    others: OnceLock<HttpClient>,
    options: ClientOptions,
    authorities: Vec<Certificate>,
    /// The names that `others` must not resolve to private addresses.
    guarded: Guarded,
    /// Whether each known host is public.
    known: Mutex<HashMap<String, bool>>,
    /// Where the files are, if this is for the Hugging Face Hub at one commit.
    places: Option<Places>,
}

impl Following {
    /// Creates the clients. They trust `authorities` beside those of the system.
    pub fn new(options: &ClientOptions, authorities: &[Certificate], is_hub: bool) -> object_store::Result<Self> {
        let own = HttpClient::new(client(options, authorities, None)?);
        let (others, guarded, known) = Default::default();
        let (options, authorities) = (options.clone(), authorities.to_vec());
        let places = is_hub.then(Places::default);
        Ok(Following { own, others, options, authorities, guarded, known, places })
    }

    fn others(&self) -> Result<&HttpClient, HttpError> {
        if let Some(client) = self.others.get() {
            return Ok(client);
        }
        let made = client(&self.options, &self.authorities, Some(&self.guarded));
        let made = made.map_err(|e| HttpError::new(HttpErrorKind::Unknown, e))?;
        Ok(self.others.get_or_init(|| HttpClient::new(made)))
    }

    pub async fn send(&self, mut request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let Some(places) = &self.places else { return self.follow(request).await.map(|(answer, _)| answer) };
        // The files of a commit do not change, and other hosts have other tags.
        request.headers_mut().remove(IF_MATCH);
        let Ok(file) = Url::parse(&request.uri().to_string()) else { return self.own.execute(request).await };
        if let Some(place) = places.get(&file) {
            let asked = Asked { method: request.method().clone(), headers: request.headers().clone() };
            let answer = self.others()?.execute(asked.again(&place.url, false).map_err(refused)?).await?;
            if Place::is_given(&answer) {
                return Ok(place.tagged(answer));
            }
            places.forget(&file);
        }
        let (answer, place) = self.follow(request).await?;
        let Some((place, is_own)) = place else { return Ok(answer) };
        let answer = place.tagged(answer);
        if !is_own && answer.status().is_success() {
            places.put(&file, place);
        }
        Ok(answer)
    }

    /// Returns the answer and the place that it comes from, with whether that is the location's own server.
    async fn follow(&self, request: HttpRequest) -> Result<(HttpResponse, Option<(Place, bool)>), HttpError> {
        let only_reads = request.method() == reqwest::Method::GET || request.method() == reqwest::Method::HEAD;
        let first = Asked { method: request.method().clone(), headers: request.headers().clone() };
        let location = Url::parse(&request.uri().to_string());
        let mut response = self.own.execute(request).await?;
        let (Ok(location), true) = (location, only_reads) else { return Ok((response, None)) };
        let mut place = Place::new(location.clone(), &response);
        let (mut here, mut is_own, mut is_guarded) = (location.clone(), true, false);
        for _ in 0..MOST {
            let Some(to) = sent_to(&response) else {
                place.url = here;
                return Ok((response, Some((place, is_own))));
            };
            let next = next(&location, &here, to).map_err(refused)?;
            is_own &= next.origin() == location.origin();
            if next.host_str() != here.host_str() {
                is_guarded = is_guarded || self.is_public(&here).await;
                if is_guarded {
                    self.guard(&next).map_err(refused)?;
                }
            }
            let client = if is_own { &self.own } else { self.others()? };
            response = client.execute(first.again(&next, is_own).map_err(refused)?).await?;
            here = next;
        }
        if sent_to(&response).is_some() {
            return Err(refused(Refused::TooMany));
        }
        place.url = here;
        Ok((response, Some((place, is_own))))
    }

    async fn is_public(&self, url: &Url) -> bool {
        let host = url.host_str().unwrap_or_default();
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&is_public) = known().get(host) {
            return is_public;
        }
        let is_public = is_public_host(host).await;
        known().insert(host.to_owned(), is_public);
        is_public
    }

    /// Refuses a private address, and guards a name against resolving to one.
    fn guard(&self, next: &Url) -> Result<(), Refused> {
        let host = next.host_str().unwrap_or_default();
        if let Some(address) = literal(host) {
            return if is_public(address) { Ok(()) } else { Err(Refused::Private) };
        }
        let mut guarded = self.guarded.lock().unwrap_or_else(PoisonError::into_inner);
        if guarded.len() >= MOST_HOSTS && !guarded.contains(host) {
            return Err(Refused::TooMany);
        }
        guarded.insert(host.to_owned());
        Ok(())
    }
}

/// The original request.
struct Asked {
    method: reqwest::Method,
    headers: HeaderMap,
}

impl Asked {
    /// The same request for another URL.
    fn again(&self, url: &Url, is_own: bool) -> Result<HttpRequest, Refused> {
        let mut request = HttpRequest::new(HttpRequestBody::empty());
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = url.as_str().parse().map_err(|_| Refused::NoUrl)?;
        *request.headers_mut() = if is_own { self.headers.clone() } else { for_others(&self.headers) };
        Ok(request)
    }
}

fn for_others(headers: &HeaderMap) -> HeaderMap {
    let named = |name: HeaderName| headers.get(&name).cloned().map(|value| (name, value));
    FOR_OTHERS.into_iter().filter_map(named).collect()
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
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn following() -> Following {
        let _ = rustls::crypto::ring::default_provider().install_default();
        Following::new(&ClientOptions::default(), &[], false).unwrap()
    }

    #[test]
    fn a_public_host_leads_to_no_private_address() {
        let following = following();
        for host in ["127.0.0.1", "169.254.169.254", "[::1]", "0x7f.1", "10.0.0.1", "[::ffff:10.0.0.1]"] {
            let to = next(&url("https://8.8.8.8/"), &url("https://8.8.8.8/"), &format!("https://{host}/x")).unwrap();
            assert_eq!(following.guard(&to), Err(Refused::Private), "{host}");
        }
        assert_eq!(following.guard(&url("https://8.8.4.4/x")), Ok(()));
        for i in 0..MOST_HOSTS {
            assert_eq!(following.guard(&url(&format!("https://{i}.example/x"))), Ok(()));
        }
        assert_eq!(following.guard(&url("https://more.example/x")), Err(Refused::TooMany));
        assert_eq!(following.guard(&url("https://7.example/x")), Ok(()), "one that is known");
        assert!(following.guarded.lock().unwrap().contains("7.example"));
    }

    #[test]
    fn other_hosts_hear_nothing_but_what_is_asked_for() {
        let secret = ["authorization", "cookie", "x-amz-security-token", "x-ms-version", "x-api-key", "referer"];
        let mut headers = HeaderMap::new();
        for name in secret.iter().chain(&["range", "if-match", "accept"]) {
            headers.insert(name.parse::<HeaderName>().unwrap(), "hunter2".parse().unwrap());
        }
        let asked = Asked { method: reqwest::Method::GET, headers };
        let to = url("https://cdn.example/x");
        assert_eq!(asked.again(&to, false).unwrap().headers().len(), 3);
        assert_eq!(asked.again(&to, true).unwrap().headers().len(), 9);
    }
}
