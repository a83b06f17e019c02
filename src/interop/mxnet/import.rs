//! Imports record files, with the `.idx` and `.lst` beside them.
//!
//! Sources of these: MXNet, `python/mxnet/recordio.py` (`MXIndexedRecordIO`) and `tools/im2rec.py`; dmlc-core,
//! `src/io/indexed_recordio_split.cc`, which ignores keys and sorts offsets.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::grouping::{self, Groups, Ids};
use super::records::{self, Record};
use crate::interop::clip_json::ClipJson;
use crate::interop::sink;
use crate::interop::sink::Sink;
use crate::interop::{ImportOptions, ImportReport, text_file};
use crate::{Error, ProgressFn, Result};
use vidrec_core::store::disk::map::MappedFile;

/// Options for facts that a record file does not state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MxnetOptions {
    /// The number of records per clip. By default, `id2` says which records form a clip, if vidrec wrote it.
    /// Otherwise each record is a clip.
    pub frames_per_clip: Option<u32>,
    /// The meaning of the ids. Used only with `frames_per_clip`.
    pub ids: Ids,
    /// The `.idx` file to compare with the records. By default, the one beside the record file, if there is one.
    pub index: Option<PathBuf>,
    /// The `.lst` file. Its paths become the clips' sources. By default, the one beside the record file, if there
    /// is one.
    pub list: Option<PathBuf>,
}

