//! Where things are in the file.

use crate::jpeg::Scale;
use crate::{Error, Hint, Result};

/// The version of everything in the file, and of the planes that decoders give.
const FORMAT: u32 = 1;
const MAGIC: &[u8; 8] = b"vidrecDP";
/// What the file is for: everything before the number of bytes that are taken.
pub(super) const HEADER: usize = 64;
/// Where the number of the first byte is that is not taken.
pub(super) const TAKEN: usize = 128;
const INDEX: u64 = 4096;
/// Segments begin at multiples of this.
pub(super) const ALIGNED: u64 = 64;

/// The parts of a file of `length` bytes for `frames` frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    pub frames: u64,
    pub length: u64,
}

impl Layout {
    /// # Errors
    ///
    /// There is no room for as much as a small frame.
    pub fn new(frames: u64, length: u64) -> Result<Self> {
        let layout = Layout { frames, length: length / ALIGNED * ALIGNED };
        let least = layout.begin().saturating_add(1 << 16);
        if layout.length >= least && usize::try_from(length).is_ok() {
            return Ok(layout);
        }
        let e = Error::usage("loader option decoded_cache: too little for what says where frames are");
        let e = e.expected(format!("at least {least} bytes for {frames} frames")).found(format!("{length} bytes"));
        Err(e.hint(Hint::Set("decoded_cache")))
    }

    /// Where segments begin.
    pub fn begin(&self) -> u64 {
        let index = self.numbers().saturating_mul(8);
        index.saturating_add(INDEX).div_ceil(4096).saturating_mul(4096)
    }

    /// How many numbers the index has.
    pub fn numbers(&self) -> u64 {
        self.frames.saturating_mul(Scale::ALL.len() as u64)
    }

    /// Which number of the index is that of a frame. `None` if there is no such frame.
    pub fn number(&self, frame: u64, scale: Scale) -> Option<u64> {
        (frame < self.frames).then(|| frame + self.frames * scale as u64)
    }

    /// Where the number of a frame is. `None` if there is no such frame.
    pub fn index(&self, frame: u64, scale: Scale) -> Option<usize> {
        usize::try_from(INDEX + 8 * self.number(frame, scale)?).ok()
    }

    /// What the file begins with, so that no other file is taken for it.
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
