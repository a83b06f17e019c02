//! Options that share a field with other options. [`check_together`](super::check_together) has refused those that
//! exclude each other, so the functions here take the first one that is given.

use crate::run::Interrupted;
use crate::video::FrameSize;
use crate::work::PictureOptions;
use vidrec_dataset::writer::Sharding;
use vidrec_format::error::{Error, Result};
use vidrec_format::limits::MAX_SIDE;
use vidrec_sampler::{Pace, Rate};

/// Returns the pace that replaces a fixed number of frames, if one was given.
pub fn pace(fps: Option<Rate>, every: Option<u32>, all: bool, keyframes: bool) -> Option<Pace> {
    let (fps, every) = (fps.map(Pace::Fps), every.map(Pace::Every));
    fps.or(every).or(all.then_some(Pace::All)).or(keyframes.then_some(Pace::KeyFrames))
}

/// Reads a size such as `320x240`: the width, then the height.
///
/// # Errors
///
/// [`Usage`](vidrec_format::error::ErrorKind::Usage): the text is not such a size.
pub fn exact_size(text: &str) -> Result<FrameSize> {
    let size = text.parse().ok().filter(|size| matches!(size, FrameSize::Exact { .. }));
    size.ok_or_else(|| {
        let expected = format!("expected a width and a height of 1 to {MAX_SIDE} pixels, such as 320x240");
        Error::usage(format!("{expected}, found {text:?}"))
    })
}

/// Returns the size of the stored frames. Default: that of [`PictureOptions`].
pub fn frame_size(size: Option<FrameSize>, original: bool, short_side: Option<u32>, enlarge: bool) -> FrameSize {
    let scaled = short_side.map_or(PictureOptions::default().size, FrameSize::ShortSide);
    match (size, scaled) {
        (Some(size), _) => size,
        _ if original => FrameSize::Original,
        (None, FrameSize::ShortSide(side)) if enlarge => FrameSize::ShortSideAlways(side),
        (None, scaled) => scaled,
    }
}

/// Returns where shards end: `shards` is their number, `shard_size` the bytes of each. Default: one shard.
pub fn sharding(shards: Option<u32>, shard_size: Option<u64>) -> Sharding {
    let (count, bytes) = (shards.map(Sharding::Count), shard_size.map(Sharding::Bytes));
    count.or(bytes).unwrap_or_default()
}

/// Returns what to do with an interrupted run. Default: refuse to begin.
pub fn interrupted(resume: bool, restart: bool) -> Interrupted {
    match (resume, restart) {
        (true, _) => Interrupted::Resume,
        (false, true) => Interrupted::Restart,
        (false, false) => Interrupted::Refuse,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        assert_eq!(exact_size("320x240").unwrap(), FrameSize::Exact { width: 320, height: 240 });
        for bad in ["", "320", "0x5", "5x", "70000x1", "3.5x2", "original"] {
            assert!(exact_size(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn each_option_becomes_its_value() {
        assert_eq!(pace(None, None, false, false), None);
        assert_eq!(pace(None, Some(3), false, false), Some(Pace::Every(3)));
        assert_eq!(pace(None, None, false, true), Some(Pace::KeyFrames));
        assert_eq!(frame_size(None, false, None, true), FrameSize::ShortSideAlways(256));
        assert_eq!(frame_size(None, false, Some(64), false), FrameSize::ShortSide(64));
        assert_eq!(frame_size(None, true, None, false), FrameSize::Original);
        assert_eq!(sharding(None, Some(7)), Sharding::Bytes(7));
        assert_eq!(sharding(None, None), Sharding::One);
        assert_eq!(interrupted(false, true), Interrupted::Restart);
    }
}
