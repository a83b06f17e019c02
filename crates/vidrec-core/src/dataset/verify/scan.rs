//! Checks the index, the record file and the track file of a shard from their first bytes to their last.

use std::path::Path;

use rayon::ThreadPool;
use rayon::prelude::*;
use vidrec_jpeg::{Decoder, RgbPicture};

use crate::dataset::records::{prove_jpeg, record_range};
use crate::dataset::track::attributes_of;
use crate::dataset::writer::check_class;
use crate::dataset::{AddedClips, Clip, Frame, RecordsDigest, Shard, TrackFile, proven_bytes};
use crate::progress::Counter;
use crate::store::location::is_of_network;
use crate::store::read_at::ReadAt;
use vidrec_format::data_binding::hex;
use vidrec_format::track::directory::Entry;
use vidrec_format::track::file;
use vidrec_format::track::schema::ATTRIBUTES;
use vidrec_format::{ClipEntry, Error, ErrorKind, Result};

/// The images that are decoded together. They are enough for all threads, and few enough to fit in memory.
const IMAGES: usize = 256;

/// The problems of a file so far.
#[derive(Default)]
pub(super) struct Problems(pub Vec<Error>);

impl Problems {
    /// Adds a problem of the file at `path`, unless the error ends the call.
    pub fn note(&mut self, e: Error, path: &Path) -> Result<()> {
        if stops(&e) {
            return Err(e);
        }
        self.0.push(if e.path().is_none() { e.file(path) } else { e });
        Ok(())
    }
}

/// Whether an error says nothing about the data: a server could not be reached, the machine ran out of something, or
/// the call was stopped.
pub(crate) fn stops(e: &Error) -> bool {
    is_of_network(e) || matches!(e.kind(), ErrorKind::Resources | ErrorKind::Interrupted)
}

/// Returns the problems of a shard; those of its images come last. Images are decoded if there is a pool for that. The
/// record file is read once from start to end: the digest, the records and the images share this pass.
pub(super) fn check(shard: &Shard, pool: Option<&ThreadPool>, counter: &mut Counter<'_, '_>) -> Result<Problems> {
    let (problems, digest, images) = (Problems::default(), None, Vec::new());
    let mut scan =
        ShardScan { shard, problems, digest, pool, images, image_problems: Vec::new(), record_end: 0, frames: 0 };
    scan.index()?;
    match shard.prove_binding() {
        Ok(()) => scan.digest = Some(RecordsDigest::default()),
        Err(e) => scan.problems.note(e, &shard.record_path)?,
    }
    scan.draws();
    scan.clips(counter)?;
    scan.compare_digest(counter)?;
    scan.decode(counter)?;
    scan.problems.0.append(&mut scan.image_problems);
    Ok(scan.problems)
}

struct ShardScan<'a> {
    shard: &'a Shard,
    problems: Problems,
    /// The digest of the record file, as long as the file can be read.
    digest: Option<RecordsDigest>,
    pool: Option<&'a ThreadPool>,
    /// Images that were read and are not decoded yet.
    images: Vec<Frame<'a>>,
    image_problems: Vec<Error>,
    /// The offset at which the next record must begin.
    record_end: u64,
    /// The number of frames so far.
    frames: u64,
}

/// Decodes an image, and compares its size with that of the clip, if it has one.
fn prove_image(frame: &Frame<'_>, pixels: &mut RgbPicture) -> Result<()> {
    let mut decoder = Decoder::new()?;
    let header = decoder.header(frame.jpeg())?;
    let (stated, found) = ((frame.clip.width(), frame.clip.height()), (header.width, header.height));
    if stated != (0, 0) && stated != found {
        return Err(Error::format("clip-size", "the size of the image is not that of the clip")
            .expected(format!("{}x{}", stated.0, stated.1))
            .found(format!("{}x{}", found.0, found.1)));
    }
    decoder.decode_picture_into(frame.jpeg(), pixels)
}

