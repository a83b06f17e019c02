//! Measures a clip from frame to frame.

use image::GrayImage;

use super::hash::{Cosines, Hash, Thumb};
use super::luma::{largest_change, percentiles};

/// The number of frames whose hashes are kept for each clip. These are the frames in the middle of four equal
/// stretches.
pub(super) const SLOTS: usize = 4;

/// The hashes of four frames of a clip. Comparisons with other clips use these.
pub(super) type ClipHash = [Hash; SLOTS];

/// The change from one frame to the next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Step {
    /// The largest change of a pixel, 0 to 255.
    pub largest: u8,
    /// The mean change of a pixel of the thumb, 0 to 255.
    pub mean: f32,
    /// The same between the later frame and the one before the earlier frame. If there is no such frame, it is the
    /// change between the two frames.
    pub mean_of_two: f32,
    /// The change in the distribution of brightness, 0 to 1.
    pub spread: f32,
}

/// The extremes of the brightness of all frames.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Extremes {
    /// The largest luma that 98 of 100 pixels do not exceed.
    pub p98: u8,
    /// The largest luma that 99 of 100 pixels do not exceed.
    pub p99: u8,
    /// The largest range of luma, not counting the darkest and brightest hundredth of the pixels.
    pub range: u8,
    /// The smallest share of white pixels.
    pub white: f64,
    /// The sum of the medians of the frames.
    pub medians: f64,
}

/// The measures of a clip. Takes the frames one after another, and keeps few of them.
pub(super) struct Measures {
    /// The extremes of the frames so far.
    pub extremes: Option<Extremes>,
    /// The frames so far, as numbers in the clip from 0.
    pub frames: Vec<u32>,
    /// The steps from each of these frames to the next.
    pub steps: Vec<Step>,
    /// The largest change of a pixel from the first frame to any other.
    pub largest_from_first: u8,
    slots: [Option<Hash>; SLOTS],
    /// The frames that the slots are for.
    slot_frames: Option<[u32; SLOTS]>,
    /// The first frame and the last.
    ends: Option<(GrayImage, GrayImage)>,
    thumbs: Option<(Thumb, Thumb)>,
}

impl Measures {
    /// Starts measuring a clip with these frames. Hashes are taken if `hashed`.
    pub fn new(coming: &[u32], hashed: bool) -> Self {
        let middle = |slot: usize| coming[(2 * slot + 1) * coming.len() / (2 * SLOTS)];
        Measures {
            extremes: None,
            frames: Vec::with_capacity(coming.len()),
            steps: Vec::with_capacity(coming.len().saturating_sub(1)),
            largest_from_first: 0,
            slots: [None; SLOTS],
            slot_frames: (hashed && !coming.is_empty()).then(|| std::array::from_fn(middle)),
            ends: None,
            thumbs: None,
        }
    }

    /// Whether comparisons with other clips use this frame.
    pub fn is_hashed(&self, t: u32) -> bool {
        self.slot_frames.is_some_and(|frames| frames.contains(&t))
    }

    /// Takes the hash of a frame that was decoded finely.
    pub fn take_hash(&mut self, t: u32, fine: &GrayImage, cosines: &Cosines) {
        let hash = Hash::of(&Thumb::of(fine), cosines);
        let slots = self.slots.iter_mut().zip(self.slot_frames.into_iter().flatten());
        slots.filter(|(_, frame)| *frame == t).for_each(|(slot, _)| *slot = Some(hash));
    }

    /// Takes the next frame.
    pub fn take(&mut self, t: u32, luma: GrayImage) {
        let thumb = Thumb::of(&luma);
        self.add_light(&luma);
        if let (Some((before, previous)), Some((first, last))) = (&self.thumbs, &self.ends) {
            self.steps.push(Step {
                largest: largest_change(&luma, last),
                mean: thumb.mean_change(previous),
                mean_of_two: thumb.mean_change(before),
                spread: thumb.spread_change(previous),
            });
            self.largest_from_first = self.largest_from_first.max(largest_change(&luma, first));
        }
        self.thumbs = Some((self.thumbs.map_or(thumb, |(_, last)| last), thumb));
        self.ends = Some(match self.ends.take() {
            Some((first, _)) => (first, luma),
            None => (luma.clone(), luma),
        });
        self.frames.push(t);
    }

    fn add_light(&mut self, luma: &GrayImage) {
        let ([p1, p50, p98, p99], white) = percentiles(luma, [1, 50, 98, 99]);
        let this = Extremes { p98, p99, range: p99 - p1, white, medians: f64::from(p50) };
        self.extremes = Some(self.extremes.map_or(this, |so_far| Extremes {
            p98: so_far.p98.max(this.p98),
            p99: so_far.p99.max(this.p99),
            range: so_far.range.max(this.range),
            white: so_far.white.min(this.white),
            medians: so_far.medians + this.medians,
        }));
    }

    /// Returns the hashes for comparisons with other clips; `None` if a frame is missing, or if most frames are so
    /// flat that they show nothing.
    pub fn hash(&self) -> Option<ClipHash> {
        let [Some(a), Some(b), Some(c), Some(d)] = self.slots else { return None };
        let hash = [a, b, c, d];
        let flat = hash.iter().filter(|hash| hash.is_flat()).count();
        (2 * flat <= SLOTS).then_some(hash)
    }
}
