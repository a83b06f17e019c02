//! Checksums: CRC-32.

/// The CRC-32 (IEEE 802.3, as in zlib and PNG) of some bytes.
pub fn crc32(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

/// The CRC-32 of a table entry. It covers the entry's bytes before the CRC-32 itself, followed by its ordinal as a
/// `u64`.
///
/// Because of the ordinal, an intact entry in the wrong place is detected when it is used. Without it, the CRC-32 of
/// the whole table would be the same for any entries.
pub(crate) fn entry_crc32(bytes: &[u8], ordinal: u64) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(bytes);
    hasher.update(&ordinal.to_le_bytes());
    hasher.finalize()
}
