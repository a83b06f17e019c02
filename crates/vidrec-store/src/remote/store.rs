//! The client of one store: which store it is, with which options and credentials.
//!
//! The options take precedence over the environment, and the environment takes precedence over the files of the
//! cloud's own tools. object_store reads these files for Google and Azure; [`aws`](super::aws) reads them for AWS.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::client::HttpConnector;
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::list::PaginatedListStore;
use object_store::multipart::MultipartStore;
use object_store::{ClientConfigKey, ClientOptions, ObjectStore};
use reqwest::header::{AUTHORIZATION, HeaderMap};

use super::authorities::{self, CA_BUNDLE};
use super::aws;
use super::http::Watching;
use super::hub::{self, Hub};
use super::request::Times;
use super::url::Address;
use vidrec_format::error::{Error, Result};

/// How a client connects. [`Link::run`](super::request::Link::run) limits the time of a request. The client does not use
/// HTTP/2, in which all requests would share a connection, because that was slower (arrow-rs-object-store#104).
const CONNECTION: [(ClientConfigKey, &str); 4] = [
    (ClientConfigKey::Timeout, "1 day"),
    (ClientConfigKey::ConnectTimeout, "5 seconds"),
    (ClientConfigKey::Http1Only, "true"),
    (ClientConfigKey::UserAgent, concat!("vidrec/", env!("CARGO_PKG_VERSION"))),
];

/// The interfaces of a store's client, by their use.
#[derive(Clone)]
pub(super) struct Client {
    pub store: Arc<dyn ObjectStore>,
    /// For objects that are written in parts; `None` for web servers, which are read-only.
    pub parts: Option<Arc<dyn MultipartStore>>,
    /// For the objects below a location; `None` for web servers, which have no lists.
    pub lists: Option<Arc<dyn PaginatedListStore>>,
    /// For the commits of revisions, if this is the Hugging Face Hub.
    pub hub: Option<Arc<Hub>>,
}

impl Client {
    fn of<S: ObjectStore + MultipartStore + PaginatedListStore>(store: S) -> Self {
        let store = Arc::new(store);
        Client { store: store.clone(), parts: Some(store.clone()), lists: Some(store), hub: None }
    }
}

/// Makes the client for the store of `address`.
pub(super) fn connect(address: &Address, options: &BTreeMap<String, String>, times: &Times) -> Result<Client> {
    // If a program has installed another provider in this process, TLS works already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let failed = |e: object_store::Error| cannot_connect(address, &e);
    match &*address.scheme {
        "s3" => s3(address, options, times)?.build().map(Client::of).map_err(failed),
        "gs" => gcs(address, options, times)?.build().map(Client::of).map_err(failed),
        "az" => azure(address, options, times)?.build().map(Client::of).map_err(failed),
        "hf" => hub(address, options, times),
        _ => {
            let store = web(address, options, times)?.build().map_err(failed)?;
            Ok(Client { store: Arc::new(store), parts: None, lists: None, hub: None })
        }
    }
}

