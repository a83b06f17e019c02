//! Pushes a data set from a local folder to a location.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::place::{Place, PushOptions};
use crate::progress::{Progress, ProgressFn, tell};
use crate::store::disk::private;
use crate::store::disk::regular_file::{Links, read_regular};
use crate::store::location::is_remote;
use crate::store::remote::Bucket;
use crate::store::storage::{RemoteStats, Storage};
use crate::transfer::both_ways::{listing_of, several, to_continue};
use crate::transfer::fetch::{Item, items};
use vidrec_format::dataset_json::DatasetJson;
use vidrec_format::error::{Error, Hint, Result};
use vidrec_format::limits;

/// The number of files at a time. A long file has several requests at a time by itself.
const FILES: usize = 4;

/// Options of [`write_remote`](crate::transfer::upload::write_remote).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RemoteOutput {
    /// See [`PushOptions::storage`].
    pub storage: Storage,
    /// A local folder with room for the whole output. The output is written first to a folder inside it that no other
    /// user can enter. Default `None`: `TMPDIR`, or else the user's cache folder (`$XDG_CACHE_HOME/vidrec`,
    /// `~/.cache/vidrec`).
    pub scratch: Option<PathBuf>,
    /// See [`PushOptions::overwrite`].
    pub overwrite: bool,
    /// See [`PushOptions::only_publisher`].
    pub only_publisher: bool,
}

impl RemoteOutput {
    /// The folder in which the output is written first: [`scratch`](Self::scratch), or its default.
    pub fn scratch_folder(&self) -> PathBuf {
        self.scratch.clone().unwrap_or_else(private::for_scratch)
    }

    pub(super) fn push(&self) -> PushOptions {
        let RemoteOutput { storage, overwrite, only_publisher, .. } = self.clone();
        PushOptions { storage, overwrite, only_publisher }
    }
}

/// The report of [`push`](crate::transfer::upload::push). `vidrec push --json` prints the same.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct PushReport {
    /// The location of the data set.
    pub output: String,
    /// Number of clips.
    pub clips: u64,
    /// Number of frames.
    pub frames: u64,
    /// Number of shards.
    pub shards: u64,
    /// Total size of the record files, indexes and list of failures in bytes.
    pub bytes: u64,
    /// Bytes of `bytes` that were at the location before, from an interrupted push or another data set.
    pub kept_bytes: u64,
    /// Whether the location had this data set already, so that there was nothing to do.
    pub found: bool,
    /// Objects of a replaced data set that were removed.
    pub removed: u64,
    /// Steps that failed after the data set was published.
    pub notes: Vec<String>,
    /// Counters of requests, retries and so on.
    pub remote: RemoteStats,
}

/// Copies the data set in the folder `set` to `location`, in object storage.
///
/// All objects are the same as the files, byte for byte. While a file is read for its upload, its digest is compared
/// with `dataset.json`. The `dataset.json` comes last, so the data set appears in one step, when it is complete. A
/// push that was interrupted for any reason leaves objects that no `dataset.json` lists. The same call finds them by
/// their names, which contain digits of their digests, and resumes. An item of `progress` is a byte.
///
/// If two processes push to the same location at the same time, one of them succeeds, and the other gets an error.
/// With [`overwrite`](PushOptions::overwrite), an existing data set is replaced in one step. Then the objects that
/// only the old one had are removed. Readers that have the old data set open find them missing.
///
/// ```no_run
/// use vidrec::PushOptions;
///
/// let report = vidrec::push("train", "s3://bucket/train", &PushOptions::default(), &mut vidrec::no_progress)?;
/// println!("{} clips in {} bytes", report.clips, report.bytes);
/// # Ok::<(), vidrec::Error>(())
/// ```
///
/// # Errors
///
/// [`Usage`](vidrec_format::error::ErrorKind::Usage): `set` is remote; `location` is local or on a web server; there
/// is another data set; the store does not support conditional writes, and
/// [`only_publisher`](PushOptions::only_publisher) does not say that this does no harm.
/// [`Io`](vidrec_format::error::ErrorKind::Io): the network, the server or the disk failed.
/// [`Format`](vidrec_format::error::ErrorKind::Format): a file does not match `dataset.json`. Then nothing is
/// published.
pub fn push(
    set: impl AsRef<Path>,
    location: impl AsRef<Path>,
    options: &PushOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<PushReport> {
    let (path, location) = (set.as_ref(), location.as_ref());
    if !is_remote(location) {
        let e = Error::usage("this is a local folder, but vidrec pushes data sets only to object storage");
        return Err(e.file(location).help("copy the folder, or push to s3://, gs:// or az://"));
    }
    if is_remote(path) {
        let e = Error::usage("vidrec can push only data sets on this machine").file(path);
        return Err(e.help("fetch it first"));
    }
    let listing = listing_of(path, "pushes")?;
    let bytes = read_regular(&listing, limits::MAX_LISTING_BYTES, Links::Follow)?;
    let json = DatasetJson::prove(&bytes).map_err(|e| e.file(&listing))?;
    let files = items(&listing, &json).into_iter().map(LocalFile::of).collect::<Result<Vec<_>>>()?;
    let all_bytes = files.iter().map(|file| file.bytes).sum();
    let place = Place::open(location, options)?;
    let (found, mut kept_bytes) = (place.has(&bytes), all_bytes);
    let mut so_far = Progress { total: Some(all_bytes), ..Progress::default() };
    if found {
        (so_far.done, so_far.bytes) = (all_bytes, all_bytes);
        tell(progress, &so_far)?;
    } else {
        place.check()?;
        let upload = |number: usize, advance: &dyn Fn(u64) -> Result<()>| files[number].upload(&place.bucket, advance);
        let kept = several(files.len(), FILES, &mut so_far, progress, upload);
        kept_bytes = kept.map_err(|e| to_continue(e, "uploaded"))?.iter().sum();
        place.commit(&bytes).map_err(|e| to_continue(e, "uploaded"))?;
    }
    let (removed, notes) = place.tidy(&json);
    Ok(PushReport {
        output: location.display().to_string(),
        clips: json.clips,
        frames: json.frames,
        shards: json.shards.len() as u64,
        bytes: all_bytes,
        kept_bytes,
        found,
        removed,
        notes,
        remote: place.bucket.stats(),
    })
}

/// A file of a local data set.
struct LocalFile {
    item: Item,
    bytes: u64,
}

impl LocalFile {
    /// Checks that a listed file exists and has its length.
    fn of(item: Item) -> Result<Self> {
        let path = &item.location;
        let bytes = fs::metadata(path).map_err(|e| Error::io("open the file", path, e).hint(Hint::Verify))?.len();
        item.check_length(bytes).map_err(|e| e.hint(Hint::Verify))?;
        Ok(LocalFile { item, bytes })
    }

    /// Uploads the file, and compares its SHA-256 with `dataset.json` meanwhile. Returns how many of its bytes were at the
    /// location already.
    fn upload(&self, bucket: &Bucket, advance: &dyn Fn(u64) -> Result<()>) -> Result<u64> {
        let LocalFile { item, bytes } = self;
        // An object whose name is unique to its contents, and that has its length, is this file.
        if item.has_digits() && bucket.look(&item.name)? == Some(*bytes) {
            return advance(*bytes).map(|()| *bytes);
        }
        let prove = |sha256| item.prove(&item.location, sha256).map_err(|e| e.hint(Hint::Verify));
        bucket.upload(&item.name, &item.location, &prove, &mut |bytes| advance(bytes)).map(|()| 0)
    }
}
