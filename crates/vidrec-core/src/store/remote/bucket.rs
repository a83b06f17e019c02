//! A writable folder in object storage. Nothing here lists or renames objects.
//!
//! The answer to a request may be lost although the server carried the request out. A request that replaces or
//! removes an object is then simply repeated. A conditional request is refused the second time, because the first one
//! changed the object. A writer that is refused therefore reads the object, and may find what it wrote itself.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use object_store::{GetOptions, ObjectMeta, ObjectStoreExt, PutMode, PutPayload, UpdateVersion};

use super::failure::Kind;
use super::pending::Pending;
use super::remote::Remote;
use super::request::Part;
use super::request::{FetchError, Operation, Request, SLOWEST_BYTES_PER_SECOND, StoreClient, if_found};
use super::url::Address;
use crate::store::storage::RemoteStats;
use crate::store::storage::Storage;
use vidrec_format::error::{Error, Result};

/// The number of tries of a conditional write when other writers interfere.
const CONFLICTS: u64 = 8;

/// The object that is used to probe what a store supports.
const PROBE: &str = ".vidrec-probe";
/// The number of probes of a store.
const PROBES: u32 = 4;

/// A folder in object storage.
#[derive(Clone, Debug)]
pub struct Bucket {
    location: PathBuf,
    pub(super) address: Address,
    pub(super) remote: Arc<Remote>,
}

/// The identity of one version of an object.
pub type Tag = UpdateVersion;

fn tag_of(meta: &ObjectMeta) -> Tag {
    Tag { e_tag: meta.e_tag.clone(), version: meta.version.clone() }
}

impl Bucket {
    /// Opens a folder in object storage. It sends no request yet.
    pub fn open(location: &Path, storage: &Storage) -> Result<Self> {
        let address = Address::of(location)?;
        let (what, help) = match &*address.scheme {
            "http" | "https" => ("web servers are read-only", "write to a folder, to s3://, gs:// or az://"),
            "hf" => (
                "vidrec does not write to the Hugging Face Hub",
                "write to a folder, and upload it with `hf upload OWNER/NAME FOLDER --repo-type dataset`",
            ),
            _ => ("", ""),
        };
        if !what.is_empty() {
            return Err(Error::usage(what).file(location).help(help));
        }
        // A server may need long for what it is sent.
        let remote = Remote::with(&Storage { cache: None, ..storage.clone() }, storage.timeout)?;
        let bucket = Bucket { location: location.to_owned(), address, remote };
        bucket.client()?;
        Ok(bucket)
    }

    /// The location of the folder.
    pub fn location(&self) -> &Path {
        &self.location
    }

    /// The location of an object, for errors.
    pub fn path(&self, name: &str) -> PathBuf {
        self.location.join(name)
    }

    /// Asks whether an object exists. Returns its length.
    pub fn look(&self, name: &str) -> Result<Option<u64>> {
        let meta = self.run(name, Operation::Read, 0, |client, request| async move { client.look(&request).await })?;
        Ok(meta.map(|meta| meta.size))
    }

    /// Reads a whole object of at most `most` bytes. `None` if it does not exist.
    pub fn read(&self, name: &str, most: u64) -> Result<Option<(Vec<u8>, Tag)>> {
        self.run(name, Operation::Read, 0, move |client, request| async move {
            let found = if_found(client.fetch(&request, Part::Whole(most), None).await)?;
            Ok(found.map(|(bytes, meta)| (bytes, tag_of(&meta))))
        })
    }

    /// Reads a range of an object, up to the object's end.
    pub fn read_range(&self, name: &str, start: u64, length: u64) -> Result<Vec<u8>> {
        let end = start.saturating_add(length);
        if length == 0 {
            return Ok(Vec::new());
        }
        let (bytes, _) = self.run(name, Operation::Read, length, move |client, request| async move {
            client.fetch(&request, Part::Range(start..end), None).await
        })?;
        Ok(bytes)
    }

    /// Writes an object, and replaces an existing one.
    pub fn put(&self, name: &str, bytes: Vec<u8>) -> Result<()> {
        let size = bytes.len() as u64;
        let payload = PutPayload::from(bytes);
        self.run(name, Operation::Write, size, |client, request| async move {
            client.put(&request, &payload, PutMode::Overwrite).await.map(drop)
        })
    }

    /// Replaces the version `of` of an object. With `None`, writes an object if there is none of this name. Returns whether
    /// the object now has these bytes. If not, that version no longer exists, or another object has the name.
    pub fn put_if(&self, name: &str, bytes: Vec<u8>, of: Option<Tag>) -> Result<bool> {
        let size = bytes.len() as u64;
        let payload = PutPayload::from(bytes);
        let put = |client: Arc<StoreClient>, request| async move { client.put_if(&request, &payload, of).await };
        self.run(name, Operation::Write, size, put)
    }

    /// Removes an object, if it exists.
    pub fn remove(&self, name: &str) -> Result<()> {
        self.run(name, Operation::Remove, 0, |client, request| async move {
            let store = &client.api.store;
            if_found(client.run(&request, || store.delete(&request.key)).await).map(drop)
        })
    }

