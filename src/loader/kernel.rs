//! From a decoded frame to its slot in the batch: resample, normalise, lay out, in one pass over precomputed tables.
//!
//! Bilinear with half-pixel centres; where the picture gets smaller, the triangle widens with the step so that every
//! frame pixel counts, as Pillow's `BILINEAR` and torchvision's `antialias=True` have it (Pillow, src/libImaging/
//! Resample.c, `precompute_coeffs`). Sums are f32 in a fixed order without fused operations: the same bits everywhere.
//! A picture that is only cut out, not resized, keeps its exact values.

use super::options::{Layout, LoaderOptions};
use super::view::{Span, View};

/// A type of sample in a batch.
pub(super) trait Sample: Copy + Default + Send + Sync {
    /// The sample for `level`, 0 to 255, of a channel with this scale and bias.
    fn from_level(level: f32, scale: f32, bias: f32) -> Self;
}

impl Sample for u8 {
    fn from_level(level: f32, _: f32, _: f32) -> u8 {
        (level + 0.5) as u8
    }
}

impl Sample for f32 {
    fn from_level(level: f32, scale: f32, bias: f32) -> f32 {
        level * scale + bias
    }
}

/// For each pixel of the picture along one axis: the first frame pixel that counts, and a weight for each from there.
#[derive(Debug)]
struct Axis {
    taps: usize,
    first: Vec<usize>,
    /// `taps` for each pixel.
    weights: Vec<f32>,
}

impl Axis {
    fn new(span: &Span, out: u32) -> Self {
        let rows: Vec<(usize, Vec<f64>)> = (0..out).map(|i| triangle(span, i)).collect();
        let taps = rows.iter().map(|(_, weights)| weights.len()).max().unwrap_or(1);
        let mut axis = Axis { taps, first: Vec::new(), weights: vec![0.0; taps * rows.len()] };
        for ((first, weights), to) in rows.iter().zip(axis.weights.chunks_exact_mut(taps)) {
            // A pixel with fewer taps than others, at the frame's end, starts earlier so that all taps stay inside.
            let begin = (*first).min(span.bounds.1 as usize - taps);
            to[first - begin..][..weights.len()].iter_mut().zip(weights).for_each(|(to, &w)| *to = w as f32);
            axis.first.push(begin);
        }
        axis
    }

    /// The same axis from its other end.
    fn reversed(mut self) -> Self {
        self.first.reverse();
        self.weights = self.weights.rchunks_exact(self.taps).flatten().copied().collect();
        self
    }

    fn pixels(&self) -> impl Iterator<Item = (usize, &[f32])> {
        self.first.iter().copied().zip(self.weights.chunks_exact(self.taps))
    }
}

/// First frame pixel and weights, none of them 0 at the ends and 1 in sum, of picture pixel `i`.
fn triangle(span: &Span, i: u32) -> (usize, Vec<f64>) {
    let reach = span.scale.max(1.0);
    let (low, high) = (f64::from(span.bounds.0), f64::from(span.bounds.1));
    let centre = (span.start + (f64::from(i) + 0.5) * span.scale).clamp(low + 0.5, high - 0.5);
    let (from, to) = ((centre - reach).floor().max(low) as u32, (centre + reach).ceil().min(high) as u32);
    let weight = |x: u32| (1.0 - (f64::from(x) + 0.5 - centre).abs() / reach).max(0.0);
    let weighs = |x: &u32| weight(*x) > 0.0;
    let from = (from..to).find(weighs).unwrap_or(from);
    let to = (from..to).rev().find(weighs).map_or(from + 1, |last| last + 1);
    let sum: f64 = (from..to).map(weight).sum();
    (from as usize, (from..to).map(|x| weight(x) / sum).collect())
}

/// Tables for one view of frames of one size.
#[derive(Debug)]
pub(super) struct Kernel {
    frame: (u32, u32),
    x: Axis,
    y: Axis,
    /// Columns of the frame that count: the first, and how many.
    columns: (usize, usize),
    strides: Strides,
    scale: [f32; 3],
    bias: [f32; 3],
}

/// Samples from one channel, column or row of a picture to the next.
#[derive(Debug)]
struct Strides {
    channel: usize,
    column: usize,
    row: usize,
}

