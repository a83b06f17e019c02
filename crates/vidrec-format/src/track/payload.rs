//! The bytes of one track of one clip: its values, then its times.

use std::borrow::Cow;
use std::ops::Range;

use bytemuck::Pod;
use byteorder::{ByteOrder, LittleEndian as LE};
pub use half::f16;
use serde::{Deserialize, Serialize};

use super::coding::{Blocks, TrackCoding};
use super::schema::{TrackSchema, TrackTiming, TrackType};
use crate::align_up;
use crate::error::{Error, Result};
use crate::limits;

/// Times and the items of lists begin at multiples of this.
const PARTS_ALIGNMENT: u64 = 8;

/// The description of a track in the directory, without the location of its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Facts {
    /// Number of values.
    pub count: u64,
    /// The time of the first value in nanoseconds, for timing `rate`; 0 for the others.
    pub first_ns: i64,
    /// Values per second as numerator and denominator, for timing `rate`; zeros for the others.
    pub rate: (u32, u32),
    /// The coding of the values.
    pub coding: TrackCoding,
}

/// A type of numbers that tracks can have: `half::f16`, `f32`, `f64`, `i16`, `i32`, `i64`, `u16`, or `u8`, which is also
/// how `bool` is stored.
pub trait TrackNumber: Pod + Send + Sync + private::Sealed {
    /// The type of such tracks.
    const TYPE: TrackType;

    /// The nearest float.
    fn to_f64(self) -> f64;
}

mod private {
    pub trait Sealed {}
}

macro_rules! numbers {
    ($($number:ty => $variant:ident),+) => {
        $(
            impl private::Sealed for $number {}

            impl TrackNumber for $number {
                const TYPE: TrackType = TrackType::$variant;

                #[allow(clippy::cast_lossless, clippy::unnecessary_cast, reason = "one macro for all types")]
                fn to_f64(self) -> f64 {
                    self as f64
                }
            }
        )+
    };
}

impl private::Sealed for f16 {}

impl TrackNumber for f16 {
    const TYPE: TrackType = TrackType::F16;

    fn to_f64(self) -> f64 {
        self.into()
    }
}

numbers!(f32 => F32, f64 => F64, i16 => I16, i32 => I32, i64 => I64, u8 => U8, u16 => U16);

/// Little-endian numbers as a slice of the bytes. They are a copy if the machine's byte order or the address of the
/// bytes rules out a slice.
pub fn numbers<T: TrackNumber>(bytes: &[u8]) -> Cow<'_, [T]> {
    match bytemuck::try_cast_slice(bytes) {
        Ok(numbers) if cfg!(target_endian = "little") => Cow::Borrowed(numbers),
        _ => {
            let mut numbers: Vec<T> = bytemuck::pod_collect_to_vec(bytes);
            if cfg!(target_endian = "big") {
                let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut numbers);
                bytes.chunks_exact_mut(size_of::<T>()).for_each(<[u8]>::reverse);
            }
            Cow::Owned(numbers)
        }
    }
}

/// The bytes of a track of a clip, and what is needed to read them.
#[derive(Debug, Clone, Copy)]
pub struct Payload<'a> {
    /// The name, type, shape and timing of the track.
    pub schema: &'a TrackSchema,
    /// The facts from the directory.
    pub facts: Facts,
    /// The bytes.
    pub bytes: &'a [u8],
}

/// The number of times that each value has.
fn times_per_value(timing: TrackTiming) -> u64 {
    match timing {
        TrackTiming::Frames | TrackTiming::Rate => 0,
        TrackTiming::Times => 1,
        TrackTiming::Spans => 2,
    }
}

/// The length of a track whose values have `values` bytes.
fn length_with(schema: &TrackSchema, count: u64, values: u64) -> Option<u64> {
    match times_per_value(schema.timing) {
        0 => Some(values),
        n => align_up(values, PARTS_ALIGNMENT)?.checked_add(count.checked_mul(8 * n)?),
    }
}

