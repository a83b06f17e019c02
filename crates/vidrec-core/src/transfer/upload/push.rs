//! Pushes a data set from a local folder to a location.

use std::fs;
use std::path::{Path, PathBuf};

use super::meta::upload_meta;
use super::options::{PushOptions, PushReport};
use super::place::Place;
use crate::dataset::{Io, Source, listing};
use crate::progress::{Progress, ProgressFn};
use crate::store::location::is_remote;
use crate::store::remote::Bucket;
use crate::transfer::both_ways::{listing_of, several, to_continue};
use crate::transfer::fetch::{Item, items};
use vidrec_format::dataset_json::DatasetJson;
use vidrec_format::error::{Error, Hint, Result};

/// Copies the data set in the folder `set` to `location`, in object storage.
///
/// All objects are the same as the files, byte for byte. While a file is read for its upload, its digest is compared
/// with `dataset.json`. The `dataset.json` comes last, so the data set appears in one step, when it is complete. A
/// push that was interrupted for any reason leaves objects that no `dataset.json` lists. The same call finds them by
/// their names, which contain digits of their digests, and resumes. An item of `progress` is a byte.
///
/// If two processes push to the same location at the same time, one of them succeeds, and the other gets an error.
/// The folder `meta` of a data set that LeRobot reads is uploaded before, and replaces the one there.
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
/// is another data set; the store does not support conditional writes, and its options do not say that this does no harm
/// ([`Storage::options`](crate::store::storage::Storage::options)).
/// [`Io`](vidrec_format::error::ErrorKind::Io): the network, the server or the disk failed.
/// [`Format`](vidrec_format::error::ErrorKind::Format): a file does not match `dataset.json`. Then nothing is
/// published.
pub fn push(
    set: impl AsRef<Path>,
    location: impl AsRef<Path>,
    options: &PushOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<PushReport> {
    let location = location.as_ref();
    if !is_remote(location) {
        let e = Error::usage("this is a local folder, but vidrec pushes data sets only to object storage");
        return Err(e.file(location).help("copy the folder, or push to s3://, gs:// or az://"));
    }
    let set = LocalSet::open(set.as_ref())?;
    let place = Place::open(location, options)?;
    let bytes = set.files.iter().map(|(_, bytes)| bytes).sum();
    let found = place.has(&set.bytes);
    let (files, done) = if found { (&[][..], bytes) } else { (&set.files[..], 0) };
    if !found {
        place.check()?;
    }
    let mut so_far = Progress { done, total: Some(bytes), ..Progress::default() };
    let upload = |number: usize, advance: &dyn Fn(u64) -> Result<()>| upload(&files[number], &place.bucket, advance);
    let kept = several(files.len(), FILES, &mut so_far, progress, upload).map_err(|e| to_continue(e, "uploaded"))?;
    upload_meta(&set.folder, &place.bucket).map_err(|e| to_continue(e, "uploaded"))?;
    if !found {
        place.commit(&set.bytes).map_err(|e| to_continue(e, "uploaded"))?;
    }
    let mut report = PushReport {
        output: location.display().to_string(),
        clips: set.json.clips,
        frames: set.json.frames,
        shards: set.json.shards.len() as u64,
        bytes,
        kept_bytes: done + kept.iter().sum::<u64>(),
        found,
        ..PushReport::default()
    };
    // This also tidies up after an earlier push that was killed before it did.
    place.tidy(&set.json, &mut report);
    report.remote = place.bucket.stats();
    Ok(report)
}

/// A data set in a local folder.
struct LocalSet {
    folder: PathBuf,
    /// The bytes of its `dataset.json`.
    bytes: Vec<u8>,
    json: DatasetJson,
    /// Its files with their lengths.
    files: Vec<(Item, u64)>,
}

impl LocalSet {
    /// Reads the `dataset.json` in a folder, or the one that `path` names, and checks that the
    /// listed files exist and have their lengths.
    fn open(path: &Path) -> Result<Self> {
        if is_remote(path) {
            let e = Error::usage("vidrec can push only data sets on this machine").file(path);
            return Err(e.help("fetch it first"));
        }
        let listing = listing_of(path, "pushes")?;
        let (bytes, json) = listing::read_bytes(&listing, &Source::Local(Io::Map))?;
        let with_length = |item: Item| {
            let found = fs::metadata(&item.location).map_err(|e| Error::io("open the file", &item.location, e));
            let length = found.map(|found| found.len());
            let proven = length.and_then(|length| item.check_length(length).map(|()| length));
            Ok((item, proven.map_err(|e| e.hint(Hint::Verify))?))
        };
        let files = items(&listing, &json).into_iter().map(with_length).collect::<Result<_>>()?;
        let folder = listing.parent().map(Path::to_owned).unwrap_or_default();
        Ok(LocalSet { folder, bytes, json, files })
    }
}

/// The number of files at a time. A long file has several requests at a time by itself.
const FILES: usize = 4;

/// Uploads a file. Returns how many of its bytes were at the location already.
fn upload((file, bytes): &(Item, u64), bucket: &Bucket, advance: &dyn Fn(u64) -> Result<()>) -> Result<u64> {
    // The name is unique to the contents, so an object of this name and length is this file.
    if file.has_digits() && bucket.look(&file.name)? == Some(*bytes) {
        return advance(*bytes).map(|()| *bytes);
    }
    let prove = |sha256| file.prove(&file.location, sha256).map_err(|e| e.hint(Hint::Verify));
    bucket.upload(&file.name, &file.location, &prove, &mut |bytes| advance(bytes)).map(|()| 0)
}
