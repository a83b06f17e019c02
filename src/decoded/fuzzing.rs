//! What reads the heads of segments from any bytes: for the fuzz targets in `fuzz/`.

use super::segment::{FIXED, Head, head_bytes, is_whole, places, tile_bytes};

/// The head of a segment, which gets the checksum that it should have.
pub fn decoded_segments(bytes: &[u8]) {
    let Some(head) = bytes.first_chunk::<FIXED>().and_then(Head::read) else { return };
    let length = head_bytes(&head.grid);
    let _ = (head.grid.count(), tile_bytes(&head.grid, head.scale));
    let mut whole = bytes.to_vec();
    whole.resize(length, 0);
    let sum = crc32fast::hash(&whole[4..]).to_ne_bytes();
    whole[..4].copy_from_slice(&sum);
    assert!(is_whole(&whole));
    // Rounded up to whole words.
    assert!(places(&whole).all(|place| place < head.grid.count().next_multiple_of(64)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::fuzzing::changed_files;

    #[test]
    fn any_change_of_a_head_is_read_or_refused() {
        changed_files("decoded_segments", decoded_segments);
    }
}
