//! Draws: if META says `draws` K, each K consecutive clips are draws of one video and stay together.

use crate::dataset::Dataset;
use vidrec_format::{Error, Meta, Result};

/// The number of consecutive clips that are draws of one video.
pub(crate) fn draws_per_video(meta: &Meta) -> u64 {
    meta.draws.unwrap_or(1).max(1).into()
}

/// The draws of each video of some data sets, which must be complete, side by side, and as many in each data set.
pub(super) fn draws_of(sets: &[&Dataset]) -> Result<u64> {
    let mut draws = None;
    for set in sets {
        let of_set = set.meta().map_or(1, draws_per_video);
        let torn = || Error::usage("the clips are not whole groups of draws").file(set.first_file());
        if !set.len().is_multiple_of(of_set) {
            return Err(torn().expected(format!("a multiple of {of_set} clips")).found(set.len()));
        }
        if u64::from(set.draws()) != of_set {
            return Err(torn().expected(format!("the {of_set} draws of each video side by side")));
        }
        if *draws.get_or_insert(of_set) != of_set {
            let e = Error::usage("the data sets have different numbers of draws of each video").file(set.first_file());
            return Err(e.expected(draws.unwrap_or(1)).found(of_set));
        }
    }
    Ok(draws.unwrap_or(1))
}

/// Checks that `clips`, in ascending order, are all draws of their videos.
pub(super) fn check_draws(clips: &[u64], draws: u64) -> Result<()> {
    for chunk in clips.chunks(usize::try_from(draws).unwrap_or(usize::MAX)) {
        let first = chunk[0] / draws * draws;
        if !chunk.iter().copied().eq(first..first + draws) {
            return Err(torn_draws(first, draws));
        }
    }
    Ok(())
}

/// The error about a video whose draws do not stay together. Its first draw is `first`.
pub(super) fn torn_draws(first: u64, draws: u64) -> Error {
    let last = first + draws - 1;
    Error::usage(format!("clips {first} to {last} are draws of one video, but only some of them are selected"))
        .help("select all of them or none")
}
