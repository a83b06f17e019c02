//! The place in a frame where the picture comes from: one draw for each clip.

use super::key::DrawKey;
use crate::dataset::Clip;
use crate::loader::kernel::{Span, View};
use crate::loader::options::{Crop, LoaderOptions};
use vidrec_format::error::Result;
use vidrec_format::random::{Random, stream};

impl LoaderOptions {
    /// Width and height of the pictures of a sample of `frames` frames of this width and height.
    pub(crate) fn picture_size(&self, frame: (u32, u32), frames: u32) -> Result<(u32, u32)> {
        match self.crop.rule() {
            Some(rule) => rule.size(frame, frames),
            None => Ok(nearest_shape(frame, &self.crop.sizes())),
        }
    }

    /// The width and height to which the frames of a clip are enlarged in every sample, because they are smaller than the
    /// pictures. `None` if they are not, or are not all of one size.
    pub(crate) fn enlarged(&self, clip: &Clip<'_>) -> Option<(u32, u32)> {
        let frame = (clip.width(), clip.height());
        if clip.frame_count() == 0 || frame.0 == 0 || frame.1 == 0 {
            return None;
        }
        let size = self.picture_size(frame, clip.frame_count()).ok()?;
        if let Some(rule) = self.crop.rule() {
            return rule.enlarges(frame).then_some(size);
        }
        let needed = cover(resized(frame, self.crop.resize().map(|(least, _)| least)), size);
        (needed.0 > frame.0 || needed.1 > frame.1).then_some(needed)
    }

    /// The view of a sample for frames of `frame` (width, height) pixels, and pictures of `size`. All frames of a sample
    /// have the same view, unless they differ in size.
    pub(crate) fn view(&self, size: (u32, u32), key: DrawKey, frame: (u32, u32)) -> View {
        let mut random = key.random(stream::AUGMENT);
        let flip = random.unit() < f64::from(self.flip);
        let whole = |(x, y)| (whole(x, size.0), whole(y, size.1));
        let (x, y) = match self.crop {
            Crop::RandomResized { scale, ratio, .. } => whole(random_area(&mut random, frame, scale, ratio)),
            Crop::MultiScale { fixed, .. } => whole(multi_scale(&mut random, frame, size, fixed)),
            Crop::SmartResize { .. } => whole(((0, frame.0), (0, frame.1))),
            Crop::Cover { random: false, .. } => covering(frame, size, |room| room / 2.0),
            Crop::Cover { random: true, .. } => covering(frame, size, |room| random.unit() * room),
            Crop::Center { resize, .. } | Crop::Random { resize, .. } | Crop::Three { resize, .. } => {
                let short = resize.map(|(least, most)| match most - least {
                    0 => least,
                    more => least + random.below(u64::from(more) + 1) as u32,
                });
                let resized = cover(resized(frame, short), size);
                let room = (resized.0 - size.0, resized.1 - size.1);
                let (x, y) = match self.crop {
                    Crop::Random { .. } => {
                        (random.below(u64::from(room.0) + 1) as u32, random.below(u64::from(room.1) + 1) as u32)
                    }
                    Crop::Three { .. } => one_of_three(key.sample % 3, room),
                    _ => (half(room.0), half(room.1)),
                };
                (part(frame.0, resized.0, x), part(frame.1, resized.1, y))
            }
        };
        View { x, y, flip }
    }
}

/// The size that is nearest in shape. The first one, if several are.
fn nearest_shape(frame: (u32, u32), sizes: &[(u32, u32)]) -> (u32, u32) {
    let shape = |(width, height): (u32, u32)| (f64::from(width) / f64::from(height)).ln();
    let distance = |size: (u32, u32)| (shape(frame) - shape(size)).abs();
    let nearer = |best, size| if distance(size) < distance(best) { size } else { best };
    sizes.iter().copied().reduce(nearer).unwrap_or_default()
}

