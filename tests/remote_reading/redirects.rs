//! Servers that send their clients elsewhere: over TLS, with nothing that is meant for another, or not at all.
//!
//! `tls/` has an authority of its own and a certificate for `127.0.0.1` and `localhost`, which are two hosts here. Nobody
//! else believes that authority, so its key and that of the server are no secrets.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use fault_proxy::Origin;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use vidrec::{Dataset, Result, Storage, order::Order};

use crate::common::data_set_server::{Served, epoch, storage};
use crate::common::sample_data_sets;
use crate::common::{self, options, says};
use crate::remote_reading::equal::of_order;

/// Where a request for this path is sent, if that is elsewhere.
type Route = Box<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// A server with or without TLS in front of another one, and the heads of the requests that reached it. Its thread ends with
/// the process.
struct Front {
    address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
    route: Arc<Mutex<Route>>,
}

impl Front {
    fn of(origin: SocketAddr, has_tls: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let route: Arc<Mutex<Route>> = Arc::new(Mutex::new(Box::new(|_| None)));
        let front = Front { address, heads: Arc::default(), route };
        let (heads, route, tls) = (front.heads.clone(), front.route.clone(), has_tls.then(config));
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (heads, route, tls) = (heads.clone(), route.clone(), tls.clone());
                std::thread::spawn(move || match tls {
                    Some(tls) => {
                        let session = rustls::ServerConnection::new(tls).unwrap();
                        answer(&mut rustls::StreamOwned::new(session, client), origin, &heads, &route)
                    }
                    None => answer(&mut { client }, origin, &heads, &route),
                });
            }
        });
        front
    }

    fn url(&self, scheme: &str, host: &str) -> String {
        format!("{scheme}://{host}:{}", self.address.port())
    }

    /// Sends all requests whose path has `part` to the same path of another server.
    fn send(&self, part: &'static str, to: String) {
        *self.route.lock().unwrap() = Box::new(move |path| path.contains(part).then(|| format!("{to}{path}")));
    }

    fn requests(&self) -> Vec<String> {
        std::mem::take(&mut self.heads.lock().unwrap())
    }
}

fn config() -> Arc<rustls::ServerConfig> {
    let certificate = CertificateDer::from(&include_bytes!("tls/server.der")[..]);
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(&include_bytes!("tls/server-key.der")[..]));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    Arc::new(builder.with_no_client_auth().with_single_cert(vec![certificate], key).unwrap())
}

/// Answers one request: sends its client elsewhere, or gives what the origin says.
fn answer(client: &mut (impl Read + Write), origin: SocketAddr, heads: &Mutex<Vec<String>>, route: &Mutex<Route>) {
    let Some(head) = common::head(client) else { return };
    heads.lock().unwrap().push(head.clone());
    let path = head.split(' ').nth(1).unwrap().to_owned();
    let sent = match route.lock().unwrap()(&path) {
        Some(to) => {
            let reply =
                format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            client.write_all(reply.as_bytes())
        }
        None => {
            let mut server = TcpStream::connect(origin).unwrap();
            let asked = head.replacen("\r\n", "\r\nConnection: close\r\n", 1);
            server.write_all(asked.as_bytes()).unwrap();
            std::io::copy(&mut server, client).map(drop)
        }
    };
    // A client that has heard enough closes the connection.
    let _ = sent.and_then(|()| client.flush());
}

/// A data set behind two servers with TLS and one without.
struct Hub {
    served: Served,
    hub: Front,
    cdn: Front,
    plain: Front,
}

impl Hub {
    fn new() -> Self {
        let served = Served::new(sample_data_sets::small(&[6]));
        let front = |has_tls| Front::of(served.server.address(), has_tls);
        let (hub, cdn, plain) = (front(true), front(true), front(false));
        Hub { served, hub, cdn, plain }
    }

    fn open(&self, url: String) -> Result<Dataset> {
        let authority = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/remote_reading/tls/authority.pem");
        let options = [("ca_bundle".to_owned(), authority.to_str().unwrap().to_owned())].into();
        Dataset::open_with(url + "/set", Storage { options, ..storage() })
    }