impl<'a> ShardScan<'a> {
    /// Decodes the images that were read, all at once.
    fn decode(&mut self, counter: &mut Counter<'_, '_>) -> Result<()> {
        let (Some(pool), images) = (self.pool, std::mem::take(&mut self.images)) else { return Ok(()) };
        let prove =
            |pixels: &mut RgbPicture, frame: &Frame<'_>| prove_image(frame, pixels).err().map(|e| frame.place(e));
        let found: Vec<_> = pool.install(|| images.par_iter().map_init(RgbPicture::default, prove).collect());
        self.image_problems.extend(found.into_iter().flatten());
        counter.frames(images.len() as u64)
    }

    /// Checks the CRC-32 of every section, and that the padding between them is zero.
    fn index(&mut self) -> Result<()> {
        let index = &self.shard.index;
        for (i, s) in index.sections.iter().enumerate() {
            let next = index.sections.get(i + 1).map_or(index.header.section_table_offset, |n| n.offset);
            let section = self.shard.of_index(|_, bytes| proven_bytes(bytes, s).map(drop));
            let end = s.end().unwrap_or(next);
            let padding = self.shard.of_index(|_, bytes| match bytes.slice(end..next)?.unwrap_or_default() {
                padding if padding.iter().all(|&b| b == 0) => Ok(()),
                _ => Err(Error::format("section-padding", "the padding after the section is not zero").at(end)),
            });
            let mut found = [section, padding].into_iter().filter_map(Result::err);
            found.try_for_each(|e| self.problems.note(e, &self.shard.index_path))?;
        }
        Ok(())
    }

    /// Checks that no video has draws in two shards.
    fn draws(&mut self) {
        let (draws, clips) = (self.shard.index.meta.draws, self.shard.clip_count());
        if draws.is_some_and(|draws| draws == 0 || !clips.is_multiple_of(draws.into())) {
            let e = Error::format("clip-draws", "the number of clips is not a multiple of the draws per video")
                .expected(format!("a multiple of {}", draws.unwrap_or(1)))
                .found(clips);
            self.problems.0.push(e.file(&self.shard.index_path));
        }
    }

    /// Adds the record file to the digest, at least up to `end`. If it cannot be read, this is a problem, and there
    /// is no digest.
    fn digest_to(&mut self, end: u64, counter: &mut Counter<'_, '_>) -> Result<()> {
        let Some(digest) = &mut self.digest else { return Ok(()) };
        digest.advance(&*self.shard.records, end, &mut || counter.tell()).or_else(|e| {
            self.digest = None;
            self.problems.note(e, &self.shard.record_path)
        })
    }

    /// Compares the SHA-256 of the record file after all of its records were read.
    fn compare_digest(&mut self, counter: &mut Counter<'_, '_>) -> Result<()> {
        let (Some(digest), shard) = (self.digest.take(), self.shard) else { return Ok(()) };
        let wrong = || Error::format("data-digest", "the record file's SHA-256 does not match the index");
        let proven = prove_digest(digest, &*shard.records, shard.index.binding.sha256, counter, wrong);
        proven.or_else(|e| self.problems.note(e, &shard.record_path))
    }

    /// Walks through clips, frames and records in parallel.
    fn clips(&mut self, counter: &mut Counter<'_, '_>) -> Result<()> {
        for ordinal in 0..self.shard.clip_count() {
            match self.shard.clip(ordinal) {
                Ok(entry) => {
                    let clip = Clip { shard: self.shard, ordinal, stored: ordinal, frames_before: 0, entry };
                    self.clip(&clip, counter)?;
                    counter.frames(entry.frame_count.into())?;
                }
                Err(e) => self.problems.note(e.in_clip(ordinal), &self.shard.index_path)?,
            }
        }
        let total = self.shard.index.header.frame_count;
        if self.frames != total && self.problems.0.is_empty() {
            let e = Error::format("clip-order", "frames at the end of the frame table belong to no clip");
            self.problems.0.push(e.expected(total).found(self.frames).file(&self.shard.index_path));
        }
        if self.record_end != self.shard.records.len() && self.problems.0.is_empty() {
            let e = Error::format("record-trailing", "there are bytes after the last record").at(self.record_end);
            self.problems.0.push(e.file(&self.shard.record_path));
        }
        Ok(())
    }

