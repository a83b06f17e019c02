//! Proving that a data set is whole: every structure, every id, every checksum, and on demand every picture.

use std::path::Path;

use rayon::prelude::*;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::Dataset;
use super::index::proven_bytes;
use super::listing::{self, Listing};
use super::shard::Shard;
use super::storage::Io;
use crate::disk::folder_of;
use crate::format::clip_entry::ClipEntry;
use crate::format::crc32;
use crate::format::data_binding::hex;
use crate::format::dataset_json::DatasetJson;
use crate::jpeg::{Decoder, RgbPicture};
use crate::{Error, ErrorKind, Result};

/// How much [`verify`] proves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct VerifyOptions {
    /// Also decode every frame and compare its size with the clip's. Off by default.
    pub deep: bool,
}

/// What [`verify`] found. This is also what `vidrec verify --json` prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VerifyReport {
    /// Whether there are no problems.
    pub ok: bool,
    /// Number of clips in the shards that could be opened.
    pub clips: u64,
    /// Number of frames in the shards that could be opened.
    pub frames: u64,
    /// Everything that is wrong, in order of place.
    pub problems: Vec<Problem>,
    /// What is good to know and wrong with nothing: what an interrupted pack or another writer left in the folder.
    pub notes: Vec<String>,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Identifier of the broken rule, as `format-spec/vidrec-v1.md` lists them.
    pub kind: String,
    /// The file at fault.
    pub file: String,
    /// Ordinal of the clip in its shard.
    pub clip: Option<u64>,
    /// Ordinal of the frame in its clip.
    pub frame: Option<u32>,
    /// Byte offset in the file.
    pub offset: Option<u64>,
    /// What is wrong, in words.
    pub message: String,
}

impl From<Error> for Problem {
    fn from(e: Error) -> Self {
        let cause = std::error::Error::source(&e).map(|c| format!(": {c}")).unwrap_or_default();
        let kind = e.rule().unwrap_or(match e.kind() {
            ErrorKind::Io => "io",
            ErrorKind::Limit => "limit",
            ErrorKind::Resources => "resources",
            ErrorKind::Decode => "jpeg-decode",
            ErrorKind::Format | ErrorKind::Usage | ErrorKind::Internal | ErrorKind::Interrupted => "structure",
        });
        Problem {
            kind: kind.to_owned(),
            file: e.path().map(|p| p.display().to_string()).unwrap_or_default(),
            clip: e.clip(),
            frame: e.frame(),
            offset: e.offset(),
            message: format!("{e}{cause}"),
        }
    }
}

/// Proves the data set at `path`: a directory, a `.rec`, a `.vidx` or a `dataset.json`.
///
/// All files are read once from end to end. `progress` is called now and then with the number of frames done.
///
/// # Errors
///
/// Only if there is nothing to look at: no such path, no data set there; or if the machine has not enough memory, threads or
/// file descriptors ([`Resources`](crate::ErrorKind::Resources)). What is wrong with a data set is in the report.
///
/// ```no_run
/// let report = vidrec::verify("train", vidrec::VerifyOptions { deep: true }, &|_frames| ())?;
/// assert!(report.ok, "{:#?}", report.problems);
/// # Ok::<(), vidrec::Error>(())
/// ```
pub fn verify(path: impl AsRef<Path>, options: VerifyOptions, progress: &(dyn Fn(u64) + Sync)) -> Result<VerifyReport> {
    let mut report = VerifyReport { ok: false, clips: 0, frames: 0, problems: Vec::new(), notes: Vec::new() };
    match listing::find(path.as_ref()) {
        Ok(files) => verify_files(&files, options, progress, &mut report)?,
        Err(e) if e.kind() == ErrorKind::Format => report.problems.push(e.into()),
        Err(e) => return Err(e),
    }
    report.ok = report.problems.is_empty();
    Ok(report)
}

