//! Servers that send their clients elsewhere: over TLS, with nothing that is meant for another, or not at all.
//!
//! `tls/` has an authority of its own and a certificate for `127.0.0.1` and `localhost`, which are two hosts here. Nobody
//! else believes that authority, so its key and that of the server are no secrets.

use std::sync::Arc;

use fault_proxy::{Fault, Origin, Rule, Server};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use vidrec::{Dataset, Result, Storage, order::Order};

use crate::common::data_set_server::{Served, epoch, storage};
use crate::common::sample_data_sets;
use crate::common::{options, says};
use crate::remote_reading::equal::of_order;

/// A server with or without TLS of what another one serves.
struct Front(Server);

impl Front {
    fn of(served: &Served, has_tls: bool) -> Self {
        let origin = Origin::new(served.folder.path());
        let server = if has_tls { origin.start_with_tls(config()) } else { origin.start("127.0.0.1:0") };
        Front(server.unwrap())
    }

    fn url(&self, scheme: &str, host: &str) -> String {
        format!("{scheme}://{host}:{}", self.0.address().port())
    }

    /// Sends all requests whose path has `part` to the same path of another server.
    fn send(&self, part: &str, to: String) {
        self.0.rules().clear();
        self.0.rules().add(Rule::new(Fault::Redirect(to)).path(part));
    }

    /// The fields of the requests that reached it.
    fn requests(&self) -> Vec<String> {
        self.0.take_log().into_iter().map(|exchange| exchange.fields).collect()
    }
}

fn config() -> rustls::ServerConfig {
    let certificate = CertificateDer::from(&include_bytes!("tls/server.der")[..]);
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(&include_bytes!("tls/server-key.der")[..]));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    builder.with_no_client_auth().with_single_cert(vec![certificate], key).unwrap()
}

fn authority() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/remote_reading/tls/authority.pem").to_owned()
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
        let front = |has_tls| Front::of(&served, has_tls);
        let (hub, cdn, plain) = (front(true), front(true), front(false));
        Hub { served, hub, cdn, plain }
    }

    fn open(&self, url: String) -> Result<Dataset> {
        let options = [("ca_bundle".to_owned(), authority())].into();
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
        let heads = hub.cdn.requests().concat();
        assert!(heads.contains("\"range\": \"bytes=") && !heads.contains("referer"), "{heads}");
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
    let other = Front::of(&hub.served, false);
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
    let Hub { hub, cdn, .. } = &Hub::new();
    let secrets = [("access_key_id", "AKIAEXAMPLE"), ("secret_access_key", "hunter2"), ("token", "hunter3")];
    let mut options: Vec<(String, String)> = secrets.map(|(k, v)| (k.to_owned(), v.to_owned())).into();
    options.push(("endpoint".to_owned(), hub.url("https", "127.0.0.1")));
    options.push(("region".to_owned(), "us-east-1".to_owned()));
    options.push(("ca_bundle".to_owned(), authority()));
    let storage = || Storage { options: options.iter().cloned().collect(), ..storage() };
    // The first folder of the path is the bucket.
    let open = || Dataset::open_with("s3://set", storage());
    assert_eq!(open().unwrap().len(), 6);
    let heads = hub.requests().concat();
    assert!(heads.contains("authorization") && heads.contains("hunter3"), "{heads}");
    hub.send("", cdn.url("https", "localhost"));
    assert_eq!(open().unwrap().len(), 6);
    let heads = cdn.requests().concat();
    assert!(heads.contains("\"range\": \"bytes="), "{heads}");
    for word in ["authorization", "akiaexample", "hunter", "x-amz", "us-east-1"] {
        assert!(!heads.contains(word), "{word} in {heads}");
    }
}
