//! One clip: its entry, its strings, its frames and its clock, which it may share with other clips. The JPEG of a frame borrows from
//! a map or a buffer.

use std::ops::Range;
use std::sync::Arc;

use crate::dataset::Shard;
use crate::dataset::records::{prove_jpeg, record_range, request_ranges};
use crate::dataset::shard::StoredFrame;
use crate::dataset::writer::ClipInfo;
use crate::store::disk::map;
use crate::store::read_at::Advice;
use crate::store::remote::RemoteFile;
use vidrec_format::frame_entry::UNKNOWN_SOURCE_INDEX;
use vidrec_format::{ClipEntry, Error, FrameEntry, JsonObject, Result, clip_entry};

/// A remote file, and ranges of it.
type RemoteRanges<'a> = (&'a Arc<RemoteFile>, Vec<Range<u64>>);

/// One clip of a data set.
#[derive(Debug, Clone, Copy)]
pub struct Clip<'a> {
    pub(super) shard: &'a Shard,
    pub(super) ordinal: u64,
    /// Ordinal in the shard.
    pub(super) stored: u64,
    /// Frames of the shards before this one.
    pub(super) frames_before: u64,
    pub(super) entry: ClipEntry,
}

impl<'a> Clip<'a> {
    /// Ordinal in the data set, counted from 0.
    pub fn ordinal(&self) -> u64 {
        self.ordinal
    }

    /// Number of frames.
    pub fn frame_count(&self) -> u32 {
        self.entry.frame_count
    }

    /// Label, if it has one.
    pub fn label(&self) -> Option<u32> {
        u32::try_from(self.entry.label).ok()
    }

    /// Returns all labels of the clip: its one label, or the integers in the attribute `labels`. Data sets with
    /// several labels per clip have this attribute.
    ///
    /// # Errors
    ///
    /// See [`attributes`](Self::attributes). It is also an error if `labels` is not an array of labels.
    pub fn labels(&self) -> Result<Vec<u32>> {
        if let Some(label) = self.label() {
            return Ok(vec![label]);
        }
        let Some(labels) = self.attributes()?.0.remove("labels") else { return Ok(Vec::new()) };
        let wrong = Error::usage("the attribute \"labels\" is not an array of labels");
        serde_json::from_value(labels).map_err(|e| self.in_entry(wrong.found(e)))
    }

    fn in_entry(&self, e: Error) -> Error {
        e.in_clip(self.ordinal).file(&self.shard.index_path)
    }

    /// Width of every frame in pixels; 0 if the frames differ.
    pub fn width(&self) -> u32 {
        u32::from(self.entry.width)
    }

    /// Height of every frame in pixels; 0 if the frames differ.
    pub fn height(&self) -> u32 {
        u32::from(self.entry.height)
    }

    /// Whether the clip's records are remote.
    pub(crate) fn is_remote(&self) -> bool {
        self.shard.records.remote().is_some()
    }

    /// Whether the source had fewer frames than requested, so that some frames are repeated.
    pub fn is_short(&self) -> bool {
        self.entry.flags & clip_entry::FLAG_SHORT != 0
    }

    /// Unit of the frames' presentation times in seconds: numerator and denominator.
    pub fn time_base(&self) -> (u32, u32) {
        self.entry.time_base
    }

    /// A copy of the source path, relative to the input root.
    ///
    /// # Errors
    ///
    /// [`Format`](vidrec_format::error::ErrorKind::Format) if the clip's strings are damaged.
    pub fn source(&self) -> Result<String> {
        let [source, ..] = self.strings()?;
        Ok(source)
    }

    /// A copy of the class name; empty if there is none.
    ///
    /// # Errors
    ///
    /// See [`source`](Self::source).
    pub fn class(&self) -> Result<String> {
        let [_, class, _] = self.strings()?;
        Ok(class)
    }

    /// Attributes as the text of a JSON object; empty if there are none.
    ///
    /// # Errors
    ///
    /// See [`source`](Self::source).
    #[doc(hidden)]
    pub fn attributes_json(&self) -> Result<String> {
        if !self.shard.added.is_empty() {
            return Ok(self.attributes()?.to_string());
        }
        let [.., attributes] = self.strings()?;
        Ok(attributes)
    }

    /// Attributes as a JSON object; empty if there are none.
    ///
    /// # Errors
    ///
    /// See [`source`](Self::source). It is also an error if the text is not a JSON object (rule `clip-attributes`).
    pub fn attributes(&self) -> Result<JsonObject> {
        let [.., text] = self.strings()?;
        let stored = if text.is_empty() { Ok(JsonObject::default()) } else { serde_json::from_str(&text) };
        let wrong = Error::format("clip-attributes", "the attributes are not a JSON object");
        let mut attributes = stored.map_err(|e| self.in_entry(wrong.found(e)))?;
        attributes.merge(self.added_attributes()?);
        Ok(attributes)
    }