fn verify_files(
    files: &Listing,
    options: VerifyOptions,
    progress: &(dyn Fn(u64) + Sync),
    report: &mut VerifyReport,
) -> Result<()> {
    let pool = options.deep.then(thread_pool).transpose()?;
    for paths in &files.shards {
        let shard = match Shard::open_unbound(paths, Io::Map) {
            Ok(shard) => shard,
            Err(e) if e.kind() == ErrorKind::Resources => return Err(e),
            Err(e) => {
                report.problems.push(e.into());
                continue;
            }
        };
        report.problems.extend(shard.prove_listed(paths.listed.as_ref()).err().map(Problem::from));
        let mut scan = ShardScan { shard: &shard, problems: Vec::new(), record_end: 0, frames_seen: 0 };
        scan.index();
        scan.binding();
        scan.draws();
        scan.records(report.frames, progress);
        if let Some(pool) = &pool {
            pool.install(|| scan.pictures(report.frames, progress));
        }
        if let Err(e) = shard.prove_whole() {
            scan.problems.insert(0, e.into());
        }
        report.problems.append(&mut scan.problems);
        report.clips += shard.clip_count();
        report.frames += shard.index.header.frame_count;
    }
    match (&files.json, Dataset::open_files(&files.shards, Io::Map)) {
        (Some((path, json)), Ok(dataset)) => report.problems.extend(compare_listing(path, json, &dataset)),
        (_, Err(e)) if e.rule() == Some("dataset-classes") => report.problems.push(e.into()),
        (_, Err(e)) if e.kind() == ErrorKind::Resources => return Err(e),
        _ => {}
    }
    if let Some((path, json)) = &files.json {
        report.problems.extend(verify_failures(path, json).err().map(Problem::from));
        report.notes = listing::leftovers(folder_of(path));
    }
    Ok(())
}

/// A thread for each core. (rayon's own pool panics where it cannot be started.)
fn thread_pool() -> Result<rayon::ThreadPool> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|e| Error::start_pool(threads, e))
}

/// `dataset.json` must be what the indexes give.
fn compare_listing(path: &Path, listed: &DatasetJson, dataset: &Dataset) -> Option<Problem> {
    let rebuilt = dataset.to_json();
    // Shards were compared one by one.
    let same = DatasetJson { shards: listed.shards.clone(), failures: listed.failures.clone(), ..rebuilt };
    let what = match () {
        () if listed.classes != same.classes => "the class names",
        () if *listed != same => "counts, settings or provenance",
        () => return None,
    };
    let message = format!("{what} in dataset.json are not those of the indexes");
    Some(
        Error::format("dataset-json", message)
            .file(path)
            .help("the indexes are right; `vidrec repair` makes it from them")
            .into(),
    )
}

/// The list of failures must be the one that `dataset.json` lists.
fn verify_failures(listing: &Path, json: &DatasetJson) -> Result<()> {
    let Some(listed) = &json.failures else { return Ok(()) };
    let path = listing.with_file_name(&listed.file);
    let bytes = std::fs::read(&path).map_err(|e| Error::io("read the file", &path, e))?;
    let found = hex(&Sha256::digest(&bytes));
    if found == listed.sha256 {
        return Ok(());
    }
    Err(Error::format("failures-digest", "the list of failures is not the one that dataset.json lists")
        .file(path)
        .expected(format!("SHA-256 {}", listed.sha256))
        .found(found))
}

struct ShardScan<'a> {
    shard: &'a Shard,
    problems: Vec<Problem>,
    /// Where the next record must begin.
    record_end: u64,
    frames_seen: u64,
}

