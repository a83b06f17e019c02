//! The objects below a location, a page at a time.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use object_store::ObjectMeta;
use object_store::list::{PaginatedListOptions, PaginatedListStore};

use super::pending::Pending;
use super::remote::Remote;
use super::request::Version;
use super::request::{Request, StoreClient};
use super::url::Address;
use crate::store::storage::Storage;
use vidrec_format::error::{Error, Result};

/// An object below a location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedObject {
    /// Its key, relative to the location.
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// Its ETag, or else the time of its last change, as [`RemoteFile::version`](super::RemoteFile::version) has it.
    pub version: String,
}

/// A list of the objects below a location, in the order of their keys or, if the store keeps to none, of its server.
pub struct Listing {
    remote: Arc<Remote>,
    lists: Arc<dyn PaginatedListStore>,
    location: PathBuf,
    address: Address,
    /// The object after which the list begins.
    after: Option<String>,
    /// Where the next page begins; `None` before the first one.
    token: Option<String>,
    ended: bool,
}

impl Listing {
    /// Begins a list of the objects below `location` behind the object `after`, without a request. A server that
    /// cannot begin there begins with the first object.
    ///
    /// # Errors
    ///
    /// [`Usage`](vidrec_format::error::ErrorKind::Usage): the location is on a web server, which has no lists.
    pub fn begin(location: &Path, storage: &Storage, after: Option<&str>) -> Result<Self> {
        let address = Address::of(location)?;
        let remote = Remote::new(&Storage { cache: None, ..storage.clone() })?;
        let Some(lists) = remote.client(&address)?.api.lists.clone() else {
            let e = Error::usage("web servers do not list their files").file(location);
            return Err(e.help("name the videos in a manifest on this machine"));
        };
        let after = after.map(|name| below(&address) + name);
        Ok(Listing { remote, lists, location: location.to_owned(), address, after, token: None, ended: false })
    }

    /// Returns the next objects, about a thousand; `None` at the end of the list.
    ///
    /// # Errors
    ///
    /// The request failed, or a key has empty, `.` or `..` parts, which no location can name.
    pub fn next_page(&mut self) -> Result<Option<Vec<ListedObject>>> {
        if self.ended {
            return Ok(None);
        }
        let client = self.remote.client(&self.address)?;
        // The Hub lists folders before files, and no repository has more files than fit into memory.
        if client.api.hub.is_some() {
            let mut all = Vec::new();
            while !self.ended {
                all.append(&mut self.page(&client)?);
            }
            all.sort_unstable_by(|a, b| a.name.cmp(&b.name));
            return Ok(Some(all));
        }
        self.page(&client).map(Some)
    }

    fn page(&mut self, client: &Arc<StoreClient>) -> Result<Vec<ListedObject>> {
        let prefix = below(&self.address);
        let request = Request::read(&self.location, &self.address.key, 0);
        let options =
            PaginatedListOptions { offset: self.after.clone(), page_token: self.token.take(), ..Default::default() };
        let (client, lists, asked) = (client.clone(), self.lists.clone(), prefix.clone());
        let found = Pending::start(async move {
            let asked = Some(&*asked).filter(|prefix| !prefix.is_empty());
            let found = client.run(&request, || lists.list_paginated(asked, options.clone())).await?;
            Ok((found.result.objects, found.page_token))
        })?;
        let (objects, token) = self.remote.wait(&found)?;
        self.ended = token.is_none();
        self.token = token;
        Ok(objects.into_iter().filter_map(|meta| listed(meta, &prefix)).collect())
    }
}

/// The start of the keys of all objects below an address.
fn below(address: &Address) -> String {
    let folder = address.key.as_ref();
    if folder.is_empty() { String::new() } else { format!("{folder}/") }
}

fn listed(meta: ObjectMeta, prefix: &str) -> Option<ListedObject> {
    let Version { length, tag } = Version::of(&meta);
    // Azure's lists have tags without the quotation marks that its answers have (RFC 9110, section 8.8.3).
    let version = if meta.e_tag.is_some() && !tag.ends_with('"') { format!("\"{tag}\"") } else { tag };
    // The object that stands for the folder itself is not below it.
    let name = meta.location.as_ref().strip_prefix(prefix)?.to_owned();
    Some(ListedObject { name, bytes: length, version })
}
