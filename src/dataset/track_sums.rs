//! Checksums of blocks of long tracks, which the format does not have.
//!
//! A track has one CRC-32. To compare it, all of the track has to be read: 115 MB for an hour of sound, of which a sample
//! needs a second. So whoever compares it for the first time takes checksums of its blocks on the way. From then on, a
//! reader that knows which values it will use compares those of their blocks, each time.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, RwLock};

use crate::format::crc32;

/// What a checksum covers. Four bytes for so many are little memory, and so many are read in a few microseconds.
const BLOCK_BYTES: usize = 64 << 10;

/// Shorter tracks are compared as a whole.
const LEAST_BYTES: usize = 4 * BLOCK_BYTES;

/// Which track: the clip in its shard, and the number in the schema.
type Key = (u64, u32);

/// The checksums of a track file's long tracks that this process has read as a whole.
#[derive(Debug, Default)]
pub(super) struct TrackSums(RwLock<HashMap<Key, Arc<[u32]>>>);

impl TrackSums {
    /// Whether a track has checksums of blocks.
    pub fn are_of(track: &[u8]) -> bool {
        track.len() >= LEAST_BYTES
    }

    /// Whether the blocks with these bytes are as they were when all of the track was proven; false if nobody knows.
    ///
    /// Nobody waits for the lock here, because a forked process may have it from a thread that it does not have.
    pub fn prove(&self, key: Key, track: &[u8], range: Range<usize>) -> bool {
        let Some(sums) = self.0.try_read().ok().and_then(|known| known.get(&key).cloned()) else { return false };
        let (first, end) = (range.start / BLOCK_BYTES, range.end.div_ceil(BLOCK_BYTES));
        let blocks = track.chunks(BLOCK_BYTES).zip(&*sums);
        range.end <= track.len() && blocks.take(end).skip(first).all(|(block, sum)| crc32(block) == *sum)
    }

    /// The CRC-32 of a whole track, and the checksums of its blocks.
    pub fn of(track: &[u8]) -> (u32, Arc<[u32]>) {
        let mut whole = crc32fast::Hasher::new();
        // Each block is in the processor's cache when it is read once more.
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
