//! The plan of a sample: its clip, frames, view and colors.

use std::sync::Arc;

use super::samples::{PlannedSample, Samples, unequal};
use crate::dataset::{Clip, Dataset};
use crate::loader::batch::SampleParams;
use crate::loader::draw::{ChosenFrames, ColorDraw, DrawKey, together};
use crate::loader::kernel::{ColorMatrix, Kernel, PictureSpec, View, scale};
use crate::loader::options::{CamerasCrop, LoaderOptions, Normalize, ResolvedOptions, TrackAnchor, WindowPad};
use vidrec_format::error::{Error, Result};
use vidrec_jpeg::{Pixels, Scale};

/// The data set and the options from which samples are planned.
#[derive(Debug)]
pub(crate) struct SampleSpecs {
    pub dataset: Dataset,
    pub options: Arc<ResolvedOptions>,
    pub samples: Arc<Samples>,
}

/// A sample of a batch: its frames, and how they become pictures.
pub(crate) struct SampleSpec<'a> {
    pub sample: PlannedSample,
    /// The number of the source of the clip.
    pub source: usize,
    pub clip: Clip<'a>,
    pub chosen: ChosenFrames,
    /// Whether the camera shows each place of the sample. If not, the picture is zeros.
    pub shown: Vec<bool>,
    /// The time of the frame at each place in seconds. `None` where zeros pad it.
    pub times: Vec<Option<f64>>,
    /// What was drawn.
    pub params: SampleParams,
    /// Whether there is a clip of this camera. If not, the pictures are zeros.
    pub is_there: bool,
    /// Width and height of the pictures.
    pub size: (u32, u32),
    pub options: &'a LoaderOptions,
}

impl SampleSpec<'_> {
    /// Width and height of the frames by the clip's entry; `None` if the entry says that they differ.
    pub fn frame_size(&self) -> Option<(u32, u32)> {
        frame_size(&self.clip)
    }

    /// The frame that is the picture at each place. `None` for zeros.
    pub fn pictures(&self) -> Vec<Option<u32>> {
        shown(&self.chosen, &self.shown).map(|t| t.filter(|_| self.is_there)).collect()
    }

    /// Whether each picture is a frame that was asked for.
    pub fn frame_mask(&self) -> impl Iterator<Item = bool> {
        self.chosen.meant.iter().zip(&self.shown).map(|(&meant, &shown)| meant && shown && self.is_there)
    }

    /// The time in nanoseconds of the frame at each place.
    pub fn times_ns(&self) -> Result<Vec<Option<i64>>> {
        self.chosen.places.iter().map(|t| t.map(|t| frame_ns(&self.clip, t)).transpose()).collect()
    }

    /// The time of the frame from which tracks count; 0 if the clip has no frames.
    pub fn current_ns(&self) -> Result<Option<i64>> {
        self.time_of(self.chosen.current)
    }

    /// Whether the first and the last value of a track stand for those before and after them.
    pub fn holds_edges(&self) -> bool {
        self.options.frames.pad() == WindowPad::Edge
    }

    fn time_of(&self, frame: Option<u32>) -> Result<Option<i64>> {
        match frame {
            None if self.clip.frame_count() == 0 => Ok(Some(0)),
            frame => frame.map(|t| frame_ns(&self.clip, t)).transpose(),
        }
    }

    /// The times from which windows count, and whether each is that of a frame that was asked for.
    pub fn anchors(&self, anchor: TrackAnchor) -> Result<Vec<(Option<i64>, bool)>> {
        let one = match anchor {
            TrackAnchor::Each => {
                return Ok(self.times_ns()?.into_iter().zip(self.chosen.meant.iter().copied()).collect());
            }
            TrackAnchor::Current => self.current_ns()?,
            TrackAnchor::Last => self.time_of(self.chosen.frames().next_back())?,
        };
        Ok(vec![(one, true)])
    }
}

/// The time of a frame of a clip in nanoseconds.
pub(super) fn frame_ns(clip: &Clip<'_>, t: u32) -> Result<i64> {
    let beyond = || {
        Error::limit("the time of a frame in nanoseconds does not fit into 64 bits").in_clip(clip.ordinal()).in_frame(t)
    };
    clip.time_ns(t)?.ok_or_else(beyond)
}

/// Width and height of the frames by the clip's entry; `None` if the entry says that they differ.
pub(super) fn frame_size(clip: &Clip<'_>) -> Option<(u32, u32)> {
    let (width, height) = (clip.width(), clip.height());
    (width > 0 && height > 0).then_some((width, height))
}

/// The frames that a camera shows at the places of a sample.
fn shown(chosen: &ChosenFrames, shown: &[bool]) -> impl Iterator<Item = Option<u32>> {
    chosen.places.iter().zip(shown).map(|(t, &shown)| t.filter(|_| shown))
}

impl SampleSpecs {
    /// The options of the source of a clip, for a camera.
    pub fn options_of(&self, clip: u64, camera: u32) -> &LoaderOptions {
        let source = self.samples.source(clip);
        &self.options.samples[source * self.options.cameras_per_sample() + camera as usize]
    }

    /// The number of frames of a sample, at most `most`.
    pub fn length(&self, sample: &PlannedSample, most: u32) -> Result<u32> {
        self.options_of(sample.clip, sample.camera).frames.length(&self.dataset.clip(sample.clip)?, most)
    }

    /// The clip of a sample in a batch of `length` frames, and those of its frames that its camera shows.
    pub fn read_frames(&self, sample: &PlannedSample, length: u32) -> Result<(Clip<'_>, Vec<u32>)> {
        let (clip, chosen) = self.choose(sample, length)?;
        let mut frames = Vec::with_capacity(chosen.places.len());
        frames.extend(shown(&chosen, &self.shown(sample, length)).flatten());
        Ok((clip, frames))
    }