impl ShardScan<'_> {
    /// Every section's CRC-32, and zeros between them.
    fn index(&mut self) {
        let (index, bytes) = (&self.shard.index, &self.shard.index_bytes[..]);
        for (i, s) in index.sections.iter().enumerate() {
            if let Err(e) = proven_bytes(bytes, s) {
                self.problems.push(e.file(&self.shard.index_path).into());
            }
            let next = index.sections.get(i + 1).map_or(index.header.section_table_offset, |n| n.offset);
            let end = s.end().unwrap_or(next);
            let padding = bytes.get(end as usize..next as usize).unwrap_or_default();
            if padding.iter().any(|&b| b != 0) {
                let e = Error::format("section-padding", "the padding after the section is not zero").at(end);
                self.problems.push(e.file(&self.shard.index_path).into());
            }
        }
    }

    /// Length, ends and SHA-256 of the record file.
    fn binding(&mut self) {
        let bound = self.shard.prove_binding();
        let expected = self.shard.index.binding.sha256;
        let found = match bound.and_then(|()| self.shard.records.sha256().map_err(|e| e.file(&self.shard.record_path)))
        {
            Ok(found) => found,
            Err(e) => return self.problems.push(e.into()),
        };
        if found != expected {
            let e = Error::format("data-digest", "the record file's SHA-256 is not what the index says")
                .expected(hex(&expected))
                .found(hex(&found));
            self.problems.push(e.file(&self.shard.record_path).into());
        }
    }

    /// Draws of a video do not lie in two shards.
    fn draws(&mut self) {
        let (draws, clips) = (self.shard.index.meta.draws, self.shard.clip_count());
        if draws.is_some_and(|draws| draws == 0 || !clips.is_multiple_of(draws.into())) {
            let e = Error::format("clip-draws", "the number of clips is no multiple of the draws of a video")
                .expected(format!("a multiple of {}", draws.unwrap_or(1)))
                .found(clips);
            self.problems.push(e.file(&self.shard.index_path).into());
        }
    }

    /// Walks through clips, frames and records together.
    fn records(&mut self, done: u64, progress: &(dyn Fn(u64) + Sync)) {
        for c in 0..self.shard.clip_count() {
            match self.shard.clip(c) {
                Ok(clip) => self.clip(c, &clip),
                Err(e) => self.problems.push(e.in_clip(c).into()),
            }
            progress(done + self.frames_seen);
        }
        let total = self.shard.index.header.frame_count;
        if self.frames_seen != total && self.problems.is_empty() {
            let e = Error::format("clip-order", "frames at the end of the frame table belong to no clip")
                .expected(total)
                .found(self.frames_seen);
            self.problems.push(e.file(&self.shard.index_path).into());
        }
        let length = self.shard.records.len();
        if self.record_end != length && self.problems.is_empty() {
            let e = Error::format("record-trailing", "there is something after the last record").at(self.record_end);
            self.problems.push(e.file(&self.shard.record_path).into());
        }
    }

    fn clip(&mut self, c: u64, clip: &ClipEntry) {
        if clip.first_frame != self.frames_seen || clip.frame_count == 0 {
            let e = Error::format("clip-order", "the clip's frames do not follow those of the clip before")
                .expected(format!("frames from {}", self.frames_seen))
                .found(format!("{} from {}", clip.frame_count, clip.first_frame));
            self.problems.push(e.in_clip(c).file(&self.shard.index_path).into());
        }
        if let Err(e) = self.clip_strings(clip) {
            self.problems.push(e.in_clip(c).file(&self.shard.index_path).into());
        }
        for t in 0..clip.frame_count {
            if let Err(e) = self.frame(c, clip, t) {
                let e = if e.path().is_none() { e.file(&self.shard.record_path) } else { e };
                self.problems.push(e.in_clip(c).in_frame(t).into());
            }
        }
        self.frames_seen = clip.first_frame + u64::from(clip.frame_count);
    }

    fn clip_strings(&self, clip: &ClipEntry) -> Result<()> {
        let [_, class, attributes] = self.shard.index.strings(&self.shard.index_bytes, clip)?;
        if !attributes.is_empty() && serde_json::from_str::<serde_json::Map<_, _>>(attributes).is_err() {
            return Err(Error::format("clip-attributes", "the attributes are not a JSON object"));
        }
        let classes = &self.shard.index.meta.classes;
        let Some(label) = u32::try_from(clip.label).ok().filter(|_| !classes.is_empty()) else {
            return Ok(());
        };
        match classes.get(label as usize) {
            Some(name) if class.is_empty() || name == class => Ok(()),
            other => Err(Error::format("clip-class", "the clip's class is not that of its label")
                .expected(other.map_or("a label that has a class", |s| s))
                .found(format!("{label}, \"{class}\""))),
        }
    }

    fn frame(&mut self, c: u64, clip: &ClipEntry, t: u32) -> Result<()> {
        let ordinal = clip.first_frame + u64::from(t);
        let entry = self.shard.index.frame(&self.shard.index_bytes, ordinal);
        let entry = entry.map_err(|e| e.file(&self.shard.index_path))?;
        let at = entry.record_offset;
        let expected_at = std::mem::replace(&mut self.record_end, at);
        let end = self.shard.records.record(&entry, &mut Vec::new()).map(|r| r.end);
        // Where this record cannot be read, the next one is taken to be where the index has it.
        self.record_end = match &end {
            Ok(end) => *end,
            Err(_) => self.next_offset(ordinal).unwrap_or(at),
        };
        end?;
        let (_, header, jpeg) = self.shard.frame(ordinal)?;
        let fault = |rule, what: &str| Error::format(rule, what.to_owned()).section("record").at(at);
        if at != expected_at {
            return Err(fault("record-order", "the record is not where the one before ends")
                .expected(format!("byte {expected_at}"))
                .found(format!("byte {at}")));
        }
        let foreign = self.shard.index.meta.has_foreign_records();
        if !foreign && (header.id, header.id2) != (ordinal, c << 32 | u64::from(t)) {
            return Err(fault("record-id", "the record's ids are not its place")
                .expected(format!("id {ordinal}, clip {c}, frame {t}"))
                .found(format!("id {}, clip {}, frame {}", header.id, header.clip(), header.frame())));
        }
        let other_label = header.flag != 0 || header.label.to_bits() != (clip.label as f32).to_bits();
        if !foreign && other_label {
            return Err(fault("record-label", "the record's label is not the clip's")
                .expected(format!("flag 0, label {}", clip.label))
                .found(format!("flag {}, label {}", header.flag, header.label)));
        }
        let found = crc32(&jpeg);
        if found != entry.jpeg_crc32 {
            return Err(fault("jpeg-crc", "the JPEG's CRC-32 is not what the index says")
                .expected(format!("{:#010x}", entry.jpeg_crc32))
                .found(format!("{found:#010x}")));
        }
        Ok(())
    }

    fn next_offset(&self, ordinal: u64) -> Option<u64> {
        self.shard.index.frame(&self.shard.index_bytes, ordinal + 1).ok().map(|e| e.record_offset)
    }

    /// Decodes every frame, in parallel over clips.
    fn pictures(&mut self, done: u64, progress: &(dyn Fn(u64) + Sync)) {
        let shard = self.shard;
        let found: Vec<Vec<Problem>> = (0..shard.clip_count())
            .into_par_iter()
            .map_init(RgbPicture::default, |pixels, c| {
                // An entry that cannot be read was reported before.
                let Ok(clip) = shard.clip(c) else { return Vec::new() };
                progress(done + clip.first_frame);
                (0..clip.frame_count).filter_map(|t| check_picture(shard, pixels, c, &clip, t)).collect()
            })
            .collect();
        self.problems.extend(found.into_iter().flatten());
    }
}

fn check_picture(shard: &Shard, pixels: &mut RgbPicture, c: u64, clip: &ClipEntry, t: u32) -> Option<Problem> {
    // A record that cannot be read was reported before.
    let (entry, _, jpeg) = shard.frame(clip.first_frame + u64::from(t)).ok()?;
    let e = decode(&jpeg, pixels, (clip.width, clip.height)).err()?;
    Some(e.in_clip(c).in_frame(t).at(entry.record_offset).file(&shard.record_path).into())
}

fn decode(jpeg: &[u8], pixels: &mut RgbPicture, stated: (u16, u16)) -> Result<()> {
    let mut decoder = Decoder::new()?;
    let header = decoder.header(jpeg)?;
    let stated = (u32::from(stated.0), u32::from(stated.1));
    if stated != (0, 0) && stated != (header.width, header.height) {
        return Err(Error::format("clip-size", "the picture does not have the clip's size")
            .expected(format!("{}x{}", stated.0, stated.1))
            .found(format!("{}x{}", header.width, header.height)));
    }
    decoder.decode_picture_into(jpeg, pixels)
}
