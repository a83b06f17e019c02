//! An entry point for the fuzz targets in `fuzz/`: reads heads of segments from any bytes.

use super::segment::{FIXED, Head, head_bytes, is_whole, places, tile_bytes};

/// Reads the head of a segment from `bytes`, after correcting its checksum.
pub fn decoded_segments(bytes: &[u8]) {
    let Some(head) = bytes.first_chunk::<FIXED>().and_then(Head::read) else { return };
    let length = head_bytes(&head.grid);
    let _ = (head.grid.count(), tile_bytes(&head.grid, head.scale));
    let mut whole = bytes.to_vec();
    whole.resize(length, 0);
    let sum = crc32fast::hash(&whole[4..]).to_ne_bytes();
    whole[..4].copy_from_slice(&sum);
    assert!(is_whole(&whole));
    // The reader must reject bits after the last tile.
    assert!(places(&whole).all(|place| place < 8 * (length - FIXED)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz_seeds::mutate_seeds;

    #[test]
    fn any_change_of_a_head_is_read_or_refused() {
        mutate_seeds("decoded_segments", decoded_segments);
    }
}
