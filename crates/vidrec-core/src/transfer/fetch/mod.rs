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

use crate::dataset::{RecordsDigest, Source, listing, writer};
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
use transfer::{copy_all, require_space};
use vidrec_format::dataset_json::FILE_NAME;
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
    let (listed, json) = listing::read_bytes(&listing, &Source::Remote(remote.clone()))?;
    let lock = writer::lock_with_leftovers(out)?;
    let here = read_if_there(&out.join(FILE_NAME), limits::MAX_LISTING_BYTES, Links::Follow)?;
    let is_same = here.is_some_and(|here| here == listed);
    let mut replaced = match is_same {
        // The folder has this data set, so missing files are added.
        true => Replaced { files: json.file_names().cloned().collect(), removable: Vec::new() },
        false => writer::replaceable(out, options.overwrite)?,
    };
    if options.overwrite {
        replaced.files.extend(json.file_names().cloned());
    }
    let items = items(&listing, &json);
    let is_item = |name: &str| items.iter().any(|item| *item.name == *name);
    writer::remove_leftovers(out, is_item)?;
    let mut so_far = Progress { total: Some(json.bytes), ..Progress::default() };
    let (mut missing, mut kept_bytes) = (Vec::new(), 0);
    for item in &items {
        let Some(length) = length_of_whole(out, item, &mut || tell(progress, &so_far))? else {
            missing.push(item);
            continue;
        };
        kept_bytes += length;
        so_far.done += if item.is_records() { length } else { 0 };
        so_far.bytes = so_far.done;
    }
    replaced.check(out, missing.iter().map(|item| &item.name))?;
    check_space(out, &missing)?;
    let copies = copy_all(&remote, out, &missing, &options.storage, &mut so_far, progress).or_else(|e| {
        if !may_continue(&e) {
            remove_temporaries(out, is_item)?;
        }
        Err(to_continue(e, "fetched"))
    })?;
    let bytes = kept_bytes + copies.iter().map(|copied| copied.bytes).sum::<u64>();
    kept_bytes += copies.iter().map(|copied| copied.kept_bytes).sum::<u64>();
    let files: Vec<_> =
        copies.into_iter().zip(missing).map(|(copied, item)| (copied.file, item.name.clone())).collect();
    let mut left_behind = Vec::new();
    if !(is_same && files.is_empty()) {
        left_behind = Staged::new(out, lock, files, &listed, replaced.but_for(&json))?.publish()?;
    }
    Ok(FetchReport {
        output: out.display().to_string(),
        clips: json.clips,
        frames: json.frames,
        shards: json.shards.len() as u64,
        bytes,
        kept_bytes,
        remote: remote.stats(),
        left_behind,
    })
}

/// Refuses files that need more room than there is. Bytes that an interrupted fetch left need no more room.
fn check_space(dir: &Path, missing: &[&Item]) -> Result<()> {
    let is_there = |item: &&Item| fs::metadata(dir.join(format!(".{}.tmp", item.name))).map_or(0, |meta| meta.len());
    let needed = missing.iter().map(|item| item.length.unwrap_or(0).saturating_sub(is_there(item)));
    require_space(dir, needed.fold(0, u64::saturating_add))
}

/// The length of a file that the folder already contains, complete and under its own name.
fn length_of_whole(dir: &Path, item: &Item, go_on: &mut dyn FnMut() -> Result<()>) -> Result<Option<u64>> {
    let path = dir.join(&item.name);
    let length = fs::metadata(&path).map_or(None, |meta| meta.is_file().then_some(meta.len()));
    let Some(length) = length.filter(|length| item.length.is_none_or(|listed| listed == *length)) else {
        return Ok(None);
    };
    let map = MappedFile::open(&path)?;
    let sha256 = RecordsDigest::default().finish(&map, [0; 32], go_on)?;
    Ok((item.prove(&path, sha256).is_ok() && map.lost() == 0).then_some(length))
}
