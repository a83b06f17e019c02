//! Pushes a data set from a local folder to a location.

use std::path::{Path, PathBuf};

use super::local::{LocalFile, LocalSet};
use super::options::{PushOptions, PushReport};
use super::place::Place;
use crate::progress::{Progress, ProgressFn};
use crate::store::location::is_remote;
use crate::store::remote::Bucket;
use crate::transfer::both_ways::{several, to_continue};
use vidrec_format::error::{Error, Result};

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
    let pairs = [(set.as_ref().to_owned(), location.as_ref().to_owned())];
    let mut reports = push_all(&pairs, options, progress)?;
    reports.pop().ok_or_else(|| Error::internal("a push without a report"))
}

/// Pushes several data sets, each to its location: first all files, then each `dataset.json`.
pub(super) fn push_all(
    pairs: &[(PathBuf, PathBuf)],
    options: &PushOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<Vec<PushReport>> {
    let begin = |(set, location): &(PathBuf, PathBuf)| begin(set, location, options);
    let pushes = pairs.iter().map(begin).collect::<Result<Vec<_>>>()?;
    let total = pushes.iter().map(|push| push.set.all_bytes()).sum();
    let mut so_far = Progress { total: Some(total), ..Progress::default() };
    let mut uploads = Vec::new();
    for (number, push) in pushes.iter().enumerate() {
        if push.is_found {
            so_far.done += push.set.all_bytes();
            continue;
        }
        let bucket = &push.place.bucket;
        uploads.extend(push.set.files.iter().map(|file| Upload { file, bucket, set: number }));
    }
    let upload = |number: usize, advance: &dyn Fn(u64) -> Result<()>| upload_one(&uploads[number], advance);
    let kept = several(uploads.len(), FILES, &mut so_far, progress, upload).map_err(|e| to_continue(e, "uploaded"))?;
    let kept_of =
        |set: usize| uploads.iter().zip(&kept).filter(|(upload, _)| upload.set == set).map(|(_, kept)| kept).sum();
    pushes.iter().enumerate().map(|(number, push)| push.finish(kept_of(number))).collect()
}

/// A data set that is being pushed.
struct Push {
    set: LocalSet,
    place: Place,
    /// Whether the location has it already.
    is_found: bool,
}

fn begin(set: &Path, location: &Path, options: &PushOptions) -> Result<Push> {
    if !is_remote(location) {
        let e = Error::usage("this is a local folder, but vidrec pushes data sets only to object storage");
        return Err(e.file(location).help("copy the folder, or push to s3://, gs:// or az://"));
    }
    let set = LocalSet::open(set)?;
    let place = Place::open(location, options)?;
    let is_found = place.has(&set.bytes);
    if !is_found {
        place.check()?;
    }
    Ok(Push { set, place, is_found })
}

impl Push {
    fn finish(&self, kept_bytes: u64) -> Result<PushReport> {
        let Push { set, place, is_found } = self;
        let mut report = PushReport {
            output: place.bucket.location().display().to_string(),
            clips: set.json.clips,
            frames: set.json.frames,
            shards: set.json.shards.len() as u64,
            bytes: set.all_bytes(),
            kept_bytes: if *is_found { set.all_bytes() } else { kept_bytes },
            found: *is_found,
            ..PushReport::default()
        };
        if !is_found {
            place.commit(&set.bytes).map_err(|e| to_continue(e, "uploaded"))?;
        }
        // This also tidies up after an earlier push that was killed before it did.
        place.tidy(&set.json, &mut report);
        report.remote = place.bucket.stats();
        Ok(report)
    }
}

/// The number of files at a time. A long file has several requests at a time by itself.
const FILES: usize = 4;
/// A file and its destination.
#[derive(Clone, Copy)]
struct Upload<'a> {
    pub file: &'a LocalFile,
    pub bucket: &'a Bucket,
    /// The number of its data set, if there are several.
    pub set: usize,
}

/// Uploads a file. Returns how many of its bytes were at the location already.
fn upload_one(upload: &Upload<'_>, advance: &dyn Fn(u64) -> Result<()>) -> Result<u64> {
    let Upload { file, bucket, .. } = *upload;
    if file.has_own_name() && bucket.look(file.name())?.is_some_and(|bytes| bytes == file.bytes) {
        return advance(file.bytes).map(|()| file.bytes);
    }
    bucket.upload(file.name(), file.path(), &|sha256| file.prove(sha256), &mut |bytes| advance(bytes)).map(|()| 0)
}
