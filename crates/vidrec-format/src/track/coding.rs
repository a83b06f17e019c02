//! Coded values of a track: blocks that are read one by one.
//!
//! A list with the end and the CRC-32 of each block precedes the blocks. The CRC-32 of the track covers this list.

use std::ops::Range;

use byteorder::{ByteOrder, LittleEndian as LE};
use serde::{Deserialize, Serialize};

use super::png::{self, Form};
use super::schema::{TrackSchema, TrackTiming, TrackType};
use super::{flac, opus};
use crate::error::{Error, Result};
use crate::words::unknown_variant;
use crate::{allocation, crc32, limits};

/// The bytes of a block in the list.
const ENTRY_BYTES: usize = 8;

/// The coding of the values of a track of a clip. Clips may differ.
///
/// In text (`FromStr`, `Display`, serde): `raw`, `flac`, `opus` or `png`. In the directory of a clip: a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[derive(strum::Display, strum::EnumString, strum::FromRepr, strum::VariantNames)]
#[strum(serialize_all = "kebab-case", parse_err_ty = Error, parse_err_fn = unknown_variant::<Self>)]
#[repr(u16)]
pub enum TrackCoding {
    /// As they are. A reader uses them where they are.
    #[default]
    Raw = 0,
    /// As frames of FLAC, which hold the same values in fewer bytes. Only for numbers of type `i16` with timing `rate`, at
    /// most 8 to a value.
    Flac = 1,
    /// As packets of Opus, of which a reader gets sound that is nearly the same, and the same on every machine. Only for
    /// numbers of type `i16`, one or two to a value, at 8000, 12000, 16000, 24000 or 48000 values a second.
    Opus = 2,
    /// As PNG files, which hold the same values in fewer bytes. Only for numbers of type `u8` or `u16` with the shape of a
    /// picture: `[height, width]`, or `[height, width, channels]` with at most 4 channels.
    Png = 3,
}

impl TrackCoding {
    /// Whether a track of this rate, in values per second as numerator and denominator, can be stored this way.
    #[doc(hidden)]
    pub fn fits(self, schema: &TrackSchema, rate: (u32, u32)) -> bool {
        let (channels, is_sound) =
            (schema.numbers_per_value(), (schema.kind, schema.timing) == (TrackType::I16, TrackTiming::Rate));
        match self {
            TrackCoding::Raw => true,
            _ if schema.list => false,
            TrackCoding::Flac => is_sound && channels <= flac::MAX_CHANNELS,
            TrackCoding::Opus => {
                is_sound && channels <= opus::MAX_CHANNELS && rate.1 == 1 && opus::RATES.contains(&rate.0)
            }
            TrackCoding::Png => Form::of(schema).is_some(),
        }
    }

    /// The values of a block, of which the last one may have fewer, of a track of this rate.
    fn block_values(self, rate: (u32, u32)) -> usize {
        match self {
            TrackCoding::Png => 1,
            TrackCoding::Opus => opus::block_values(rate.0),
            TrackCoding::Flac | TrackCoding::Raw => flac::BLOCK_VALUES,
        }
    }

    /// The length of the list of the blocks of so many values; `None` if it is absurd.
    pub(super) fn list_bytes(self, count: u64, rate: (u32, u32)) -> Option<u64> {
        count.div_ceil(self.block_values(rate) as u64).checked_mul(ENTRY_BYTES as u64)
    }
}

/// The stored bytes of coded values.
#[derive(Debug, Clone, Copy)]
pub struct Blocks<'a> {
    list: &'a [u8],
    bytes: &'a [u8],
    count: usize,
    coding: TrackCoding,
    rate: (u32, u32),
    schema: &'a TrackSchema,
}

impl<'a> Blocks<'a> {
    /// The blocks of so many values, with the list of their ends.
    pub(super) fn new(
        list: &'a [u8],
        bytes: &'a [u8],
        (count, coding, rate): (usize, TrackCoding, (u32, u32)),
        schema: &'a TrackSchema,
    ) -> Self {
        Blocks { list, bytes, count, coding, rate, schema }
    }

    fn len(&self) -> usize {
        self.count.div_ceil(self.block_values())
    }

    /// The values of a block, of which the last one may have fewer.
    pub fn block_values(&self) -> usize {
        self.coding.block_values(self.rate)
    }

    /// The end of a block after the list, and its CRC-32.
    fn entry(&self, block: usize) -> (usize, u32) {
        let entry = self.list.get(ENTRY_BYTES * block..).and_then(|rest| rest.first_chunk::<ENTRY_BYTES>());
        entry.map_or((0, 0), |b| (LE::read_u32(b) as usize, LE::read_u32(&b[4..])))
    }

