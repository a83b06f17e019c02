//! The layout of the file.

use vidrec_format::error::{Error, Hint, Result};
use vidrec_jpeg::Scale;

/// The version of the file format, and of the planes that decoders produce.
const FORMAT: u32 = 1;
const MAGIC: &[u8; 8] = b"vidrecDP";
/// The length of the header, which says what the file is for. It ends before the number of taken bytes.
pub(super) const HEADER: usize = 64;
/// The offset of the number of taken bytes, which is also the number of the first free byte.
pub(super) const TAKEN: usize = 128;
const INDEX: u64 = 4096;
/// Segments begin at multiples of this.
pub(super) const ALIGNED: u64 = 64;

/// The layout of a file of `length` bytes for `frames` frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    pub frames: u64,
    pub length: u64,
}

impl Layout {
    /// # Errors
    ///
    /// The file does not even have room for a small frame.
    pub fn new(frames: u64, length: u64) -> Result<Self> {
        let layout = Layout { frames, length: length / ALIGNED * ALIGNED };
        let least = layout.begin().saturating_add(1 << 16);
        if layout.length >= least && usize::try_from(length).is_ok() {
            return Ok(layout);
        }
        let e = Error::usage("loader option decoded_cache: too small for the table of frames");
        let e = e.expected(format!("at least {least} bytes for {frames} frames")).found(format!("{length} bytes"));
        Err(e.hint(Hint::Set("decoded_cache")))
    }

    /// The offset of the first segment.
    pub fn begin(&self) -> u64 {
        let index = self.numbers().saturating_mul(8);
        index.saturating_add(INDEX).div_ceil(4096).saturating_mul(4096)
    }

    /// The number of numbers in the index.
    pub fn numbers(&self) -> u64 {
        self.frames.saturating_mul(Scale::ALL.len() as u64)
    }

    /// The place of a frame's number in the index. `None` if there is no such frame.
    pub fn number(&self, frame: u64, scale: Scale) -> Option<u64> {
        (frame < self.frames).then(|| frame + self.frames * scale as u64)
    }

    /// The offset of a frame's number. `None` if there is no such frame.
    pub fn index(&self, frame: u64, scale: Scale) -> Option<usize> {
        usize::try_from(INDEX + 8 * self.number(frame, scale)?).ok()
    }

    /// Returns the header of the file, which distinguishes it from all other files.
    pub fn header(&self, contents: &[u8; 32]) -> [u8; HEADER] {
        let mut header = [0; HEADER];
        header[..8].copy_from_slice(MAGIC);
        header[8..12].copy_from_slice(&FORMAT.to_ne_bytes());
        header[16..24].copy_from_slice(&self.length.to_ne_bytes());
        header[24..32].copy_from_slice(&self.frames.to_ne_bytes());
        header[32..].copy_from_slice(contents);
        header
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_frames_lie_between_the_header_and_the_segments() {
        let layout = Layout::new(100, 1 << 20).unwrap();
        assert_eq!(
            (layout.begin(), layout.index(0, Scale::Full), layout.index(100, Scale::Full)),
            (8192, Some(4096), None)
        );
        assert_eq!(layout.index(99, Scale::Eighth), Some(4096 + 8 * 399));
        assert!((layout.index(99, Scale::Eighth).unwrap() as u64) < layout.begin());
        let e = Layout::new(100_000, 1 << 20).unwrap_err();
        assert!(e.to_string().contains("decoded_cache") && e.to_string().contains("100000 frames"), "{e}");
        assert!(Layout::new(u64::MAX, u64::MAX).is_err());
        assert_ne!(layout.header(&[1; 32]), Layout::new(100, 1 << 21).unwrap().header(&[1; 32]));
    }
}
