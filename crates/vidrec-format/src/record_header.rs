//! The 24 bytes before the JPEG in every record: MXNet's `IRHeader`, little-endian.
//!
//! `format-spec/vidrec-v1.md#record-payload`. Source: MXNet, `src/io/image_recordio.h` and `python/mxnet/recordio.py`.

use byteorder::{ByteOrder, LittleEndian as LE};

/// Size of the header in bytes.
pub const BYTES: usize = 24;

/// A record's header as vidrec writes it: a scalar label, the ordinal of the record, and the ordinals of clip and
/// frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecordHeader {
    /// Number of float32 labels after the header. vidrec writes 0, which means that the label is in `label`.
    pub flag: u32,
    /// The clip's label; -1.0 if it has none.
    pub label: f32,
    /// Ordinal of the record in its file.
    pub id: u64,
    /// Ordinal of the clip in its file in the upper 32 bits, and ordinal of the frame in its clip in the lower 32 bits.
    pub id2: u64,
}

impl RecordHeader {
    /// The header of record `record` of a file. The record is frame `frame` of clip `clip`.
    pub fn new(label: i32, record: u64, clip: u64, frame: u32) -> Self {
        RecordHeader { flag: 0, label: label as f32, id: record, id2: clip << 32 | u64::from(frame) }
    }

    /// The bytes on disk.
    pub fn to_bytes(self) -> [u8; BYTES] {
        let mut b = [0; BYTES];
        LE::write_u32(&mut b[0..4], self.flag);
        LE::write_f32(&mut b[4..8], self.label);
        LE::write_u64(&mut b[8..16], self.id);
        LE::write_u64(&mut b[16..24], self.id2);
        b
    }

    /// Splits a payload into header and image; `None` if it is too short for a header.
    pub fn split(payload: &[u8]) -> Option<(Self, &[u8])> {
        let (b, image) = payload.split_first_chunk::<BYTES>()?;
        let header = RecordHeader {
            flag: LE::read_u32(&b[0..4]),
            label: LE::read_f32(&b[4..8]),
            id: LE::read_u64(&b[8..16]),
            id2: LE::read_u64(&b[16..24]),
        };
        Some((header, image))
    }

    /// The clip ordinal in `id2`.
    pub fn clip(&self) -> u64 {
        self.id2 >> 32
    }

    /// The frame ordinal in `id2`.
    pub fn frame(&self) -> u32 {
        self.id2 as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_those_of_mxnet() {
        // struct.pack('<IfQQ', 0, 4.0, 7, 3 << 32 | 5)
        let header = RecordHeader::new(4, 7, 3, 5);
        let expected = [0, 0, 0, 0, 0, 0, 0x80, 0x40, 7, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 3, 0, 0, 0];
        assert_eq!(header.to_bytes(), expected);
        let payload = [&expected[..], b"JPG"].concat();
        let (back, image) = RecordHeader::split(&payload).unwrap();
        assert_eq!((back, image, back.clip(), back.frame()), (header, &b"JPG"[..], 3, 5));
        assert!(RecordHeader::split(&payload[..23]).is_none());
    }
}