fn cannot_connect(address: &Address, e: &object_store::Error) -> Error {
    let mut causes = std::iter::successors(Some(e as &(dyn std::error::Error + 'static)), |e| e.source());
    // rustls requires certificates even without TLS.
    if causes.any(|e| e.to_string().contains("No CA certificates")) {
        return Error::usage("this machine has no certificate authorities").file(&address.store).help(
            "install them (ca-certificates), or name a file of them: the storage option ca_bundle, or SSL_CERT_FILE",
        );
    }
    Error::usage("the storage cannot be used with these options").file(&address.store).found(e)
}

fn s3(address: &Address, options: &BTreeMap<String, String>, times: &Times) -> Result<AmazonS3Builder> {
    let key = AmazonS3ConfigKey::Client;
    let given = for_client::<AmazonS3ConfigKey>(address, options)?;
    // Credentials that come half from one place and half from another are useless.
    let has_keys = given.iter().any(|(key, _)| *key == AmazonS3ConfigKey::AccessKeyId);
    let mut builder = if has_keys { aws::without_credentials() } else { AmazonS3Builder::from_env() };
    for (k, value) in CONNECTION {
        builder = builder.with_config(key(k), value);
    }
    builder = builder.with_config(key(ClientConfigKey::ReadTimeout), times.silence());
    for (name, value) in given {
        builder = builder.with_config(name, value);
    }
    if builder.get_config_value(&AmazonS3ConfigKey::DisableBulkDelete).is_none_or(|set| set == "false") {
        // Objects are removed one by one, because not every server can remove several with one request.
        builder = builder.with_config(AmazonS3ConfigKey::DisableBulkDelete, "true");
    }
    let profile = aws::Profile::read()?;
    builder = aws::complete(builder, &profile)?;
    // A user who names an endpoint without TLS wants no TLS.
    let is_plain = |key| builder.get_config_value(&key).is_some_and(|url| url.starts_with("http://"));
    if is_plain(AmazonS3ConfigKey::Endpoint) || is_plain(AmazonS3ConfigKey::S3Endpoint) {
        builder = builder.with_config(key(ClientConfigKey::AllowHttp), "true");
    }
    let connector = watching(options, profile.ca_bundle())?;
    Ok(builder.with_url(&address.store).with_retry(times.retries()).with_http_connector(connector))
}

fn gcs(address: &Address, options: &BTreeMap<String, String>, times: &Times) -> Result<GoogleCloudStorageBuilder> {
    let mut builder = GoogleCloudStorageBuilder::from_env();
    for (k, value) in CONNECTION {
        builder = builder.with_config(GoogleConfigKey::Client(k), value);
    }
    builder = builder.with_config(GoogleConfigKey::Client(ClientConfigKey::ReadTimeout), times.silence());
    for (name, value) in for_client(address, options)? {
        builder = builder.with_config(name, value);
    }
    if builder.get_config_value(&GoogleConfigKey::BaseUrl).is_some_and(|url| url.starts_with("http://")) {
        builder = builder.with_config(GoogleConfigKey::Client(ClientConfigKey::AllowHttp), "true");
    }
    let connector = watching(options, None)?;
    Ok(builder.with_url(&address.store).with_retry(times.retries()).with_http_connector(connector))
}

fn azure(address: &Address, options: &BTreeMap<String, String>, times: &Times) -> Result<MicrosoftAzureBuilder> {
    let mut builder = MicrosoftAzureBuilder::from_env();
    for (k, value) in CONNECTION {
        builder = builder.with_config(AzureConfigKey::Client(k), value);
    }
    builder = builder.with_config(AzureConfigKey::Client(ClientConfigKey::ReadTimeout), times.silence());
    for (name, value) in for_client(address, options)? {
        builder = builder.with_config(name, value);
    }
    if builder.get_config_value(&AzureConfigKey::Endpoint).is_some_and(|url| url.starts_with("http://")) {
        builder = builder.with_config(AzureConfigKey::Client(ClientConfigKey::AllowHttp), "true");
    }
    let connector = watching(options, None)?;
    Ok(builder.with_url(&address.store).with_retry(times.retries()).with_http_connector(connector))
}

fn web(address: &Address, options: &BTreeMap<String, String>, times: &Times) -> Result<HttpBuilder> {
    let mut builder = HttpBuilder::new().with_config(ClientConfigKey::AllowHttp, "true");
    builder = builder.with_config(ClientConfigKey::ReadTimeout, times.silence());
    for (k, value) in CONNECTION {
        builder = builder.with_config(k, value);
    }
    for (name, value) in for_client(address, options)? {
        builder = builder.with_config(name, value);
    }
    let connector = watching(options, None)?;
    Ok(builder.with_url(&address.store).with_retry(times.retries()).with_http_connector(connector))
}

fn hub(address: &Address, options: &BTreeMap<String, String>, times: &Times) -> Result<Client> {
    let failed = |e: object_store::Error| cannot_connect(address, &e);
    let hub::Settings { endpoint, authorization } = hub::Settings::read(options)?;
    let headers = authorization.map(|value| (AUTHORIZATION, value)).into_iter().collect::<HeaderMap>();
    let mut client =
        ClientOptions::new().with_default_headers(headers).with_allow_http(endpoint.starts_with("http://"));
    for (k, value) in CONNECTION {
        client = client.with_config(k, value);
    }
    client = client.with_config(ClientConfigKey::ReadTimeout, times.silence());
    let is_own = |name: &str| hub::OPTIONS.iter().any(|own| own.eq_ignore_ascii_case(name));
    let others = options.iter().filter(|(name, _)| !is_own(name)).map(|(k, v)| (k.clone(), v.clone())).collect();
    for (name, value) in for_client(address, &others)? {
        client = client.with_config(name, value);
    }
    let connector = Watching { is_hub: true, ..watching(options, None)? };
    let hub = Arc::new(Hub::new(connector.connect(&client).map_err(failed)?, &endpoint, &address.store));
    let store = HttpBuilder::new().with_client_options(client).with_url(hub.files());
    let store = store.with_retry(times.retries()).with_http_connector(connector).build().map_err(failed)?;
    Ok(Client { store: Arc::new(store), parts: None, lists: Some(hub.clone()), hub: Some(hub) })
}

/// How requests are made, with the authorities that the options name, or else those of `bundle`.
fn watching(options: &BTreeMap<String, String>, bundle: Option<PathBuf>) -> Result<Watching> {
    let given = options.iter().find(|(name, _)| name.eq_ignore_ascii_case(CA_BUNDLE));
    let path = given.map(|(_, path)| PathBuf::from(path)).or(bundle);
    let authorities = path.as_deref().map(authorities::read).transpose()?.unwrap_or_default();
    Ok(Watching { authorities, is_hub: false })
}

/// The options that object_store knows.
fn for_client<K: std::str::FromStr<Err = object_store::Error>>(
    address: &Address,
    options: &BTreeMap<String, String>,
) -> Result<Vec<(K, String)>> {
    let theirs = options.iter().filter(|(name, _)| !name.eq_ignore_ascii_case(CA_BUNDLE));
    theirs.map(|(name, value)| Ok((parsed(address, name)?, value.clone()))).collect()
}

/// The option of a store that has this name.
fn parsed<K: std::str::FromStr<Err = object_store::Error>>(address: &Address, name: &str) -> Result<K> {
    name.to_ascii_lowercase().parse().map_err(|e| unknown(address, name, e))
}

fn unknown(address: &Address, name: &str, _: object_store::Error) -> Error {
    Error::usage(format!("{}:// has no storage option {name:?}", address.scheme))
        .file(&address.store)
        .help("the names are those of object_store's configuration keys, as in pandas and polars")
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use super::*;

    #[test]
    fn each_kind_of_store_connects_with_options_and_refuses_unknown_ones() {
        for (location, option) in [
            ("s3://bucket/x", ("region", "eu-west-1")),
            ("gs://bucket/x", ("google_skip_signature", "true")),
            ("az://container/x", ("account_name", "me")),
            ("https://host/x", ("connect_timeout", "1 second")),
        ] {
            let address = Address::of(Path::new(location)).unwrap();
            let with = |name: &str, value: &str| {
                let options = [(name.to_owned(), value.to_owned()), ("skip_signature".into(), "true".into())];
                let known = if location.starts_with("https") { &options[..1] } else { &options };
                connect(&address, &known.iter().cloned().collect(), &Times::of_reads(Duration::from_secs(60)))
            };
            with(option.0, option.1).map(drop).unwrap_or_else(|e| panic!("{location}: {e}"));
            let e = with("colour", "hunter2").map(drop).unwrap_err().to_string();
            assert!(
                e.contains("colour") && e.contains(location.split(':').next().unwrap()) && !e.contains("hunter2"),
                "{e}"
            );
        }
    }
}
