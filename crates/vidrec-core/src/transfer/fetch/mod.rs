//! A local copy of a remote data set, proven by its checksums.
//!
//! ```text
//! item      a file of the data set, and the proof of a copy of it
//! transfer  many requests at a time, for one file after another; it resumes from the bytes on the disk
//! ```

mod item;
mod transfer;

use std::fs;
use std::path::Path;

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::dataset::writer;
use crate::progress::{Progress, ProgressFn, tell};
use crate::store::disk::folder;
use crate::store::disk::map::MappedFile;
use crate::store::disk::publication::{Replaced, Staged};
use crate::store::disk::regular_file::{Links, read_if_there};
use crate::store::disk::remove_temporaries;
use crate::store::location::{is_remote, refuse_to_write};
use crate::store::remote::Remote;
use crate::store::storage::{RemoteStats, Storage};
use crate::transfer::both_ways::{listing_of, may_continue, to_continue};
use transfer::{Transfer, require_space};
use vidrec_format::dataset_json::{DatasetJson, FILE_NAME};
use vidrec_format::error::{Error, Result};
use vidrec_format::limits;

pub(crate) use item::{Item, items};

/// Options of [`fetch`](crate::transfer::fetch::fetch()).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FetchOptions {
    /// The options for reading the remote data set.
    pub storage: Storage,
    /// Replace another, existing data set. Off by default: such a data set is an error.
    pub overwrite: bool,
}

/// The report of [`fetch`](crate::transfer::fetch::fetch()). `vidrec fetch --json` prints the same.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct FetchReport {
    /// The folder of the copy.
    pub output: String,
    /// Number of clips.
    pub clips: u64,
    /// Number of frames.
    pub frames: u64,
    /// Number of shards.
    pub shards: u64,
    /// Total size of the record files, indexes and list of failures in bytes.
    pub bytes: u64,
    /// Bytes of `bytes` that were in the folder before, from an interrupted fetch or an earlier copy, and were proven
    /// again.
    pub kept_bytes: u64,
    /// Counters of the network traffic.
    pub remote: RemoteStats,
    /// Parts of a replaced data set that could not be cleaned up, in words. Usually empty. The copy is complete, and
    /// the next write in its folder cleans up.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_behind: Vec<String>,
}

