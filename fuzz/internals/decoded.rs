//! An entry point for the fuzz targets in `fuzz/`: reads heads of frames from any bytes.

use super::layout::{HEAD, Head};

/// Reads the head of a frame from `bytes`, after correcting its checksum.
pub fn decoded_heads(bytes: &[u8]) {
    let Some(mut head) = bytes.first_chunk::<HEAD>().copied() else { return };
    let sum = crc32fast::hash(&head[4..]).to_ne_bytes();
    head[..4].copy_from_slice(&sum);
    let Some(read) = Head::read(&head) else { return };
    // The reader looks for this many bytes in the file.
    assert!(read.length() > HEAD as u64);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz_seeds::mutate_seeds;

    #[test]
    fn any_change_of_a_head_is_read_or_refused() {
        mutate_seeds("decoded_heads", decoded_heads);
    }
}
