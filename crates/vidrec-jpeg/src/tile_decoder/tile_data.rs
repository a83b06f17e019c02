//! The location of the entropy-coded data of a tile.

use std::ops::Range;

use super::bits::BitReader;

/// The entropy-coded data of a tile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TileData {
    /// The location of the data in the JPEG.
    pub range: Range<usize>,
    /// The number of stuffed zeros among the bytes.
    pub stuffed: usize,
}

impl TileData {
    /// Returns the bytes without stuffing, from `jpeg` or from a copy in `copy`. At least [`BitReader::SLACK`]
    /// other bytes follow them in the slice.
    #[inline]
    pub fn data<'a>(&self, jpeg: &'a [u8], copy: &'a mut Vec<u8>) -> &'a [u8] {
        let Range { start, end } = self.range;
        if self.stuffed == 0 && jpeg.len() - end >= BitReader::SLACK {
            return &jpeg[start..];
        }
        copy.clear();
        let mut rest = &jpeg[start..end];
        while let Some(at) = memchr::memchr(0xFF, rest) {
            copy.extend_from_slice(&rest[..=at]);
            // More 0xFF may follow, which libjpeg also skips. A zero comes after them, because the data would have
            // ended here otherwise.
            let fill = rest[at..].iter().take_while(|&&b| b == 0xFF).count();
            rest = rest.get(at + fill + 1..).unwrap_or_default();
        }
        copy.extend_from_slice(rest);
        copy.extend_from_slice(&[0; BitReader::SLACK]);
        copy
    }

    /// The number of bytes without stuffing.
    pub fn plain_length(&self) -> usize {
        self.range.len() - self.stuffed
    }
}