    /// Probes whether the store supports conditional writes. It must refuse a second object of the same name, and a
    /// replacement of a version that does not exist.
    ///
    /// The probe object always has the same name, so that the next process removes what a killed process left.
    /// Another publisher that probes at the same time can make a store look as if it lacked this support. The
    /// opposite cannot happen. So a store is probed several times before it counts as lacking.
    pub fn has_conditions(&self) -> Result<bool> {
        for _ in 0..PROBES {
            let takes_all = self.run(PROBE, Operation::Write, 0, |client, request| async move {
                let no_version = Tag { e_tag: Some("\"0\"".into()), version: Some("1".into()) };
                let put = |text: &'static str, mode| {
                    let (client, request) = (client.clone(), request.clone());
                    async move { client.put(&request, &PutPayload::from_static(text.as_bytes()), mode).await }
                };
                let probed: Result<bool, FetchError> = async {
                    put("the first object", PutMode::Overwrite).await?;
                    let takes_second = put("the second one", PutMode::Create).await?;
                    Ok(takes_second || put("a third one", PutMode::Update(no_version)).await?)
                }
                .await;
                match probed {
                    // The store says that it knows no conditions.
                    Err(e) if e.is(Kind::Unsupported) => Ok(None),
                    probed => probed.map(Some),
                }
            });
            let removed = self.remove(PROBE);
            let takes_all = takes_all?;
            removed?;
            if takes_all != Some(true) {
                return Ok(takes_all.is_some());
            }
        }
        Ok(false)
    }

    /// Removes the object of [`has_conditions`](Self::has_conditions), if a killed process left it.
    pub fn remove_probe(&self) -> Result<()> {
        if self.look(PROBE)?.is_some() { self.remove(PROBE) } else { Ok(()) }
    }

    /// Writes an object and removes it, to find out what is wrong before the work begins.
    pub fn try_to_write(&self) -> Result<()> {
        self.put(PROBE, b"vidrec tries whether it may write here".to_vec())?;
        self.remove(PROBE)
    }

    /// Counters of requests and bytes so far.
    pub fn stats(&self) -> RemoteStats {
        self.remote.stats()
    }

    pub(super) fn client(&self) -> Result<Arc<StoreClient>> {
        self.remote.client(&self.address)
    }

    pub(super) fn request(&self, name: &str, operation: Operation, bytes: u64) -> Result<Request> {
        let location = self.path(name);
        let key = Address::of(&location)?.key;
        Ok(Request { operation, location, key, bytes })
    }

    /// Makes requests about an object, and waits for their result.
    fn run<T, F>(
        &self,
        name: &str,
        operation: Operation,
        bytes: u64,
        work: impl FnOnce(Arc<StoreClient>, Request) -> F,
    ) -> Result<T>
    where
        T: Clone + Send + Sync + 'static,
        F: Future<Output = Result<T, FetchError>> + Send + 'static,
    {
        let request = self.request(name, operation, bytes)?;
        let location = request.location.clone();
        let pending = Pending::start(work(self.client()?, request))?;
        self.wait(&pending, bytes, None).map_err(|e| if e.path().is_none() { e.file(location) } else { e })
    }

    /// Waits for requests that transfer `bytes` bytes.
    pub(super) fn wait<T: Clone + Send + Sync + 'static>(
        &self,
        pending: &Pending<T>,
        bytes: u64,
        tick: Option<&mut dyn FnMut() -> Result<()>>,
    ) -> Result<T> {
        // Beyond the patience for every request, this allows time for the bytes, and for reads of an object that was
        // in the way.
        let longer = self.remote.patience().saturating_mul(2);
        let longer = longer.saturating_add(Duration::from_secs(bytes / SLOWEST_BYTES_PER_SECOND * 2));
        self.remote.wait_for(pending, longer, tick)
    }
}

impl StoreClient {
    pub(super) async fn look(&self, request: &Request) -> Result<Option<ObjectMeta>, FetchError> {
        let store = &self.api.store;
        let head = || GetOptions { head: true, ..GetOptions::default() };
        if_found(self.run(request, || async { Ok(store.get_opts(&request.key, head()).await?.meta) }).await)
    }

    pub(super) async fn put(&self, request: &Request, payload: &PutPayload, mode: PutMode) -> Result<bool, FetchError> {
        let store = &self.api.store;
        let has_condition = mode != PutMode::Overwrite;
        self.run(request, || async {
            match store.put_opts(&request.key, payload.clone(), mode.clone().into()).await {
                // A conflict with writes of others also ends here, even if none of these succeeded.
                Err(object_store::Error::AlreadyExists { .. } | object_store::Error::Precondition { .. })
                    if has_condition =>
                {
                    Ok(false)
                }
                other => Ok(other.map(|_| true)?),
            }
        })
        .await
    }

    /// Replaces the version `of` of an object. With `None`, it creates the object if there is none.
    async fn put_if(&self, request: &Request, payload: &PutPayload, of: Option<Tag>) -> Result<bool, FetchError> {
        let mode = of.clone().map_or(PutMode::Create, PutMode::Update);
        for tries in 1..=CONFLICTS {
            if self.put(request, payload, mode.clone()).await? {
                return Ok(true);
            }
            let there = self.look(&Request { operation: Operation::Read, bytes: 0, ..request.clone() }).await?;
            if let Some(found) = &there
                && found.size == payload.content_length() as u64
                && self.has(request, payload, found.size).await?
            {
                return Ok(true);
            }
            if there.as_ref().map(tag_of) != of {
                return Ok(false);
            }
            tokio::time::sleep(Duration::from_millis(50 << tries)).await;
        }
        let what = "the server keeps refusing the write because of other writers, although nobody wrote the object";
        Err(request.failed(what, "try again later", CONFLICTS))
    }

    /// Whether an object has these bytes.
    async fn has(&self, request: &Request, payload: &PutPayload, most: u64) -> Result<bool, FetchError> {
        let request = Request { operation: Operation::Read, ..request.clone() };
        let found = if_found(self.fetch(&request, Part::Whole(most), None).await)?;
        Ok(found.is_some_and(|(bytes, _)| payload.iter().flat_map(|chunk| chunk.iter()).eq(&bytes)))
    }
}