    /// Reads all of it, and compares it with the local files.
    fn is_whole(&self, url: String) {
        let o = of_order(Order::Sequential, options(3, (32, 24)));
        let set = self.open(url).unwrap_or_else(|e| panic!("{e:#}"));
        assert!(epoch(&set, &o, 0).unwrap() == epoch(&self.served.local(), &o, 0).unwrap());
    }
}

#[test]
fn over_tls_other_hosts_are_followed() {
    let hub = Hub::new();
    hub.is_whole(hub.hub.url("https", "127.0.0.1"));
    assert!(!hub.hub.requests().is_empty());
    for host in ["localhost", "127.0.0.1"] {
        hub.hub.send("", hub.cdn.url("https", host));
        hub.is_whole(hub.hub.url("https", "127.0.0.1"));
        let heads = hub.cdn.requests().concat().to_ascii_lowercase();
        assert!(heads.contains("range: bytes=") && !heads.contains("referer"), "{heads}");
    }
}

#[test]
fn tls_is_never_left() {
    let hub = Hub::new();
    for host in ["127.0.0.1", "localhost"] {
        for part in ["dataset.json", ".vidx", ".rec"] {
            hub.hub.send(part, hub.plain.url("http", host));
            let e = hub.open(hub.hub.url("https", "127.0.0.1")).unwrap_err();
            says(part, &e, &[part, "to a location without TLS", "http://"]);
            assert_eq!(hub.plain.requests(), [""; 0], "nothing is sent in clear");
        }
    }
    // Neither by way of another host.
    hub.hub.send("", hub.cdn.url("https", "localhost"));
    hub.cdn.send("", hub.plain.url("http", "127.0.0.1"));
    assert!(hub.open(hub.hub.url("https", "127.0.0.1")).is_err());
    assert_eq!(hub.plain.requests(), [""; 0]);
}

#[test]
fn a_location_without_tls_is_read_so_from_its_own_host_and_no_other() {
    let hub = Hub::new();
    let other = Front::of(hub.served.server.address(), false);
    hub.plain.send("", other.url("http", "127.0.0.1"));
    hub.is_whole(hub.plain.url("http", "127.0.0.1"));
    assert!(!other.requests().is_empty());
    hub.plain.send("", other.url("http", "localhost"));
    let e = hub.open(hub.plain.url("http", "127.0.0.1")).unwrap_err();
    says("another host", &e, &["to a location without TLS"]);
    assert_eq!(other.requests(), [""; 0]);
    hub.plain.send("", hub.cdn.url("https", "localhost"));
    hub.is_whole(hub.plain.url("http", "127.0.0.1"));
}

#[test]
fn credentials_stay_with_the_host_that_they_are_for() {
    let served = Served::by(sample_data_sets::small(&[6]), Origin::writable);
    let front = || Front::of(served.server.address(), true);
    let (hub, cdn) = (front(), front());
    let authority = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/remote_reading/tls/authority.pem");
    let secrets = [("access_key_id", "AKIAEXAMPLE"), ("secret_access_key", "hunter2"), ("token", "hunter3")];
    let mut options: Vec<(String, String)> = secrets.map(|(k, v)| (k.to_owned(), v.to_owned())).into();
    options.push(("endpoint".to_owned(), hub.url("https", "127.0.0.1")));
    options.push(("region".to_owned(), "us-east-1".to_owned()));
    options.push(("ca_bundle".to_owned(), authority.to_str().unwrap().to_owned()));
    let storage = || Storage { options: options.iter().cloned().collect(), ..storage() };
    // The first folder of the path is the bucket.
    let open = || Dataset::open_with("s3://set", storage());
    assert_eq!(open().unwrap().len(), 6);
    let heads = hub.requests().concat().to_ascii_lowercase();
    assert!(heads.contains("authorization: ") && heads.contains("x-amz-security-token: hunter3"), "{heads}");
    hub.send("", cdn.url("https", "localhost"));
    assert_eq!(open().unwrap().len(), 6);
    let heads = cdn.requests().concat().to_ascii_lowercase();
    assert!(heads.contains("range: bytes="), "{heads}");
    for word in ["authorization", "akiaexample", "hunter", "x-amz", "us-east-1"] {
        assert!(!heads.contains(word), "{word} in {heads}");
    }
}
