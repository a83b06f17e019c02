//! The HTTP client of a store: how it connects, which authorities it trusts, and which redirects it follows.
//!
//! Model hubs and content delivery networks answer with redirects. A location's permissions hold for its own host
//! only. A redirect never leads from TLS to clear text, or from the Internet into a private network. Another host
//! receives neither credentials nor the location that was asked for. object_store accepts a client from outside, but offers
//! none that asks before it follows a redirect.
//!
//! rustls takes the system's authorities from where OpenSSL does, or from the file or folder that `SSL_CERT_FILE` or
//! `SSL_CERT_DIR` names.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use object_store::ClientOptions;
use object_store::client::{
    ClientConfigKey as Key, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{
    ACCEPT, ETAG, HeaderMap, HeaderName, HeaderValue, IF_MATCH, IF_NONE_MATCH, IF_UNMODIFIED_SINCE, LOCATION, RANGE,
};
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, ClientBuilder, Method, Proxy, StatusCode, Url};
use tokio::sync::OnceCell;

use super::failure::{Failure, Kind, ResponseInfo};
use vidrec_format::error;

/// The most redirects that one request follows.
const MOST: usize = 10;
/// The most places of files that are remembered.
const MOST_PLACES: usize = 100_000;
/// The headers that another host may receive: which part of which version is asked for.
const FOR_OTHERS: [HeaderName; 5] = [ACCEPT, RANGE, IF_MATCH, IF_NONE_MATCH, IF_UNMODIFIED_SINCE];

tokio::task_local! {
    /// The response to the request that this task makes.
    pub(super) static RESPONSE: Arc<Mutex<ResponseInfo>>;
}

/// Changes what is known of the response to the request that this task makes.
fn note(change: impl FnOnce(&mut ResponseInfo)) {
    // The client also sends requests that no task waits for.
    let _ = RESPONSE.try_with(|response| change(&mut response.lock().unwrap_or_else(PoisonError::into_inner)));
}

/// Connects as object_store does by default, except for redirects, and watches the answers.
#[derive(Debug)]
pub(super) struct Connector {
    /// Authorities that may sign certificates of servers, beside those of the system.
    pub authorities: Vec<Certificate>,
    /// Whether the server is the Hugging Face Hub.
    pub is_hub: bool,
}

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let names = Resolver::default();
        let http = HttpClient::new(client(options, &self.authorities, names.clone())?);
        let headers = options.get_default_headers().cloned().unwrap_or_default();
        let (is_public, failures, places) = (OnceCell::new(), AtomicU64::new(0), self.is_hub.then(Mutex::default));
        Ok(HttpClient::new(RedirectClient { http, names, is_public, headers, places, failures }))
    }
}

/// Sends requests, and follows the redirects of requests that only read.
#[derive(Debug)]
pub(super) struct RedirectClient {
    /// The client for all hosts. It follows no redirects itself.
    http: HttpClient,
    names: Resolver,
    /// Whether the host of the location is public.
    is_public: OnceCell<bool>,
    /// The headers of all requests to the host of the location.
    headers: HeaderMap,
    /// The places of the files, if this is for the Hugging Face Hub at one commit.
    places: Option<Mutex<HashMap<Url, Place>>>,
    /// Failed connections so far; [`REACHED`] or more once the server has answered.
    failures: AtomicU64,
}

const REACHED: u64 = 1 << 32;
/// Connections to a server that has never answered. As a rule, its address is wrong.
const FIRST_TRIES: u64 = 3;

#[async_trait]
impl HttpService for RedirectClient {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        note(|known| known.sent += 1);
        let response = self.send(request).await.map_err(|e| self.failed(e))?;
        self.failures.store(REACHED, Relaxed);
        let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        note(|known| {
            known.status = Some(response.status().as_u16());
            known.region = header("x-amz-bucket-region").or(known.region.take());
            known.hub_code = self.places.is_some().then(|| header("x-error-code").unwrap_or_default());
        });
        if response.status() == StatusCode::NOT_IMPLEMENTED {
            return Err(refused(UNSUPPORTED));
        }
        Ok(response)
    }
}

