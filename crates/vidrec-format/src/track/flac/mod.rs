//! FLAC frames of 16-bit numbers (RFC 9639), which hold the blocks of coded sound.
//!
//! The encoder calculates with whole numbers, and with floats only what has the same result on every machine. So the
//! same values give the same bytes everywhere.
//!
//! ```text
//! bits       reads and writes bits
//! frame      header and checksums of a frame
//! predict    predictors of the next number
//! subframe   one channel of a frame, encoded
//! encode     values to a frame
//! decode     a frame to values
//! ```

mod bits;
mod decode;
mod encode;
mod frame;
mod predict;
mod subframe;
#[cfg(test)]
mod tests;

pub use decode::decode;
pub use encode::encode;
pub use frame::MAX_CHANNELS;

/// Decodes what follows a header. The first bytes say how many values there are, and of which channels.
#[cfg(any(test, vidrec_internals))]
pub fn fuzz(bytes: &[u8]) {
    let Some(([low, high, code], body)) = bytes.split_first_chunk() else { return };
    let (count, channels) = (usize::from(u16::from_le_bytes([*low, *high]) % 4097), usize::from(code % 8) + 1);
    let Some(way) = frame::Channels::of_header(&[0, 0, 0, *code], channels) else { return };
    let mut out = Vec::new();
    if decode::decode_body(body, (count, channels), way, &mut out).is_ok() {
        assert_eq!(out.len(), 2 * channels * count);
    }
}