impl Kernel {
    /// Tables that take `view` out of frames of `frame` (width, height) pixels.
    pub fn new(options: &LoaderOptions, view: &View, frame: (u32, u32)) -> Self {
        let (width, height) = options.size;
        let x = Axis::new(&view.x, width);
        let first = x.first.iter().copied().min().unwrap_or(0);
        let end = x.first.iter().copied().max().unwrap_or(0) + x.taps;
        let strides = match options.layout {
            Layout::Btchw => Strides { channel: (width * height) as usize, column: 1, row: width as usize },
            Layout::Bthwc => Strides { channel: 1, column: 3, row: width as usize * 3 },
        };
        Kernel {
            frame,
            x: if view.flip { x.reversed() } else { x },
            y: Axis::new(&view.y, height),
            columns: (first, end - first),
            strides,
            scale: options.std.map(|std| 1.0 / (255.0 * std)),
            bias: std::array::from_fn(|c| -options.mean[c] / options.std[c]),
        }
    }

    /// The size of frame that the tables are for.
    pub fn frame(&self) -> (u32, u32) {
        self.frame
    }

    /// Writes the picture that `rgb` (3 bytes a pixel, rows without padding) gives to `slot`.
    ///
    /// `line` is scratch space, kept by the caller from frame to frame.
    pub fn run<S: Sample>(&self, rgb: &[u8], line: &mut Vec<f32>, slot: &mut [S]) {
        line.resize(self.columns.1 * 3, 0.0);
        for (y, (first, weights)) in self.y.pixels().enumerate() {
            self.blend_rows(rgb, first, weights, line);
            self.write_row(line, &mut slot[y * self.strides.row..]);
        }
    }

    /// Weighted sum of frame rows, over the columns that count.
    fn blend_rows(&self, rgb: &[u8], first: usize, weights: &[f32], line: &mut [f32]) {
        let pitch = self.frame.0 as usize * 3;
        for (k, &weight) in weights.iter().enumerate() {
            let row = &rgb[(first + k) * pitch + self.columns.0 * 3..][..line.len()];
            if k == 0 {
                line.iter_mut().zip(row).for_each(|(sum, &v)| *sum = weight * f32::from(v));
            } else {
                line.iter_mut().zip(row).for_each(|(sum, &v)| *sum += weight * f32::from(v));
            }
        }
    }

