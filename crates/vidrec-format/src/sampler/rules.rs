//! The rules that choose a number of frames from a video, and their formulas. Without frames, a formula gives none. No arguments make
//! one panic.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::limits;
use crate::random::{Random, stream};
use crate::words::{serde_by_text, unknown, unknown_variant};

/// The rule that chooses frames from a video that has enough of them.
///
/// As a word (`FromStr`, `Display`, serde): `uniform`, `endpoints`, `random`, `clip` and `random-clip` (stride 1), or
/// with a stride `clip:STRIDE` and `random-clip:STRIDE`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Rule {
    /// The centers of equal segments, as in TSN's and mmaction2's `SampleFrames` in test mode. The default.
    #[default]
    Uniform,
    /// The first frame, the last, and frames evenly between, as in DALI's `uniform_sample`.
    Endpoints,
    /// One frame at random in each of the segments of `Uniform`.
    Random,
    /// Consecutive frames, each `stride` (at least 1) after the one before, in the middle of the video.
    Clip {
        /// The distance from one frame to the next.
        stride: u32,
    },
    /// Consecutive frames as in `Clip`, from a random start. All starts for which the frames are within the video
    /// are equally likely.
    RandomClip {
        /// The distance from one frame to the next.
        stride: u32,
    },
}

impl Rule {
    /// The words that `FromStr` accepts. The last two may also have a stride.
    #[doc(hidden)]
    pub const WORDS: &'static [&'static str] = &["uniform", "endpoints", "random", "clip", "random-clip"];

    /// The distance from one frame to the next if frames are evenly apart, otherwise 1.
    #[doc(hidden)]
    pub fn stride(self) -> u32 {
        match self {
            Rule::Clip { stride } | Rule::RandomClip { stride } => stride,
            Rule::Uniform | Rule::Endpoints | Rule::Random => 1,
        }
    }

    /// Returns the same rule with this stride, which is at least 1.
    ///
    /// ```
    /// use vidrec::sampler::Rule;
    ///
    /// assert_eq!(Rule::Clip { stride: 1 }.with_stride(4)?, Rule::Clip { stride: 4 });
    /// assert!(Rule::Uniform.with_stride(4).is_err());
    /// # Ok::<(), vidrec::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The rule has no stride, or already has another one.
    #[doc(hidden)]
    pub fn with_stride(self, stride: u32) -> Result<Self> {
        match self {
            rule if rule.stride() == stride => Ok(rule),
            Rule::Clip { stride: 1 } => Ok(Rule::Clip { stride }),
            Rule::RandomClip { stride: 1 } => Ok(Rule::RandomClip { stride }),
            rule => {
                let e = Error::usage(format!("the sampling rule {rule} does not support a stride of {stride}"));
                Err(e.help("choose clip or random-clip"))
            }
        }
    }

    /// Whether the frames depend on the seed.
    #[doc(hidden)]
    pub fn is_random(self) -> bool {
        matches!(self, Rule::Random | Rule::RandomClip { .. })
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Rule::Uniform => "uniform",
            Rule::Endpoints => "endpoints",
            Rule::Random => "random",
            Rule::Clip { .. } => "clip",
            Rule::RandomClip { .. } => "random-clip",
        };
        if self.stride() == 1 { f.write_str(name) } else { write!(f, "{name}:{}", self.stride()) }
    }
}

impl FromStr for Rule {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self> {
        let (name, digits) = word.split_once(':').unwrap_or((word, "1"));
        let rule = match (word, name, digits.parse().ok().filter(|&stride| stride > 0)) {
            ("uniform", ..) => Some(Rule::Uniform),
            ("endpoints", ..) => Some(Rule::Endpoints),
            ("random", ..) => Some(Rule::Random),
            (_, "clip", Some(stride)) => Some(Rule::Clip { stride }),
            (_, "random-clip", Some(stride)) => Some(Rule::RandomClip { stride }),
            _ => None,
        };
        const KNOWN: &[&str] = &["uniform", "endpoints", "random", "clip[:STRIDE]", "random-clip[:STRIDE]"];
        rule.ok_or_else(|| unknown("sampling rule", word, KNOWN))
    }
}

serde_by_text!(Rule);

/// The treatment of a video that has fewer frames than requested (for `clip`: fewer than the clip spans).
///
/// As a word (`FromStr`, `Display`, serde): `repeat-last`, `loop`, `skip` or `error`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[derive(strum::Display, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "kebab-case", parse_err_ty = Error, parse_err_fn = unknown_variant::<Self>)]
pub enum ShortVideo {
    /// Take the existing frames from the start, then repeat the last: 0 1 2 2 2. The default.
    #[default]
    RepeatLast,
    /// Start over: 0 1 2 0 1. With a stride, the frames wrap around within the video (0 4 8 2), so they need not
    /// increase.
    Loop,
    /// Skip the video.
    Skip,
    /// Return an error.
    Error,
}