impl RedirectClient {
    /// Notes that a connection failed. object_store does not repeat errors of unknown kind.
    fn failed(&self, e: HttpError) -> HttpError {
        // A certificate that is refused once is refused again.
        let is_refused = || format!("{e:?}").contains("InvalidCertificate");
        let is_last = || (FIRST_TRIES..REACHED).contains(&(self.failures.fetch_add(1, Relaxed) + 1));
        let is_final = e.kind() == HttpErrorKind::Connect && (is_refused() || is_last());
        if is_final { HttpError::new(HttpErrorKind::Unknown, e) } else { e }
    }

    async fn send(&self, mut request: HttpRequest) -> Result<HttpResponse, HttpError> {
        request.headers_mut().extend(self.headers.clone());
        let location = Url::parse(&request.uri().to_string()).map_err(|_| refused(NO_URL))?;
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
            if is_guarded && next.host_str() != location.host_str() {
                self.names.guard(&next).map_err(refused)?;
            } else if is_guarded && self.is_public.get() == Some(&false) {
                // There may be open connections to the location's own host, for which its name is not resolved again.
                return Err(refused(PRIVATE));
            }
            count += 1;
            if count > MOST {
                return Err(refused(TOO_MANY));
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
        *request.uri_mut() = place.url.as_str().parse().map_err(|_| refused(NO_URL))?;
        if !place.is_own {
            let mut headers = std::mem::take(request.headers_mut());
            let allowed = FOR_OTHERS.into_iter().filter_map(|name| Some((headers.remove(&name)?, name)));
            *request.headers_mut() = allowed.map(|(value, name)| (name, value)).collect();
        }
        self.http.execute(request).await
    }
}

/// The URL to which the Hugging Face Hub redirects requests for a file. Such a URL is signed and holds for some minutes to hours. The
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

fn refused(why: Failure) -> HttpError {
    HttpError::new(HttpErrorKind::Unknown, why)
}

/// Why a redirect is not followed, and what the user can do about it.
const fn refusal(what: &'static str, help: &'static str) -> Failure {
    Failure { what: Cow::Borrowed(what), help, kind: Kind::Other }
}

/// The answer to a request that object_store would repeat, as it does after every other failure of a server.
const UNSUPPORTED: Failure = Failure {
    what: Cow::Borrowed("the server does not support this request (HTTP 501)"),
    help: "use another server",
    kind: Kind::Unsupported,
};
const TOO_MANY: Failure = refusal("the server redirects too many times", "check the location");
const NO_URL: Failure = refusal("the server redirects to something that is not a web address", "check the location");
const PLAIN: Failure =
    refusal("the server redirects to a location without TLS", "to read it without TLS, give its http:// location");
const PRIVATE: Failure =
    refusal("the server redirects from a public host into a private network", "give the location of the data itself");

/// The URL of a redirect from `here` to `to`, if a request for `location` may go there.
pub(super) fn next(location: &Url, here: &Url, to: &str) -> Result<Url, Failure> {
    let mut next = here.join(to).map_err(|_| NO_URL)?;
    match next.scheme() {
        "https" => {}
        "http" if here.scheme() == "http" && next.host_str() == location.host_str() => {}
        "http" => return Err(PLAIN),
        _ => return Err(NO_URL),
    }
    next.set_fragment(None);
    // A server that redirects its client has no name and password for the other host.
    let cleared = next.set_username("").and_then(|()| next.set_password(None));
    cleared.map(|()| next).map_err(|()| NO_URL)
}

/// Whether an address belongs to the public Internet, rather than to this machine, its network or its provider's
/// services.
///
/// The registries of special addresses are <https://www.iana.org/assignments/iana-ipv4-special-registry> and
/// <https://www.iana.org/assignments/iana-ipv6-special-registry>.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            let octets = address.octets();
            let is_local = matches!(octets, [0 | 10 | 127 | 224.., ..] | [100, 64..128, ..] | [172, 16..32, ..]);
            !is_local && !matches!(octets, [169, 254, ..] | [192, 168, ..] | [192, 0, 0, _] | [198, 18 | 19, ..])
        }
        IpAddr::V6(address) => match address.segments() {
            // IPv4 addresses: mapped, compatible, behind NAT64, or by 6to4.
            [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
            | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
            | [0x2002, high, low, ..] => is_public(Ipv4Addr::from(u32::from(high) << 16 | u32::from(low)).into()),
            // Public addresses begin with the bits 001.
            [first, ..] => first & 0xe000 == 0x2000,
        },
    }
}

