//! The client of one store: which store it is, with which options and credentials.
//!
//! The options take precedence over the environment, and the environment takes precedence over the files of the
//! cloud's own tools. object_store reads these files for Google and Azure; [`aws`](super::aws) reads them for AWS.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::MicrosoftAzureBuilder;
use object_store::client::HttpConnector;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::http::HttpBuilder;
use object_store::list::PaginatedListStore;
use object_store::multipart::MultipartStore;
use object_store::{BackoffConfig, ClientConfigKey, ClientOptions, ObjectStore, RetryConfig};

use super::aws;
use super::http_client::{CA_BUNDLE, Connector, OPTIONS, authorities};
use super::hub::{self, Hub};
use super::url::Address;
use crate::store::storage::{CONDITIONAL_PUT, Storage};
use vidrec_format::error::{Error, Result};

/// The interfaces of a store's client, by their use.
#[derive(Clone)]
pub(super) struct StoreApi {
    pub store: Arc<dyn ObjectStore>,
    /// For objects that are written in parts; `None` for web servers, which are read-only.
    pub parts: Option<Arc<dyn MultipartStore>>,
    /// For the objects below a location; `None` for web servers, which have no lists.
    pub lists: Option<Arc<dyn PaginatedListStore>>,
    /// For the commits of revisions, if this is the Hugging Face Hub.
    pub hub: Option<Arc<Hub>>,
}

impl StoreApi {
    fn of<S: ObjectStore + MultipartStore + PaginatedListStore>(store: S) -> Self {
        let store = Arc::new(store);
        StoreApi { store: store.clone(), parts: Some(store.clone()), lists: Some(store), hub: None }
    }
}

/// Makes the client for the store of `address`. A request is sent again if the server sends nothing for the time `silence`.
pub(super) fn connect(address: &Address, storage: &Storage, silence: Duration) -> Result<StoreApi> {
    // If a program has installed another provider in this process, TLS works already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let failed = |e: object_store::Error| cannot_connect(address, &e);
    let mut options = storage.options.clone();
    // A publisher reads this one.
    options.retain(|name, value| !(name == CONDITIONAL_PUT && value == "disabled"));
    // A user who names a location or an endpoint without TLS wants no TLS.
    options.entry("allow_http".to_owned()).or_insert_with(|| "true".to_owned());
    options.entry("read_timeout".to_owned()).or_insert_with(|| format!("{} ms", silence.as_millis().max(1)));
    let is_hub = address.scheme == "hf";
    let profile = (address.scheme == "s3").then(aws::Profile::read).transpose()?;
    let of_aws = profile.as_ref().and_then(|_| aws::variable("AWS_CA_BUNDLE"));
    let bundle = take(&mut options, CA_BUNDLE).or(of_aws).map(PathBuf::from);
    let authorities = bundle.as_deref().map(authorities).transpose()?.unwrap_or_default();
    let connector = Connector { authorities, is_hub };
    let url = &address.store;
    macro_rules! build {
        ($builder:expr) => {{
            let builder = $builder.with_url(url).with_retry(retries(storage.timeout)).with_http_connector(connector);
            builder.build().map(StoreApi::of).map_err(failed)
        }};
    }
    match &*address.scheme {
        "s3" => {
            let given = set(AmazonS3Builder::new(), AmazonS3Builder::with_config, address, &options)?;
            let mut builder = set(AmazonS3Builder::from_env(), AmazonS3Builder::with_config, address, &options)?;
            if let Some(profile) = &profile {
                builder = profile.complete(builder, &given)?;
            }
            // Objects are removed one by one, because not every server can remove several with one request.
            build!(builder.with_config(AmazonS3ConfigKey::DisableBulkDelete, "true"))
        }
        "gs" => {
            let builder = GoogleCloudStorageBuilder::from_env();
            build!(set(builder, GoogleCloudStorageBuilder::with_config, address, &options)?)
        }
        "az" => {
            let builder = MicrosoftAzureBuilder::from_env();
            build!(set(builder, MicrosoftAzureBuilder::with_config, address, &options)?)
        }
        _ => {
            let settings = is_hub.then(|| hub::settings(take(&mut options, "endpoint"), take(&mut options, "token")));
            let (endpoint, headers) = settings.transpose()?.unwrap_or_default();
            let client = set(ClientOptions::new(), ClientOptions::with_config, address, &options)?;
            let client = client.with_default_headers(headers);
            let http = is_hub.then(|| connector.connect(&client)).transpose().map_err(failed)?;
            let hub = http.map(|http| Arc::new(Hub { http, endpoint, store: url.clone() }));
            let url = hub.as_ref().map_or_else(|| url.clone(), |hub| hub.files());
            let builder = HttpBuilder::new().with_client_options(client).with_url(url);
            let builder = builder.with_retry(retries(storage.timeout)).with_http_connector(connector);
            let store = builder.build().map_err(failed)?;
            let lists = hub.clone().map(|hub| hub as Arc<dyn PaginatedListStore>);
            Ok(StoreApi { store: Arc::new(store), parts: None, lists, hub })
        }
    }
}

fn cannot_connect(address: &Address, e: &object_store::Error) -> Error {
    // rustls requires certificates even without TLS.
    if format!("{e:?}").contains("No CA certificates") {
        let help =
            "install them (ca-certificates), or name a file of them: the storage option ca_bundle, or SSL_CERT_FILE";
        return Error::usage("this machine has no certificate authorities").file(&address.store).help(help);
    }
    Error::usage("the storage cannot be used with these options").file(&address.store).found(e)
}

/// Removes an option of vidrec's own.
fn take(options: &mut BTreeMap<String, String>, name: &str) -> Option<String> {
    let key = options.keys().find(|key| key.eq_ignore_ascii_case(name))?.clone();
    options.remove(&key)
}

/// Gives a builder the user's options.
fn set<B, K: FromStr + AsRef<str>>(
    mut builder: B,
    with_config: fn(B, K, String) -> B,
    address: &Address,
    options: &BTreeMap<String, String>,
) -> Result<B> {
    for (name, value) in options {
        // Not all of object_store's options of connections exist here.
        let exists = |key: &K| key.as_ref().parse::<ClientConfigKey>().is_err() || OPTIONS.contains(&key.as_ref());
        let Some(key) = name.to_ascii_lowercase().parse().ok().filter(exists) else {
            let e = Error::usage(format!("{}:// has no storage option {name:?}", address.scheme)).file(&address.store);
            return Err(e.help("the names are those of object_store's configuration keys, as in pandas and polars"));
        };
        builder = with_config(builder, key, value.clone());
    }
    Ok(builder)
}

/// The policy by which object_store repeats requests, with a limit for all tries of a request together, without the time
/// for its bytes.
fn retries(timeout: Duration) -> RetryConfig {
    let longest = Duration::from_secs(5).min(timeout / 8).max(Duration::from_millis(1));
    let backoff =
        BackoffConfig { init_backoff: Duration::from_millis(100).min(longest), max_backoff: longest, base: 2.0 };
    RetryConfig { backoff, max_retries: usize::MAX, retry_timeout: timeout }
}
