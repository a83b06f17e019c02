//! Splits a remote location into its parts, and prints it without secrets.

use std::path::Path;

use object_store::path::Path as Key;

use super::hub;
use crate::store::location;
use vidrec_format::error::{Error, Result};

/// The store of a location, and the object in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    /// `s3://bucket`, `https://host:port`: the part that one client serves.
    pub store: String,
    pub scheme: String,
    /// The part after the store, with percent-encoding undone.
    pub key: Key,
}

/// Checks whether a location can be that of an object.
///
/// # Errors
///
/// The reason why it cannot.
pub fn check_location(location: &Path) -> Result<()> {
    Address::of(location).map(drop)
}

impl Address {
    pub fn of(location: &Path) -> Result<Self> {
        let fault = |what: &str| Error::usage(what.to_owned()).file(location);
        let Some((scheme, rest)) = location::split(location) else {
            return Err(fault("this is not a remote location"));
        };
        if !["s3", "gs", "az", "hf", "https", "http"].contains(&scheme) {
            let known = "one of s3://, gs://, az://, hf://, https://, http://";
            let e = fault("unknown kind of storage").expected(known).found(format!("{scheme}://"));
            return Err(if scheme == "file" { e.help("write a path of this machine without file://") } else { e });
        }
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        if host.is_empty() {
            return Err(fault("the location names no bucket or host"));
        }
        if host.contains('@') {
            let shown = format!("{scheme}://…@{}", rest.rsplit('@').next().unwrap_or_default());
            let e = Error::usage("the location has a user name or password in it").file(shown);
            return Err(e.help("give credentials as storage options or in the environment"));
        }
        if let Some((shown, _)) = rest.split_once(['?', '#']) {
            let e = fault("the location has a query, which the names of the data set's files would also need");
            let e = e.file(format!("{scheme}://{shown}"));
            return Err(e.help("give the location of the folder alone, and give credentials as storage options"));
        }
        let (store, path) = match scheme {
            "hf" => rest.strip_prefix("datasets/").and_then(hub::split).ok_or_else(|| {
                fault("the location names no data set of the Hugging Face Hub")
                    .expected("hf://datasets/OWNER/NAME, with @REVISION if it is not main, in which a slash is %2F")
            })?,
            _ => (format!("{scheme}://{host}"), path),
        };
        let key = Key::from_url_path(path).map_err(|e| fault("this is not a valid location of an object").found(e))?;
        Ok(Address { store, scheme: scheme.to_owned(), key })
    }

    /// The same object at a commit of the Hugging Face Hub.
    pub fn at(&self, commit: &str) -> Self {
        Address { store: hub::at(&self.store, commit), ..self.clone() }
    }
}