/// The first, middle or last place along the axis with more room, and the middle of the other axis.
fn one_of_three(number: u64, room: (u32, u32)) -> (u32, u32) {
    let place = |room| [0, half(room), room][number as usize];
    if room.0 >= room.1 { (place(room.0), half(room.1)) } else { (half(room.0), place(room.1)) }
}

/// Start and length on both axes of an area as TSN's `GroupMultiScaleCrop` (tsn-pytorch, transforms.py) draws it, with
/// `max_distort=1` and, if `fixed`, `fix_crop` and `more_fix_crop`.
///
/// A side within 2 pixels of the picture's side takes that length, but here it never exceeds the frame.
fn multi_scale(random: &mut Random, frame: (u32, u32), size: (u32, u32), fixed: bool) -> ((u32, u32), (u32, u32)) {
    const SCALES: [f64; 4] = [1.0, 0.875, 0.75, 0.66];
    let short = f64::from(frame.0.min(frame.1));
    let side = |scale: usize, wanted: u32, most: u32| {
        let side = (short * SCALES[scale]) as u32;
        if side.abs_diff(wanted) < 3 { wanted.min(most) } else { side.max(1) }
    };
    let steps: Vec<_> =
        (0..4).flat_map(|h| (0..4usize).map(move |w| (w, h))).filter(|(w, h)| w.abs_diff(*h) < 2).collect();
    let (w, h) = steps[random.below(steps.len() as u64) as usize];
    let (width, height) = (side(w, size.0, frame.0), side(h, size.1, frame.1));
    let room = (frame.0 - width, frame.1 - height);
    let (x, y) = if fixed {
        const PLACES: [(u32, u32); 13] =
            [(0, 0), (4, 0), (0, 4), (4, 4), (2, 2), (0, 2), (4, 2), (2, 4), (2, 0), (1, 1), (3, 1), (1, 3), (3, 3)];
        let (x, y) = PLACES[random.below(13) as usize];
        (x * (room.0 / 4), y * (room.1 / 4))
    } else {
        (random.below(u64::from(room.0) + 1) as u32, random.below(u64::from(room.1) + 1) as u32)
    };
    ((x, width), (y, height))
}

/// The largest part of a frame in the shape of `size`; `place` says where it begins within the room that is left.
fn covering(frame: (u32, u32), size: (u32, u32), mut place: impl FnMut(f64) -> f64) -> (Span, Span) {
    let ratio = |frame: u32, size: u32| f64::from(frame) / f64::from(size);
    let scale = ratio(frame.0, size.0).min(ratio(frame.1, size.1));
    let mut span = |frame: u32, size: u32| {
        let room = (f64::from(frame) - scale * f64::from(size)).max(0.0);
        Span { bounds: (0, frame), start: place(room), scale }
    };
    (span(frame.0, size.0), span(frame.1, size.1))
}

/// All `length` pixels from `start` on, as `out` pixels. Nothing outside is read, as if the frame had been cropped
/// first.
fn whole((start, length): (u32, u32), out: u32) -> Span {
    Span { bounds: (start, start + length), start: start.into(), scale: f64::from(length) / f64::from(out) }
}

/// From pixel `start` of a frame that was resized from `length` to `resized` pixels.
fn part(length: u32, resized: u32, start: u32) -> Span {
    let scale = f64::from(length) / f64::from(resized);
    Span { bounds: (0, length), start: f64::from(start) * scale, scale }
}

/// The size of a frame after its shorter side is resized to `short`. The longer side is rounded down, as in
/// torchvision's `Resize`.
fn resized((width, height): (u32, u32), short: Option<u32>) -> (u32, u32) {
    let Some(short) = short else { return (width, height) };
    let long = |long: u32, of: u32| clamp_side(u64::from(short) * u64::from(long) / u64::from(of));
    if width <= height { (short, long(height, width)) } else { (long(width, height), short) }
}

