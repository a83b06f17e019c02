//! The tracks of one clip: a directory, and the bytes of each.

use std::borrow::Cow;
use std::ops::Range;

use byteorder::{ByteOrder, LittleEndian as LE};

use super::coding::TrackCoding;
use super::file::{ALIGNMENT, DIRECTORY_ENTRY_BYTES as ENTRY_BYTES, DIRECTORY_HEAD_BYTES as HEAD_BYTES, TableEntry};
use super::payload::{self, Facts, Payload};
use super::schema::{Schema, TrackTiming};
use crate::error::{Error, Result};
use crate::limits;
use crate::{align_up, crc32};

/// A track in the directory of a clip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Entry {
    /// Number of the track in the schema.
    pub track: u32,
    /// CRC-32 of its [summed](Payload::summed) bytes.
    pub crc32: u32,
    /// Byte offset in the block.
    pub offset: u64,
    /// Length in bytes.
    pub length: u64,
    /// The number, times and coding of its values.
    pub facts: Facts,
}

impl Entry {
    fn to_bytes(self) -> [u8; ENTRY_BYTES] {
        let mut b = [0; ENTRY_BYTES];
        LE::write_u16(&mut b[0..2], self.track as u16);
        LE::write_u16(&mut b[2..4], self.facts.coding as u16);
        LE::write_u32(&mut b[4..8], self.crc32);
        LE::write_u64(&mut b[8..16], self.offset);
        LE::write_u64(&mut b[16..24], self.length);
        LE::write_u64(&mut b[24..32], self.facts.count);
        LE::write_i64(&mut b[32..40], self.facts.first_ns);
        LE::write_u32(&mut b[40..44], self.facts.rate.0);
        LE::write_u32(&mut b[44..48], self.facts.rate.1);
        b
    }

    /// `None` if nothing is known of how the values are stored.
    fn from_bytes(b: &[u8]) -> Option<Self> {
        Some(Entry {
            track: LE::read_u16(&b[0..2]).into(),
            crc32: LE::read_u32(&b[4..8]),
            offset: LE::read_u64(&b[8..16]),
            length: LE::read_u64(&b[16..24]),
            facts: Facts {
                count: LE::read_u64(&b[24..32]),
                first_ns: LE::read_i64(&b[32..40]),
                rate: (LE::read_u32(&b[40..44]), LE::read_u32(&b[44..48])),
                coding: TrackCoding::from_repr(LE::read_u16(&b[2..4]))?,
            },
        })
    }

    /// The size of the directory of these tracks in bytes.
    pub fn directory_bytes(entries: &[Entry]) -> u64 {
        (HEAD_BYTES + ENTRY_BYTES * entries.len()) as u64
    }

    /// The range of its bytes in the block.
    pub fn range(&self) -> Range<usize> {
        self.offset as usize..(self.offset + self.length) as usize
    }

    /// Returns its bytes, after a comparison of every CRC-32 of them.
    ///
    /// # Errors
    ///
    /// Rules `track-crc` and `track-coding`.
    pub fn payload<'a>(&self, block: &'a [u8], schema: &'a Schema) -> Result<Payload<'a>> {
        let payload = self.unproven(block, schema)?;
        self.compare(crc32(payload.summed()))?;
        payload.blocks().map_or(Ok(()), |blocks| blocks.compare())?;
        Ok(payload)
    }

    /// Returns its bytes without a check.
    pub fn unproven<'a>(&self, block: &'a [u8], schema: &'a Schema) -> Result<Payload<'a>> {
        let bytes = block.get(self.range()).unwrap_or_default();
        let track = schema.tracks().get(self.track as usize);
        let schema = track.ok_or_else(|| Error::internal("a track that is not in the schema"))?;
        Ok(Payload { schema, facts: self.facts, bytes })
    }

    /// Compares `found`, the CRC-32 of the [summed](Payload::summed) bytes, with the listed one.
    ///
    /// # Errors
    ///
    /// Rule `track-crc`.
    pub fn compare(&self, found: u32) -> Result<()> {
        if found == self.crc32 {
            return Ok(());
        }
        Err(Error::format("track-crc", "the CRC-32 of the track's bytes does not match").crc32(self.crc32, found))
    }
}

/// The size of the directory that begins with `head`, and the clip of its block. `None` if no such directory can
/// exist.
pub fn head(head: &[u8]) -> Option<(usize, u64)> {
    let head = head.first_chunk::<HEAD_BYTES>()?;
    let count = LE::read_u32(&head[..4]) as usize;
    let bytes = Some(count).filter(|count| (1..=limits::MAX_TRACKS).contains(count))? * ENTRY_BYTES + HEAD_BYTES;
    Some((bytes, LE::read_u32(&head[4..]).into()))
}