    /// Returns the description of the clip, as a [`Writer`](crate::dataset::writer::Writer) takes it.
    ///
    /// # Errors
    ///
    /// See [`attributes`](Self::attributes).
    pub fn info(&self) -> Result<ClipInfo> {
        let [source, class, _] = self.strings()?;
        Ok(ClipInfo {
            label: self.label(),
            source,
            class,
            attributes: self.attributes()?,
            width: self.width(),
            height: self.height(),
            time_base: self.time_base(),
            short: self.is_short(),
        })
    }

    fn strings(&self) -> Result<[String; 3]> {
        self.shard.strings(&self.entry).map_err(|e| e.in_clip(self.ordinal))
    }

    /// Frame `t`, counted from 0.
    ///
    /// # Errors
    ///
    /// [`Usage`](vidrec_format::error::ErrorKind::Usage) if there is no such frame;
    /// [`Format`](vidrec_format::error::ErrorKind::Format) if its entry or its record is damaged. [`Frame::check`]
    /// compares the JPEG's CRC-32.
    pub fn frame(&self, t: u32) -> Result<Frame<'a>> {
        let found = self.shard.frame(self.frame_ordinal(t)?, self.entry.frames());
        self.with_place(t, found)
    }

    /// Like [`frame`](Self::frame), with a buffer. The buffer is used if files are not mapped
    /// ([`Io::Read`](crate::dataset::Io::Read)), so that all frames can be read into the same memory.
    ///
    /// # Errors
    ///
    /// See [`frame`](Self::frame).
    pub fn frame_with<'b>(&self, t: u32, buffer: &'b mut Vec<u8>) -> Result<Frame<'b>>
    where
        'a: 'b,
    {
        let found = self.shard.frame_with(self.frame_ordinal(t)?, self.entry.frames(), buffer);
        self.with_place(t, found)
    }

    /// Returns the entries of the clip's frames. Reads no records.
    ///
    /// # Errors
    ///
    /// [`Format`](vidrec_format::error::ErrorKind::Format) if an entry is damaged.
    #[doc(hidden)]
    pub fn frame_entries(&self) -> Result<Vec<FrameEntry>> {
        (0..self.frame_count()).map(|t| self.frame_entry(t)).collect()
    }

    /// Returns the presentation time of frame `t` in seconds. Reads only the frame's entry.
    ///
    /// # Errors
    ///
    /// [`Usage`](vidrec_format::error::ErrorKind::Usage) if there is no such frame;
    /// [`Format`](vidrec_format::error::ErrorKind::Format) if its entry is damaged.
    pub fn seconds(&self, t: u32) -> Result<f64> {
        Ok(self.seconds_of(&self.frame_entry(t)?))
    }

    /// The presentation time of a frame in seconds.
    pub(super) fn seconds_of(&self, frame: &FrameEntry) -> f64 {
        let (num, den) = self.entry.time_base;
        frame.pts as f64 * f64::from(num) / f64::from(den)
    }

    /// Returns the entry of frame `t`: its time, and the place, length and checksum of its JPEG.
    ///
    /// # Errors
    ///
    /// See [`seconds`](Self::seconds).
    #[doc(hidden)]
    pub fn frame_entry(&self, t: u32) -> Result<FrameEntry> {
        let entry = self.frame_ordinal(t).and_then(|ordinal| self.shard.frame_entry(ordinal));
        entry.map_err(|e| e.in_clip(self.ordinal).in_frame(t))
    }

    /// The length of the JPEG of frame `t` in bytes, limited to the length of the record file. Reads only the frame's
    /// entry.
    pub(crate) fn jpeg_length(&self, t: u32) -> Result<usize> {
        let (entry, most) = (self.frame_entry(t)?, self.shard.records.len());
        if u64::from(entry.jpeg_length) <= most {
            return Ok(entry.jpeg_length as usize);
        }
        let e = Error::format("record-length", "the frame's JPEG would be longer than the record file");
        let e = e.section("record").at(entry.record_offset).in_clip(self.ordinal).in_frame(t);
        let e = e.expected(format!("at most {most} bytes")).found(format!("{} bytes", entry.jpeg_length));
        Err(e.file(&self.shard.record_path))
    }

    /// The number of frame `t` among the frames of all shards, and its entry.
    pub(crate) fn numbered_entry(&self, t: u32) -> Result<(u64, FrameEntry)> {
        Ok((self.frames_before + self.frame_ordinal(t)?, self.frame_entry(t)?))
    }

    /// The size that the clip's records have in a record file that vidrec writes. Reads only the frame entries.
    pub(crate) fn record_bytes(&self) -> Result<u64> {
        Ok(self.frame_entries()?.iter().map(|entry| record_range(entry).end - entry.record_offset).sum())
    }

    fn frame_ordinal(&self, t: u32) -> Result<u64> {
        if t >= self.entry.frame_count {
            return Err(Error::usage(format!("there is no frame {t}"))
                .in_clip(self.ordinal)
                .expected(format!("less than {}", self.entry.frame_count)));
        }
        Ok(self.entry.first_frame + u64::from(t))
    }

    fn with_place<'b>(&self, t: u32, found: Result<StoredFrame<'b>>) -> Result<Frame<'b>>
    where
        'a: 'b,
    {
        let stored = found.map_err(|e| e.in_clip(self.ordinal).in_frame(t))?;
        Ok(Frame { clip: *self, t, stored })
    }

    /// The ranges of some frames' records in the record file. See [`request_ranges`].
    fn ranges(&self, frames: &[u32]) -> Result<Vec<Range<u64>>> {
        let place = |&t: &u32| {
            let record = record_range(&self.frame_entry(t)?);
            Ok(record.start..record.end.min(self.shard.records.len()))
        };
        let there = frames.iter().filter(|&&t| t < self.frame_count());
        let mut records = there.map(place).collect::<Result<Vec<_>>>()?;
        records.retain(|record| record.start < record.end);
        Ok(request_ranges(records))
    }

    /// Advises the system on the records of some frames, unless an entry cannot be read.
    pub(crate) fn advise(&self, frames: &[u32], advice: Advice) {
        let ranges = self.ranges(frames).unwrap_or_default();
        ranges.into_iter().for_each(|range| self.shard.records.advise(range, advice));
    }

    /// The remote file with the clip's records, and the ranges of some frames' records in it.
    pub(crate) fn remote_ranges(&self, frames: &[u32]) -> Result<Option<RemoteRanges<'a>>> {
        self.shard.records.remote().map(|file| Ok((file, self.ranges(frames)?))).transpose()
    }

    /// All frames, in order.
    pub fn frames(&self) -> impl Iterator<Item = Result<Frame<'a>>> + '_ {
        (0..self.frame_count()).map(|t| self.frame(t))
    }
}

