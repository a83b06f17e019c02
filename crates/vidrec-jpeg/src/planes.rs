//! An 8-bit 4:2:0 picture in planes: the input and output of JPEG coding.

use vidrec_format::error::{Error, Result};
use vidrec_format::{allocation, limits};

/// A picture as JFIF defines it: full-range BT.601, 4:2:0, chroma samples centered between four luma samples.
///
/// The planes have no padding: luma is `width * height` bytes, each chroma plane
/// `ceil(width / 2) * ceil(height / 2)`.
///
/// ```
/// let picture = vidrec_jpeg::Planes::new(5, 3)?;
/// assert_eq!((picture.y.len(), picture.cb.len()), (15, 6));
/// # Ok::<(), vidrec_jpeg::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planes {
    width: u32,
    height: u32,
    /// Luma, row by row.
    pub y: Vec<u8>,
    /// Blue-difference chroma; 128 is neutral.
    pub cb: Vec<u8>,
    /// Red-difference chroma; 128 is neutral.
    pub cr: Vec<u8>,
}

impl Planes {
    /// A black picture of `width` by `height` pixels.
    ///
    /// # Errors
    ///
    /// A side is zero or over [`limits::MAX_SIDE`], there are more pixels than [`limits::MAX_PIXELS`], or there is no
    /// memory.
    pub fn new(width: u32, height: u32) -> Result<Self> {
        if width == 0 || height == 0 || width > limits::MAX_SIDE || height > limits::MAX_SIDE {
            let bound = limits::MAX_SIDE;
            return Err(Error::limit(format!(
                "the picture has {width}x{height} pixels, but each side must be 1 to {bound}"
            )));
        }
        let pixels = u64::from(width) * u64::from(height);
        if pixels > limits::MAX_PIXELS {
            return Err(Error::limit(format!(
                "the picture has {width}x{height} pixels, but at most {} are allowed",
                limits::MAX_PIXELS
            )));
        }
        let chroma = width.div_ceil(2) as usize * height.div_ceil(2) as usize;
        let plane = |length, fill| {
            let mut plane = allocation::with_capacity(length, "a picture")?;
            plane.resize(length, fill);
            Ok(plane)
        };
        let y = allocation::zeroed(pixels as usize, "a picture")?;
        Ok(Planes { width, height, y, cb: plane(chroma, 128)?, cr: plane(chroma, 128)? })
    }

    /// Width of the luma plane in pixels.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Height of the luma plane in pixels.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// Width of each chroma plane in samples: half the luma's, rounded up.
    pub fn chroma_width(&self) -> u32 {
        self.width.div_ceil(2)
    }

    /// Height of each chroma plane in samples: half the luma's, rounded up.
    pub fn chroma_height(&self) -> u32 {
        self.height.div_ceil(2)
    }
}