/// Whether a track with these facts can have `length` bytes. For texts, lists and coded values, this is certain only after
/// [`Payload::prove`], because their lengths are in the bytes themselves.
pub fn is_length(schema: &TrackSchema, facts: &Facts, length: u64) -> bool {
    let count = facts.count;
    if facts.coding != TrackCoding::Raw {
        // Pictures are decoded one at a time, and may be more than memory holds.
        let decoded = schema.value_bytes().and_then(|each| each.checked_mul(count));
        let is_held = decoded.is_some_and(|n| n <= limits::MAX_TRACK_BLOCK_BYTES) || facts.coding == TrackCoding::Png;
        let fits = facts.coding.fits(schema, facts.rate);
        return fits && is_held && coded_head(schema, facts).is_some_and(|head| head <= length);
    }
    match schema.value_bytes().filter(|_| !schema.list) {
        Some(value) => count.checked_mul(value).and_then(|n| length_with(schema, count, n)) == Some(length),
        None => offsets_length(schema, count)
            .and_then(|n| length_with(schema, count, n))
            .is_some_and(|least| least <= length),
    }
}

/// The length of what precedes the blocks of coded values: their list, and the times of the values.
fn coded_head(schema: &TrackSchema, facts: &Facts) -> Option<u64> {
    let times = facts.count.checked_mul(8 * times_per_value(schema.timing))?;
    facts.coding.list_bytes(facts.count, facts.rate)?.checked_add(times)
}

/// The length of the offsets of `count` texts, or of `count` lists with the zeros after them.
fn offsets_length(schema: &TrackSchema, count: u64) -> Option<u64> {
    let offsets = count.checked_add(1)?.checked_mul(4)?;
    if schema.list { align_up(offsets, PARTS_ALIGNMENT) } else { Some(offsets) }
}

/// Appends times after the values.
pub fn push_times(bytes: &mut Vec<u8>, times: &[&[i64]]) {
    if times.is_empty() {
        return;
    }
    bytes.resize(bytes.len().next_multiple_of(PARTS_ALIGNMENT as usize), 0);
    bytes.extend(times.iter().flat_map(|times| times.iter()).flat_map(|time| time.to_le_bytes()));
}

/// Encodes the offsets and bytes of texts; `None` if a length does not fit in 32 bits.
pub fn texts_to_bytes<S: AsRef<str>>(texts: &[S]) -> Option<Vec<u8>> {
    let mut bytes = offsets(texts.iter().map(|text| text.as_ref().len()))?;
    texts.iter().for_each(|text| bytes.extend_from_slice(text.as_ref().as_bytes()));
    Some(bytes)
}

/// Encodes the offsets of lists of so many items, and the items; `None` if an offset does not fit in 32 bits.
pub fn lists_to_bytes(lengths: &[u32], items: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = offsets(lengths.iter().map(|&length| length as usize))?;
    bytes.resize(bytes.len().next_multiple_of(PARTS_ALIGNMENT as usize), 0);
    bytes.extend_from_slice(items);
    Some(bytes)
}

/// Encodes 0, and where each part of these lengths ends.
fn offsets(lengths: impl Iterator<Item = usize>) -> Option<Vec<u8>> {
    let (mut bytes, mut end) = (0u32.to_le_bytes().to_vec(), 0u32);
    for length in lengths {
        end = end.checked_add(u32::try_from(length).ok()?)?;
        bytes.extend(end.to_le_bytes());
    }
    Some(bytes)
}

impl<'a> Payload<'a> {
    fn count(&self) -> usize {
        self.facts.count as usize
    }

    /// The start of the times, or the place where they would start.
    fn times_at(&self) -> usize {
        if self.facts.coding != TrackCoding::Raw {
            return self.facts.coding.list_bytes(self.facts.count, self.facts.rate).unwrap_or_default() as usize;
        }
        let times = 8 * self.count() * times_per_value(self.schema.timing) as usize;
        self.bytes.len().saturating_sub(times)
    }

    /// The range of the values, once the length is proven.
    fn values_range(&self) -> Range<usize> {
        if self.blocks().is_some() {
            return 0..self.bytes.len();
        }
        match self.schema.value_bytes() {
            Some(value) if self.schema.list => {
                let start = offsets_length(self.schema, self.facts.count).unwrap_or_default() as usize;
                start..start.saturating_add(self.offset(self.count()).saturating_mul(value as usize))
            }
            Some(value) => 0..self.count() * value as usize,
            None => 0..self.texts_range().end,
        }
    }

    fn texts_range(&self) -> Range<usize> {
        let start = 4 * (self.count() + 1);
        start..start + self.offset(self.count())
    }