/// Makes a local copy of a remote data set in the folder `out`. `location` is in object storage or on a web server.
///
/// The files of the copy are the same, byte for byte, and their digests are compared with `dataset.json`. The copy
/// appears when it is complete. A fetch that was interrupted, by whatever stopped this process, the network or the disk,
/// leaves its files there, and the same call resumes with them. It proves these files like all others. A fetch that
/// refuses what it gets leaves nothing. Files of an earlier copy are proven and kept, so with
/// [`overwrite`](FetchOptions::overwrite) a fetch brings a copy up to date. An item of `progress` is a byte of the record
/// files.
///
/// [`subset`](crate::dataset::edit::subset) fetches some of the clips.
///
/// ```no_run
/// use vidrec::FetchOptions;
///
/// let report = vidrec::fetch("s3://bucket/train", "train", &FetchOptions::default(), &mut vidrec::no_progress)?;
/// println!("{} clips in {} bytes", report.clips, report.bytes);
/// # Ok::<(), vidrec::Error>(())
/// ```
///
/// # Errors
///
/// [`Usage`](vidrec_format::error::ErrorKind::Usage): `location` is local, there is another data set in `out`, or
/// another process writes there. [`Io`](vidrec_format::error::ErrorKind::Io): the network, the server or the disk
/// failed. [`Format`](vidrec_format::error::ErrorKind::Format): a file does not match `dataset.json`, even after it
/// was fetched a second time.
pub fn fetch(
    location: impl AsRef<Path>,
    out: impl AsRef<Path>,
    options: &FetchOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<FetchReport> {
    let (location, out) = (location.as_ref(), out.as_ref());
    if !is_remote(location) {
        let e = Error::usage("this data set is on this machine, so there is nothing to fetch").file(location);
        return Err(e.help("use it where it is, or copy its folder"));
    }
    refuse_to_write(out)?;
    let is_new = !out.exists();
    let fetched = fetch_all(location, out, options, progress);
    if is_new && fetched.is_err() {
        folder::remove_if_empty(out);
    }
    fetched
}

fn fetch_all(
    location: &Path,
    out: &Path,
    options: &FetchOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<FetchReport> {
    let remote = Remote::new(&options.storage)?;
    let listing = listing_of(&remote.pinned(location)?, "fetches")?;
    let bytes = read_listing(&remote, &listing)?;
    let json = DatasetJson::prove(&bytes).map_err(|e| e.file(&listing))?;
    let lock = writer::lock_with_leftovers(out)?;
    let here = read_if_there(&out.join(FILE_NAME), limits::MAX_LISTING_BYTES, Links::Follow)?;
    let is_same = here.is_some_and(|here| here == bytes);
    let mut replaced = match is_same {
        // The folder has this data set, so missing files are added.
        true => Replaced { files: json.file_names().cloned().collect(), removable: Vec::new() },
        false => writer::replaceable(out, options.overwrite)?,
    };
    let so_far = Progress { total: Some(json.bytes), ..Progress::default() };
    let memory_bytes = options.storage.memory_bytes;
    let mut transfer = Transfer { remote: &remote, dir: out, memory_bytes, progress, so_far, bytes: 0, kept_bytes: 0 };
    let items = items(&listing, &json);
    if options.overwrite {
        replaced.files.extend(json.file_names().cloned());
    }
    writer::remove_leftovers(out, |name| items.iter().any(|item| *item.name == *name))?;
    let mut missing = Vec::new();
    for item in &items {
        if !transfer.has(item)? {
            missing.push(item);
        }
    }
    replaced.check(out, missing.iter().map(|item| &item.name))?;
    transfer.check_space(&missing)?;
    let files = match transfer.run(&missing) {
        Err(e) if may_continue(&e) => return Err(to_continue(e, "fetched")),
        Err(e) => {
            remove_temporaries(out, |name| items.iter().any(|item| *item.name == *name))?;
            return Err(e);
        }
        Ok(files) => files,
    };
    let (all_bytes, kept_bytes) = (transfer.bytes, transfer.kept_bytes);
    let mut left_behind = Vec::new();
    if !(is_same && files.is_empty()) {
        left_behind = Staged::new(out, lock, files, &bytes, replaced.but_for(&json))?.publish()?;
    }
    Ok(FetchReport {
        output: out.display().to_string(),
        clips: json.clips,
        frames: json.frames,
        shards: json.shards.len() as u64,
        bytes: all_bytes,
        kept_bytes,
        remote: remote.stats(),
        left_behind,
    })
}

fn read_listing(remote: &Remote, listing: &Path) -> Result<Vec<u8>> {
    remote.read(listing, limits::MAX_LISTING_BYTES)?.ok_or_else(|| {
        Error::usage("there is no data set here")
            .file(listing.parent().unwrap_or(listing))
            .expected(FILE_NAME)
            .help("check the location: bucket or host, and path")
    })
}

impl Transfer<'_, '_, '_> {
    /// Refuses files that need more room than there is. Bytes that an interrupted fetch left need no more room.
    fn check_space(&self, missing: &[&Item]) -> Result<()> {
        let is_there =
            |item: &&Item| fs::metadata(self.dir.join(format!(".{}.tmp", item.name))).map_or(0, |meta| meta.len());
        let needed = missing.iter().map(|item| item.length.unwrap_or(0).saturating_sub(is_there(item)));
        require_space(self.dir, needed.fold(0, u64::saturating_add))
    }

    /// Whether the folder already contains the file, complete and under its own name.
    fn has(&mut self, item: &Item) -> Result<bool> {
        let path = self.dir.join(&item.name);
        let length = fs::metadata(&path).map_or(None, |meta| meta.is_file().then_some(meta.len()));
        let Some(length) = length.filter(|length| item.length.is_none_or(|listed| listed == *length)) else {
            return Ok(false);
        };
        let (map, mut digest) = (MappedFile::open(&path)?, Sha256::new());
        for part in map.chunks(1 << 20) {
            digest.update(part);
            tell(self.progress, &self.so_far)?;
        }
        if item.prove(&path, digest.finalize().into()).is_err() || map.lost() > 0 {
            return Ok(false);
        }
        self.bytes += length;
        self.kept_bytes += length;
        self.advance(item, length);
        Ok(true)
    }
}
