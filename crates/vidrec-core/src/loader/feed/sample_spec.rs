//! The plan of a sample: its clip, frames, view and colors.

use super::rule_book::RuleBook;
use super::samples::SamplePlace;
use super::schedule::Seat;
use super::unequal::unequal;
use crate::dataset::{Clip, Dataset};
use crate::loader::batch::SampleParams;
use crate::loader::draw::{ColorDraw, DrawKey, Length, WindowPad, together, view};
use crate::loader::kernel::{Kernel, View, scale};
use crate::loader::options::{CamerasCrop, Pictures, Rules, Settings, ShortClips};
use vidrec_format::error::Result;
use vidrec_jpeg::Scale;

/// What all samples of a run have in common.
#[derive(Debug)]
pub(super) struct SampleSpecs {
    pub dataset: Dataset,
    rules: RuleBook,
    pictures: Pictures,
    cameras_crop: CamerasCrop,
}

/// A sample of a batch: its frames, and how they become pictures.
pub(super) struct SampleSpec<'a> {
    pub seat: Seat,
    /// The number of the source of the clip.
    pub source: usize,
    pub clip: Clip<'a>,
    /// The frames to decode. The pictures before and after them pad the sample.
    pub frames: Vec<u32>,
    /// Whether each picture of the sample is a frame that was asked for.
    pub meant: Vec<bool>,
    /// The place of the current frame among the pictures. Tracks count from its time.
    past: usize,
    /// Whether the first and the last value of a track stand for those before and after them.
    pub holds_edges: bool,
    pub params: SampleParams,
    /// Whether there is a clip of this camera. If not, the pictures are zeros.
    pub is_there: bool,
    /// The specification of the pictures.
    pub pictures: Pictures,
}

impl SampleSpec<'_> {
    /// Width and height of the frames by the clip's entry; `None` if the entry says that they differ.
    pub fn frame_size(&self) -> Option<(u32, u32)> {
        frame_size(&self.clip)
    }

    /// The number of pictures before the first frame, which pad the sample.
    pub fn before(&self) -> usize {
        if self.frames.len() == self.meant.len() {
            return 0;
        }
        self.meant.iter().position(|&meant| meant).unwrap_or(0)
    }

    /// The frame from which tracks count.
    pub fn current(&self) -> Option<u32> {
        let at = self.past.saturating_sub(self.before());
        self.frames.get(at).or(self.frames.last()).copied()
    }
}

fn frame_size(clip: &Clip<'_>) -> Option<(u32, u32)> {
    let (width, height) = (clip.width(), clip.height());
    (width > 0 && height > 0).then_some((width, height))
}

/// The frames of a sample, and whether each of its pictures is a frame that was asked for.
type Chosen = (Vec<u32>, Vec<bool>);

impl SampleSpecs {
    pub fn new(dataset: &Dataset, options: &Settings, rules: RuleBook) -> Self {
        let cameras_crop = options.cameras.as_ref().map_or(CamerasCrop::Same, |cameras| cameras.crop);
        SampleSpecs { dataset: dataset.clone(), rules, pictures: options.pictures, cameras_crop }
    }

    fn rules_of(&self, seat: &Seat) -> &Rules {
        self.rules.of(seat.place.clip, seat.place.camera)
    }

    /// The number of frames of a sample, at most `most`.
    pub fn length(&self, seat: &Seat, most: u32) -> Result<u32> {
        self.rules_of(seat).length(&self.dataset.clip(seat.place.clip)?, most)
    }

    /// The clip and the frames of a sample in a batch of `length` frames. Cameras other than the first have the
    /// frames at the times of the first one's.
    pub fn choose(&self, seat: &Seat, length: u32) -> Result<(Clip<'_>, Chosen)> {
        let camera = seat.place.camera;
        if camera == 0 {
            return self.choose_freely(seat, length);
        }
        let place = SamplePlace { clip: seat.place.clip - u64::from(camera), camera: 0, ..seat.place };
        let (first, (frames, meant)) = self.choose_freely(&Seat { place, ..*seat }, length)?;
        let clip = self.dataset.clip(seat.place.clip)?;
        let frames = together(&first, &frames, &clip)?;
        Ok((clip, (frames, meant)))
    }

    /// The key that decides crop, flip and colors of a sample.
    fn look(&self, seat: &Seat) -> DrawKey {
        match self.cameras_crop {
            CamerasCrop::Own => seat.key.of_camera(seat.place.camera),
            CamerasCrop::Same => seat.key,
        }
    }

