//! Builds the HTTP client that object_store's options describe, except that it follows no redirects, and reads the
//! certificate authorities that it trusts beside those of the system.
//!
//! object_store accepts a client from outside, but offers none that asks before it follows a redirect.
//!
//! rustls takes the system's authorities from where OpenSSL does, or from the file or folder that `SSL_CERT_FILE` or
//! `SSL_CERT_DIR` names.

use std::path::Path;
use std::sync::Arc;

use object_store::client::ClientConfigKey as Key;
use object_store::{ClientOptions, Error, Result};
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, ClientBuilder, Proxy};

use super::addresses::Names;
use vidrec_format::error;

/// The storage option that names a file of authorities. AWS's own tools use the same name in their files.
pub(super) const CA_BUNDLE: &str = "ca_bundle";

/// The options of connections that exist.
pub(super) const OPTIONS: [&str; 5] =
    ["allow_http", "allow_invalid_certificates", "connect_timeout", "proxy_url", "read_timeout"];

/// Builds a client. Its callers limit the time of a whole request. It does not use HTTP/2, in which all requests would
/// share a connection, because that was slower (arrow-rs-object-store#104).
pub(super) fn client(options: &ClientOptions, authorities: &[Certificate], names: Names) -> Result<Client> {
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

fn failed(e: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::Generic { store: "HTTP client", source: e.into() }
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
    use super::*;

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