/// Returns `size` if it covers `wanted`. Otherwise enlarges it, in the same shape, until it just covers `wanted`.
fn cover((width, height): (u32, u32), wanted: (u32, u32)) -> (u32, u32) {
    if width >= wanted.0 && height >= wanted.1 {
        return (width, height);
    }
    let (w, h) = (u64::from(width), u64::from(height));
    let (to_w, to_h) = (u64::from(wanted.0), u64::from(wanted.1));
    if to_w * h >= to_h * w {
        (wanted.0, clamp_side((h * to_w).div_ceil(w)).max(wanted.1))
    } else {
        (clamp_side((w * to_h).div_ceil(h)).max(wanted.0), wanted.1)
    }
}

/// The side fits 32 bits unless a frame has one pixel by thousands.
fn clamp_side(side: u64) -> u32 {
    u32::try_from(side).unwrap_or(u32::MAX).max(1)
}

/// Half of `room`, with halves rounded to even: where torchvision's `CenterCrop` begins.
fn half(room: u32) -> u32 {
    room / 2 + u32::from(room % 4 == 3)
}

/// The start and length on both axes of an area with random size, shape and place.
///
/// This follows `RandomResizedCrop.get_params` of torchvision (transforms/transforms.py, 0.20): ten tries, then
/// the middle of the frame in the nearest allowed shape. `ln` and `exp` are those of the platform. Between
/// platforms, a side may therefore differ by a pixel if its length is within rounding of a half, about once in
/// 10^13 draws.
fn random_area(
    random: &mut Random,
    (width, height): (u32, u32),
    scale: (f64, f64),
    ratio: (f64, f64),
) -> ((u32, u32), (u32, u32)) {
    let (w, h) = (f64::from(width), f64::from(height));
    for _ in 0..10 {
        let area = w * h * between(random, scale);
        let shape = between(random, (ratio.0.ln(), ratio.1.ln())).exp();
        let (crop_w, crop_h) = ((area * shape).sqrt().round_ties_even(), (area / shape).sqrt().round_ties_even());
        if (1.0..=w).contains(&crop_w) && (1.0..=h).contains(&crop_h) {
            let (crop_w, crop_h) = (crop_w as u32, crop_h as u32);
            let y = random.below(u64::from(height - crop_h) + 1) as u32;
            let x = random.below(u64::from(width - crop_w) + 1) as u32;
            return ((x, crop_w), (y, crop_h));
        }
    }
    let crop_w = (h * ratio.1).round_ties_even().clamp(1.0, w) as u32;
    let crop_h = (w / ratio.0).round_ties_even().clamp(1.0, h) as u32;
    (((width - crop_w) / 2, crop_w), ((height - crop_h) / 2, crop_h))
}

