//! The section that ties an index to its record file: `format-spec/vidrec-v1.md#data-binding-data`.

use byteorder::{ByteOrder, LittleEndian as LE};

/// Size of the section in bytes.
pub const BYTES: usize = 48;

/// The number of bytes at each end of the record file that the edge CRC-32 covers.
pub const EDGE_BYTES: usize = 4096;

/// The length and the digests that identify the record file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataBinding {
    /// Length of the record file in bytes.
    pub length: u64,
    /// SHA-256 of the record file, as `sha256sum` prints it.
    pub sha256: [u8; 32],
    /// CRC-32 of the file's first and last [`EDGE_BYTES`] bytes. A shorter file counts in full at each end.
    pub edge_crc32: u32,
}

impl DataBinding {
    /// The bytes on disk; the last four are zero.
    pub fn to_bytes(&self) -> [u8; BYTES] {
        let mut b = [0; BYTES];
        LE::write_u64(&mut b[0..8], self.length);
        b[8..40].copy_from_slice(&self.sha256);
        LE::write_u32(&mut b[40..44], self.edge_crc32);
        b
    }

    /// Reads a binding.
    pub fn from_bytes(b: &[u8; BYTES]) -> Self {
        let mut sha256 = [0; 32];
        sha256.copy_from_slice(&b[8..40]);
        DataBinding { length: LE::read_u64(&b[0..8]), sha256, edge_crc32: LE::read_u32(&b[40..44]) }
    }
}

/// CRC-32 of the two ends of a record file. It is cheap enough to check at every open.
pub fn edge_crc32(file: &[u8]) -> u32 {
    let n = file.len().min(EDGE_BYTES);
    edges_crc32(&file[..n], &file[file.len() - n..])
}

/// Like [`edge_crc32`], but takes the file's first and last [`EDGE_BYTES`] bytes. If the file is shorter, each of them
/// is the whole file.
pub fn edges_crc32(head: &[u8], tail: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(head);
    hasher.update(tail);
    hasher.finalize()
}

/// A digest as lower-case hexadecimal digits, as `sha256sum` prints it.
pub fn hex(digest: &[u8]) -> String {
    digest.iter().map(|b| format!("{b:02x}")).collect()
}

/// Reads the digest that [`hex`] printed as `text`.
pub fn from_hex(text: &str) -> Option<[u8; 32]> {
    let mut digest = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (i, byte) in digest.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * i..2 * i + 2], 16).ok()?;
    }
    Some(digest)
}