/// Reads the directory at the start of the block of clip `ordinal`, which has `length` bytes.
///
/// # Errors
///
/// Rules `track-block` and `track-directory`.
pub fn prove(block: &[u8], length: u64, ordinal: u64, crc: u32, schema: &Schema) -> Result<Vec<Entry>> {
    let fault = |what: &str| Error::format("track-directory", what.to_owned()).section("directory");
    let short = || Error::format("track-block", "the block has no room for its directory").section("directory");
    let head = block.first_chunk::<HEAD_BYTES>().ok_or_else(short)?;
    let count = LE::read_u32(&head[0..4]) as usize;
    let bytes =
        count.checked_mul(ENTRY_BYTES).and_then(|n| block.get(..n.checked_add(HEAD_BYTES)?)).ok_or_else(short)?;
    if crc32(bytes) != crc {
        return Err(fault("the directory's CRC-32 does not match"));
    }
    let clip = LE::read_u32(&head[4..8]);
    if u64::from(clip) != ordinal {
        return Err(Error::format("track-block", "the block has the tracks of another clip")
            .section("directory")
            .expected(format!("clip {ordinal}"))
            .found(format!("clip {clip}")));
    }
    let entries: Option<Vec<Entry>> = bytes[HEAD_BYTES..].chunks_exact(ENTRY_BYTES).map(Entry::from_bytes).collect();
    let entries = entries.ok_or_else(|| {
        fault("a track is coded in a way that this version does not know").help("install a newer version")
    })?;
    let (mut end, mut least) = (bytes.len() as u64, 0);
    for entry in &entries {
        let Some(track) = schema.tracks().get(entry.track as usize).filter(|_| entry.track >= least) else {
            return Err(fault("a track is missing from the schema, or out of order").found(entry.track));
        };
        let is_rate = track.timing == TrackTiming::Rate;
        if align_up(end, ALIGNMENT) != Some(entry.offset)
            || !payload::is_length(track, &entry.facts, entry.length)
            || !(is_rate || (entry.facts.first_ns, entry.facts.rate) == (0, (0, 0)))
        {
            let e = fault("the position or the length of a track contradicts the directory");
            return Err(e.found(format!("{entry:?}")));
        }
        end = entry.offset.checked_add(entry.length).ok_or_else(|| fault("a track is too long"))?;
        least = entry.track + 1;
    }
    if entries.is_empty() || end != length {
        return Err(fault("the block does not end with its last track").expected(end).found(length));
    }
    Ok(entries)
}

/// A track to write.
#[derive(Debug, Clone)]
pub struct NewTrack<'a> {
    /// Its number in the schema.
    pub number: u32,
    /// CRC-32 of its [summed](Payload::summed) bytes.
    pub crc32: u32,
    /// The number, times and coding of its values.
    pub facts: Facts,
    /// Its bytes.
    pub bytes: Cow<'a, [u8]>,
}

impl<'a> NewTrack<'a> {
    /// The same track under its number in another schema.
    pub fn of(number: u32, track: &Payload<'a>) -> Self {
        NewTrack { number, crc32: crc32(track.summed()), facts: track.facts, bytes: track.bytes.into() }
    }
}

/// Builds the block of clip `ordinal` for the byte offset `offset` of its file, and its entry in the table. The
/// tracks are in order of their numbers.
///
/// # Errors
///
/// [`Limit`](crate::error::ErrorKind::Limit): it is too long.
pub fn block(ordinal: u64, offset: u64, tracks: &[NewTrack<'_>]) -> Result<(Vec<u8>, TableEntry)> {
    let directory_bytes = HEAD_BYTES + ENTRY_BYTES * tracks.len();
    let too_long = || Error::limit("the tracks of a clip are too long").expected("fewer than 2^32 bytes");
    let (mut entries, mut end) = (Vec::new(), directory_bytes as u64);
    for track in tracks {
        let (offset, length) = (end.next_multiple_of(ALIGNMENT), track.bytes.len() as u64);
        entries.push(Entry { track: track.number, crc32: track.crc32, offset, length, facts: track.facts });
        end = offset.checked_add(length).filter(|&n| n <= limits::MAX_TRACK_BLOCK_BYTES).ok_or_else(too_long)?;
    }
    let mut block = crate::allocation::with_capacity(end as usize, "the tracks of a clip")?;
    block.extend((tracks.len() as u32).to_le_bytes());
    block.extend((ordinal as u32).to_le_bytes());
    block.extend(entries.iter().flat_map(|entry| entry.to_bytes()));
    let directory_crc32 = crc32(&block);
    for (entry, track) in entries.iter().zip(tracks) {
        block.resize(entry.offset as usize, 0);
        block.extend_from_slice(&track.bytes);
    }
    let entry = TableEntry { offset, length: block.len() as u64, directory_crc32 };
    Ok((block, entry))
}