/// The frames chosen from one video.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// The ordinals of the frames, counted from 0 in order of presentation. There are as many as requested. They
    /// do not always increase (see [`ShortVideo::Loop`]).
    pub frames: Vec<u32>,
    /// Whether the video was too short, so that frames repeat.
    pub short: bool,
}

/// Chooses `count` of the `n` frames of video number `ordinal`. `None` means that the video is skipped.
///
/// Only random rules use `seed` and `ordinal`. The same arguments always return the same frames.
///
/// # Errors
///
/// `n`, `count` or the stride is 0, `count` exceeds [`limits::MAX_FRAMES_PER_CLIP`], or the video is too short and
/// `short` is [`ShortVideo::Error`].
pub fn select(rule: Rule, short: ShortVideo, n: u32, count: u32, seed: u64, ordinal: u64) -> Result<Option<Selection>> {
    select_draw(rule, short, n, count, seed, ordinal, 0)
}

/// Chooses frames as [`select`] does, for one of several independent draws of a video. Draw 0 is the choice of
/// `select`.
///
/// # Errors
///
/// The errors of [`select`].
pub fn select_draw(
    rule: Rule,
    short: ShortVideo,
    n: u32,
    count: u32,
    seed: u64,
    ordinal: u64,
    draw: u32,
) -> Result<Option<Selection>> {
    let stride = rule.stride();
    check(n, count, stride)?;
    let span = span(count, stride);
    if u64::from(n) < span {
        return Ok(match short {
            ShortVideo::RepeatLast => Some(repeat_last(n, count, stride)),
            ShortVideo::Loop => Some(wrap(n, count, stride)),
            ShortVideo::Skip => None,
            ShortVideo::Error => return Err(too_short(n, span)),
        }
        .map(|frames| Selection { frames, short: true }));
    }
    let frames = match rule {
        Rule::Uniform => uniform(n, count),
        Rule::Endpoints => endpoints(n, count),
        Rule::Random => random(n, count, &mut numbers(seed, ordinal, draw)),
        Rule::Clip { stride } => centered(n, count, stride),
        Rule::RandomClip { stride } => {
            let start = numbers(seed, ordinal, draw).below(u64::from(n) - span + 1);
            run(n, count, stride, start)
        }
    };
    Ok(Some(Selection { frames, short: false }))
}

fn numbers(seed: u64, ordinal: u64, draw: u32) -> Random {
    let ids = [stream::FRAMES, ordinal, draw.into()];
    Random::new(seed, if draw == 0 { &ids[..2] } else { &ids })
}

fn check(n: u32, count: u32, stride: u32) -> Result<()> {
    if n == 0 {
        return Err(Error::usage("the video has no frames to choose from"));
    }
    if count == 0 || stride == 0 {
        return Err(Error::usage(format!("cannot choose {count} frames with a stride of {stride}"))
            .help("ask for 1 or more of each"));
    }
    if count > limits::MAX_FRAMES_PER_CLIP {
        return Err(Error::limit(format!(
            "a clip cannot have {count} frames; at most {}",
            limits::MAX_FRAMES_PER_CLIP
        )));
    }
    Ok(())
}

fn too_short(n: u32, span: u64) -> Error {
    Error::usage("the video is too short")
        .expected(format!("{span} frames"))
        .found(n)
        .help("allow short videos: repeat-last, loop or skip")
}

/// The centers of `count` equal segments of `n` frames: floor((2i + 1) n / 2 count).
///
/// If `n` is less than `count`, frames repeat evenly. Empty if `n` or `count` is 0.
///
/// This is the test mode of TSN (Wang et al., "Temporal Segment Networks", 2016) and of mmaction2's
/// `SampleFrames`.
///
/// ```
/// assert_eq!(vidrec::sampler::uniform(10, 3), [1, 5, 8]);
/// assert_eq!(vidrec::sampler::uniform(2, 3), [0, 1, 1]);
/// ```
pub fn uniform(n: u32, count: u32) -> Vec<u32> {
    let (n, parts) = (u128::from(n), u128::from(count));
    indices(n, count, |i| (2 * i + 1) * n / (2 * parts))
}

