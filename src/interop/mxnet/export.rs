//! Exports the files that MXNet, DALI and other readers of RecordIO expect beside a record file.

use std::collections::HashSet;
use std::fmt::Write;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::interop::sink::ExportReport;
use crate::interop::sink::file_name;
use crate::{Dataset, Error, ProgressFn, Result};
use vidrec_core::dataset::Shard;
use vidrec_core::progress::Counter;
use vidrec_core::store::disk::NewFolder;
use vidrec_format::data_binding::hex;
use vidrec_format::file_name::stem;

/// Creates a folder with a link `NAME.rec` to each record file, and its `.idx` and `.lst` beside it. Frames are
/// not copied unless the data set is remote.
///
/// * `NAME` is the record file's name without the digits of its digest, such as `shard-00000`.
/// * `NAME.idx` has each record's id and its offset in `NAME.rec`, for `MXIndexedRecordIO` and readers of one file.
/// * `NAME.lst` has each record's id, label (-1 for none) and a path, `SOURCE/FRAME.jpg`.
/// * `all.idx`, if there are several record files, is one index for all of them. The readers of several files in
///   dmlc and DALI need it. Its offsets are into the concatenation of the files in order of name, and its keys
///   continue from one file to the next.
///
/// The record files of a remote data set are copied. Otherwise the links are hard links, so the folder stays valid
/// if the data set is replaced or removed. On another file system they are symbolic links, and the report says so.
/// The format has no room for tracks, so the report names them, nor for clips without frames, which it counts.
///
/// # Errors
///
/// [`Io`](vidrec_format::error::ErrorKind::Io) from the file system;
/// [`Usage`](vidrec_format::error::ErrorKind::Usage) if `out` exists and is not an empty folder; [`Format`](vidrec_format::error::ErrorKind::Format) if the data set is damaged.
pub fn export(dataset: &Dataset, out: &Path, progress: &mut ProgressFn<'_>) -> Result<ExportReport> {
    let mut folder = NewFolder::create(out)?;
    let mut all = IndexText::default();
    let counter = &mut Counter::new(Some(dataset.len()), progress);
    let stem = |shard: &Shard| stem(&file_name(&shard.record_path)).to_owned();
    let stems: HashSet<String> = dataset.shards()?.into_iter().map(stem).collect();
    if stems.len() < dataset.shard_count() {
        return Err(Error::usage("two shards have record files of the same name").help("export the shards one by one"));
    }
    let mut symbolic = false;
    for shard in dataset.shards()? {
        let stem = stem(shard);
        let record = format!("{stem}.rec");
        if shard.records.remote().is_some() {
            copy(shard, &mut folder, &record, counter)?;
        } else {
            symbolic |= folder.link(&shard.record_path, record)?;
        }
        let (idx, lst) = lines(shard, &mut all, counter)?;
        folder.write(format!("{stem}.idx"), idx.as_bytes())?;
        folder.write(format!("{stem}.lst"), lst.as_bytes())?;
    }
    if stems.len() > 1 {
        folder.write("all.idx", all.idx.as_bytes())?;
    }
    let mut report = ExportReport::without_tracks(dataset, folder.publish()?)?;
    if all.without_frames > 0 {
        report.clips -= all.without_frames;
        let clips = all.without_frames;
        report.notes.push(format!("{clips} clips without frames are not in the export, which has no room for them"));
    }
    if symbolic {
        report.notes.push("the record files are symbolic links, because the folder is on another file system".into());
    }
    if all.renamed {
        report.notes.push("the .lst files have spaces in place of the tabs and line ends in names".into());
    }
    Ok(report)
}

/// Copies a remote record file, and verifies that the copy is what the index says.
fn copy(shard: &Shard, folder: &mut NewFolder, name: &str, counter: &mut Counter<'_, '_>) -> Result<()> {
    const STRETCH: u64 = 1 << 20;
    let (mut file, mut digest, mut buffer, mut at) = (folder.file(name)?, Sha256::new(), Vec::new(), 0);
    while at < shard.records.len() {
        let end = (at + STRETCH).min(shard.records.len());
        shard.records.read(at..end, &mut buffer)?;
        digest.update(&buffer);
        file.write(&buffer)?;
        at = end;
        counter.tell()?;
    }
    let (expected, found) = (shard.index.binding.sha256, <[u8; 32]>::from(digest.finalize()));
    if found != expected {
        return Err(Error::format("data-digest", "the record file's SHA-256 does not match the index")
            .file(&shard.record_path)
            .expected(hex(&expected))
            .found(hex(&found)));
    }
    folder.finish(file)
}

/// The data that continues from file to file.
#[derive(Default)]
struct IndexText {
    idx: String,
    records: u64,
    bytes: u64,
    /// The number of clips without frames.
    without_frames: u64,
    renamed: bool,
}

/// Returns the text of the `.idx` and the `.lst` beside a record file.
fn lines(shard: &Shard, all: &mut IndexText, counter: &mut Counter<'_, '_>) -> Result<(String, String)> {
    let (mut idx, mut lst, mut buffer) = (String::new(), String::new(), Vec::new());
    for c in 0..shard.clip_count() {
        let clip = shard.clip(c)?;
        let strings = shard.strings(&clip).map_err(|e| e.in_clip(c))?;
        let source = strings[0].replace(['\t', '\n', '\r'], " ");
        all.renamed |= source != strings[0];
        all.without_frames += u64::from(clip.frame_count == 0);
        for t in 0..clip.frame_count {
            let frame = shard.frame_with(clip.first_frame + u64::from(t), clip.frames(), &mut buffer);
            let stored = frame.map_err(|e| e.in_clip(c).in_frame(t))?;
            let (entry, header) = (stored.entry, stored.header);
            // Writing to a string cannot fail.
            let _ = writeln!(idx, "{}\t{}", header.id, entry.record_offset);
            let _ = writeln!(lst, "{}\t{:.6}\t{source}/{t:03}.jpg", header.id, f64::from(clip.label));
            let _ = writeln!(all.idx, "{}\t{}", all.records, all.bytes + entry.record_offset);
            all.records += 1;
        }
        counter.add(clip.frame_count.into(), 0)?;
    }
    all.bytes += shard.records.len();
    Ok((idx, lst))
}
