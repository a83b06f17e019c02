//! Checksums of blocks of long tracks. The format does not store them.
//!
//! A track has one CRC-32. Comparing it takes reading the whole track: 115 MB for an hour of sound, although a sample
//! needs only a second of it. Therefore the first comparison also computes checksums of the track's blocks. From then
//! on, a reader that knows which values it will use compares only the checksums of their blocks, each time.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, RwLock};

use vidrec_format::crc32;

/// The bytes that a checksum covers. Four bytes for this many take little memory, and this many are read in a few
/// microseconds.
const BLOCK_BYTES: usize = 64 << 10;

/// Shorter tracks are compared as a whole.
const LEAST_BYTES: usize = 4 * BLOCK_BYTES;

/// Identifies a track: the clip in its shard, and the number in the schema.
type Key = (u64, u32);

/// The checksums of a track file's long tracks that this process has read as a whole.
#[derive(Debug, Default)]
pub(super) struct TrackSums(RwLock<HashMap<Key, Arc<[u32]>>>);

impl TrackSums {
    /// Whether a track has checksums of blocks.
    pub fn are_of(track: &[u8]) -> bool {
        track.len() >= LEAST_BYTES
    }

    /// Whether the blocks with these bytes are the same as when the whole track was proven; false if this is unknown.
    ///
    /// It never waits for the lock. In a forked process, the holder of the lock may be a thread that does not exist
    /// there.
    pub fn prove(&self, key: Key, track: &[u8], range: Range<usize>) -> bool {
        let Some(sums) = self.0.try_read().ok().and_then(|known| known.get(&key).cloned()) else { return false };
        let (first, end) = (range.start / BLOCK_BYTES, range.end.div_ceil(BLOCK_BYTES));
        let blocks = track.chunks(BLOCK_BYTES).zip(&*sums);
        range.end <= track.len() && blocks.take(end).skip(first).all(|(block, sum)| crc32(block) == *sum)
    }

    /// Computes the CRC-32 of a whole track, and the checksums of its blocks.
    pub fn of(track: &[u8]) -> (u32, Arc<[u32]>) {
        let mut whole = crc32fast::Hasher::new();
        // Each block is in the processor's cache when it is read the second time.
        let sum = |block: &[u8]| {
            whole.update(block);
            crc32(block)
        };
        let sums = track.chunks(BLOCK_BYTES).map(sum).collect();
        (whole.finalize(), sums)
    }

    /// Keeps the checksums of a track that is proven.
    pub fn keep(&self, key: Key, sums: Arc<[u32]>) {
        if let Ok(mut known) = self.0.try_write() {
            known.insert(key, sums);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_byte_is_found_where_it_is_used() {
        let mut track: Vec<u8> = (0..5 * BLOCK_BYTES + 7).map(|i| (i % 251) as u8).collect();
        assert!(TrackSums::are_of(&track) && !TrackSums::are_of(&track[..1000]));
        let (known, key, len) = (TrackSums::default(), (3, 1), track.len());
        assert!(!known.prove(key, &track, 0..1), "nothing is known yet");
        let (whole, sums) = TrackSums::of(&track);
        assert_eq!((whole, sums.len()), (crc32(&track), 6));
        known.keep(key, sums);
        assert!(known.prove(key, &track, 0..len) && known.prove(key, &track, len..len));
        assert!(!known.prove((3, 2), &track, 0..1) && !known.prove(key, &track, 0..len + 1));
        track[2 * BLOCK_BYTES] ^= 1;
        let fine = |range| known.prove(key, &track, range);
        assert!(fine(0..2 * BLOCK_BYTES) && fine(3 * BLOCK_BYTES..len));
        assert!(!fine(2 * BLOCK_BYTES - 1..2 * BLOCK_BYTES + 1) && !fine(3 * BLOCK_BYTES - 1..len) && !fine(0..len));
        track[2 * BLOCK_BYTES] ^= 1;
        track[len - 1] ^= 1;
        assert!(!known.prove(key, &track, len - 1..len) && known.prove(key, &track, 0..5 * BLOCK_BYTES));
    }
}