    /// Weighted sums of the columns of `line`, normalised, to one row of the picture.
    fn write_row<S: Sample>(&self, line: &[f32], row: &mut [S]) {
        for (x, (first, weights)) in self.x.pixels().enumerate() {
            let mut sum = [0.0f32; 3];
            let pixels = line[(first - self.columns.0) * 3..].as_chunks::<3>().0;
            for (pixel, &weight) in pixels.iter().zip(weights) {
                (0..3).for_each(|c| sum[c] += weight * pixel[c]);
            }
            for (c, level) in sum.into_iter().enumerate() {
                let at = c * self.strides.channel + x * self.strides.column;
                row[at] = S::from_level(level, self.scale[c], self.bias[c]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loader::options::Crop;
    use crate::loader::view::view;
    use crate::random::Random;
    use proptest::prelude::*;

    /// The plain definition in double precision: every frame pixel of the bounds, weighed by the triangle.
    fn naive(options: &LoaderOptions, view: &View, frame: (u32, u32), rgb: &[u8]) -> Vec<f64> {
        let weights = |span: &Span, i: u32| -> Vec<f64> {
            let reach = span.scale.max(1.0);
            let centre = span.start + (f64::from(i) + 0.5) * span.scale;
            let raw: Vec<f64> = (span.bounds.0..span.bounds.1)
                .map(|p| (1.0 - (f64::from(p) + 0.5 - centre).abs() / reach).max(0.0))
                .collect();
            let sum: f64 = raw.iter().sum();
            raw.iter().map(|w| w / sum).collect()
        };
        let (width, height) = options.size;
        let mut out = Vec::new();
        for y in 0..height {
            let wy = weights(&view.y, y);
            for x in 0..width {
                let wx = weights(&view.x, if view.flip { width - 1 - x } else { x });
                for c in 0..3 {
                    let at = |i: usize, j: usize| {
                        let row = (view.y.bounds.0 as usize + i) * frame.0 as usize;
                        f64::from(rgb[(row + view.x.bounds.0 as usize + j) * 3 + c])
                    };
                    let row = |i: usize| wx.iter().enumerate().map(|(j, w)| w * at(i, j)).sum::<f64>();
                    out.push(wy.iter().enumerate().map(|(i, w)| w * row(i)).sum());
                }
            }
        }
        out
    }

    fn run<S: Sample>(options: &LoaderOptions, view: &View, frame: (u32, u32), rgb: &[u8]) -> Vec<S> {
        let mut out = vec![S::default(); (options.size.0 * options.size.1 * 3) as usize];
        Kernel::new(options, view, frame).run(rgb, &mut Vec::new(), &mut out);
        out
    }

    fn noise((width, height): (u32, u32), seed: u64) -> Vec<u8> {
        let mut random = Random::new(seed, &[]);
        (0..width * height * 3).map(|_| random.next_u32() as u8).collect()
    }

    proptest! {
        /// The bound that the module states: f32 within 1/1000 of a level of 255, u8 the nearest but for ties that close.
        #[test]
        fn pictures_are_those_of_the_naive_model(
            frame in (1u32..40, 1u32..40), size in (1u32..24, 1u32..24), short in prop::option::of(1u32..40),
            flip in prop::sample::select(&[0.0f32, 1.0][..]), clip: u64,
        ) {
            let rgb = noise(frame, clip);
            for (crop, resize_short) in [(Crop::Center, short), (Crop::Random, short), (Crop::RANDOM_RESIZED, None)] {
                let layout = Layout::Bthwc;
                let options = LoaderOptions { size, crop, resize_short, flip, layout, ..LoaderOptions::default() };
                let view = view(&options, 0, clip, frame);
                let expected = naive(&options, &view, frame, &rgb);
                let floats: Vec<f32> = run(&options, &view, frame, &rgb);
                let bytes: Vec<u8> = run(&options, &view, frame, &rgb);
                for ((exact, float), byte) in expected.iter().zip(floats).zip(bytes) {
                    prop_assert!((exact - f64::from(float) * 255.0).abs() < 1e-3, "{} {}", exact, float * 255.0);
                    prop_assert!((exact - f64::from(byte)).abs() < 0.501, "{} {}", exact, byte);
                }
            }
        }

        #[test]
        fn weights_add_up_to_one_within_the_bounds(
            bounds in (0u32..50, 1u32..500), start in 0.0f64..1.0, scale in 0.01f64..20.0, out in 1u32..50,
        ) {
            let span = Span { bounds: (bounds.0, bounds.0 + bounds.1), start: f64::from(bounds.0) + start, scale };
            let axis = Axis::new(&span, out);
            for (first, weights) in axis.pixels() {
                prop_assert!(first >= bounds.0 as usize && first + weights.len() <= span.bounds.1 as usize);
                prop_assert!((weights.iter().sum::<f32>() - 1.0).abs() < 1e-5);
            }
        }
    }

    #[test]
    fn a_picture_that_is_not_resized_is_cut_out_exactly() {
        let frame = (11, 7);
        let rgb = noise(frame, 1);
        let options = LoaderOptions { size: (5, 3), layout: Layout::Bthwc, ..LoaderOptions::default() };
        let view = view(&options, 0, 0, frame);
        let expected: Vec<u8> = (2..5).flat_map(|y| &rgb[(y * 11 + 3) * 3..][..15]).copied().collect();
        assert_eq!(run::<u8>(&options, &view, frame, &rgb), expected);
        assert_eq!(Kernel::new(&options, &view, frame).x.taps, 1, "and nothing is summed for it");
    }

    #[test]
    fn a_flip_is_the_exact_mirror_and_a_layout_the_exact_transpose() {
        let (frame, size) = ((31, 17), (8, 6));
        let rgb = noise(frame, 2);
        let options =
            LoaderOptions { size, crop: Crop::RANDOM_RESIZED, layout: Layout::Bthwc, ..LoaderOptions::default() };
        let straight = view(&options, 0, 0, frame);
        let last: Vec<f32> = run(&options, &straight, frame, &rgb);
        let flipped: Vec<f32> = run(&options, &View { flip: true, ..straight }, frame, &rgb);
        let first: Vec<f32> = run(&LoaderOptions { layout: Layout::Btchw, ..options }, &straight, frame, &rgb);
        for (y, x, c) in (0..6).flat_map(|y| (0..8).flat_map(move |x| (0..3).map(move |c| (y, x, c)))) {
            assert_eq!(flipped[(y * 8 + x) * 3 + c], last[(y * 8 + 7 - x) * 3 + c]);
            assert_eq!(first[(c * 6 + y) * 8 + x], last[(y * 8 + x) * 3 + c]);
        }
    }

    #[test]
    fn normalising_is_as_documented() {
        let (mean, std) = ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]);
        let layout = Layout::Bthwc;
        let options = LoaderOptions { size: (1, 1), mean, std, layout, ..LoaderOptions::default() };
        let out: Vec<f32> = run(&options, &view(&options, 0, 0, (1, 1)), (1, 1), &[0, 128, 255]);
        for (c, level) in [0.0, 128.0, 255.0].into_iter().enumerate() {
            assert!((out[c] - (level / 255.0 - mean[c]) / std[c]).abs() < 1e-5);
        }
    }
}
