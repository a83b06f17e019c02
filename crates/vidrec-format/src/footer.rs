//! The last 24 bytes of an index file, which reveal a truncated file at once: `format-spec/vidrec-v1.md#footer`.

use byteorder::{ByteOrder, LittleEndian as LE};

use super::{crc32, header};
use crate::error::{Error, Result};

/// Size of the footer in bytes.
pub const BYTES: usize = 24;

/// The bytes on disk: file length, the header's CRC-32, the footer's own, magic.
pub fn to_bytes(file_length: u64, header: &[u8; header::BYTES]) -> [u8; BYTES] {
    let mut b = [0; BYTES];
    LE::write_u64(&mut b[0..8], file_length);
    b[8..12].copy_from_slice(&header[60..64]);
    let crc = crc32(&b[..12]);
    LE::write_u32(&mut b[12..16], crc);
    b[16..24].copy_from_slice(&header::MAGIC);
    b
}

/// Checks that `found` is the footer that belongs to `header` in a file of `file_length` bytes.
///
/// # Errors
///
/// Rule `index-footer`.
pub fn check(found: &[u8; BYTES], file_length: u64, header: &[u8; header::BYTES]) -> Result<()> {
    let expected = to_bytes(file_length, header);
    if *found == expected {
        return Ok(());
    }
    Err(Error::format("index-footer", "the footer does not match the header: the file was truncated or overwritten")
        .section("footer")
        .at(file_length - BYTES as u64)
        .expected(format!("{expected:02x?}"))
        .found(format!("{found:02x?}")))
}