    fn clip(&mut self, clip: &Clip<'a>, counter: &mut Counter<'_, '_>) -> Result<()> {
        let ClipEntry { first_frame, frame_count, .. } = clip.entry;
        if first_frame != self.frames {
            let e = Error::format("clip-order", "the clip's frames do not follow those of the previous clip")
                .expected(format!("frames from {}", self.frames))
                .found(format!("{frame_count} frames from {first_frame}"));
            self.problems.note(e.in_clip(clip.ordinal), &self.shard.index_path)?;
        }
        for AddedClips { file, first, .. } in &clip.shard.added {
            if let Err(e) = prove_frames(file, first + clip.ordinal, frame_count) {
                self.problems.note(e.in_clip(first + clip.ordinal), &file.path)?;
            }
        }
        if let Err(e) = self.clip_strings(&clip.entry) {
            self.problems.note(e.in_clip(clip.ordinal), &self.shard.index_path)?;
        }
        for t in 0..frame_count {
            if let Err(e) = self.frame(clip, t, counter) {
                self.problems.note(e.in_clip(clip.ordinal).in_frame(t), &self.shard.record_path)?;
            }
        }
        self.frames = first_frame + u64::from(frame_count);
        Ok(())
    }

    fn clip_strings(&self, clip: &ClipEntry) -> Result<()> {
        let [_, class, attributes] = self.shard.strings(clip)?;
        if !attributes.is_empty() && serde_json::from_str::<serde_json::Map<_, _>>(&attributes).is_err() {
            return Err(Error::format("clip-attributes", "the attributes are not a JSON object"));
        }
        let wrong = || Error::format("clip-class", "the clip's class is not that of its label");
        check_class(u32::try_from(clip.label).ok(), &class, &self.shard.index.meta.classes, wrong)
    }

    fn frame(&mut self, clip: &Clip<'a>, t: u32, counter: &mut Counter<'_, '_>) -> Result<()> {
        let entry = clip.frame_entry(t)?;
        self.digest_to(record_range(&entry).end, counter)?;
        let (ordinal, at) = (clip.entry.first_frame + u64::from(t), entry.record_offset);
        let frame = clip.frame(t);
        // If this record cannot be read, the next one is assumed to be where the index says.
        let next = || self.shard.frame_entry(ordinal + 1).map_or(at, |next| next.record_offset);
        let end = frame.as_ref().map_or_else(|_| next(), |frame| frame.stored.end);
        let expected_at = std::mem::replace(&mut self.record_end, end);
        let frame = frame?;
        let (header, crc) = (frame.stored.header, prove_jpeg(&entry, frame.jpeg()));
        if self.pool.is_some() {
            self.images.push(frame);
            if self.images.len() >= IMAGES {
                self.decode(counter)?;
            }
        }
        let fault = |rule, what: &str| Error::format(rule, what.to_owned()).section("record").at(at);
        let (label, ids) = (clip.entry.label as f32, (ordinal, clip.ordinal << 32 | u64::from(t)));
        let is_ours = !self.shard.index.meta.has_foreign_records();
        if at != expected_at {
            let e = fault("record-order", "the record does not begin where the previous record ends");
            return Err(e.expected(format!("byte {expected_at}")).found(format!("byte {at}")));
        }
        if is_ours && (header.id, header.id2) != ids {
            let e = fault("record-id", "the record's ids do not match its position");
            let e = e.expected(format!("id {ordinal}, clip {}, frame {t}", clip.ordinal));
            return Err(e.found(format!("id {}, clip {}, frame {}", header.id, header.clip(), header.frame())));
        }
        if is_ours && (header.flag != 0 || header.label.to_bits() != label.to_bits()) {
            let e = fault("record-label", "the record's label is not the clip's");
            let e = e.expected(format!("flag 0, label {}", clip.entry.label));
            return Err(e.found(format!("flag {}, label {}", header.flag, header.label)));
        }
        crc
    }
}

/// Compares the SHA-256 of a file after the rest of it was read.
fn prove_digest(
    digest: RecordsDigest,
    file: &dyn ReadAt,
    expected: [u8; 32],
    counter: &mut Counter<'_, '_>,
    wrong: impl Fn() -> Error,
) -> Result<()> {
    match digest.finish(file, expected, &mut || counter.tell())? {
        found if found == expected => Ok(()),
        found => Err(wrong().expected(hex(&expected)).found(hex(&found))),
    }
}