    /// Whether the camera of a sample shows each of its places.
    fn shown(&self, sample: &PlannedSample, length: u32) -> Vec<bool> {
        let all = vec![true; length as usize];
        let Some(own) = self.options.cameras.as_ref().and_then(|cameras| cameras.offsets(sample.camera)) else {
            return all;
        };
        let offsets = self.options_of(sample.clip, sample.camera).frames.offsets();
        let shown = offsets.into_iter().flatten().map(|offset| own.binary_search(&offset).is_ok());
        shown.chain(all).take(length as usize).collect()
    }

    /// The clip and the frames of a sample in a batch of `length` frames. Cameras other than the first have the
    /// frames at the times of the first one's, as far as they show them.
    fn choose(&self, sample: &PlannedSample, length: u32) -> Result<(Clip<'_>, ChosenFrames)> {
        let camera = sample.camera;
        if camera == 0 {
            return self.choose_freely(sample, length);
        }
        let of_first = PlannedSample { clip: sample.clip - u64::from(camera), camera: 0, ..*sample };
        let (first, mut chosen) = self.choose_freely(&of_first, length)?;
        let clip = self.dataset.clip(sample.clip)?;
        chosen.places = shown(&chosen, &self.shown(sample, length)).collect();
        let found = together(&first, &chosen.frames().collect::<Vec<_>>(), &clip)?;
        chosen.places.iter_mut().flatten().zip(found).for_each(|(place, t)| *place = t);
        Ok((clip, chosen))
    }

    /// The key that decides crop, flip and colors of a sample.
    fn look(&self, sample: &PlannedSample) -> DrawKey {
        match &self.options.cameras {
            Some(cameras) if cameras.crop == CamerasCrop::Own => sample.key.of_camera(sample.camera),
            _ => sample.key,
        }
    }

    fn choose_freely(&self, sample: &PlannedSample, length: u32) -> Result<(Clip<'_>, ChosenFrames)> {
        let clip = self.dataset.clip(sample.clip)?;
        let relied_on = self.samples.clip_frames(clip.ordinal());
        if let Some(expected) = relied_on.filter(|&expected| expected != clip.frame_count()) {
            return Err(unequal(clip.ordinal(), expected, clip.frame_count()));
        }
        let rule = &self.options_of(sample.clip, sample.camera).frames;
        let ticks = rule.ticks(&clip)?;
        let n = ticks.as_ref().map_or(clip.frame_count(), |ticks| ticks.len() as u32);
        let mut chosen = rule.choose(n, length, sample.number, sample.key);
        if let Some(ticks) = ticks {
            let all = chosen.places.iter_mut().chain([&mut chosen.current]);
            all.flatten().for_each(|frame| *frame = ticks[*frame as usize]);
        }
        Ok((clip, chosen))
    }

    /// Plans frames, view and colors of a sample in a batch of `length` frames of `size` pixels.
    pub fn plan(&self, sample: PlannedSample, length: u32, size: (u32, u32)) -> Result<SampleSpec<'_>> {
        let (clip, chosen) = self.choose(&sample, length)?;
        let options = self.options_of(sample.clip, sample.camera);
        let frame = frame_size(&clip);
        let key = self.look(&sample);
        let view = options.view(size, key, frame.unwrap_or((1, 1)));
        let color = ColorDraw::new(&options.color, key);
        // One allocation each, whatever the number of frames.
        let (mut frames, mut times) =
            (Vec::with_capacity(chosen.places.len()), Vec::with_capacity(chosen.places.len()));
        frames.extend(chosen.frames());
        for t in &chosen.places {
            times.push(t.map(|t| clip.seconds(t)).transpose()?);
        }
        let params = SampleParams {
            sample: sample.sample,
            view: options.frames.view(sample.number) * options.crop.count() + sample.crop,
            frames,
            window: frame.map(|_| view.window(size)),
            matrix: frame.map(|_| view.matrix(size)),
            flip: view.flip,
            color,
            instead_of: None,
        };
        let source = self.samples.source(sample.clip);
        let shown = self.shown(&sample, length);
        Ok(SampleSpec { sample, source, clip, chosen, shown, times, params, is_there: true, size, options })
    }

    /// The part of a frame of this size that becomes the picture.
    pub fn view(&self, plan: &SampleSpec<'_>, frame: (u32, u32)) -> View {
        plan.options.view(plan.size, self.look(&plan.sample), frame)
    }

    /// The scale of the planes that a sample needs. It depends on the frame size in the clip's entry, if the entry
    /// has one.
    pub fn scale(&self, sample: &PlannedSample, clip: &Clip<'_>, size: (u32, u32)) -> Option<Scale> {
        let (frame, options) = (frame_size(clip)?, self.options_of(sample.clip, sample.camera));
        Some(scale(&options.view(size, self.look(sample), frame), options.reducing_gap))
    }

    /// The tables for a frame of this size with such pixels.
    pub fn kernel(&self, plan: &SampleSpec<'_>, frame: (u32, u32), pixels: Pixels) -> Kernel {
        let SampleSpec { size, options, params, .. } = plan;
        let Normalize { mean, std } = options.normalize.unwrap_or(Normalize::NONE);
        let matrix = params.color.matrix().unwrap_or(ColorMatrix::IDENTITY);
        let (channels, reducing_gap) = (self.options.channels, options.reducing_gap);
        let spec = PictureSpec { size: *size, channels, mean, std, matrix, reducing_gap };
        Kernel::new(&spec, &self.view(plan, frame), frame, pixels)
    }
}
