//! Builds the HTTP client that object_store's options describe, except that it follows no redirects.
//!
//! object_store accepts a client from outside, but offers none that asks before it follows a redirect. Therefore this
//! restates `object_store::ClientOptions::client`.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use object_store::client::ClientConfigKey as Key;
use object_store::{ClientOptions, Error, Result};
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, ClientBuilder, NoProxy, Proxy};

use super::addresses::{Guarded, Names};

/// Builds a client. `guarded` holds names that must not lead to private addresses. It is given for the client that
/// goes where redirects lead, which sends no headers of the user.
pub(super) fn client(
    options: &ClientOptions,
    authorities: &[Certificate],
    guarded: Option<&Guarded>,
) -> Result<Client> {
    let options = Options(options);
    let mut builder = ClientBuilder::new().redirect(Policy::none()).referer(false);
    // Compressed answers would differ from the objects in length.
    builder = builder.no_gzip().no_brotli().no_zstd().no_deflate();
    builder = options.times(builder)?;
    builder = options.version(builder)?;
    builder = options.proxy(builder)?;
    if let Some(agent) = options.get(Key::UserAgent) {
        builder = builder.user_agent(agent);
    }
    if let (Some(headers), None) = (options.0.get_default_headers(), guarded) {
        builder = builder.default_headers(headers.clone());
    }
    let authorities = authorities.iter().cloned();
    builder = match options.is(Key::NoSystemCertificates) {
        true => builder.tls_certs_only(authorities),
        false => builder.tls_certs_merge(authorities),
    };
    if options.is(Key::AllowInvalidCertificates) {
        builder = builder.danger_accept_invalid_certs(true);
    }
    if options.is(Key::RandomizeAddresses) || guarded.is_some() {
        builder = builder.dns_resolver(Arc::new(Names { guarded: guarded.cloned().unwrap_or_default() }));
    }
    // Other code checks each redirect before it is followed.
    builder.https_only(guarded.is_none() && !options.is(Key::AllowHttp)).build().map_err(failed)
}

struct Options<'a>(&'a ClientOptions);

impl Options<'_> {
    fn get(&self, key: Key) -> Option<String> {
        self.0.get_config_value(&key)
    }

    fn is(&self, key: Key) -> bool {
        self.get(key).is_some_and(|value| matches!(&*value.to_ascii_lowercase(), "1" | "true" | "on" | "yes" | "y"))
    }

    fn duration(&self, key: Key) -> Result<Option<Duration>> {
        self.get(key).map(|value| humantime::parse_duration(&value).map_err(|_| wrong(key, &value))).transpose()
    }

    fn number<T: FromStr>(&self, key: Key) -> Result<Option<T>> {
        self.get(key).map(|value| value.parse().map_err(|_| wrong(key, &value))).transpose()
    }

    fn times(&self, mut builder: ClientBuilder) -> Result<ClientBuilder> {
        if let Some(time) = self.duration(Key::Timeout)? {
            builder = builder.timeout(time);
        }
        if let Some(time) = self.duration(Key::ConnectTimeout)? {
            builder = builder.connect_timeout(time);
        }
        if let Some(time) = self.duration(Key::ReadTimeout)? {
            builder = builder.read_timeout(time);
        }
        if let Some(time) = self.duration(Key::PoolIdleTimeout)? {
            builder = builder.pool_idle_timeout(time);
        }
        if let Some(most) = self.number(Key::PoolMaxIdlePerHost)? {
            builder = builder.pool_max_idle_per_host(most);
        }
        Ok(builder)
    }

    fn version(&self, mut builder: ClientBuilder) -> Result<ClientBuilder> {
        if self.is(Key::Http1Only) {
            builder = builder.http1_only();
        }
        if self.is(Key::Http2Only) {
            builder = builder.http2_prior_knowledge();
        }
        if let Some(time) = self.duration(Key::Http2KeepAliveInterval)? {
            builder = builder.http2_keep_alive_interval(time);
        }
        if let Some(time) = self.duration(Key::Http2KeepAliveTimeout)? {
            builder = builder.http2_keep_alive_timeout(time);
        }
        if let Some(size) = self.number::<u32>(Key::Http2MaxFrameSize)? {
            builder = builder.http2_max_frame_size(size);
        }
        Ok(builder.http2_keep_alive_while_idle(self.is(Key::Http2KeepAliveWhileIdle)))
    }

    fn proxy(&self, mut builder: ClientBuilder) -> Result<ClientBuilder> {
        let Some(url) = self.get(Key::ProxyUrl) else { return Ok(builder) };
        let mut proxy = Proxy::all(url).map_err(failed)?;
        if let Some(certificate) = self.get(Key::ProxyCaCertificate) {
            let certificate = Certificate::from_pem(certificate.as_bytes()).map_err(failed)?;
            builder = builder.tls_certs_merge(std::iter::once(certificate));
        }
        if let Some(excludes) = self.get(Key::ProxyExcludes) {
            proxy = proxy.no_proxy(NoProxy::from_string(&excludes));
        }
        Ok(builder.proxy(proxy))
    }
}

fn failed(e: reqwest::Error) -> Error {
    Error::Generic { store: "HTTP client", source: Box::new(e) }
}

fn wrong(key: Key, value: &str) -> Error {
    let text = format!("the storage option {} cannot be {value:?}", key.as_ref());
    Error::Generic { store: "HTTP client", source: text.into() }
}
