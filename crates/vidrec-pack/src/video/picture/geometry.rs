//! Computes where pixels go: pixel shape, target size, rotation and mirroring. This is pure arithmetic, without
//! FFmpeg.

use vidrec_core::dataset;
use vidrec_format::error::{Error, Result};
use vidrec_format::{allocation, limits};

use crate::video::options::FrameSize;

/// Width and height in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub width: u32,
    pub height: u32,
}

/// The steps that turn a decoded picture upright: first exchange the rows and columns, then mirror.
///
/// These three switches cover all eight ways to place a rectangle on a rectangle.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Orientation {
    pub transpose: bool,
    pub flip_x: bool,
    pub flip_y: bool,
}

impl Orientation {
    /// Reads a display matrix in the form that containers store: `x' = a*x + c*y`, `y' = b*x + d*y`, with y
    /// downwards.
    ///
    /// An angle between the quarter turns counts as the nearest of them.
    pub fn from_matrix(m: &[i32; 9]) -> Self {
        let [a, b, _, c, d, ..] = m.map(i64::from);
        if b.abs() + c.abs() > a.abs() + d.abs() {
            Orientation { transpose: true, flip_x: c < 0, flip_y: b < 0 }
        } else {
            Orientation { transpose: false, flip_x: a < 0, flip_y: d < 0 }
        }
    }

    /// Returns the same as a mirror and a turn: mirror left to right if `true`, then turn clockwise by this many
    /// degrees.
    pub fn as_mirror_and_turn(self) -> (bool, u32) {
        match (self.transpose, self.flip_x, self.flip_y) {
            (false, false, false) => (false, 0),
            (true, true, false) => (false, 90),
            (false, true, true) => (false, 180),
            (true, false, true) => (false, 270),
            (false, true, false) => (true, 0),
            (true, true, true) => (true, 90),
            (false, false, true) => (true, 180),
            (true, false, false) => (true, 270),
        }
    }

    pub fn is_identity(self) -> bool {
        self == Orientation::default()
    }

    /// Returns the size of the upright picture, or that of the decoded one: exchanging the sides is its own
    /// inverse.
    pub fn apply(self, size: Size) -> Size {
        if self.transpose { Size { width: size.height, height: size.width } } else { size }
    }

    /// Turns and mirrors one plane of `size` samples.
    pub fn turn(self, plane: &[u16], size: Size) -> Result<Vec<u16>> {
        let (w, h) = (size.width as usize, size.height as usize);
        let out = self.apply(size);
        let (ow, oh) = (out.width as usize, out.height as usize);
        let mut turned = allocation::with_capacity(ow * oh, "a picture that is turned")?;
        for y in 0..oh {
            let y = if self.flip_y { oh - 1 - y } else { y };
            let at = |x: usize| if self.transpose { plane[x * w + y] } else { plane[y * w + x] };
            if self.flip_x {
                turned.extend((0..ow).rev().map(at));
            } else {
                turned.extend((0..ow).map(at));
            }
        }
        debug_assert_eq!(turned.len(), w * h);
        Ok(turned)
    }
}

/// Returns how far a matrix is from a quarter turn, in degrees; `None` for a true quarter turn.
pub(crate) fn odd_angle(m: &[i32; 9]) -> Option<f64> {
    let (a, b) = (f64::from(m[0]), f64::from(m[1]));
    let degrees = b.atan2(a).to_degrees().rem_euclid(360.0);
    let off = (degrees / 90.0).round() * 90.0 - degrees;
    (off.abs() > 0.5).then_some(degrees)
}

/// Returns the size on a screen with square pixels, for this sample aspect ratio.
pub(crate) fn display_size(coded: Size, sar: (u32, u32)) -> Size {
    let (width, height) = dataset::display_size((coded.width, coded.height), sar);
    Size { width, height }
}

/// Returns the size at which to store a picture of `display` size.
///
/// # Errors
///
/// A wanted side is zero, or a result is over [`limits::MAX_SIDE`] or [`limits::MAX_PIXELS`].
pub(crate) fn target_size(display: Size, wanted: FrameSize) -> Result<Size> {
    let target = match wanted {
        FrameSize::Original => display,
        FrameSize::Exact { width, height } => Size { width, height },
        FrameSize::ShortSide(short) if display.width.min(display.height) <= short => display,
        FrameSize::ShortSide(short) | FrameSize::ShortSideAlways(short) if display.width <= display.height => {
            Size { width: short, height: even_side(display.height, short, display.width) }
        }
        FrameSize::ShortSide(short) | FrameSize::ShortSideAlways(short) => {
            Size { width: even_side(display.width, short, display.height), height: short }
        }
    };
    let Size { width, height } = target;
    if width == 0 || height == 0 {
        return Err(Error::usage(format!(
            "a frame cannot have {width}x{height} pixels: both sides must be at least 1"
        )));
    }
    if width.max(height) > limits::MAX_SIDE || u64::from(width) * u64::from(height) > limits::MAX_PIXELS {
        let (side, pixels) = (limits::MAX_SIDE, limits::MAX_PIXELS);
        return Err(Error::limit(format!("frames of {width}x{height} are too large"))
            .expected(format!("sides up to {side}, {pixels} pixels in all"))
            .help("ask for a smaller size"));
    }
    Ok(target)
}

