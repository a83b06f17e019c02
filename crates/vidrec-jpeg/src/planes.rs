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

    /// Converts RGB of 8 bits, row by row, as JFIF 1.02 says: BT.601 with all values from 0 to 255. A chroma sample is that of
    /// the mean of its 2x2 pixels; beyond a side of odd length, the last row and column repeat.
    ///
    /// # Errors
    ///
    /// See [`new`](Self::new), or `rgb` does not have 3 bytes for each pixel.
    pub fn from_rgb(rgb: &[u8], width: u32, height: u32) -> Result<Self> {
        let mut planes = Self::new(width, height)?;
        let (columns, rows) = (width as usize, height as usize);
        if rgb.len() != columns * rows * 3 {
            return Err(Error::usage("the pixels do not fit the size of the picture")
                .expected(format!("{} bytes", columns * rows * 3))
                .found(rgb.len()));
        }
        for (y, [r, g, b]) in planes.y.iter_mut().zip(rgb.as_chunks::<3>().0) {
            *y = ((19_595 * u32::from(*r) + 38_470 * u32::from(*g) + 7_471 * u32::from(*b) + (1 << 15)) >> 16) as u8;
        }
        for row in 0..rows.div_ceil(2) {
            let lines = [2 * row, (2 * row + 1).min(rows - 1)].map(|line| &rgb[line * columns * 3..][..columns * 3]);
            for column in 0..columns.div_ceil(2) {
                let places = [2 * column, (2 * column + 1).min(columns - 1)];
                let sum = |channel: usize| -> i32 {
                    lines.iter().flat_map(|line| places.map(|place| i32::from(line[place * 3 + channel]))).sum()
                };
                let (r, g, b) = (sum(0), sum(1), sum(2));
                // Of a sum of four: 128 and a half are shifted by 18 bits.
                let sample = |weighted: i32| ((weighted + (128 << 18) + (1 << 17)) >> 18).min(255) as u8;
                let at = row * columns.div_ceil(2) + column;
                planes.cb[at] = sample(-11_059 * r - 21_709 * g + 32_768 * b);
                planes.cr[at] = sample(32_768 * r - 27_439 * g - 5_329 * b);
            }
        }
        Ok(planes)
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