    /// The stored bytes of a block, and their CRC-32.
    fn block(&self, block: usize) -> (&'a [u8], u32) {
        let start = block.checked_sub(1).map_or(0, |before| self.entry(before).0);
        let (end, crc) = self.entry(block);
        (self.bytes.get(start..end).unwrap_or_default(), crc)
    }

    /// Checks that the blocks follow each other to the end.
    ///
    /// # Errors
    ///
    /// Rule `track-coding`.
    pub(super) fn prove(&self) -> Result<()> {
        let mut ends = self.list.chunks_exact(ENTRY_BYTES).map(LE::read_u32);
        let last = ends.try_fold(0, |before, end| (before <= end).then_some(end));
        if last.map(|last| last as usize) == Some(self.bytes.len()) {
            return Ok(());
        }
        Err(Error::format("track-coding", "the ends of blocks do not rise to the end of the track"))
    }

    /// Compares the CRC-32 of every block.
    ///
    /// # Errors
    ///
    /// Rules `track-coding` and `track-crc`.
    pub(super) fn compare(&self) -> Result<()> {
        self.prove()?;
        (0..self.len()).try_for_each(|i| {
            let (bytes, crc) = self.block(i);
            compare(i, bytes, crc)
        })
    }

    /// Decodes blocks, and appends their values in little-endian order. It compares the CRC-32 of each. Values from `end` on
    /// are not needed, and are left out where a block decodes from its start.
    ///
    /// # Errors
    ///
    /// Rules `track-crc` and `track-coding`; [`Resources`](crate::error::ErrorKind::Resources).
    pub fn decode(&self, blocks: Range<usize>, end: usize, out: &mut Vec<u8>) -> Result<()> {
        let mut copy = Vec::new();
        for i in blocks {
            // A copy, so that what is proven is what is decoded.
            let (bytes, crc) = self.block(i);
            copy.clear();
            copy.extend_from_slice(bytes);
            compare(i, &copy, crc)?;
            // No more at once, because nothing but the blocks themselves proves that there are so many values.
            let fault = |what: String| {
                Error::format("track-coding", "a block of a track does not decode").found(format!("block {i}: {what}"))
            };
            if let Some(form) = Form::of(self.schema).filter(|_| self.coding == TrackCoding::Png) {
                allocation::reserve(out, form.bytes(), "the values of a track")?;
                png::decode(&copy, &form, out).map_err(fault)?;
                continue;
            }
            let (channels, each) = (self.schema.numbers_per_value(), self.block_values());
            let count = self.count.saturating_sub(i * each).min(each);
            allocation::reserve(out, 2 * channels * count, "the values of a track")?;
            let decoded = match self.coding {
                TrackCoding::Opus => {
                    let needed = end.saturating_sub(i * each);
                    opus::decode(&copy, (count, needed, channels, self.rate.0), out).map_err(str::to_owned)
                }
                _ => flac::decode(&copy, (count, channels), i as u32, out).map_err(|e| e.to_string()),
            };
            decoded.map_err(fault)?;
        }
        Ok(())
    }

    /// Decodes all values.
    ///
    /// # Errors
    ///
    /// See [`decode`](Self::decode). [`Limit`](crate::error::ErrorKind::Limit): they take 4 GiB or more.
    pub fn decode_all(&self) -> Result<Vec<u8>> {
        let bytes = self.schema.value_bytes().and_then(|each| each.checked_mul(self.count as u64));
        if bytes.is_none_or(|bytes| bytes > limits::MAX_TRACK_BLOCK_BYTES) {
            let e = Error::limit("the values of the track are too many to decode all at once").found(self.count);
            return Err(e.expected("less than 4 GiB").help("take some of them, as a loader does"));
        }
        let mut out = Vec::new();
        self.decode(0..self.len(), self.count, &mut out)?;
        Ok(out)
    }

    /// Decodes every block, and keeps none.
    ///
    /// # Errors
    ///
    /// See [`decode`](Self::decode).
    pub(super) fn prove_values(&self) -> Result<()> {
        let mut out = Vec::new();
        (0..self.len()).try_for_each(|i| {
            out.clear();
            self.decode(i..i + 1, self.count, &mut out)
        })
    }
}

fn compare(block: usize, bytes: &[u8], crc: u32) -> Result<()> {
    let found = crc32(bytes);
    if found == crc {
        return Ok(());
    }
    Err(Error::format("track-crc", "the CRC-32 of a block of a track does not match")
        .expected(format!("{crc:#010x}"))
        .found(format!("{found:#010x} in block {block}")))
}

/// Coded values while their blocks are made, one after another.
#[derive(Debug, Clone, Default)]
pub struct NewBlocks {
    list: Vec<u8>,
    bytes: Vec<u8>,
}