/// Returns the size of a picture of the shape `shown` inside frames of the size `frame`: as large as fits.
///
/// Sides that do not fill the frame are even, so that chroma samples stay whole. A shape that differs by less than
/// 1 % fills the frame, just as nearly square pixels count as square.
pub(crate) fn fit(shown: Size, frame: Size) -> Size {
    let wide = u64::from(shown.width) * u64::from(frame.height);
    let tall = u64::from(shown.height) * u64::from(frame.width);
    if wide.abs_diff(tall).saturating_mul(100) < tall {
        return frame;
    }
    if wide > tall {
        let height = even_side(shown.height, frame.width, shown.width.max(1)).min(frame.height);
        Size { width: frame.width, height }
    } else {
        let width = even_side(shown.width, frame.height, shown.height.max(1)).min(frame.width);
        Size { width, height: frame.height }
    }
}

/// Returns `side * short / other` as the nearest even number, at least 2.
fn even_side(side: u32, short: u32, other: u32) -> u32 {
    let half = divide_rounded(u64::from(side) * u64::from(short), 2 * u64::from(other));
    u32::try_from(half.max(1) * 2).unwrap_or(u32::MAX)
}

fn divide_rounded(n: u64, d: u64) -> u64 {
    (n + d / 2) / d
}

/// The number of chroma samples of a [`Planes16`] picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChromaLayout {
    /// None: the picture is gray.
    Gray,
    /// Half as many in each direction, rounded up (4:2:0).
    Half,
    /// As many as luma (4:4:4).
    Full,
}

/// Planes of 16-bit samples: the code values of the source, shifted left to fill 16 bits.
///
/// For example, an 8-bit 235 and a 10-bit 940 are both 60,160. Neutral chroma is 32,768 at any depth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Planes16 {
    pub size: Size,
    pub layout: ChromaLayout,
    pub y: Vec<u16>,
    pub cb: Vec<u16>,
    pub cr: Vec<u16>,
}

impl Planes16 {
    pub fn new(size: Size, layout: ChromaLayout) -> Result<Self> {
        let luma = size.width as usize * size.height as usize;
        let c = layout.chroma(size);
        let chroma = c.width as usize * c.height as usize;
        let plane = |samples| allocation::zeroed(samples, "a picture");
        Ok(Planes16 { size, layout, y: plane(luma)?, cb: plane(chroma)?, cr: plane(chroma)? })
    }

    pub fn chroma_size(&self) -> Size {
        self.layout.chroma(self.size)
    }

    /// Returns the plane with this index in FFmpeg's planar formats, and its size.
    pub fn plane_mut(&mut self, index: usize) -> (&mut [u16], Size) {
        let chroma = self.chroma_size();
        match index {
            0 => (&mut self.y, self.size),
            1 => (&mut self.cb, chroma),
            _ => (&mut self.cr, chroma),
        }
    }

    /// Returns the number of planes.
    pub fn planes(&self) -> usize {
        if self.layout == ChromaLayout::Gray { 1 } else { 3 }
    }

    /// Turns and mirrors all planes.
    ///
    /// With half-size chroma, a mirrored side should be even. Otherwise the last chroma sample, which lies half
    /// outside of the picture, would become the first. For odd sides, the caller asks for [`ChromaLayout::Full`].
    pub fn turn(&mut self, o: Orientation) -> Result<()> {
        if o.is_identity() {
            return Ok(());
        }
        let chroma = self.chroma_size();
        self.y = o.turn(&self.y, self.size)?;
        if self.layout != ChromaLayout::Gray {
            self.cb = o.turn(&self.cb, chroma)?;
            self.cr = o.turn(&self.cr, chroma)?;
        }
        self.size = o.apply(self.size);
        Ok(())
    }
}

impl ChromaLayout {
    fn chroma(self, size: Size) -> Size {
        match self {
            ChromaLayout::Gray => Size { width: 0, height: 0 },
            ChromaLayout::Half => Size { width: size.width.div_ceil(2), height: size.height.div_ceil(2) },
            ChromaLayout::Full => size,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(width: u32, height: u32) -> Size {
        Size { width, height }
    }

    #[test]
    fn impossible_sizes_are_refused() {
        assert!(target_size(size(10, 10), FrameSize::ShortSide(0)).is_err());
        assert!(target_size(size(10, 10), FrameSize::Exact { width: 0, height: 1 }).is_err());
        assert!(target_size(size(10, 10), FrameSize::Exact { width: limits::MAX_SIDE + 1, height: 1 }).is_err());
        assert!(target_size(size(u32::MAX, 7), FrameSize::Original).is_err());
        assert!(target_size(size(60_000, 60_000), FrameSize::Original).is_err());
    }

    #[test]
    fn odd_angles_go_to_the_nearest_quarter() {
        let m = |degrees: f64| {
            let (s, c) = degrees.to_radians().sin_cos();
            let f = |v: f64| (v * 65536.0) as i32;
            [f(c), f(s), 0, f(-s), f(c), 0, 0, 0, 1 << 30]
        };
        assert_eq!(Orientation::from_matrix(&m(10.0)), Orientation::default());
        assert_eq!(Orientation::from_matrix(&m(80.0)).as_mirror_and_turn(), (false, 90));
        assert_eq!(odd_angle(&m(90.0)), None);
        assert!((odd_angle(&m(10.0)).unwrap() - 10.0).abs() < 0.1);
        assert_eq!(Orientation::from_matrix(&[0; 9]), Orientation::default());
        assert!(!Orientation::from_matrix(&[i32::MIN; 9]).as_mirror_and_turn().0);
    }
}