/// One frame of a clip. The JPEG borrows from the map or the buffer, except for the rare record that is stored in
/// parts.
#[derive(Debug, Clone)]
pub struct Frame<'a> {
    pub(super) clip: Clip<'a>,
    pub(super) t: u32,
    pub(super) stored: StoredFrame<'a>,
}

impl Frame<'_> {
    /// The stored JPEG. Its CRC-32 has not been compared: see [`check`](Self::check).
    ///
    /// In a mapped file, these are the file's own bytes, which another program can change. Some code reads a byte
    /// twice and relies on reading the same, such as a decoder in C. Give such code a copy.
    /// [`Decoder`](vidrec_jpeg::Decoder) makes its own.
    pub fn jpeg(&self) -> &[u8] {
        &self.stored.jpeg
    }

    /// Compares the JPEG's CRC-32 with the one in the index.
    ///
    /// If a mapped file is truncated while its bytes are in use, they become zeros ([`Io::Map`](crate::dataset::Io::Map)). To
    /// notice that, check after the use, or call [`lost_pages`](crate::store::disk::sigbus::lost_pages).
    ///
    /// # Errors
    ///
    /// [`Format`](vidrec_format::error::ErrorKind::Format), rule `jpeg-crc`, with file, clip, frame and offset;
    /// [`Io`](vidrec_format::error::ErrorKind::Io) if the file was truncated while it was open, or its disk is
    /// failing.
    pub fn check(&self) -> Result<()> {
        self.check_copy(self.jpeg())
    }

    /// Like [`check`](Self::check), for a copy of the JPEG.
    ///
    /// # Errors
    ///
    /// See [`check`](Self::check).
    #[doc(hidden)]
    pub fn check_copy(&self, jpeg: &[u8]) -> Result<()> {
        let shard = self.clip.shard;
        let lost = |e| if shard.records.lost() > 0 { map::lost(&shard.record_path) } else { e };
        prove_jpeg(&self.stored.entry, jpeg).map_err(|e| self.place(lost(e)))
    }

    /// Checks that all bytes of the JPEG that were read so far were in the file. This costs nothing unless part of
    /// the file is lost.
    pub(crate) fn prove_still_there(&self) -> Result<()> {
        if self.clip.shard.records.lost() > 0 { self.check() } else { Ok(()) }
    }

    /// Adds the frame's location to `e`, an error in its image.
    #[doc(hidden)]
    pub fn place(&self, e: Error) -> Error {
        e.file(&self.clip.shard.record_path).at(self.offset()).in_clip(self.clip.ordinal).in_frame(self.t)
    }

    /// Presentation time in units of the clip's time base.
    pub fn pts(&self) -> i64 {
        self.stored.entry.pts
    }

    /// Presentation time in seconds.
    pub fn pts_seconds(&self) -> f64 {
        self.clip.seconds_of(&self.stored.entry)
    }

    /// Ordinal among the frames decoded from the source, if known.
    pub fn source_index(&self) -> Option<u32> {
        Some(self.stored.entry.source_index).filter(|&i| i != UNKNOWN_SOURCE_INDEX)
    }

    /// Byte offset of the frame's record in the record file.
    #[doc(hidden)]
    pub fn offset(&self) -> u64 {
        self.stored.entry.record_offset
    }

    /// CRC-32 of the JPEG, according to the index.
    pub fn crc32(&self) -> u32 {
        self.stored.entry.jpeg_crc32
    }
}