/// Returns the problems of a track file. If it is not the one that the index or `dataset.json` names, that is the only
/// problem, and the file is not read. `shard` is that of the file, unless it was added.
pub(super) fn check_tracks(file: &TrackFile, shard: Option<&Shard>, counter: &mut Counter<'_, '_>) -> Result<Problems> {
    let mut scan = TrackScan { file, shard, problems: Problems::default(), end: file::END_BYTES as u64 };
    if let Err(e) = file.open() {
        scan.problems.note(e, &file.path)?;
        return Ok(scan.problems);
    }
    if let Err(e) = scan.digest(counter) {
        scan.problems.note(e, &file.path)?;
    }
    for clip in 0..file.clips {
        if let Err(e) = scan.clip(clip) {
            scan.problems.note(e.in_clip(clip), &file.path)?;
        }
        counter.tell()?;
    }
    if let Err(e) = scan.table() {
        scan.problems.note(e, &file.path)?;
    }
    Ok(scan.problems)
}

struct TrackScan<'a> {
    file: &'a TrackFile,
    shard: Option<&'a Shard>,
    problems: Problems,
    /// The end of the last block.
    end: u64,
}

impl TrackScan<'_> {
    fn digest(&self, counter: &mut Counter<'_, '_>) -> Result<()> {
        let (records, expected) = (&*self.file.open()?.records, self.file.binding.sha256);
        let wrong = || Error::format("track-digest", "the track file's SHA-256 does not match the index");
        prove_digest(RecordsDigest::default(), records, expected, counter, wrong)
    }

    fn clip(&mut self, clip: u64) -> Result<()> {
        let Some(block) = self.file.block(clip)? else { return Ok(()) };
        self.follows(block.range.start)?;
        self.end = block.range.end;
        let frames = self.shard.map(|shard| Ok(shard.clip(clip)?.frame_count)).transpose()?;
        let mut end = Entry::directory_bytes(&block.entries);
        for entry in &block.entries {
            // The numbers of frames of added tracks are compared with the clips.
            let frames = frames.unwrap_or(entry.facts.count as u32);
            let payload = self.file.payload(&block, entry, frames)?;
            let at = block.range.start + entry.offset;
            payload.prove_rest().map_err(|e| e.in_track(&payload.schema.name).at(at))?;
            if payload.schema.name == ATTRIBUTES {
                attributes_of(&payload).map_err(|e| e.at(at))?;
            }
            let padding = block.bytes.get(end as usize..entry.offset as usize);
            if padding.unwrap_or_default().iter().any(|&b| b != 0) {
                return Err(not_zero(block.range.start + end));
            }
            end = entry.offset + entry.length;
        }
        Ok(())
    }

    /// Checks that a part that begins at `start` follows the last block.
    fn follows(&self, start: u64) -> Result<()> {
        let expected = self.end.next_multiple_of(file::ALIGNMENT);
        if start != expected {
            return Err(Error::format("track-order", "the tracks do not begin where those of the clip before end")
                .expected(format!("byte {expected}"))
                .found(format!("byte {start}")));
        }
        // If a remote file has wrong bytes here, the digest has found them, and they were fetched once more.
        let mut padding = Vec::new();
        self.file.open()?.records.read(self.end..start, &mut padding)?;
        if padding.iter().any(|&b| b != 0) { Err(not_zero(self.end)) } else { Ok(()) }
    }

    /// Checks that the table follows the last block, if all blocks are right.
    fn table(&self) -> Result<()> {
        if self.problems.0.is_empty() { self.follows(self.file.open()?.footer.table_offset) } else { Ok(()) }
    }
}

/// Checks the numbers of values for frames of a clip in an added file, whose own problems are found elsewhere.
fn prove_frames(file: &TrackFile, clip: u64, frames: u32) -> Result<()> {
    let Ok(Some(block)) = file.block(clip) else { return Ok(()) };
    let prove = |entry| file.prove_head(&block, entry, frames);
    let wrong = block.entries.iter().filter_map(|entry| prove(entry).err()).find(|e| e.rule() == Some("track-frames"));
    wrong.map_or(Ok(()), Err)
}

fn not_zero(at: u64) -> Error {
    Error::format("track-padding", "padding is not zero").at(at)
}
