//! Rows of a crop, from planes, which are exactly the levels of libjpeg's decode to RGB.
//!
//! Smooth upsampling and color conversion are libjpeg's own integer arithmetic (jdsample.c, `h2v2_fancy_upsample`;
//! jdcolor.c, `build_ycc_rgb_table`). They work directly on planes, and only inside the picture.

use bytemuck::{must_cast, must_cast_slice};

use super::region::Region;

/// A part of a decoded picture.
#[derive(Debug, Clone, Copy)]
pub struct DecodedPart<'a> {
    /// Luma and chroma, or red, green and blue.
    pub planes: [&'a [u8]; 3],
    /// The number of samples from one row of each plane to the next.
    pub pitches: [usize; 3],
    /// The pixel of the picture at which the planes begin.
    pub origin: (u32, u32),
}

/// The rows of a crop of 4:2:0 pictures of one size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RgbRows {
    crop: Region,
    picture: (u32, u32),
}

/// Buffers of two rows, an even and an odd one, of blue and red chroma.
#[derive(Debug, Default)]
pub struct ChromaLines {
    /// Chroma in quarters, with a neighbor at each end.
    quarters: [[Vec<i16>; 2]; 2],
    /// Chroma at full size, less 128: a number for each two pixels, which compilers store at once.
    chroma: [[Vec<u32>; 2]; 2],
}

impl RgbRows {
    /// Returns `None` if the picture is so narrow that libjpeg does not smooth its chroma.
    pub fn new(crop: Region, picture: (u32, u32)) -> Option<Self> {
        /// libjpeg smooths only more than 2 samples of chroma (jdsample.c, `jinit_upsampler`).
        const NARROWEST: u32 = 5;
        (picture.0 >= NARROWEST).then_some(RgbRows { crop, picture })
    }

    /// The pixels that must be decoded.
    pub fn region(&self) -> Region {
        self.crop.with_chroma_neighbors(self.picture)
    }

    /// Makes row `y` of the crop: levels of red, green and blue. Rows must be made in order, from 0.
    ///
    /// Chroma is made one and two rows ahead, so that each line is read long after it was written. A load that overlaps
    /// several recent stores waits until all of them have left the store buffer.
    #[inline(always)]
    pub fn row(&self, part: &DecodedPart<'_>, y: u32, lines: &mut ChromaLines, to: [&mut [u8]; 3]) {
        if y == 0 {
            self.quarters(part, 0, lines);
            self.quarters(part, 1, lines);
            upsample(0, lines);
        }
        let Region { x, y: top, width, .. } = self.crop;
        let width = width as usize;
        let at = (top + y - part.origin.1) as usize * part.pitches[0] + (x - part.origin.0) as usize;
        let chroma = lines.chroma[y as usize % 2].each_ref();
        let chroma = chroma.map(|line| &must_cast_slice::<_, i16>(line)[(x % 2) as usize..][..width]);
        to_rgb(&part.planes[0][at..at + width], chroma, to);
        if y + 1 < self.crop.height {
            upsample(y + 1, lines);
            self.quarters(part, y + 2, lines);
        }
    }

    /// Makes the quarters of row `y` of the crop, if there is one.
    #[inline(always)]
    fn quarters(&self, part: &DecodedPart<'_>, y: u32, lines: &mut ChromaLines) {
        if y < self.crop.height {
            for (plane, line) in (1..).zip(&mut lines.quarters[y as usize % 2]) {
                self.quarters_of_plane(part, plane, self.crop.y + y, line);
            }
        }
    }

    /// Makes three quarters of the chroma row nearest to row `y` plus one quarter of the next. It reaches from the
    /// sample before the picture's first to the sample after its last. If such a sample does not exist or does not
    /// count, the nearest one is repeated.
    #[inline(always)]
    fn quarters_of_plane(&self, part: &DecodedPart<'_>, plane: usize, y: u32, line: &mut Vec<i16>) {
        let (columns, rows) = (self.picture.0.div_ceil(2), self.picture.1.div_ceil(2));
        let next = if y.is_multiple_of(2) { (y / 2).saturating_sub(1) } else { (y / 2 + 1).min(rows - 1) };
        let (first, last) = (self.crop.x / 2, (self.crop.x + self.crop.width - 1) / 2);
        // Only two neighbors count: the sample of the pixel before the picture, and that of the pixel after it.
        let (begin, end) = (self.crop.x.saturating_sub(1) / 2, ((self.crop.x + self.crop.width) / 2).min(columns - 1));
        let row = |y: u32| {
            let at = (y - part.origin.1 / 2) as usize * part.pitches[plane] + (begin - part.origin.0 / 2) as usize;
            &part.planes[plane][at..at + (end - begin) as usize + 1]
        };
        let samples = (last - first) as usize + 1;
        line.resize(samples + 2, 0);
        let skip = usize::from(begin == first);
        let (own, next) = (row(y / 2), row(next));
        for ((to, &own), &next) in line[skip..].iter_mut().zip(own).zip(next) {
            *to = 3 * i16::from(own) + i16::from(next);
        }
        if skip == 1 {
            line[0] = line[1];
        }
        if end == last {
            line[samples + 1] = line[samples];
        }
    }
}