/// Imports record files, each as a shard, to a data set in `out`.
///
/// Records stay in the order of the files. A clip's records must have the same labels and matching ids: see [`Ids`].
/// One label becomes the clip's label; several become its attribute `labels`.
///
/// # Errors
///
/// The first fault, unless [`salvage`](ImportOptions::salvage) is set: a record that cannot be read, records that
/// are not a clip, an `.idx` that does not match the records, or an image that is not a JPEG.
/// [`Io`](vidrec_format::error::ErrorKind::Io), [`Usage`](vidrec_format::error::ErrorKind::Usage).
pub fn import(
    files: &[PathBuf],
    out: &Path,
    options: &ImportOptions,
    mxnet: &MxnetOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<ImportReport> {
    mxnet.check(files)?;
    let mut sink = Sink::create(out, sink::meta("mxnet", Vec::new()), options, progress)?;
    for path in files {
        let file = RecordFile::open(path, mxnet)?;
        for (place, e) in file.faults(mxnet) {
            sink.leave_out(&place, e)?;
        }
        let groups = file.groups(mxnet);
        for run in groups.clips {
            let clip = file.clip(&run, groups.by_id2, options.time_base);
            let pictures = file.records[run.clone()].iter().map(|r| records::picture(&file.bytes, r));
            let pictures = pictures.collect::<Result<Vec<Cow<'_, [u8]>>>>();
            let place = file.place(&run);
            match clip.and_then(|clip| Ok((clip, pictures?))) {
                Ok((clip, pictures)) => sink.add(&place, &clip, &pictures).map_err(|e| file.at(e, &run))?,
                Err(e) => sink.leave_out(&place, file.at(e, &run))?,
            }
        }
        for (run, e) in groups.faults {
            sink.leave_out(&file.place(&run), e.file(path))?;
        }
        file.bytes.prove_whole(path)?;
        sink.next_shard()?;
    }
    sink.finish()
}

impl MxnetOptions {
    pub(super) fn check(&self, files: &[PathBuf]) -> Result<()> {
        if files.is_empty() {
            return Err(Error::usage("no record files are given"));
        }
        if files.len() > 1 && (self.index.is_some() || self.list.is_some()) {
            return Err(Error::usage("an .idx or .lst is given for several record files")
                .help("put it beside its record file, under the same name: vidrec finds it there"));
        }
        if self.frames_per_clip == Some(0) {
            return Err(Error::usage("a clip needs at least one frame"));
        }
        Ok(())
    }
}

/// A scanned record file.
pub(super) struct RecordFile {
    pub path: PathBuf,
    pub bytes: MappedFile,
    pub records: Vec<Record>,
    gaps: Vec<(Range<u64>, Error)>,
    sources: HashMap<u64, String>,
}

impl RecordFile {
    pub fn open(path: &Path, mxnet: &MxnetOptions) -> Result<Self> {
        let bytes = MappedFile::open(path)?;
        let found = records::scan(&bytes);
        let list = beside(path, "lst", &mxnet.list);
        let sources = list.map_or_else(|| Ok(HashMap::new()), |list| read_lst(&list))?;
        Ok(RecordFile { path: path.to_owned(), bytes, records: found.records, gaps: found.gaps, sources })
    }

    /// Returns the problems of the file itself and of the `.idx` beside it.
    pub fn faults(&self, mxnet: &MxnetOptions) -> Vec<(String, Error)> {
        let name = text_file::name(&self.path);
        let gap = |(range, e): &(Range<u64>, Error)| {
            let torn = range.end == self.bytes.len() as u64;
            let what = if torn { "the file is truncated or damaged" } else { "the file is damaged" };
            let e = Error::decode(format!(
                "{what}: bytes {} to {} do not contain a complete record",
                range.start, range.end
            ))
            .file(&self.path)
            .at(range.start)
            .found(e.message());
            (format!("{name}, byte {}", range.start), e)
        };
        let mut faults: Vec<_> = self.gaps.iter().map(gap).collect();
        if let Some(index) = beside(&self.path, "idx", &mxnet.index)
            && let Err(e) = check_idx(&index, &self.records)
        {
            faults.push((text_file::name(&index), e));
        }
        faults
    }

    pub fn groups(&self, mxnet: &MxnetOptions) -> Groups {
        grouping::group(&self.records, mxnet.frames_per_clip, mxnet.ids)
    }

    /// Returns the description of the clip that these records form.
    pub fn clip(&self, run: &Range<usize>, by_id2: bool, time_base: (u32, u32)) -> Result<ClipJson> {
        let records = &self.records[run.clone()];
        let mut clip = ClipJson::named(self.source(records, by_id2), time_base);
        records[0].labels.apply(&mut clip)?;
        Ok(clip)
    }

    /// Returns the folder that a clip's frames came from, if the list says it; otherwise the name of the file and
    /// the first id.
    fn source(&self, records: &[Record], by_id2: bool) -> String {
        let first = &records[0];
        let Some(path) = self.sources.get(&first.id) else {
            return format!("{}/{}", text_file::name(&self.path), first.id);
        };
        match path.rsplit_once('/') {
            Some((folder, _)) if by_id2 || records.len() > 1 => folder.to_owned(),
            _ => path.clone(),
        }
    }

    pub fn place(&self, run: &Range<usize>) -> String {
        format!("{}, records {} to {}", text_file::name(&self.path), run.start, run.end - 1)
    }

    /// Adds the location of the clip that caused an error.
    pub fn at(&self, e: Error, run: &Range<usize>) -> Error {
        let frame = e.frame().unwrap_or(0) as usize;
        let record = self.records[run.clone()].get(frame);
        e.file(&self.path).at(record.map_or(0, |r| r.offset))
    }
}

/// Returns the given file or, without one, the file with the same name beside `path`, if it exists.
fn beside(path: &Path, extension: &str, named: &Option<PathBuf>) -> Option<PathBuf> {
    named.clone().or_else(|| Some(path.with_extension(extension)).filter(|p| p.is_file()))
}

/// Reads an `.idx` file: a key and the offset of a record in each line.
fn read_idx(path: &Path) -> Result<Vec<(u64, u64)>> {
    let text = text_file::read(path)?;
    let mut entries = Vec::new();
    for (n, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace().map(str::parse::<u64>);
        match (words.next(), words.next(), words.next()) {
            (None, ..) => {}
            (Some(Ok(key)), Some(Ok(offset)), None) => entries.push((key, offset)),
            _ => return Err(fault(path, format!("line {} is not a key and an offset", n + 1)).found(line)),
        }
    }
    Ok(entries)
}

/// Compares an `.idx` file with the records that actually exist.
fn check_idx(path: &Path, records: &[Record]) -> Result<()> {
    let entries = read_idx(path)?;
    if !entries.is_empty() && entries.iter().all(|&(_, offset)| offset == u64::MAX) {
        let what = "all offsets are 2^64-1: the program that wrote them did not know its position in the file";
        return Err(fault(path, what.into()));
    }
    let mut by_offset = entries.clone();
    by_offset.sort_by_key(|&(_, offset)| offset);
    for (n, (&(key, offset), record)) in by_offset.iter().zip(records).enumerate() {
        if offset != record.offset {
            let what = format!("the offset of key {key} is not where its record begins");
            return Err(fault(path, what).expected(format!("byte {} for record {n}", record.offset)).found(offset));
        }
    }
    if entries.len() != records.len() {
        return Err(fault(
            path,
            "the number of its entries is not the number of records: one of the files was truncated".into(),
        )
        .expected(records.len())
        .found(entries.len()));
    }
    Ok(())
}

fn fault(path: &Path, what: String) -> Error {
    text_file::malformed(path, what).help("recreate it with MXNet's rec2idx.py, or remove it: vidrec does not need it")
}

/// Reads the paths of a `.lst` file, by id. Each line has an id, labels and a path, separated by tabs.
fn read_lst(path: &Path) -> Result<HashMap<u64, String>> {
    let text = text_file::read(path)?;
    let mut paths = HashMap::new();
    for (n, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let columns: Vec<&str> = line.split('\t').collect();
        let id = columns.first().and_then(|id| id.trim().parse().ok()).filter(|_| columns.len() >= 3);
        let Some(id) = id else {
            return Err(
                text_file::malformed(path, format!("line {} is not an id, labels and a path", n + 1)).found(line)
            );
        };
        paths.insert(id, columns[columns.len() - 1].trim().to_owned());
    }
    Ok(paths)
}
