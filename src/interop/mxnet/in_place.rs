//! An index for a record file that stays where it is and as it is.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::import::{MxnetOptions, RecordFile};
use super::scan;
use crate::atomic_file::{self, AtomicFile};
use crate::dataset_json::{self, DatasetJson};
use crate::format::crc32;
use crate::format::data_binding::{DataBinding, edge_crc32};
use crate::format::frame_entry::{FrameEntry, UNKNOWN_SOURCE_INDEX};
use crate::format::meta::{FOREIGN_RECORDS, Meta};
use crate::index_file::IndexFile;
use crate::interop::ImportReport;
use crate::interop::sink::{self, Kind};
use crate::jpeg::Decoder;
use crate::{ClipInfo, Dataset, Error, Result, limits};

/// Writes a `.vidx` beside each record file, and a `dataset.json` if no other record file lies there.
///
/// The record files are read and not changed. All their records must be JPEGs of whole clips: nothing can be left out of
/// a file that stays as it is. Such a data set says in its `META` that its records are another program's.
///
/// # Errors
///
/// As [`import`](super::import); an index that is there already, unless `overwrite` is set; record files in different
/// folders.
pub fn import_in_place(
    files: &[PathBuf],
    overwrite: bool,
    time_base: (u32, u32),
    mxnet: &MxnetOptions,
) -> Result<ImportReport> {
    mxnet.check(files)?;
    let folder = files[0].parent().unwrap_or(Path::new("")).to_owned();
    if let Some(other) = files.iter().find(|f| f.parent() != Some(&folder)) {
        return Err(Error::usage("record files of one data set must lie in one folder").file(other));
    }
    let listing = folder.join(dataset_json::FILE_NAME);
    let indexes: Vec<PathBuf> = files.iter().map(|f| f.with_extension("vidx")).collect();
    let alone = record_files(&folder)?.len() == files.len();
    let written = if alone { [&indexes[..], std::slice::from_ref(&listing)].concat() } else { indexes.clone() };
    if let Some(there) = written.iter().find(|p| p.exists()).filter(|_| !overwrite) {
        return Err(Error::usage("there is one already").file(there).help("ask for it to be replaced (--force)"));
    }
    let mut report = ImportReport::default();
    let mut ready = Vec::new();
    for (path, index_path) in files.iter().zip(&indexes) {
        if path.extension().is_none_or(|e| e != "rec") {
            return Err(Error::usage("a record file that stays in place must be named .rec").file(path));
        }
        let (index, added) = index_of(path, index_path, time_base, mxnet)?;
        ready.push(index);
        report.clips += added.clips;
        report.frames += added.frames;
        report.bytes += added.bytes;
    }
    ready.into_iter().try_for_each(AtomicFile::publish)?;
    if alone {
        let json: DatasetJson = Dataset::open_shards(&indexes)?.to_json();
        atomic_file::write_file(&listing, &json.to_bytes())?;
    } else {
        report
            .notes
            .push("no dataset.json is written, since other record files lie there: open each .rec by itself".into());
    }
    atomic_file::sync_folder(if folder.as_os_str().is_empty() { Path::new(".") } else { &folder })?;
    Ok(report)
}

fn record_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let failed = |e| Error::io("list the folder", folder, e);
    let paths = fs::read_dir(folder).map_err(failed)?.map(|entry| Ok(entry.map_err(failed)?.path()));
    let paths = paths.collect::<Result<Vec<_>>>()?;
    Ok(paths.into_iter().filter(|p| p.extension().is_some_and(|e| e == "rec")).collect())
}

/// The index of one record file, on the disk under its temporary name.
fn index_of(
    path: &Path,
    index_path: &Path,
    time_base: (u32, u32),
    mxnet: &MxnetOptions,
) -> Result<(AtomicFile, ImportReport)> {
    let file = RecordFile::open(path, mxnet)?;
    let whole = |e: Error| e.also_help("import it into another folder with --salvage, which takes what is intact");
    if let Some((_, e)) = file.faults(mxnet).into_iter().next() {
        return Err(whole(e));
    }
    let groups = file.groups(mxnet);
    if let Some((_, e)) = groups.faults.into_iter().next() {
        return Err(whole(e.file(path)));
    }
    if file.records.is_empty() || file.records.len() as u64 > limits::MAX_ORDINALS {
        return Err(Error::usage("no records, or more than a shard may have").file(path).found(file.records.len()));
    }
    let mut decoder = Decoder::new()?;
    let mut index = IndexFile::create(index_path)?;
    for run in &groups.clips {
        let added = file.clip(run, groups.by_id2, time_base).and_then(|clip| {
            let ((width, height), frames) = entries(&mut decoder, &file, run.clone())?;
            index.push(&ClipInfo { width, height, class: String::new(), ..clip.info() }, &frames)
        });
        added.map_err(|e| file.at(e, run))?;
    }
    let binding = DataBinding {
        length: file.bytes.len() as u64,
        sha256: Sha256::digest(&file.bytes[..]).into(),
        edge_crc32: edge_crc32(&file.bytes),
    };
    let meta = Meta { records: FOREIGN_RECORDS.into(), ..sink::meta("mxnet", Vec::new()) };
    let (clips, frames) = (groups.clips.len() as u64, file.records.len() as u64);
    let (index, bytes) = index.finish(&binding, &meta)?;
    Ok((index, ImportReport { clips, frames, bytes, ..ImportReport::default() }))
}

/// Entries of the frames of a clip, and their width and height if all have the same.
fn entries(decoder: &mut Decoder, file: &RecordFile, run: Range<usize>) -> Result<((u32, u32), Vec<FrameEntry>)> {
    let (mut sizes, mut entries) = (Vec::new(), Vec::new());
    for (t, record) in (0..).zip(&file.records[run]) {
        let jpeg = scan::picture(&file.bytes, record)?;
        sizes.push(jpeg_size(decoder, &jpeg).map_err(|e| e.in_frame(t))?);
        entries.push(FrameEntry {
            record_offset: record.offset,
            pts: i64::from(t),
            jpeg_length: jpeg.len() as u32,
            jpeg_crc32: crc32(&jpeg),
            source_index: UNKNOWN_SOURCE_INDEX,
        });
    }
    sizes.dedup();
    Ok((if let [size] = sizes[..] { size } else { (0, 0) }, entries))
}

fn jpeg_size(decoder: &mut Decoder, jpeg: &[u8]) -> Result<(u32, u32)> {
    if sink::kind(jpeg) != Kind::Jpeg {
        return Err(Error::usage("the picture is no JPEG, so the file cannot stay as it is")
            .help("import it into another folder, with --reencode QUALITY for PNG pictures"));
    }
    decoder.header(jpeg).map(|h| (h.width, h.height))
}
