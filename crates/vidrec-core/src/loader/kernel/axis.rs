//! The samples from which the pixels of a picture come along one axis, and their weights.
//!
//! Resampling is bilinear with half-pixel centers. If the picture gets smaller, the triangle widens with the step
//! so that every sample counts. This matches Pillow's `BILINEAR` and torchvision's `antialias=True` (Pillow,
//! src/libImaging/Resample.c, `precompute_coeffs`).
//!
//! Chroma at half size has the same weights as if libjpeg's smooth upsampling first enlarged it to full size, and
//! it were then resized like luma. Both steps are linear, so one table does both. The picture is that of a resized
//! RGB decode, except for what that decode rounds and clamps on the way.

use std::ops::Range;

use super::spec::Span;

/// The samples of a frame that an axis reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Samples {
    /// Luma, or anything at its resolution.
    Full,
    /// Chroma at half the resolution. Each sample stands for two samples of luma, and its center is between
    /// theirs.
    Half,
}

/// One axis of a plane, seen from the picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PlaneAxis {
    /// The span in pixels of the frame. The axis has `side` of them.
    pub span: Span,
    pub side: u32,
    /// Pixels for each sample of luma. It is more than 1 after a scaled inverse DCT. The samples are then in the
    /// centers of their pixels.
    pub step: u32,
    pub samples: Samples,
}

impl PlaneAxis {
    /// The span in samples of luma. Bounds are widened to whole samples.
    pub fn in_luma(self) -> Span {
        let Span { bounds: (low, high), start, scale } = self.span;
        let step = f64::from(self.step);
        Span { bounds: (low / self.step, high.div_ceil(self.step)), start: start / step, scale: scale / step }
    }

    /// The number of samples of the plane along this axis.
    fn len(self) -> u32 {
        let luma = self.side.div_ceil(self.step);
        if self.samples == Samples::Full { luma } else { luma.div_ceil(2) }
    }

    /// The samples that `out` pixels depend on.
    pub fn reach(self, out: u32) -> Range<u32> {
        let span = self.in_luma();
        let samples = |pixel| {
            let triangle = Triangle::new(&span, pixel);
            match self.samples {
                Samples::Full => triangle.samples,
                Samples::Half => triangle.chroma_samples(self.len()),
            }
        };
        samples(0).start..samples(out - 1).end
    }

    /// At least the number of samples that a pixel depends on.
    pub fn most_taps(self) -> u32 {
        let luma = (2.0 * self.in_luma().scale.max(1.0)) as u32 + 2;
        if self.samples == Samples::Full { luma } else { luma / 2 + 3 }
    }
}

/// For each pixel of the picture: the first sample that counts, and the weights of the samples from there on.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    /// The number of weights of each pixel. Some at the ends may be 0.
    pub taps: usize,
    pub first: Vec<u32>,
    /// `taps` weights for each pixel, in units of 1 / [`ONE`](Self::ONE). They add up to exactly one.
    pub weights: Vec<i16>,
}

impl Axis {
    /// The weight of a sample that is the only one.
    pub const ONE: i32 = 1 << 14;

    /// Creates the weights for `out` pixels. With `reversed`, the pixels go from the last to the first.
    pub fn new(axis: PlaneAxis, out: u32, reversed: bool) -> Self {
        let (span, len) = (axis.in_luma(), axis.len());
        // The exact weights of all pixels in turn, and the end of the weights of each pixel.
        let (mut exact, mut pixels) = (Vec::new(), Vec::with_capacity(out as usize));
        for i in 0..out {
            let triangle = Triangle::new(&span, if reversed { out - 1 - i } else { i });
            let first = match axis.samples {
                Samples::Full => {
                    exact.extend(triangle.samples.clone().map(|x| triangle.weight(x)));
                    triangle.samples.start
                }
                Samples::Half => triangle.chroma_weights(len, &mut exact),
            };
            pixels.push((first, exact.len()));
        }
        let mut start = 0;
        let lengths = pixels.iter().map(|&(_, end)| end - std::mem::replace(&mut start, end));
        let taps = lengths.max().unwrap_or(1);
        let mut axis = Axis { taps, first: Vec::with_capacity(pixels.len()), weights: vec![0; taps * pixels.len()] };
        start = 0;
        for ((first, end), to) in pixels.into_iter().zip(axis.weights.chunks_exact_mut(taps)) {
            // A pixel at the end with fewer taps than others starts earlier, so that all taps stay inside.
            let begin = first.min(len - taps as u32);
            round_weights(&exact[start..end], &mut to[(first - begin) as usize..]);
            axis.first.push(begin);
            start = end;
        }
        axis
    }

    /// The range of samples that count: the first, and the one after the last.
    pub fn reach(&self) -> (u32, u32) {
        let first = self.first.iter().copied().min().unwrap_or(0);
        (first, self.first.iter().copied().max().unwrap_or(0) + self.taps as u32)
    }