/// Whether the host of a URL is on the public Internet. A name that does not resolve counts as public.
pub(super) async fn is_public_host(url: &Url) -> bool {
    let found = tokio::net::lookup_host((host(url), 0)).await;
    found.map_or(true, |mut found| found.any(|address| is_public(address.ip())))
}

fn host(url: &Url) -> &str {
    url.host_str().unwrap_or_default().trim_matches(['[', ']'])
}

/// Asks the system for addresses, and keeps the names that must not lead to private ones. Those of proxies may.
#[derive(Debug, Default, Clone)]
pub(super) struct Resolver(Arc<Mutex<HashSet<String>>>);

impl Resolver {
    /// Refuses a private address, and guards a name against resolving to one.
    pub fn guard(&self, url: &Url) -> Result<(), Failure> {
        if host(url).parse().is_ok_and(|address| !is_public(address)) {
            return Err(PRIVATE);
        }
        self.guarded().insert(host(url).to_owned());
        Ok(())
    }

    fn guarded(&self) -> MutexGuard<'_, HashSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let is_guarded = self.guarded().contains(name.as_str());
        Box::pin(async move {
            let mut found: Vec<_> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            // All addresses of a name are used or none, because chance decides which of them is tried.
            if is_guarded && !found.iter().all(|address| is_public(address.ip())) {
                return Err(PRIVATE.into());
            }
            // In any order, as object_store does by default, to spread the load over servers.
            let chance = RandomState::new();
            found.sort_by_cached_key(|address| chance.hash_one(address));
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

/// The storage option that names a file of authorities. AWS's own tools use the same name in their files.
pub(super) const CA_BUNDLE: &str = "ca_bundle";

/// The options of connections that exist.
pub(super) const OPTIONS: [&str; 5] =
    ["allow_http", "allow_invalid_certificates", "connect_timeout", "proxy_url", "read_timeout"];

/// Builds a client. Its callers limit the time of a whole request. It does not use HTTP/2, in which all requests would
/// share a connection, because that was slower (arrow-rs-object-store#104).
fn client(options: &ClientOptions, authorities: &[Certificate], names: Resolver) -> object_store::Result<Client> {
    let get = |key| options.get_config_value(&key);
    let is = |key| get(key).is_some_and(|value| value.eq_ignore_ascii_case("true") || value == "1");
    // Compressed answers would differ from the objects in length.
    let mut builder = ClientBuilder::new().no_gzip().no_brotli().no_zstd().no_deflate();
    builder = builder.redirect(Policy::none()).referer(false).http1_only();
    builder = builder.user_agent(concat!("vidrec/", env!("CARGO_PKG_VERSION")));
    builder = builder.tls_certs_merge(authorities.iter().cloned()).dns_resolver(Arc::new(names));
    builder = builder.tls_danger_accept_invalid_certs(is(Key::AllowInvalidCertificates));
    // Other code checks the scheme of each redirect.
    builder = builder.https_only(!is(Key::AllowHttp));
    let time = |key: Key| {
        let text = get(key).unwrap_or_else(|| "1 day".to_owned());
        let wrong = |_| failed(format!("the storage option {} cannot be {text:?}", key.as_ref()));
        humantime::parse_duration(&text).map_err(wrong)
    };
    builder = builder.connect_timeout(time(Key::ConnectTimeout)?).read_timeout(time(Key::ReadTimeout)?);
    if let Some(url) = get(Key::ProxyUrl) {
        builder = builder.proxy(Proxy::all(url).map_err(failed)?);
    }
    builder.build().map_err(failed)
}

pub(super) fn failed(e: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> object_store::Error {
    object_store::Error::Generic { store: "HTTP", source: e.into() }
}

/// Reads a file of PEM certificates.
pub(super) fn authorities(path: &Path) -> error::Result<Vec<Certificate>> {
    const HELP: &str = "the storage option ca_bundle, or AWS_CA_BUNDLE, names a file of certificates in PEM";
    let text = std::fs::read(path).map_err(|e| error::Error::io("read the certificates", path, e).help(HELP))?;
    let wrong = || error::Error::usage("there are no certificates in the file").file(path).help(HELP);
    let found = Certificate::from_pem_bundle(&text).map_err(|e| wrong().found(e))?;
    if found.is_empty() { Err(wrong()) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use object_store::client::HttpRequestBody;

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
        let (http, names, is_public) = (HttpClient::new(server.clone()), Resolver::default(), OnceCell::new());
        let (headers, failures) = (HeaderMap::new(), AtomicU64::new(0));
        let following = RedirectClient { http, names, is_public, headers, places: None, failures };
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

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn clear_text_is_only_for_the_host_of_a_location_that_says_so() {
        let goes = |location: &str, here: &str, to: &str| next(&url(location), &url(here), to).map(String::from);
        let (tls, plain) = ("https://hub.example/a/b", "http://hub.example/a/b");
        for (location, here, to, expected) in [
            (tls, tls, "https://cdn.example/x?sig=1#part", Ok("https://cdn.example/x?sig=1")),
            (tls, tls, "../c", Ok("https://hub.example/c")),
            (tls, tls, "//cdn.example/x", Ok("https://cdn.example/x")),
            (tls, tls, "https://me:hunter2@cdn.example/x", Ok("https://cdn.example/x")),
            (tls, tls, "http://hub.example/a/b", Err(PLAIN)),
            (tls, tls, "http://cdn.example/x", Err(PLAIN)),
            (tls, "https://cdn.example/x", "http://hub.example/", Err(PLAIN)),
            (plain, plain, "http://hub.example:8080/c", Ok("http://hub.example:8080/c")),
            (plain, plain, "/c", Ok("http://hub.example/c")),
            (plain, plain, "https://cdn.example/x", Ok("https://cdn.example/x")),
            (plain, plain, "http://cdn.example/x", Err(PLAIN)),
            (plain, "https://hub.example/a/b", "http://hub.example/c", Err(PLAIN)),
            (tls, tls, "file:///etc/passwd", Err(NO_URL)),
            (tls, tls, "http://", Err(NO_URL)),
            (tls, tls, "ftp://hub.example/x", Err(NO_URL)),
        ] {
            assert_eq!(goes(location, here, to), expected.map(str::to_owned), "{location} {here} {to}");
        }
    }

    #[test]
    fn addresses_of_private_networks_are_told_from_those_of_the_internet() {
        let private = "127.0.0.1 127.8.9.1 10.1.2.3 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254 100.64.0.1 \
            100.127.0.1 0.0.0.0 255.255.255.255 224.0.0.1 240.0.0.1 192.0.0.8 198.18.0.1 ::1 :: fe80::1 \
            fc00::1 fd00:ec2::254 ff02::1 ::ffff:127.0.0.1 ::ffff:169.254.169.254 64:ff9b::10.0.0.1 \
            2002:a00:1:: ::127.0.0.1 fec0::1";
        for text in private.split_whitespace() {
            assert!(!is_public(text.parse().unwrap()), "{text}");
        }
        let public = "8.8.8.8 172.15.0.1 172.32.0.1 100.63.0.1 100.128.0.1 192.169.0.1 223.255.255.255 \
            2606:4700::1111 2a00:1450::1 ::ffff:8.8.8.8 64:ff9b::8.8.8.8 2002:808:808::";
        for text in public.split_whitespace() {
            assert!(is_public(text.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn a_guarded_name_does_not_lead_to_this_machine() {
        crate::store::remote::pending::runtime().unwrap().block_on(async {
            let url = |host: &str| url(&format!("https://{host}/x"));
            let names = Resolver::default();
            let localhost = || names.resolve("localhost".parse().unwrap());
            names.guard(&url("cdn.example")).unwrap();
            assert!(localhost().await.unwrap().count() > 0, "such as a proxy");
            names.guard(&url("localhost")).unwrap();
            let e = localhost().await.map(drop).unwrap_err();
            assert_eq!(e.downcast_ref::<Failure>(), Some(&PRIVATE));
            for (host, public) in [("localhost", false), ("8.8.8.8", true), ("[::1]", false), ("0x7f.1", false)] {
                assert_eq!(is_public_host(&url(host)).await, public, "{host}");
            }
        });
    }

    #[test]
    fn files_without_certificates_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ca.pem");
        assert!(authorities(&path).unwrap_err().to_string().contains("ca.pem"));
        for text in ["", "hunter2", "-----BEGIN PRIVATE KEY-----\naHVudGVyMg==\n-----END PRIVATE KEY-----\n"] {
            std::fs::write(&path, text).unwrap();
            let e = authorities(&path).unwrap_err().to_string();
            assert!(e.contains("no certificates") && e.contains("ca.pem") && !e.contains("hunter2"), "{e}");
        }
    }
}
