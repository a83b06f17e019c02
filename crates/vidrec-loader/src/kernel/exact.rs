//! Rows of a picture that is a crop of a frame without resizing. They are exactly the levels of libjpeg's decode
//! to RGB.
//!
//! Smooth upsampling and color conversion are libjpeg's own integer arithmetic (jdsample.c, `h2v2_fancy_upsample`;
//! jdcolor.c, `build_ycc_rgb_table`). They work directly on planes, and only inside the picture.

use super::super::aligned::Aligned;
use super::decoded::Decoded;
use super::units::UNIT;
use super::view::{Span, View};
use vidrec_jpeg::Region;

/// The place of the picture on the frame, pixel for pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Exact {
    area: Region,
    frame: (u32, u32),
    flip: bool,
}

/// Buffers of one row.
#[derive(Debug, Default)]
pub(super) struct ChromaLines {
    /// Chroma of a row, in quarters, with a neighbor at each end.
    quarters: Vec<i16>,
    /// Chroma at full size, less 128: blue and red.
    chroma: [Vec<i16>; 2],
}

impl Exact {
    /// Returns `None` if `view` is resized, or if the frame is so narrow that libjpeg does not smooth its chroma.
    pub fn new(view: &View, frame: (u32, u32), (width, height): (u32, u32)) -> Option<Self> {
        /// libjpeg smooths only more than 2 samples of chroma (jdsample.c, `jinit_upsampler`).
        const NARROWEST: u32 = 5;
        let area = Region { x: view.x.start as u32, y: view.y.start as u32, width, height };
        let copy = is_copy(&view.x) && is_copy(&view.y);
        (copy && frame.0 >= NARROWEST).then_some(Exact { area, frame, flip: view.flip })
    }

    /// The frame pixels that must be decoded.
    pub fn region(&self) -> Region {
        self.area.with_chroma_neighbors(self.frame)
    }

    /// Makes row `y` of the picture: red, green and blue, in units of 1 / [`UNIT`].
    #[inline(always)]
    pub fn row(&self, frame: &Decoded<'_>, y: u32, lines: &mut ChromaLines, sums: &mut [Aligned<i32>; 3]) {
        let Region { x, y: top, width, .. } = self.area;
        for plane in [1, 2] {
            self.quarters(frame, plane, top + y, &mut lines.quarters);
            upsample(&lines.quarters, &mut lines.chroma[plane - 1]);
        }
        let width = width as usize;
        let at = (top + y - frame.origin.1) as usize * frame.pitches[0] + (x - frame.origin.0) as usize;
        let chroma = lines.chroma.each_ref().map(|line| &line[(x % 2) as usize..][..width]);
        to_rgb(&frame.planes[0][at..at + width], chroma, sums.each_mut().map(|sums| &mut sums[..width]));
        if self.flip {
            sums.iter_mut().for_each(|sums| sums[..width].reverse());
        }
    }

    /// Makes three quarters of the chroma row nearest to row `y` plus one quarter of the next. It reaches from the
    /// sample before the picture's first to the sample after its last. If such a sample does not exist or does not
    /// count, the nearest one is repeated.
    #[inline(always)]
    fn quarters(&self, frame: &Decoded<'_>, plane: usize, y: u32, line: &mut Vec<i16>) {
        let (columns, rows) = (self.frame.0.div_ceil(2), self.frame.1.div_ceil(2));
        let next = if y.is_multiple_of(2) { (y / 2).saturating_sub(1) } else { (y / 2 + 1).min(rows - 1) };
        let (first, last) = (self.area.x / 2, (self.area.x + self.area.width - 1) / 2);
        // Only two neighbors count: the sample of the pixel before the picture, and that of the pixel after it.
        let (begin, end) = (self.area.x.saturating_sub(1) / 2, ((self.area.x + self.area.width) / 2).min(columns - 1));
        let row = |y: u32| {
            let at = (y - frame.origin.1 / 2) as usize * frame.pitches[plane] + (begin - frame.origin.0 / 2) as usize;
            &frame.planes[plane][at..at + (end - begin) as usize + 1]
        };
        line.resize((last - first) as usize + 3, 0);
        let skip = usize::from(begin == first);
        let (own, next) = (row(y / 2), row(next));
        for ((to, &own), &next) in line[skip..].iter_mut().zip(own).zip(next) {
            *to = 3 * i16::from(own) + i16::from(next);
        }
        if skip == 1 {
            line[0] = line[1];
        }
        if end == last {
            line[(last - first) as usize + 2] = line[(last - first) as usize + 1];
        }
    }
}

/// Whether the picture's pixels are the frame's own pixels along this axis.
pub(super) fn is_copy(span: &Span) -> bool {
    span.scale == 1.0 && span.start.fract() == 0.0
}

/// Makes two pixels from each sample but the first and last: three quarters of it, and one quarter of the neighbor
/// on that side.
#[inline(always)]
fn upsample(quarters: &[i16], out: &mut Vec<i16>) {
    let samples = quarters.len() - 2;
    out.resize(2 * samples, 0);
    let (before, own, behind) = (&quarters[..samples], &quarters[1..][..samples], &quarters[2..][..samples]);
    for (i, pair) in out.as_chunks_mut::<2>().0.iter_mut().enumerate() {
        *pair = [((3 * own[i] + before[i] + 8) >> 4) - 128, ((3 * own[i] + behind[i] + 7) >> 4) - 128];
    }
}

/// Converts luma, and chroma less 128, to levels of 0 to 255.
#[inline(always)]
fn to_rgb(luma: &[u8], [cb, cr]: [&[i16]; 2], [r, g, b]: [&mut [i32]; 3]) {
    /// `FIX(x)` of jdcolor.c: x times 2^16, rounded.
    const R_CR: i32 = 91_881;
    const B_CB: i32 = 116_130;
    const G_CB: i32 = -22_554;
    const G_CR: i32 = -46_802;
    const HALF: i32 = 1 << 15;
    let width = luma.len();
    let (cb, cr, r, g, b) = (&cb[..width], &cr[..width], &mut r[..width], &mut g[..width], &mut b[..width]);
    for x in 0..width {
        let (y, cb, cr) = (i32::from(luma[x]), i32::from(cb[x]), i32::from(cr[x]));
        r[x] = (y + ((R_CR * cr + HALF) >> 16)).clamp(0, 255) * UNIT as i32;
        g[x] = (y + ((G_CB * cb + G_CR * cr + HALF) >> 16)).clamp(0, 255) * UNIT as i32;
        b[x] = (y + ((B_CB * cb + HALF) >> 16)).clamp(0, 255) * UNIT as i32;
    }
}