/// `count` frames from the first of `n` to the last: i (n - 1) / (count - 1), halves rounded up. A single frame is
/// frame 0.
///
/// Empty if `n` or `count` is 0. This is DALI's `uniform_sample`.
///
/// ```
/// assert_eq!(vidrec::sampler::endpoints(10, 4), [0, 3, 6, 9]);
/// ```
pub fn endpoints(n: u32, count: u32) -> Vec<u32> {
    let n = u128::from(n);
    let gaps = u128::from(count).saturating_sub(1).max(1);
    indices(n, count, |i| (2 * i * (n - 1) + gaps) / (2 * gaps) * u128::from(count > 1))
}

/// The frame that stands for a place between two frames.
///
/// As a word (serde): `down` or `nearest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Rounding {
    /// The one before, as LLaVA takes it: `numpy.linspace(0, n - 1, count, dtype=int)`. The default.
    #[default]
    Down,
    /// The nearest one, of two that are equally near the even one, as Qwen's processors take it: `numpy.linspace(0, n - 1,
    /// count).round()`.
    Nearest,
}

/// `count` frames from the first of `n` to the last, at the places of `numpy.linspace(0, n - 1, count)`, which is computed with the
/// same operations of 64 bits. A single frame is frame 0.
///
/// Empty if `n` or `count` is 0.
///
/// ```
/// use vidrec::sampler::{Rounding, linspace};
///
/// assert_eq!(linspace(10, 3, Rounding::Down), [0, 4, 9]);
/// assert_eq!(linspace(12, 3, Rounding::Nearest), [0, 6, 11]);
/// ```
pub fn linspace(n: u32, count: u32, rounding: Rounding) -> Vec<u32> {
    let last = n.saturating_sub(1);
    let step = f64::from(last) / f64::from(count.saturating_sub(1).max(1));
    indices(n.into(), count, |i| match i as u32 {
        0 => 0,
        i if i + 1 == count => last.into(),
        i => {
            let place = f64::from(i) * step;
            let place = if rounding == Rounding::Down { place.floor() } else { place.round_ties_even() };
            (place as u128).min(last.into())
        }
    })
}

/// `count` frames, each `stride` after the one before, in the middle of the video. The first is floor((n - span) /
/// 2), where span is (count - 1) stride + 1.
///
/// If a video is shorter than the span, the last frame replaces frames past the end. Empty if `n` or `count` is 0.
/// This is mmaction2's `SampleFrames` in test mode.
///
/// ```
/// assert_eq!(vidrec::sampler::centered(10, 4, 2), [1, 3, 5, 7]);
/// ```
pub fn centered(n: u32, count: u32, stride: u32) -> Vec<u32> {
    run(n, count, stride, u64::from(n).saturating_sub(span(count, stride)) / 2)
}

/// `count` frames from `start` on, each `stride` after the one before. The last frame replaces frames past the
/// end.
pub fn run(n: u32, count: u32, stride: u32, start: u64) -> Vec<u32> {
    let last = u128::from(n).saturating_sub(1);
    indices(n.into(), count, |i| (u128::from(start) + i * u128::from(stride)).min(last))
}

/// The number of frames from the first of a clip to its last, both included.
pub fn span(count: u32, stride: u32) -> u64 {
    // The result is at most (2^32 - 1)^2 + 1, which fits.
    u64::from(count.saturating_sub(1)) * u64::from(stride) + 1
}

/// One draw in each of `count` segments, from floor(i n / count) up to floor((i + 1) n / count).
pub fn random(n: u32, count: u32, random: &mut Random) -> Vec<u32> {
    let n = u128::from(n);
    let bound = |i: u128| i * n / u128::from(count);
    indices(n, count, |i| bound(i) + u128::from(random.below((bound(i + 1) - bound(i)) as u64)))
}

/// The frames of a clip from frame 0 on, followed by repetitions of the last one.
pub(super) fn repeat_last(n: u32, count: u32, stride: u32) -> Vec<u32> {
    let stride = u128::from(stride.max(1));
    let last = u128::from(n.saturating_sub(1)) / stride;
    indices(n.into(), count, |i| i.min(last) * stride)
}

/// The frames of a clip from frame 0 on, taken modulo `n`.
pub(super) fn wrap(n: u32, count: u32, stride: u32) -> Vec<u32> {
    indices(n.into(), count, |i| i * u128::from(stride) % u128::from(n))
}

