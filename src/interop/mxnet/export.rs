//! What MXNet, DALI and other readers of RecordIO look for beside a record file.

use std::collections::HashSet;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::interop::folder::NewFolder;
use crate::interop::{ExportReport, text};
use crate::reader::Shard;
use crate::storage::Io;
use crate::{Dataset, Error, Result};

/// Makes a folder with a link to each record file, and its `.idx` and `.lst` beside it. Frames are not copied.
///
/// * `NAME.idx`: the record's id and its offset in `NAME.rec`, for `MXIndexedRecordIO` and readers of one file.
/// * `NAME.lst`: id, label (-1: none) and a path, `SOURCE/FRAME.jpg`.
/// * `all.idx`, where there are several record files: one index for all of them, as dmlc's and DALI's readers of several
///   files want it, with offsets into the files put end to end in order of name. Keys count on from file to file.
///
/// Links are hard links, so the folder stays right when the data set is replaced or removed. On another file system they
/// are symbolic links, which the report says. With `replace`, a folder that an earlier export made is replaced.
///
/// # Errors
///
/// [`Io`](crate::ErrorKind::Io); [`Usage`](crate::ErrorKind::Usage) if there is something at `out` already;
/// [`Format`](crate::ErrorKind::Format) if the data set is damaged.
pub fn export(dataset: &Dataset, out: &Path, replace: bool) -> Result<ExportReport> {
    if replace {
        remove_earlier(out)?;
    }
    let mut folder = NewFolder::create(out)?;
    let mut all = All::default();
    let files: Vec<&Path> = dataset.record_files().collect();
    let names: HashSet<String> = files.iter().map(|f| text::name(f)).collect();
    if names.len() < files.len() {
        return Err(Error::usage("two shards have record files of the same name").help("export them one by one"));
    }
    let mut symbolic = false;
    for path in &files {
        symbolic |= link(path, &folder.join(text::name(path)))?;
        let shard = Shard::open_unbound(path, Io::Map)?;
        let stem = text::name(&path.with_extension(""));
        let lines = lines(&shard, &mut all, &mut folder)?;
        folder.write(format!("{stem}.idx"), lines.idx.as_bytes())?;
        folder.write(format!("{stem}.lst"), lines.lst.as_bytes())?;
        folder.report.files += 1;
    }
    if files.len() > 1 {
        folder.write("all.idx", all.idx.as_bytes())?;
    }
    let mut notes = Vec::new();
    if symbolic {
        notes.push("the record files are symbolic links, since the folder is on another file system".to_owned());
    }
    if all.renamed {
        notes.push("in the .lst files, tabs and line ends within names are spaces".to_owned());
    }
    folder.report.notes = notes;
    folder.publish()
}

/// Text of the files beside one record file.
#[derive(Default)]
struct Lines {
    idx: String,
    lst: String,
}

/// What goes on from file to file.
#[derive(Default)]
struct All {
    idx: String,
    records: u64,
    bytes: u64,
    renamed: bool,
}

fn lines(shard: &Shard, all: &mut All, folder: &mut NewFolder) -> Result<Lines> {
    let mut lines = Lines::default();
    let mut buffer = Vec::new();
    for c in 0..shard.clip_count() {
        let clip = shard.clip(c)?;
        let strings =
            shard.index.strings(&shard.index_bytes, &clip).map_err(|e| e.file(&shard.index_path).in_clip(c))?;
        let source = strings[0].replace(['\t', '\n', '\r'], " ");
        all.renamed |= source != strings[0];
        for t in 0..clip.frame_count {
            let frame = shard.frame_with(clip.first_frame + u64::from(t), &mut buffer);
            let (entry, header, _) = frame.map_err(|e| e.in_clip(c).in_frame(t))?;
            // Writing to a string cannot fail.
            let _ = writeln!(lines.idx, "{}\t{}", header.id, entry.record_offset);
            let _ = writeln!(lines.lst, "{}\t{:.6}\t{source}/{t:03}.jpg", header.id, f64::from(clip.label));
            let _ = writeln!(all.idx, "{}\t{}", all.records, all.bytes + entry.record_offset);
            all.records += 1;
        }
        folder.report.clips += 1;
        folder.report.frames += u64::from(clip.frame_count);
    }
    all.bytes += shard.records.len();
    Ok(lines)
}

/// A hard link, or a symbolic one where that cannot be; whether it is symbolic.
fn link(from: &Path, to: &Path) -> Result<bool> {
    let from = fs::canonicalize(from).map_err(|e| Error::io("find the record file", from, e))?;
    let Err(hard) = fs::hard_link(&from, to) else { return Ok(false) };
    #[cfg(unix)]
    let soft = std::os::unix::fs::symlink(&from, to);
    #[cfg(not(unix))]
    let soft: std::io::Result<()> = Err(std::io::ErrorKind::Unsupported.into());
    soft.map(|()| true).map_err(|_| Error::io("link to the record file", &from, hard))
}

/// Removes `out` if it holds nothing but what an export writes.
fn remove_earlier(out: &Path) -> Result<()> {
    if !out.exists() {
        return Ok(());
    }
    let failed = |e| Error::io("list the folder", out, e);
    for entry in fs::read_dir(out).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if !path.extension().is_some_and(|e| e == "rec" || e == "idx" || e == "lst") {
            return Err(Error::usage("there is something here that no export wrote").file(&path));
        }
    }
    fs::remove_dir_all(out).map_err(|e| Error::io("remove what is replaced", out, e))
}
