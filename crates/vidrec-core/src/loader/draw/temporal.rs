//! The rules that choose the frames of a sample from the stored frames of a clip.

use super::key::DrawKey;
use vidrec_format::error::Error;
use vidrec_format::random::stream;
use vidrec_format::words::unknown_variant;

/// The rule that chooses the frames of a sample from those at its rate: see [`Frames`](crate::loader::Frames).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Temporal {
    Uniform,
    RandomSegments,
    Clip { stride: u32, start: Start },
    Views { stride: u32, views: u32 },
    Dense { stride: u32, hop: u32, past: u32, pad: WindowPad },
}

/// What happens to a window that reaches beyond its clip.
///
/// As a word (`FromStr`, `Display`, serde): `drop`, `edge` or `zero`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
#[derive(strum::Display, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "kebab-case", parse_err_ty = Error, parse_err_fn = unknown_variant::<Self>)]
pub enum WindowPad {
    /// It is not a sample. The default.
    #[default]
    Drop,
    /// The clip's first frame stands for those before it, and the last one for those after it. Their mask is false.
    /// Tracks do the same.
    Edge,
    /// The values of frames beyond the clip are 0, and their mask is false.
    Zero,
}

/// The place where a run of frames begins.
///
/// As a word (`FromStr`, `Display`, serde): `random` or `center`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
#[derive(strum::Display, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "kebab-case", parse_err_ty = Error, parse_err_fn = unknown_variant::<Self>)]
pub enum Start {
    /// Anywhere with equal probability. Each sample has one draw an epoch. The default.
    #[default]
    Random,
    /// In the middle: the clip has as many frames before the run as after it.
    Center,
}

impl Temporal {
    /// The distance in frames from one frame of a run to the next, if the rule takes runs.
    fn stride(self) -> Option<u32> {
        match self {
            Temporal::Uniform | Temporal::RandomSegments => None,
            Temporal::Clip { stride, .. } | Temporal::Views { stride, .. } | Temporal::Dense { stride, .. } => {
                Some(stride)
            }
        }
    }

    /// What happens to frames of a sample that the clip does not have because they lie before its first or after its
    /// last.
    pub fn pad(self) -> WindowPad {
        if let Temporal::Dense { pad, .. } = self { pad } else { WindowPad::Drop }
    }

    /// The number of frames of a sample before the current one, if the sample has all frames.
    pub fn past(self) -> u32 {
        if let Temporal::Dense { past, .. } = self { past } else { 0 }
    }

    /// The number of frames that a clip must have for a sample of `count` frames.
    pub fn needs(self, count: u32) -> u64 {
        if self.pad() != WindowPad::Drop {
            return 1;
        }
        self.stride().map_or(count.into(), |stride| vidrec_format::sampler::span(count, stride))
    }

    /// The number of frames of a sample that covers a clip of `n` frames, at most `most`.
    pub fn length(self, n: u32, most: u32) -> u32 {
        n.div_ceil(self.stride().unwrap_or(1)).min(most)
    }

    /// The number of samples of a clip of `n` frames that differ in time. Each has `count` frames.
    pub fn samples(self, n: u32, count: u32) -> u64 {
        match self {
            Temporal::Views { views, .. } => views.into(),
            Temporal::Dense { hop, .. } => u64::from(n).saturating_sub(self.needs(count)) / u64::from(hop) + 1,
            _ => 1,
        }
    }

    /// The number that [`SampleParams::view`](crate::loader::SampleParams::view) has for sample `number` of a clip.
    pub fn view(self, number: u64) -> u32 {
        if let Temporal::Views { .. } = self { number as u32 } else { 0 }
    }

    /// Returns the `count` frames of a sample from a clip of `n` frames; empty if `n` is 0. `number` is the number
    /// of the sample among the clip's [`samples`](Self::samples). If the clip is short, frames come more than
    /// once. A window that is padded with zeros has only those frames that exist.
    pub fn frames(self, n: u32, count: u32, number: u64, key: DrawKey) -> Vec<u32> {
        let room = |stride| u64::from(n).saturating_sub(vidrec_format::sampler::span(count, stride));
        let random = || key.random(stream::TEMPORAL);
        match self {
            Temporal::Uniform => vidrec_format::sampler::uniform(n, count),
            Temporal::RandomSegments => vidrec_format::sampler::random(n, count, &mut random()),
            Temporal::Clip { stride, start: Start::Center } => vidrec_format::sampler::centered(n, count, stride),
            Temporal::Clip { stride, start: Start::Random } => {
                vidrec_format::sampler::run(n, count, stride, random().below(room(stride) + 1))
            }
            Temporal::Views { stride, views: 1 } => vidrec_format::sampler::centered(n, count, stride),
            Temporal::Views { stride, views } => {
                // Both factors fit 32 bits.
                let start = number * room(stride) / u64::from(views - 1);
                vidrec_format::sampler::run(n, count, stride, start)
            }
            Temporal::Dense { stride, hop, pad: WindowPad::Drop, .. } => {
                vidrec_format::sampler::run(n, count, stride, number * u64::from(hop))
            }
            Temporal::Dense { .. } if n == 0 => Vec::new(),
            Temporal::Dense { stride, hop, past, pad } => {
                let window = window(number * u64::from(hop), count, stride, past);
                let is_kept = |&t: &i128| pad == WindowPad::Edge || (0..n.into()).contains(&t);
                window.filter(is_kept).map(|t| t.clamp(0, i128::from(n) - 1) as u32).collect()
            }
        }
    }