/// The attribute by which clips of an episode say that they have one clock: those with the same text do.
const CLOCK: &str = "clock";

/// The largest distance of two frames of one moment, in seconds, if the distance of frames is unknown.
const ONE_MOMENT: f64 = 1e-3;

/// Returns why two clips of an episode cannot be paired by time, or `None` if they have one clock.
///
/// They do if they begin together: their first frames are at most half of the time from one frame to the next apart. If
/// they do not, they still do if their attribute `clock` is the same, or if both are segments from the same `start` on and
/// their first frames are at most the time of a frame apart. Frames without times have no clock that a video could have.
///
/// # Errors
///
/// The index is damaged or cannot be read.
pub fn different_clocks(one: &Clip<'_>, other: &Clip<'_>) -> Result<Option<String>> {
    if one.frame_count() == 0 || other.frame_count() == 0 {
        return Ok(None);
    }
    // Up to half of the time from one frame to the next.
    let [a, b, step_a, step_b] = [one.seconds(0)?, other.seconds(0)?, step(one)?, step(other)?];
    let half = step_a.min(step_b) / 2.0;
    let near = if half.is_finite() { half.max(ONE_MOMENT) } else { ONE_MOMENT };
    let have_times = [has_times(one)?, has_times(other)?];
    if (a - b).abs() <= near && have_times[0] == have_times[1] {
        return Ok(None);
    }
    let attributes = [one.attributes()?, other.attributes()?];
    let say_the_same = |name: &str| {
        let [one, other] = attributes.each_ref().map(|attributes| attributes.0.get(name));
        one.is_some() && one == other
    };
    if say_the_same(CLOCK) {
        return Ok(None);
    }
    if have_times[0] != have_times[1] {
        return Ok(Some("pictures without times beside frames with times".into()));
    }
    if say_the_same("start") && (a - b).abs() <= step_a.max(step_b) {
        return Ok(None);
    }
    Ok(Some(format!("the first frames at {a:.3} s and at {b:.3} s")))
}

/// The mean time from one frame to the next in seconds; infinite for a single frame.
fn step(clip: &Clip<'_>) -> Result<f64> {
    let steps = clip.frame_count().saturating_sub(1);
    if steps == 0 {
        return Ok(f64::INFINITY);
    }
    Ok((clip.seconds(steps)? - clip.seconds(0)?).abs() / f64::from(steps))
}

/// Whether frames have times. Pictures that came without a rate are numbered: each takes a second.
fn has_times(clip: &Clip<'_>) -> Result<bool> {
    if clip.time_base() != (1, 1) {
        return Ok(true);
    }
    for t in [0, clip.frame_count() - 1] {
        let entry = clip.frame_entry(t)?;
        let number = if entry.source_index == UNKNOWN_SOURCE_INDEX { t } else { entry.source_index };
        if entry.pts != i64::from(number) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The pts of a clip's first frame, and the same in nanoseconds; zeros without frames.
pub(crate) fn beginning(clip: &Clip<'_>) -> Result<(i64, i64)> {
    if clip.frame_count() == 0 {
        return Ok((0, 0));
    }
    Ok((clip.frame_entry(0)?.pts, clip.time_ns(0)?.ok_or_else(|| too_far(clip))?))
}

pub(crate) fn too_far(clip: &Clip<'_>) -> Error {
    Error::limit("a time does not fit into 64 bits").in_clip(clip.ordinal())
}