    pub fn pixels(&self) -> impl Iterator<Item = (u32, &[i16])> {
        self.first.iter().copied().zip(self.weights.chunks_exact(self.taps))
    }
}

/// The weights of samples for one pixel. They are greatest at its center, and zero at `reach` samples from it.
struct Triangle {
    center: f64,
    reach: f64,
    /// The samples with a weight: at least one.
    samples: Range<u32>,
}

impl Triangle {
    fn new(span: &Span, pixel: u32) -> Self {
        let reach = span.scale.max(1.0);
        let (low, high) = (f64::from(span.bounds.0), f64::from(span.bounds.1));
        let center = (span.start + (f64::from(pixel) + 0.5) * span.scale).clamp(low + 0.5, high - 0.5);
        // The casts round down.
        let Range { mut start, mut end } = (center - reach).max(low) as u32..(center + reach).min(high) as u32 + 1;
        end = end.min(span.bounds.1);
        let triangle = Triangle { center, reach, samples: start..end };
        while start + 1 < end && triangle.weight(start) <= 0.0 {
            start += 1;
        }
        while start + 1 < end && triangle.weight(end - 1) <= 0.0 {
            end -= 1;
        }
        Triangle { samples: start..end, ..triangle }
    }

    fn weight(&self, sample: u32) -> f64 {
        (1.0 - (f64::from(sample) + 0.5 - self.center).abs() / self.reach).max(0.0)
    }

    /// Appends the weights of chroma of `len` samples, whose sum is not yet 1, and returns the first sample with a weight. Smooth upsampling (jdsample.c,
    /// `h2v2_fancy_upsample`) makes each sample of luma from three quarters of its own chroma sample and one
    /// quarter of the next nearest. At the ends, the next nearest is its own sample.
    fn chroma_weights(&self, len: u32, to: &mut Vec<f64>) -> u32 {
        let samples = self.chroma_samples(len);
        let (first, from) = (samples.start, to.len());
        to.resize(from + samples.len(), 0.0);
        for x in self.samples.clone() {
            to[from + (x / 2 - first) as usize] += 0.75 * self.weight(x);
            to[from + (next_chroma(x, len) - first) as usize] += 0.25 * self.weight(x);
        }
        first
    }

    /// The samples of chroma with a weight, of `len`.
    fn chroma_samples(&self, len: u32) -> Range<u32> {
        let (first, last) = (self.samples.start, self.samples.end - 1);
        next_chroma(first, len).min(first / 2)..next_chroma(last, len).max(last / 2) + 1
    }
}

/// The sample of chroma, of `len`, that is the next nearest to a sample of luma.
fn next_chroma(x: u32, len: u32) -> u32 {
    if x.is_multiple_of(2) { (x / 2).saturating_sub(1) } else { (x / 2 + 1).min(len - 1) }
}

/// Scales weights to a sum of one, and rounds them without changing the sum. Each weight is the difference of two
/// rounded sums.
///
/// Each weight and each run of weights is therefore off by at most 1 unit. This keeps the error of a picture
/// within half a unit for each step from one sample to the next, whatever the number of taps.
fn round_weights(exact: &[f64], to: &mut [i16]) {
    let unit = f64::from(Axis::ONE) / exact.iter().sum::<f64>();
    let (mut sum, mut done) = (0.0, 0);
    for (weight, to) in exact.iter().zip(to) {
        sum += weight;
        let next = (sum * unit + 0.5) as i32;
        *to = (next - done) as i16;
        done = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn weights_are_positive_and_add_up_to_one_within_the_plane(
            low in 0u32..50, length in 1u32..500, rest in 0u32..3, shift in 0.0f64..1.0, scale in 0.01f64..20.0,
            out in 1u32..50, step in prop::sample::select(&[1u32, 2, 4, 8][..]), reversed: bool,
        ) {
            let span = Span { bounds: (low, low + length), start: f64::from(low) + shift, scale };
            for samples in [Samples::Full, Samples::Half] {
                let plane = PlaneAxis { span, side: low + length + rest, step, samples };
                let axis = Axis::new(plane, out, reversed);
                for (first, weights) in axis.pixels() {
                    prop_assert!(first as usize + weights.len() <= plane.len() as usize);
                    // What a device computes by itself: it counts only samples with a weight.
                    let counting = |w: &[i16]| w.iter().rposition(|&w| w != 0).unwrap() as u32;
                    let begin = first + weights.iter().position(|&weight| weight != 0).unwrap() as u32;
                    let end = first + counting(weights) + 1;
                    let reach = plane.reach(out);
                    prop_assert!(reach.start <= begin && end <= reach.end && end - begin <= plane.most_taps());
                    prop_assert!(weights.iter().all(|&weight| weight >= 0));
                    prop_assert_eq!(weights.iter().map(|&weight| i32::from(weight)).sum::<i32>(), Axis::ONE);
                }
            }
        }
    }
}