    /// Whether each of the `count` frames of a sample is meant: false for a frame that the clip does not have, or that
    /// replaces such a frame. `frames` are those of the sample with this number.
    pub fn meant(self, n: u32, count: u32, number: u64, frames: &[u32]) -> Vec<bool> {
        if let Temporal::Dense { stride, hop, past, pad: WindowPad::Edge | WindowPad::Zero } = self {
            let window = window(number * u64::from(hop), count, stride, past);
            return window.map(|t| (0..n.into()).contains(&t)).collect();
        }
        if self.needs(count) <= n.into() {
            return vec![true; frames.len()];
        }
        match self.stride() {
            // The run of a short clip begins at its first frame.
            Some(stride) => (0..count).map(|i| u64::from(i) * u64::from(stride) < n.into()).collect(),
            None => (0..frames.len()).map(|i| i == 0 || frames[i] != frames[i - 1]).collect(),
        }
    }
}

/// The frames of a window, of which `past` come before the `current` one, whether they exist or not.
fn window(current: u64, count: u32, stride: u32, past: u32) -> impl Iterator<Item = i128> {
    (0..count).map(move |i| i128::from(current) + (i128::from(i) - i128::from(past)) * i128::from(stride))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn windows(stride: u32, hop: u32, past: u32, pad: WindowPad) -> Temporal {
        Temporal::Dense { stride, hop, past, pad }
    }

    fn frames(temporal: Temporal, n: u32, count: u32, number: u64) -> Vec<u32> {
        temporal.frames(n, count, number, DrawKey { seed: 1, epoch: 0, sample: 2 })
    }

    #[test]
    fn the_drawing_is_true() {
        assert_eq!(frames(Temporal::Uniform, 10, 3, 0), [1, 5, 8]);
        assert_eq!(frames(Temporal::Clip { stride: 2, start: Start::Center }, 10, 3, 0), [2, 4, 6]);
        let views = Temporal::Views { stride: 2, views: 3 };
        assert_eq!([0, 1, 2].map(|k| frames(views, 10, 3, k)), [[0, 2, 4], [2, 4, 6], [5, 7, 9]]);
        assert_eq!(frames(Temporal::Views { stride: 2, views: 1 }, 10, 3, 0), [2, 4, 6]);
        let dense = windows(2, 3, 0, WindowPad::Drop);
        assert_eq!(
            (dense.samples(10, 3), frames(dense, 10, 3, 0), frames(dense, 10, 3, 1)),
            (2, vec![0, 2, 4], vec![3, 5, 7])
        );
        assert_eq!(frames(Temporal::Uniform, 6, 6, 0), [0, 1, 2, 3, 4, 5], "all of them");
    }

    #[test]
    fn random_runs_begin_everywhere_and_stay_inside() {
        let temporal = Temporal::Clip { stride: 3, start: Start::Random };
        let mut counts = [0; 4];
        for i in 0..4000 {
            let found = temporal.frames(10, 3, 0, DrawKey { seed: 1, epoch: 0, sample: i });
            assert!(found[1] == found[0] + 3 && found[2] == found[0] + 6);
            counts[found[0] as usize] += 1;
        }
        assert!(counts.iter().all(|c| (880..1120).contains(c)), "{counts:?}");
    }

    #[test]
    fn a_padded_window_is_around_each_frame() {
        let both = |pad, number| {
            let temporal = windows(2, 3, 1, pad);
            let found = frames(temporal, 7, 3, number);
            let meant = temporal.meant(7, 3, number, &found);
            (found, meant.iter().map(|&meant| u8::from(meant)).collect::<Vec<_>>())
        };
        assert_eq!(windows(2, 3, 1, WindowPad::Edge).samples(7, 3), 3, "around frames 0, 3 and 6");
        assert_eq!(both(WindowPad::Edge, 0), (vec![0, 0, 2], vec![0, 1, 1]));
        assert_eq!(both(WindowPad::Edge, 1), (vec![1, 3, 5], vec![1, 1, 1]));
        assert_eq!(both(WindowPad::Edge, 2), (vec![4, 6, 6], vec![1, 1, 0]));
        assert_eq!(both(WindowPad::Zero, 0), (vec![0, 2], vec![0, 1, 1]));
        assert_eq!(both(WindowPad::Zero, 2), (vec![4, 6], vec![1, 1, 0]));
    }

    #[test]
    fn a_window_of_extremes_does_not_overflow() {
        for pad in [WindowPad::Edge, WindowPad::Zero] {
            let temporal = Temporal::Dense { stride: u32::MAX, hop: u32::MAX, past: 2, pad };
            let number = temporal.samples(u32::MAX, 3) - 1;
            assert_eq!(temporal.meant(u32::MAX, 3, number, &[]), [false, false, true]);
            assert!(frames(temporal, 0, 3, 0).is_empty());
        }
    }
}