fn between(random: &mut Random, (least, greatest): (f64, f64)) -> f64 {
    least + (greatest - least) * random.unit()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn options(crop: Crop) -> LoaderOptions {
        LoaderOptions { crop, ..LoaderOptions::default() }
    }

    fn view(options: &LoaderOptions, size: (u32, u32), key: DrawKey, frame: (u32, u32)) -> View {
        options.view(size, key, frame)
    }

    #[test]
    fn a_clip_goes_to_the_nearest_shape() {
        let sizes = [(224, 224), (256, 192), (192, 256)];
        let nearest = |frame| sizes.iter().position(|&size| size == nearest_shape(frame, &sizes));
        assert_eq!([(640, 480), (480, 640), (100, 100), (1920, 800)].map(nearest), [1, 2, 0, 1].map(Some));
    }

    fn key(epoch: u64, sample: u64) -> DrawKey {
        DrawKey { seed: 0, epoch, sample }
    }

    /// `int(round(room / 2))` in Python, for rooms 0 to 8.
    #[test]
    fn odd_room_is_split_as_torchvision_splits_it() {
        assert_eq!((0..9).map(half).collect::<Vec<_>>(), [0, 0, 1, 2, 2, 2, 3, 4, 4]);
    }

    #[test]
    fn random_areas_have_the_shapes_and_sizes_asked_for() {
        let mut random = Random::new(0, &[]);
        let mut mean = 0.0;
        for _ in 0..2000 {
            let ((x, w), (y, h)) = random_area(&mut random, (400, 300), (0.08, 1.0), (0.75, 4.0 / 3.0));
            assert!(x + w <= 400 && y + h <= 300);
            let area = f64::from(w * h) / 120_000.0;
            assert!((0.078..=1.0).contains(&area));
            assert!((0.73..=1.37).contains(&(f64::from(w) / f64::from(h))));
            mean += area / 2000.0;
        }
        assert!((0.40..0.56).contains(&mean), "{mean}");
    }

    #[test]
    fn a_frame_of_an_impossible_shape_falls_back_to_its_middle() {
        let mut random = Random::new(0, &[]);
        let area = random_area(&mut random, (1000, 10), (0.9, 1.0), (0.75, 4.0 / 3.0));
        assert_eq!(area, ((493, 13), (0, 10)));
        let area = random_area(&mut random, (10, 1000), (0.9, 1.0), (0.75, 4.0 / 3.0));
        assert_eq!(area, ((0, 10), (493, 13)));
    }

    /// TSN's sides for 340x256 frames and 224x224 pictures are 256, 224, 192 and 168.
    #[test]
    fn multi_scale_crops_have_tsns_sides_and_places() {
        let mut random = Random::new(0, &[]);
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..4000 {
            let ((x, w), (y, h)) = multi_scale(&mut random, (340, 256), (224, 224), true);
            let (step_x, step_y) = ((340 - w) / 4, (256 - h) / 4);
            assert!(x.is_multiple_of(step_x) && x <= 4 * step_x);
            assert!(step_y == 0 && y == 0 || y.is_multiple_of(step_y) && y <= 4 * step_y);
            *seen.entry((w, h)).or_insert(0) += 1;
        }
        let sides = [256, 224, 192, 168];
        let near = |a: usize, b: usize| a.abs_diff(b) < 2;
        let mut expected: Vec<_> =
            (0..4).flat_map(|a| (0..4).filter(move |&b| near(a, b)).map(move |b| (sides[a], sides[b]))).collect();
        expected.sort_unstable();
        assert_eq!(seen.keys().copied().collect::<Vec<_>>(), expected);
        assert!(seen.values().all(|n| (300..500).contains(n)), "{seen:?}");
    }

    #[test]
    fn the_short_side_is_drawn_from_its_range() {
        let o = options(Crop::random((8, 8)).with_resize(Some((256, 320))));
        let side = |s| (256.0 / view(&o, (224, 224), key(0, s), (340, 256)).y.scale).round() as u32;
        let mut scales: Vec<u32> = (0..2000).map(side).collect();
        scales.sort_unstable();
        scales.dedup();
        assert!(scales.into_iter().eq(256..=320));
    }

    proptest! {
        #[test]
        fn a_view_stays_on_the_frame(
            width in 1u32..2000, height in 1u32..2000, size in (1u32..300, 1u32..300),
            short in prop::option::of(1u32..400), clip: u64,
        ) {
            let short = short.map(|side| (side, side));
            for crop in [
                Crop::center(size).with_resize(short), Crop::random(size).with_resize(short),
                Crop::three(size).with_resize(short), Crop::random_resized(size), Crop::multi_scale(size, true),
                Crop::multi_scale(size, false), Crop::smart_resize(28, 1, 9), Crop::cover(size, true),
            ] {
                let view = view(&options(crop), size, key(3, clip), (width, height));
                for (span, length, out) in [(view.x, width, size.0), (view.y, height, size.1)] {
                    prop_assert!(span.bounds.0 < span.bounds.1 && span.bounds.1 <= length);
                    let end = span.start + span.scale * f64::from(out);
                    prop_assert!(span.start >= f64::from(span.bounds.0) && end <= f64::from(span.bounds.1) + 1e-6);
                }
            }
        }
    }
}
