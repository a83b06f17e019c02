//! The frames chosen from one video, by a rule.

use super::formulas::{self, centered, endpoints, uniform};
use super::rule::Rule;
use super::short::Short;
use crate::error::{Error, Result};
use crate::limits;
use crate::random::{Random, stream};

/// The frames chosen from one video.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// The ordinals of the frames, counted from 0 in order of presentation. There are as many as requested. They
    /// do not always increase (see [`Short::Loop`]).
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
/// `short` is [`Short::Error`].
pub fn select(rule: Rule, short: Short, n: u32, count: u32, seed: u64, ordinal: u64) -> Result<Option<Selection>> {
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
    short: Short,
    n: u32,
    count: u32,
    seed: u64,
    ordinal: u64,
    draw: u32,
) -> Result<Option<Selection>> {
    let stride = rule.stride();
    check(n, count, stride)?;
    let span = formulas::span(count, stride);
    if u64::from(n) < span {
        return Ok(match short {
            Short::RepeatLast => Some(formulas::repeat_last(n, count, stride)),
            Short::Loop => Some(formulas::wrap(n, count, stride)),
            Short::Skip => None,
            Short::Error => return Err(too_short(n, span)),
        }
        .map(|frames| Selection { frames, short: true }));
    }
    let frames = match rule {
        Rule::Uniform => uniform(n, count),
        Rule::Endpoints => endpoints(n, count),
        Rule::Random => formulas::random(n, count, &mut numbers(seed, ordinal, draw)),
        Rule::Clip { stride } => centered(n, count, stride),
        Rule::RandomClip { stride } => {
            let start = numbers(seed, ordinal, draw).below(u64::from(n) - span + 1);
            formulas::run(n, count, stride, start)
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

    fn frames(rule: Rule, short: Short, n: u32, count: u32) -> Vec<u32> {
        select(rule, short, n, count, 5, 6).unwrap().unwrap().frames
    }

    #[test]
    fn short_videos_give_the_golden_values() {
        for rule in [Rule::Uniform, Rule::Endpoints, Rule::Random, Rule::Clip { stride: 1 }] {
            assert_eq!(frames(rule, Short::RepeatLast, 3, 5), [0, 1, 2, 2, 2], "{rule}");
            assert_eq!(frames(rule, Short::Loop, 3, 5), [0, 1, 2, 0, 1], "{rule}");
        }
        let strided = Rule::Clip { stride: 4 };
        assert_eq!(frames(strided, Short::Loop, 10, 4), [0, 4, 8, 2]);
        assert_eq!(frames(strided, Short::RepeatLast, 10, 4), [0, 4, 8, 8]);
    }

    #[test]
    fn skip_and_error_concern_short_videos_only() {
        for rule in RULES {
            assert_eq!(select(rule, Short::Skip, 3, 5, 0, 0).unwrap(), None);
            let e = select(rule, Short::Error, 3, 5, 0, 0).unwrap_err();
            assert!(e.to_string().contains("found 3"), "{e}");
            for short in [Short::Skip, Short::Error] {
                assert!(!select(rule, short, 17, 5, 0, 0).unwrap().unwrap().short);
            }
        }
    }

    #[test]
    fn nothing_from_nothing_is_an_error() {
        for rule in RULES {
            assert!(select(rule, Short::Loop, 0, 5, 0, 0).is_err());
            assert!(select(rule, Short::Loop, 5, 0, 0, 0).is_err());
            assert!(select(rule, Short::Loop, 5, u32::MAX, 0, 0).is_err());
        }
        assert!(select(Rule::Clip { stride: 0 }, Short::Loop, 5, 1, 0, 0).is_err());
        assert!(select(Rule::RandomClip { stride: 0 }, Short::Loop, 5, 1, 0, 0).is_err());
    }

    #[test]
    fn random_frames_depend_on_seed_and_ordinal_and_never_change() {
        let draw = |seed, ordinal| select(Rule::Random, Short::Error, 1000, 4, seed, ordinal).unwrap().unwrap().frames;
        assert_eq!(draw(1, 2), draw(1, 2));
        assert_ne!(draw(1, 2), draw(1, 3));
        assert_ne!(draw(1, 2), draw(2, 2));
        assert_eq!(draw(1, 2), [210, 440, 534, 958], "a data set packed again must give the same frames");
    }

    #[test]
    fn draws_are_independent_of_each_other_and_never_change() {
        let draw = |rule, draw| select_draw(rule, Short::Error, 1000, 4, 1, 2, draw).unwrap().unwrap().frames;
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
                select(Rule::RandomClip { stride: 2 }, Short::Error, 10, 3, 3, ordinal).unwrap().unwrap().frames;
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
            for short in [Short::RepeatLast, Short::Loop] {
                let Selection { frames, short: is_short } = select(rule, short, n, count, seed, ordinal)?.unwrap();
                prop_assert_eq!(frames.len() as u32, count);
                prop_assert!(frames.iter().all(|&f| f < n));
                if !is_short {
                    prop_assert!(frames.windows(2).all(|w| w[0] < w[1]), "{:?}", frames);
                } else if short == Short::RepeatLast {
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
            for short in [Short::RepeatLast, Short::Loop] {
                if let Ok(Some(selection)) = select(rule, short, n, count, seed, u64::MAX) {
                    prop_assert!(selection.frames.iter().all(|&f| f < n));
                }
            }
        }
    }
}