/// Makes chroma of row `y` from its quarters: two pixels from each sample but the first and last, with three quarters of it,
/// and one quarter of the neighbor on that side.
#[inline(always)]
fn upsample(y: u32, lines: &mut ChromaLines) {
    let row = y as usize % 2;
    for (quarters, out) in lines.quarters[row].iter().zip(&mut lines.chroma[row]) {
        let samples = quarters.len() - 2;
        out.resize(samples, 0);
        let (before, own, behind) = (&quarters[..samples], &quarters[1..][..samples], &quarters[2..][..samples]);
        for (i, pair) in out.iter_mut().enumerate() {
            *pair = must_cast([((3 * own[i] + before[i] + 8) >> 4) - 128, ((3 * own[i] + behind[i] + 7) >> 4) - 128]);
        }
    }
}

/// Converts luma, and chroma less 128, to levels of 0 to 255.
///
/// These are jdcolor.c's numbers. Factors beyond 16 bits are split into whole numbers and a rest, so that vectors have
/// sixteen bits for each sample: `91_881 * cr + HALF >> 16` is `cr` and the rounded rest of 26,345 / 2^16 of `cr`.
#[inline(always)]
fn to_rgb(luma: &[u8], [cb, cr]: [&[i16]; 2], [r, g, b]: [&mut [u8]; 3]) {
    /// `FIX(1.40200)`, less 1.
    const R_CR: i32 = 91_881 - (1 << 16);
    /// `FIX(1.77200)`, less 2.
    const B_CB: i32 = 116_130 - (2 << 16);
    /// `-FIX(0.34414)`.
    const G_CB: i32 = -22_554;
    /// `-FIX(0.71414)`, plus 1.
    const G_CR: i32 = -46_802 + (1 << 16);
    const HALF: i32 = 1 << 15;
    /// `factor * x`, rounded. The upper halves of products are what vectors have an instruction for.
    #[inline(always)]
    fn rounded(x: i16, factor: i32) -> i16 {
        (((i32::from(2 * x) * factor) >> 16) as i16 + 1) >> 1
    }
    let width = luma.len();
    let (cb, cr, r, g, b) = (&cb[..width], &cr[..width], &mut r[..width], &mut g[..width], &mut b[..width]);
    for x in 0..width {
        let (y, cb, cr) = (i16::from(luma[x]), cb[x], cr[x]);
        let green = ((G_CB * i32::from(cb) + G_CR * i32::from(cr) + HALF) >> 16) as i16 - cr;
        let level = |level: i16| level.clamp(0, 255) as u8;
        r[x] = level(y + cr + rounded(cr, R_CR));
        g[x] = level(y + green);
        b[x] = level(y + 2 * cb + rounded(cb, B_CB));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `build_ycc_rgb_table` and `ycc_rgb_convert` of jdcolor.c, for all chroma.
    #[test]
    fn levels_are_those_of_libjpeg_for_all_chroma() {
        for cb in -128i16..128 {
            let all: Vec<i16> = (-128..128).collect();
            let luma: Vec<u8> = all.iter().map(|cr| (cr * 7 + cb * 3) as u8).collect();
            let mut found = [(); 3].map(|()| vec![0u8; all.len()]);
            let [r, g, b] = &mut found;
            to_rgb(&luma, [&[cb; 256], &all], [r, g, b]);
            for (x, (&y, &cr)) in luma.iter().zip(&all).enumerate() {
                let (y, cb, cr) = (i32::from(y), i32::from(cb), i32::from(cr));
                let expected = [
                    y + ((91_881 * cr + 32_768) >> 16),
                    y + ((-22_554 * cb - 46_802 * cr + 32_768) >> 16),
                    y + ((116_130 * cb + 32_768) >> 16),
                ];
                let expected = expected.map(|level| level.clamp(0, 255) as u8);
                assert_eq!(found.each_ref().map(|plane| plane[x]), expected, "{y} {cb} {cr}");
            }
        }
    }
}
