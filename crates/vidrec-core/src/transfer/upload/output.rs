//! The output of a command that goes to object storage: it is written to a scratch folder, then pushed.

use std::fs;
use std::path::{Path, PathBuf};

use super::options::RemoteOutput;
use super::place::{Place, check_store};
use super::push::push_all;
use super::report::PushReport;
use super::scratch::{Scratch, remove_published};
use crate::progress::ProgressFn;
use crate::store::location::is_remote;
use crate::store::remote::Bucket;
use vidrec_format::dataset_json::FILE_NAME;
use vidrec_format::error::{Error, Result};

/// Writes a data set to `location`, in object storage. `write` makes it in a local folder, and
/// [`push`](crate::transfer::upload::push) copies it.
///
/// Before the work, this probes whether `location` can be written to, and whether it holds a data set. `write` gets a
/// folder inside a scratch folder. The scratch folder is the same for each call with the same `location`, so after an
/// interruption it contains what an earlier call left. If `write` can resume, it should. Otherwise it should
/// overwrite. The scratch folder is removed at the end. After an error it stays, and the error names it.
///
/// If `write` makes no data set, such as a pack that can read no video, nothing is pushed, and the report says 0
/// clips. Items of `progress` are bytes of the push.
///
/// ```no_run
/// use vidrec::{Dataset, RemoteOutput, edit};
///
/// let set = Dataset::open("s3://bucket/train")?;
/// let write = |out: &std::path::Path| {
///     let options = edit::EditOptions { overwrite: true, ..edit::EditOptions::default() };
///     edit::merge(&[set.clone()], out, &options, &mut vidrec::no_progress)
/// };
/// let location = "s3://bucket/other";
/// let (edited, pushed) = vidrec::write_remote(location, &RemoteOutput::default(), write, &mut vidrec::no_progress)?;
/// assert_eq!(edited.clips, pushed.clips);
/// # Ok::<(), vidrec::Error>(())
/// ```
///
/// # Errors
///
/// The errors of `write` and of [`push`](crate::transfer::upload::push).
pub fn write_remote<T>(
    location: impl AsRef<Path>,
    options: &RemoteOutput,
    write: impl FnOnce(&Path) -> Result<T>,
    progress: &mut ProgressFn<'_>,
) -> Result<(T, PushReport)> {
    let location = location.as_ref();
    check_location(location)?;
    let place = Place::open(location, &options.push())?;
    if let Some(listing) = place.listing() {
        remove_published(options.scratch.as_deref(), location, listing)?;
    }
    place.check()?;
    let what = |out: &Path| {
        let is_there = out.join(FILE_NAME).exists();
        Ok(if is_there { vec![(out.to_owned(), location.to_owned())] } else { Vec::new() })
    };
    let (written, mut reports) = within_scratch(location, options, write, what, progress)?;
    let none = || PushReport { output: location.display().to_string(), ..PushReport::default() };
    Ok((written, reports.pop().unwrap_or_else(none)))
}

/// Like [`write_remote`], for a `write` that makes several data sets, each in a folder. They go to folders of the
/// same names at `location`: first all their files, then each `dataset.json`. The reports are in the order of the
/// names.
///
/// # Errors
///
/// See [`write_remote`]. Existing data sets are found only when the names are known.
pub fn write_remote_parts<T>(
    location: impl AsRef<Path>,
    options: &RemoteOutput,
    write: impl FnOnce(&Path) -> Result<T>,
    progress: &mut ProgressFn<'_>,
) -> Result<(T, Vec<PushReport>)> {
    let location = location.as_ref();
    check_location(location)?;
    check_store(&Bucket::open(location, &options.storage)?, options.only_publisher)?;
    within_scratch(location, options, write, |out| parts(out, location), progress)
}

fn check_location(location: &Path) -> Result<()> {
    if is_remote(location) {
        return Ok(());
    }
    Err(Error::usage("this is a local folder").file(location).help("write to it directly"))
}

/// Writes to a scratch folder, pushes the data sets that `what` finds there, and removes the folder.
fn within_scratch<T>(
    location: &Path,
    options: &RemoteOutput,
    write: impl FnOnce(&Path) -> Result<T>,
    what: impl FnOnce(&Path) -> Result<Vec<(PathBuf, PathBuf)>>,
    progress: &mut ProgressFn<'_>,
) -> Result<(T, Vec<PushReport>)> {
    let scratch = Scratch::take(options.scratch.as_deref(), location)?;
    let out = scratch.output();
    let done = write(&out).and_then(|written| {
        let reports = push_all(&what(&out)?, &options.push(), progress)?;
        Ok((written, reports))
    });
    match done {
        Ok((written, mut reports)) => {
            // The output is complete, so this is not an error.
            if let (Err(e), Some(last)) = (scratch.remove(), reports.last_mut()) {
                last.notes.push(format!("vidrec could not remove the scratch folder: {e}"));
            }
            Ok((written, reports))
        }
        Err(e) => Err(scratch.keep(e)),
    }
}

/// The data sets in the subfolders of a folder, and their destinations.
fn parts(out: &Path, location: &Path) -> Result<Vec<(PathBuf, PathBuf)>> {
    let io = |e| Error::io("list the folder", out, e);
    let mut parts = Vec::new();
    for entry in fs::read_dir(out).map_err(io)? {
        let entry = entry.map_err(io)?;
        if entry.path().join(FILE_NAME).exists() {
            parts.push((entry.path(), location.join(entry.file_name())));
        }
    }
    parts.sort();
    Ok(parts)
}
