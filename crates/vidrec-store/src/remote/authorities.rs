//! Certificate authorities beside those of the system.
//!
//! rustls takes the system's authorities from where OpenSSL does, or from the file or folder that `SSL_CERT_FILE` or
//! `SSL_CERT_DIR` names.

use std::path::Path;

use reqwest::Certificate;

use vidrec_format::error::{Error, Result};

/// The storage option that names a file of authorities. AWS's own tools use the same name in their files.
pub(super) const CA_BUNDLE: &str = "ca_bundle";

/// Reads a file of PEM certificates.
pub(super) fn read(path: &Path) -> Result<Vec<Certificate>> {
    let text = std::fs::read(path).map_err(|e| Error::io("read the certificates", path, e).help(HELP))?;
    let found = Certificate::from_pem_bundle(&text);
    let wrong = || Error::usage("there are no certificates in the file").file(path).help(HELP);
    let found = found.map_err(|e| wrong().found(e))?;
    if found.is_empty() { Err(wrong()) } else { Ok(found) }
}

const HELP: &str = "the storage option ca_bundle, or AWS_CA_BUNDLE, names a file of certificates in PEM";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_without_certificates_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ca.pem");
        assert!(read(&path).unwrap_err().to_string().contains("ca.pem"));
        for text in ["", "hunter2", "-----BEGIN PRIVATE KEY-----\naHVudGVyMg==\n-----END PRIVATE KEY-----\n"] {
            std::fs::write(&path, text).unwrap();
            let e = read(&path).unwrap_err().to_string();
            assert!(e.contains("no certificates") && e.contains("ca.pem") && !e.contains("hunter2"), "{e}");
        }
    }
}
