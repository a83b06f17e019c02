//! From a folder of this machine to a location.

use std::path::{Path, PathBuf};

use super::local::LocalSet;
use super::options::PushOptions;
use super::place::Place;
use super::report::PushReport;
use super::transfer::{self, Upload};
use crate::location::is_remote;
use crate::progress::{Progress, ProgressFn};
use crate::{Error, ErrorKind, Result};

/// Copies the data set in the folder `set` to `location`, in object storage.
///
/// All objects are the same as the files, byte for byte. While a file is read for its upload, its digest is compared with
/// `dataset.json`. The `dataset.json` comes last: the data set appears in one step, when it is complete. A push that was
/// interrupted, by whatever it was, leaves objects that no `dataset.json` lists; the same call finds them by their names,
/// which have digits of their digests, and continues. An item of `progress` is a byte.
///
/// If two push to the same location at a time, one of them wins, and the other one gets an error. With
/// [`overwrite`](PushOptions::overwrite), a data set that is there is replaced in one step; then the objects that only it
/// had are removed. Whoever has it open finds them missing.
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
/// [`Usage`](crate::ErrorKind::Usage): `set` is remote; `location` is local or on a web server; there is another data set;
/// the store does not write objects on conditions, and [`only_publisher`](PushOptions::only_publisher) does not say that
/// this does no harm. [`Io`](crate::ErrorKind::Io): the network, the server or the disk failed.
/// [`Format`](crate::ErrorKind::Format): a file is not what `dataset.json` says. Then nothing is published.
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

/// Pushes several data sets to a location each: first all files, then each `dataset.json`.
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
    let kept = transfer::run(&uploads, pushes.len(), &mut so_far, progress).map_err(to_continue)?;
    pushes.iter().zip(kept).map(|(push, kept)| push.finish(kept)).collect()
}

/// A data set on its way.
struct Push {
    set: LocalSet,
    place: Place,
    /// Whether it is there already.
    is_found: bool,
}

fn begin(set: &Path, location: &Path, options: &PushOptions) -> Result<Push> {
    if !is_remote(location) {
        let e = Error::usage("this is a folder of this machine, and data sets are pushed to object storage");
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
            place.commit(&set.bytes).map_err(to_continue)?;
        }
        // Also of an earlier push that was killed before it had done that.
        place.tidy(&set.json, &mut report);
        report.remote = place.bucket.stats();
        Ok(report)
    }
}

/// Says that nothing is lost, where another try may go on.
fn to_continue(e: Error) -> Error {
    if !matches!(e.kind(), ErrorKind::Io | ErrorKind::Interrupted) {
        return e;
    }
    e.also_help("what was uploaded is kept: the same call continues there")
}