/// `count` values of `f`. Each is less than `n`, which fits 32 bits. 128 bits have room for any product of three
/// of them.
fn indices(n: u128, count: u32, mut f: impl FnMut(u128) -> u128) -> Vec<u32> {
    if n == 0 {
        return Vec::new();
    }
    (0..count).map(|i| f(i.into()) as u32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RULES: [Rule; 7] = [
        Rule::Uniform,
        Rule::Endpoints,
        Rule::Random,
        Rule::Clip { stride: 1 },
        Rule::Clip { stride: 4 },
        Rule::RandomClip { stride: 1 },
        Rule::RandomClip { stride: 3 },
    ];

    fn frames(rule: Rule, short: ShortVideo, n: u32, count: u32) -> Vec<u32> {
        select(rule, short, n, count, 5, 6).unwrap().unwrap().frames
    }

    #[test]
    fn short_videos_give_the_golden_values() {
        for rule in [Rule::Uniform, Rule::Endpoints, Rule::Random, Rule::Clip { stride: 1 }] {
            assert_eq!(frames(rule, ShortVideo::RepeatLast, 3, 5), [0, 1, 2, 2, 2], "{rule}");
            assert_eq!(frames(rule, ShortVideo::Loop, 3, 5), [0, 1, 2, 0, 1], "{rule}");
        }
        let strided = Rule::Clip { stride: 4 };
        assert_eq!(frames(strided, ShortVideo::Loop, 10, 4), [0, 4, 8, 2]);
        assert_eq!(frames(strided, ShortVideo::RepeatLast, 10, 4), [0, 4, 8, 8]);
    }

    #[test]
    fn nothing_from_nothing_is_an_error() {
        for rule in RULES {
            assert!(select(rule, ShortVideo::Loop, 0, 5, 0, 0).is_err());
            assert!(select(rule, ShortVideo::Loop, 5, 0, 0, 0).is_err());
            assert!(select(rule, ShortVideo::Loop, 5, u32::MAX, 0, 0).is_err());
        }
        assert!(select(Rule::Clip { stride: 0 }, ShortVideo::Loop, 5, 1, 0, 0).is_err());
        assert!(select(Rule::RandomClip { stride: 0 }, ShortVideo::Loop, 5, 1, 0, 0).is_err());
    }

    #[test]
    fn random_frames_depend_on_seed_and_ordinal_and_never_change() {
        let draw =
            |seed, ordinal| select(Rule::Random, ShortVideo::Error, 1000, 4, seed, ordinal).unwrap().unwrap().frames;
        assert_eq!(draw(1, 2), draw(1, 2));
        assert_ne!(draw(1, 2), draw(1, 3));
        assert_ne!(draw(1, 2), draw(2, 2));
        assert_eq!(draw(1, 2), [210, 440, 534, 958], "a data set packed again must give the same frames");
    }

    #[test]
    fn draws_are_independent_of_each_other_and_never_change() {
        let draw = |rule, draw| select_draw(rule, ShortVideo::Error, 1000, 4, 1, 2, draw).unwrap().unwrap().frames;
        assert_eq!(draw(Rule::Random, 0), [210, 440, 534, 958], "draw 0 is that of a data set without draws");
        assert_ne!(draw(Rule::Random, 1), draw(Rule::Random, 2));
        let starts: Vec<_> = (0..3).map(|d| draw(Rule::RandomClip { stride: 2 }, d)[0]).collect();
        assert_eq!(starts, [834, 773, 939], "a data set packed again must give the same frames");
    }

    #[test]
    fn a_random_clip_begins_everywhere_equally_often() {
        let mut counts = [0u32; 6];
        for ordinal in 0..6000 {
            let frames =
                select(Rule::RandomClip { stride: 2 }, ShortVideo::Error, 10, 3, 3, ordinal).unwrap().unwrap().frames;
            assert_eq!([frames[1] - frames[0], frames[2] - frames[1]], [2, 2]);
            counts[frames[0] as usize] += 1;
        }
        assert!(counts.iter().all(|c| (880..1120).contains(c)), "{counts:?}");
    }

    proptest! {
        #[test]
        fn frames_exist_rise_and_are_as_many_as_asked_for(
            rule in prop::sample::select(&RULES[..]), n in 1u32..300, count in 1u32..40, seed: u64, ordinal: u64,
        ) {
            for short in [ShortVideo::RepeatLast, ShortVideo::Loop] {
                let Selection { frames, short: is_short } = select(rule, short, n, count, seed, ordinal)?.unwrap();
                prop_assert_eq!(frames.len() as u32, count);
                prop_assert!(frames.iter().all(|&f| f < n));
                if !is_short {
                    prop_assert!(frames.windows(2).all(|w| w[0] < w[1]), "{:?}", frames);
                } else if short == ShortVideo::RepeatLast {
                    prop_assert!(frames.is_sorted());
                }
            }
        }

        #[test]
        fn no_arguments_overflow(
            rule in prop_oneof![
                prop::sample::select(&RULES[..]),
                any::<u32>().prop_map(|stride| Rule::Clip { stride }),
                any::<u32>().prop_map(|stride| Rule::RandomClip { stride }),
            ],
            n: u32, count in 0u32..50, seed: u64,
        ) {
            for short in [ShortVideo::RepeatLast, ShortVideo::Loop] {
                if let Ok(Some(selection)) = select(rule, short, n, count, seed, u64::MAX) {
                    prop_assert!(selection.frames.iter().all(|&f| f < n));
                }
            }
        }
    }

    #[test]
    fn nothing_gives_nothing_and_extremes_do_not_overflow() {
        for n in [0, 1, u32::MAX] {
            for count in [0, 1, 3] {
                let even = linspace(n, count, Rounding::Nearest);
                for frames in [uniform(n, count), endpoints(n, count), centered(n, count, u32::MAX), even] {
                    assert_eq!(frames.len() as u32, if n == 0 { 0 } else { count });
                    assert!(frames.iter().all(|&f| f < n));
                }
            }
        }
        assert_eq!(span(u32::MAX, u32::MAX), (u64::from(u32::MAX) - 1) * u64::from(u32::MAX) + 1);
    }

    #[test]
    fn linspace_is_that_of_numpy() {
        let counts = [1, 2, 4, 8, 16, 32, 64, 100, 128, 768];
        // Of numpy.linspace(0, n - 1, count, dtype=int), and of numpy.linspace(0, n - 1, count).round().
        for (rounding, digest) in [(Rounding::Down, 0x3771_fff3), (Rounding::Nearest, 0xf84e_90ee)] {
            let frames = counts.into_iter().flat_map(|count| (1..=10_000).map(move |n| linspace(n, count, rounding)));
            let bytes: Vec<u8> = frames.flatten().flat_map(u32::to_le_bytes).collect();
            assert_eq!(crate::crc32(&bytes), digest, "{rounding:?}");
        }
    }

    proptest! {
        #[test]
        fn uniform_is_the_middle_of_real_segments(n in 1u32..5000, count in 1u32..100) {
            for (i, frame) in uniform(n, count).into_iter().enumerate() {
                let center = (f64::from(i as u32) + 0.5) * f64::from(n) / f64::from(count);
                // The nudge keeps a center that is a whole number from dropping below it by a rounding error.
                prop_assert_eq!(frame, (center + 1e-9).floor() as u32);
            }
        }

        #[test]
        fn endpoints_is_linspace_rounded(n in 1u32..5000, count in 2u32..100) {
            for (i, frame) in endpoints(n, count).into_iter().enumerate() {
                let exact = f64::from(i as u32) * f64::from(n - 1) / f64::from(count - 1);
                prop_assert_eq!(frame, (exact + 1e-9).round() as u32);
            }
        }

        #[test]
        fn centered_leaves_as_much_before_as_behind(count in 1u32..50, stride in 1u32..50, more in 0u32..100) {
            let n = span(count, stride) as u32 + more;
            let frames = centered(n, count, stride);
            prop_assert!(frames.windows(2).all(|w| w[1] - w[0] == stride));
            let (before, behind) = (frames[0], n - 1 - frames[frames.len() - 1]);
            prop_assert!(behind == before || behind == before + 1);
        }

        #[test]
        fn random_draws_one_from_each_segment(n in 1u32..5000, count in 1u32..100, seed: u64) {
            prop_assume!(count <= n);
            for (i, frame) in random(n, count, &mut Random::new(seed, &[])).into_iter().enumerate() {
                let i = i as u32;
                prop_assert!(frame >= i * n / count && frame < (i + 1) * n / count);
            }
        }

        #[test]
        fn repeat_last_and_wrap_follow_the_naive_clip(n in 1u32..60, count in 1u32..30, stride in 1u32..20) {
            let naive: Vec<u32> = (0..count).map(|i| i * stride).collect();
            let last = *naive.iter().filter(|&&f| f < n).max().unwrap();
            let repeated: Vec<u32> = naive.iter().map(|&f| f.min(last)).collect();
            prop_assert_eq!(repeat_last(n, count, stride), repeated);
            let wrapped: Vec<u32> = naive.iter().map(|&f| f % n).collect();
            prop_assert_eq!(wrap(n, count, stride), wrapped);
        }
    }
}