    fn offset(&self, i: usize) -> usize {
        self.bytes.get(4 * i..4 * i + 4).map_or(0, |b| LE::read_u32(b) as usize)
    }

    /// The values in blocks, if they are coded.
    pub fn blocks(&self) -> Option<Blocks<'a>> {
        let (head, blocks) = self.bytes.split_at_checked(self.coded_head()?)?;
        let how = (self.count(), self.facts.coding, self.facts.rate);
        Some(Blocks::new(head.get(..self.times_at())?, blocks, how, self.schema))
    }

    fn coded_head(&self) -> Option<usize> {
        let is_coded = self.facts.coding != TrackCoding::Raw;
        is_coded.then(|| coded_head(self.schema, &self.facts).unwrap_or_default() as usize)
    }

    /// The part of the bytes that the CRC-32 of the track covers: of coded values, what precedes their blocks, which have
    /// one each.
    pub fn summed(&self) -> &'a [u8] {
        self.coded_head().map_or(self.bytes, |head| self.bytes.get(..head).unwrap_or_default())
    }

    /// The bytes of all numbers, which are not coded.
    pub fn number_bytes(&self) -> &'a [u8] {
        &self.bytes[self.values_range()]
    }

    /// The items of list `i`, counted from the first one of the track; `None` if there is no such list.
    pub fn items(&self, i: usize) -> Option<Range<usize>> {
        (self.schema.list && i < self.count()).then(|| self.offset(i)..self.offset(i + 1))
    }

    /// A copy of text `i`; `None` if there is none.
    pub fn text(&self, i: usize) -> Option<String> {
        if self.schema.kind != TrackType::Utf8 || i >= self.count() {
            return None;
        }
        let texts = self.bytes.get(self.texts_range())?;
        String::from_utf8(texts.get(self.offset(i)..self.offset(i + 1))?.to_vec()).ok()
    }

    /// The times, for timing `times`; the starts, for timing `spans`.
    pub fn starts(&self) -> Option<Cow<'a, [i64]>> {
        let at = self.times_at();
        (times_per_value(self.schema.timing) > 0).then(|| numbers(&self.bytes[at..at + 8 * self.count()]))
    }

    /// The ends, for timing `spans`.
    pub fn ends(&self) -> Option<Cow<'a, [i64]>> {
        let at = self.times_at() + 8 * self.count();
        (self.schema.timing == TrackTiming::Spans).then(|| numbers(&self.bytes[at..at + 8 * self.count()]))
    }

    /// Returns the facts and the bytes of the track with all its times this much earlier; `None` if a time does not fit.
    pub fn earlier(&self, by_ns: i64) -> Option<(Facts, Cow<'a, [u8]>)> {
        let (mut facts, mut bytes) = (self.facts, Cow::Borrowed(self.bytes));
        if by_ns == 0 {
            return Some((facts, bytes));
        }
        if self.schema.timing == TrackTiming::Rate {
            facts.first_ns = facts.first_ns.checked_sub(by_ns)?;
        }
        let (at, count) = (self.times_at(), self.count() * times_per_value(self.schema.timing) as usize);
        if count > 0 {
            for time in bytes.to_mut()[at..at + 8 * count].chunks_exact_mut(8) {
                let earlier = LE::read_i64(time).checked_sub(by_ns)?;
                LE::write_i64(time, earlier);
            }
        }
        Some((facts, bytes))
    }

    /// Checks everything that a reader relies on. The clip has `frames` frames, and the length of the track is
    /// possible.
    ///
    /// # Errors
    ///
    /// Rules `track-frames`, `track-text`, `track-list`, `track-bool`, `track-coding` and `track-times`.
    pub fn prove(&self, frames: u32) -> Result<()> {
        if self.schema.timing == TrackTiming::Frames && self.facts.count != u64::from(frames) {
            return Err(Error::format("track-frames", "the track does not have one value for each frame")
                .expected(format!("{frames} values"))
                .found(self.facts.count));
        }
        if self.schema.kind == TrackType::Utf8 {
            self.prove_texts()?;
        }
        if self.schema.list {
            self.prove_offsets(|what| Error::format("track-list", what))?;
        }
        if self.schema.kind == TrackType::Bool && self.number_bytes().iter().any(|&byte| byte > 1) {
            return Err(Error::format("track-bool", "a value of type bool is neither 0 nor 1"));
        }
        if let Some(blocks) = self.blocks() {
            blocks.prove()?;
        }
        self.prove_times()
    }

    /// Checks and returns the offsets of texts or lists.
    fn prove_offsets(&self, fault: fn(&'static str) -> Error) -> Result<Cow<'a, [i32]>> {
        let offsets: Cow<'_, [i32]> = numbers(&self.bytes[..4 * (self.count() + 1)]);
        let rises = offsets[0] == 0 && offsets.windows(2).all(|two| (two[0] as u32) <= two[1] as u32);
        let end = self.values_range().end as u64;
        if rises && length_with(self.schema, self.facts.count, end) == Some(self.bytes.len() as u64) {
            return Ok(offsets);
        }
        Err(fault("the offsets of values do not begin with 0, do not rise, or do not end where the values do"))
    }

    fn prove_texts(&self) -> Result<()> {
        let fault = |what: &str| Error::format("track-text", what.to_owned());
        let offsets = self.prove_offsets(|what| Error::format("track-text", what))?;
        let texts = self.bytes.get(self.texts_range()).unwrap_or_default();
        std::str::from_utf8(texts).map_err(|e| fault("a text is not UTF-8").found(e))?;
        // The bytes are checked instead of a `str`, because texts in a mapped file may stop being UTF-8 at any time.
        let is_inside = |at: usize| texts.get(at).is_some_and(|&byte| byte & 0xC0 == 0x80);
        match offsets.iter().position(|&at| is_inside(at as u32 as usize)) {
            None => Ok(()),
            Some(i) => Err(fault("a text is not UTF-8").found(format!("an end within a character, before text {i}"))),
        }
    }

    fn prove_times(&self) -> Result<()> {
        let fault = |what: &str| Error::format("track-times", what.to_owned());
        if self.schema.timing == TrackTiming::Rate && (self.facts.rate.0 == 0 || self.facts.rate.1 == 0) {
            let (numerator, denominator) = self.facts.rate;
            return Err(fault("the rate is not a positive fraction").found(format!("{numerator}/{denominator}")));
        }
        let starts = self.starts().unwrap_or_default();
        if let Some(i) = starts.windows(2).position(|two| two[0] > two[1]) {
            return Err(fault("times decrease").found(format!("{} after {} ns", starts[i + 1], starts[i])));
        }
        let ends = self.ends().unwrap_or_default();
        match starts.iter().zip(&*ends).find(|(start, end)| start > end) {
            None => Ok(()),
            Some((start, end)) => Err(fault("a span ends before it starts").found(format!("{start} to {end} ns"))),
        }
    }

    /// Checks what no reader relies on, and decodes coded values. The track is already proven.
    ///
    /// # Errors
    ///
    /// Rules `track-padding`, `track-finite` and `track-coding`.
    pub fn prove_rest(&self) -> Result<()> {
        if let Some(blocks) = self.blocks() {
            return blocks.prove_values();
        }
        let values = self.values_range();
        let is_zero = |range: Range<usize>| self.bytes.get(range).is_none_or(|bytes| bytes.iter().all(|&b| b == 0));
        if !is_zero(values.end..self.times_at()) || self.schema.list && !is_zero(4 * (self.count() + 1)..values.start) {
            return Err(Error::format("track-padding", "the padding before or after the values is not zero"));
        }
        match self.first_not_finite().filter(|_| !self.schema.nan) {
            None => Ok(()),
            Some(i) => Err(Error::format("track-finite", "a number is infinite or not a number").found(format!(
                "in {} {}",
                if self.schema.list { "item" } else { "value" },
                i / self.schema.numbers_per_value()
            ))),
        }
    }

    /// The position of the first number that is infinite or not a number.
    pub fn first_not_finite(&self) -> Option<usize> {
        match self.schema.kind {
            TrackType::F16 => numbers::<f16>(self.number_bytes()).iter().position(|n| !n.is_finite()),
            TrackType::F32 => numbers::<f32>(self.number_bytes()).iter().position(|n| !n.is_finite()),
            TrackType::F64 => numbers::<f64>(self.number_bytes()).iter().position(|n| !n.is_finite()),
            _ => None,
        }
    }
}