    fn choose_freely(&self, seat: &Seat, length: u32) -> Result<(Clip<'_>, Chosen)> {
        let clip = self.dataset.clip(seat.place.clip)?;
        let relied_on = self.rules.clip_frames(clip.ordinal());
        if let Some(expected) = relied_on.filter(|&expected| expected != clip.frame_count()) {
            return Err(unequal(clip.ordinal(), expected, clip.frame_count()));
        }
        let rules = self.rules_of(seat);
        let ticks = rules.clock.ticks(&clip)?;
        let n = ticks.as_ref().map_or(clip.frame_count(), |ticks| ticks.len() as u32);
        let (mut frames, mut meant) = if n == 0 { Chosen::default() } else { among(rules, n, length, seat) };
        meant.resize(length as usize, false);
        if let Some(ticks) = ticks {
            frames.iter_mut().for_each(|frame| *frame = ticks[*frame as usize]);
        }
        Ok((clip, (frames, meant)))
    }

    /// Plans frames, view and colors of a sample in a batch of `length` frames of `size` pixels.
    pub fn plan(&self, seat: Seat, length: u32, size: (u32, u32)) -> Result<SampleSpec<'_>> {
        let (clip, (frames, meant)) = self.choose(&seat, length)?;
        let Rules { temporal, augmentation, .. } = self.rules_of(&seat);
        let pictures = self.rules_of(&seat).pictures(size, &self.pictures);
        let frame = frame_size(&clip);
        let key = self.look(&seat);
        let view = view(augmentation, size, key, frame.unwrap_or((1, 1)));
        let color = ColorDraw::new(&augmentation.color, key);
        // One allocation, whatever the number of frames.
        let mut times = Vec::with_capacity(frames.len());
        for &t in &frames {
            times.push(clip.seconds(t)?);
        }
        let params = SampleParams {
            sample: seat.sample,
            view: temporal.view(seat.place.number) * augmentation.part.count() + seat.place.crop,
            frames: Vec::new(),
            times,
            window: frame.map(|_| view.window(size)),
            flip: view.flip,
            color,
            instead_of: None,
        };
        let (past, holds_edges) = (temporal.past() as usize, temporal.pad() == WindowPad::Edge);
        let source = self.rules.source(seat.place.clip);
        Ok(SampleSpec { seat, source, clip, frames, meant, past, holds_edges, params, is_there: true, pictures })
    }

    /// The part of a frame of this size that becomes the picture.
    pub fn view(&self, plan: &SampleSpec<'_>, frame: (u32, u32)) -> View {
        view(&self.rules_of(&plan.seat).augmentation, plan.pictures.size, self.look(&plan.seat), frame)
    }

    /// The scale of the planes that a sample needs. It depends on the frame size in the clip's entry, if the entry
    /// has one.
    pub fn scale(&self, seat: &Seat, clip: &Clip<'_>, size: (u32, u32)) -> Option<Scale> {
        let (frame, rules) = (frame_size(clip)?, self.rules_of(seat));
        Some(scale(&view(&rules.augmentation, size, self.look(seat), frame), rules.reducing_gap))
    }

    /// The tables for a frame of this size.
    pub fn kernel(&self, plan: &SampleSpec<'_>, frame: (u32, u32)) -> Kernel {
        Kernel::new(&plan.pictures.spec(plan.params.color.matrix()), &self.view(plan, frame), frame)
    }
}

/// Chooses the frames of a sample of at most `length` frames from `n`.
fn among(rules: &Rules, n: u32, length: u32, seat: &Seat) -> Chosen {
    let Rules { temporal, frames, short, .. } = *rules;
    let count = match frames {
        Length::Fixed(count) => count.min(length),
        Length::Stored => n.min(length),
        Length::Any { most } => temporal.length(n, length.min(most.unwrap_or(u32::MAX))),
    };
    let is_short = temporal.needs(count) > n.into();
    if is_short && short == ShortClips::Pad {
        // As many frames as the clip allows. Padding fills the rest of the sample.
        let frames = temporal.frames(n, temporal.length(n, count), 0, seat.key);
        let meant = vec![true; frames.len()];
        return (frames, meant);
    }
    let frames = temporal.frames(n, count, seat.place.number, seat.key);
    let meant = temporal.meant(n, count, seat.place.number, &frames);
    (frames, meant)
}