impl NewBlocks {
    /// Adds the next block; `None` if they are too long.
    pub fn push(&mut self, block: &[u8]) -> Option<()> {
        self.bytes.extend_from_slice(block);
        self.list.extend(u32::try_from(self.bytes.len()).ok()?.to_le_bytes());
        self.list.extend(crc32(block).to_le_bytes());
        Some(())
    }

    /// The bytes of the track, with the times of the values.
    pub fn into_bytes(self, times: &[&[i64]]) -> Vec<u8> {
        let times = times.iter().flat_map(|times| times.iter()).flat_map(|time| time.to_le_bytes());
        let mut bytes = self.list;
        bytes.extend(times);
        bytes.extend(self.bytes);
        bytes
    }
}

/// Encodes a picture whose numbers are little-endian; `None` if it is none of this track.
pub fn encode_picture(value: &[u8], schema: &TrackSchema) -> Option<Vec<u8>> {
    png::encode(value, &Form::of(schema)?)
}

/// Encodes interleaved numbers of so many channels as FLAC; `None` if they are too long.
pub fn encode(numbers: &[i16], channels: usize) -> Option<Vec<u8>> {
    let mut blocks = NewBlocks::default();
    for (i, block) in numbers.chunks(flac::BLOCK_VALUES * channels.clamp(1, flac::MAX_CHANNELS)).enumerate() {
        blocks.push(&flac::encode(block, channels, i as u32))?;
    }
    Some(blocks.into_bytes(&[]))
}

/// Encodes interleaved numbers as Opus of so many channels, values and bits per second; `None` if they are too long, or
/// Opus cannot have them.
pub fn encode_opus(numbers: &[i16], (channels, rate, bits): (usize, u32, u32)) -> Option<Vec<u8>> {
    let mut blocks = NewBlocks::default();
    for i in 0..numbers.len().div_ceil(opus::block_values(rate) * channels.max(1)) {
        blocks.push(&opus::encode(numbers, i, (channels, rate, bits))?)?;
    }
    Some(blocks.into_bytes(&[]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHANNELS: usize = 2;

    fn schema() -> TrackSchema {
        let (kind, timing) = (TrackType::I16, TrackTiming::Rate);
        TrackSchema { name: "sound".into(), kind, shape: vec![CHANNELS as u32], timing, nan: false, list: false }
    }

    /// Values of three blocks.
    const COUNT: usize = 2 * flac::BLOCK_VALUES + 100;

    fn of<'a>(bytes: &'a [u8], schema: &'a TrackSchema) -> Blocks<'a> {
        let (list, blocks) = bytes.split_at(3 * ENTRY_BYTES);
        Blocks::new(list, blocks, (COUNT, TrackCoding::Flac, (16_000, 1)), schema)
    }

    #[test]
    fn blocks_are_decoded_and_proven_one_by_one() {
        let (schema, count) = (schema(), COUNT);
        let numbers: Vec<i16> = (0..CHANNELS * count).map(|i| (i % 251) as i16 * 9 - 1000).collect();
        let mut bytes = encode(&numbers, CHANNELS).unwrap();
        let all: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        let decoded = |bytes: &[u8], blocks| {
            let mut out = Vec::new();
            of(bytes, &schema).decode(blocks, COUNT, &mut out).map(|()| out)
        };
        let each = 2 * CHANNELS * flac::BLOCK_VALUES;
        assert!(bytes.len() < all.len() / 2 && of(&bytes, &schema).prove().is_ok());
        assert_eq!(decoded(&bytes, 0..3).unwrap(), all);
        assert_eq!(decoded(&bytes, 1..2).unwrap(), all[each..2 * each]);
        // A byte of the last block.
        let last = bytes.len() - 9;
        bytes[last] ^= 1;
        assert_eq!(decoded(&bytes, 0..2).unwrap(), all[..2 * each]);
        assert_eq!(decoded(&bytes, 2..3).unwrap_err().rule(), Some("track-crc"));
        assert!(of(&bytes, &schema).compare().is_err());
        // The same with a checksum that matches.
        let crc = crc32(of(&bytes, &schema).block(2).0);
        bytes[20..24].copy_from_slice(&crc.to_le_bytes());
        assert!(of(&bytes, &schema).compare().is_ok());
        // Ends that fall, and one beyond the track.
        for (at, change) in [(0, 1u8 << 7), (16, 1)] {
            let mut bytes = bytes.clone();
            bytes[at + 1] ^= change;
            let e = of(&bytes, &schema).prove().unwrap_err();
            assert_eq!(e.rule(), Some("track-coding"), "{e}");
        }
    }
}
