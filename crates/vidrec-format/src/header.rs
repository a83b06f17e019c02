//! The first 64 bytes of an index file and its last 24, which reveal a truncated file at once:
//! `format-spec/vidrec-v1.md#header` and `#footer`.

use byteorder::{ByteOrder, LittleEndian as LE};

use super::crc32;
use crate::error::{Error, Result};

/// Size of the header in bytes.
pub const BYTES: usize = 64;

/// The first and the last eight bytes of every index file: a byte above 127, the name, a line end and Ctrl-Z, as in
/// PNG.
pub const MAGIC: [u8; 8] = *b"\x89VIDX\r\n\x1a";

/// The version that this crate writes. Readers refuse a different major number and accept any minor number.
pub const VERSION: (u16, u16) = (1, 1);

/// The version of a file without tracks. Such a file has the same bytes as before tracks existed.
pub const VERSION_WITHOUT_TRACKS: (u16, u16) = (1, 0);

/// The required flags that this crate knows. A reader refuses a file with any other required flag.
pub const KNOWN_REQUIRED_FLAGS: u32 = 0;

/// The contents of the header.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Header {
    /// Minor version; the major version is 1.
    pub version_minor: u16,
    /// Features that a reader must know to read the file.
    pub required_flags: u32,
    /// Features that a reader may ignore.
    pub optional_flags: u32,
    /// Number of entries in the section table.
    pub section_count: u32,
    /// Byte offset of the section table.
    pub section_table_offset: u64,
    /// Length of the whole index file in bytes.
    pub file_length: u64,
    /// Number of clips in the shard.
    pub clip_count: u64,
    /// Number of frames in the shard.
    pub frame_count: u64,
    /// CRC-32 of the section table.
    pub section_table_crc32: u32,
}

impl Header {
    /// The bytes on disk. The last four are the CRC-32 of the bytes before them.
    pub fn to_bytes(&self) -> [u8; BYTES] {
        let mut b = [0; BYTES];
        b[0..8].copy_from_slice(&MAGIC);
        LE::write_u16(&mut b[8..10], VERSION.0);
        LE::write_u16(&mut b[10..12], self.version_minor);
        LE::write_u32(&mut b[12..16], self.required_flags);
        LE::write_u32(&mut b[16..20], self.optional_flags);
        LE::write_u32(&mut b[20..24], self.section_count);
        LE::write_u64(&mut b[24..32], self.section_table_offset);
        LE::write_u64(&mut b[32..40], self.file_length);
        LE::write_u64(&mut b[40..48], self.clip_count);
        LE::write_u64(&mut b[48..56], self.frame_count);
        LE::write_u32(&mut b[56..60], self.section_table_crc32);
        let crc = crc32(&b[..60]);
        LE::write_u32(&mut b[60..64], crc);
        b
    }

    /// Reads and checks a header.
    ///
    /// # Errors
    ///
    /// Rules `index-magic`, `index-version`, `index-header-crc` and `index-flags`, in this order.
    pub fn from_bytes(b: &[u8; BYTES]) -> Result<Self> {
        check_start(
            b,
            MAGIC,
            VERSION.0,
            KNOWN_REQUIRED_FLAGS,
            [
                Error::format("index-magic", "this is not a vidrec index file"),
                Error::format("index-version", "unknown major version of the format"),
                Error::format("index-header-crc", "the header's CRC-32 does not match"),
                Error::format("index-flags", "the file needs a feature that this reader does not support"),
            ],
        )?;
        Ok(Header {
            version_minor: LE::read_u16(&b[10..12]),
            required_flags: LE::read_u32(&b[12..16]),
            optional_flags: LE::read_u32(&b[16..20]),
            section_count: LE::read_u32(&b[20..24]),
            section_table_offset: LE::read_u64(&b[24..32]),
            file_length: LE::read_u64(&b[32..40]),
            clip_count: LE::read_u64(&b[40..48]),
            frame_count: LE::read_u64(&b[48..56]),
            section_table_crc32: LE::read_u32(&b[56..60]),
        })
    }
}

/// Checks how an index or a track file starts, and returns the CRC-32 of its header. The errors are those of another magic, another
/// major version, another CRC-32 and unknown flags, in the order of the checks.
pub(crate) fn check_start(
    b: &[u8; BYTES],
    magic: [u8; 8],
    version: u16,
    known_flags: u32,
    [of_magic, of_version, of_crc, of_flags]: [Error; 4],
) -> Result<u32> {
    let (major, flags) = (LE::read_u16(&b[8..10]), LE::read_u32(&b[12..16]));
    let (crc, stored) = (crc32(&b[..60]), LE::read_u32(&b[60..64]));
    let newer = "a newer version of vidrec may read it";
    let (e, at) = if b[0..8] != magic {
        (of_magic.expected(format!("{magic:02x?}")).found(format!("{:02x?}", &b[0..8])), 0)
    } else if major != version {
        (of_version.expected(version).found(major).help(newer), 8)
    } else if crc != stored {
        (of_crc.crc32(crc, stored), 60)
    } else if flags & !known_flags != 0 {
        let e = of_flags.expected(format!("no flags beyond {known_flags:#010x}"));
        (e.found(format!("{flags:#010x}")).help(newer), 12)
    } else {
        return Ok(stored);
    };
    Err(e.section("header").at(at))
}

/// Size of the footer in bytes.
pub const FOOTER_BYTES: usize = 24;

/// The bytes on disk: file length, the header's CRC-32, the footer's own, magic.
pub fn footer(file_length: u64, header: &[u8; BYTES]) -> [u8; FOOTER_BYTES] {
    let mut b = [0; FOOTER_BYTES];
    LE::write_u64(&mut b[0..8], file_length);
    b[8..12].copy_from_slice(&header[60..64]);
    let crc = crc32(&b[..12]);
    LE::write_u32(&mut b[12..16], crc);
    b[16..24].copy_from_slice(&MAGIC);
    b
}

/// Checks that `found` is the footer that belongs to `header` in a file of `file_length` bytes.
///
/// # Errors
///
/// Rule `index-footer`.
pub fn check_footer(found: &[u8; FOOTER_BYTES], file_length: u64, header: &[u8; BYTES]) -> Result<()> {
    let expected = footer(file_length, header);
    if *found == expected {
        return Ok(());
    }
    Err(Error::format("index-footer", "the footer does not match the header: the file was truncated or overwritten")
        .section("footer")
        .at(file_length - FOOTER_BYTES as u64)
        .expected(format!("{expected:02x?}"))
        .found(format!("{found:02x?}")))
}
