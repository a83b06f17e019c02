//! Draws: if META says `draws` K, each K consecutive clips are draws of one video and stay together.

use std::path::Path;

use crate::dataset::Dataset;
use vidrec_format::error::{Error, Result};
use vidrec_format::meta::Meta;

/// The number of clips in a group: the draws of a video.
pub(crate) fn draws(meta: &Meta) -> u64 {
    meta.draws.unwrap_or(1).max(1).into()
}

/// The number of clips in a group of this data set, which must consist of whole groups.
pub(super) fn size(set: &Dataset) -> Result<u64> {
    let group = set.meta().map_or(1, draws);
    let torn = || Error::usage("the clips are not whole groups of draws").file(first_file(set));
    if !set.len().is_multiple_of(group) {
        return Err(torn().expected(format!("a multiple of {group} clips")).found(set.len()));
    }
    if u64::from(set.draws()) != group {
        return Err(torn().expected(format!("the {group} draws of each video side by side")));
    }
    Ok(group)
}

/// Proves that a data set's clips come in groups of this size.
pub(super) fn require(set: &Dataset, group: u64) -> Result<()> {
    let found = size(set)?;
    if found == group {
        return Ok(());
    }
    Err(Error::usage("the data sets have different numbers of draws of each video")
        .file(first_file(set))
        .expected(group)
        .found(found))
}

fn first_file(set: &Dataset) -> &Path {
    set.record_files().next().unwrap_or(Path::new(""))
}

/// Proves that `clips`, in ascending order, are whole groups.
pub(super) fn check_whole(clips: &[u64], group: u64) -> Result<()> {
    for chunk in clips.chunks(usize::try_from(group).unwrap_or(usize::MAX)) {
        let first = chunk[0] / group * group;
        if !chunk.iter().copied().eq(first..first + group) {
            return Err(torn(first, group));
        }
    }
    Ok(())
}

/// The error about a video whose draws do not stay together. Its first draw is `first`.
pub(super) fn torn(first: u64, group: u64) -> Error {
    let last = first + group - 1;
    Error::usage(format!("clips {first} to {last} are draws of one video, but only some of them are selected"))
        .help("select all of them or none")
}
