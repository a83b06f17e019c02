//! Draws: where META has `draws` of K, each K consecutive clips are draws of one video and stay together.

use crate::format::meta::Meta;
use crate::{Dataset, Error, Result};

/// Clips in a group: the draws of a video.
pub(crate) fn draws(meta: &Meta) -> u64 {
    meta.draws.unwrap_or(1).max(1).into()
}

/// Clips in a group of this data set, which must consist of whole groups.
pub(super) fn size(set: &Dataset) -> Result<u64> {
    let group = set.meta().map_or(1, draws);
    if !set.len().is_multiple_of(group) {
        return Err(Error::usage("the clips are not whole groups of draws")
            .file(set.record_files().next().unwrap_or(std::path::Path::new("")))
            .expected(format!("a multiple of {group} clips"))
            .found(set.len()));
    }
    Ok(group)
}

/// Proves that `clips`, in ascending order, are whole groups.
pub(super) fn check_whole(clips: &[u64], group: u64) -> Result<()> {
    for chunk in clips.chunks(usize::try_from(group).unwrap_or(usize::MAX)) {
        let first = chunk[0] / group * group;
        if !chunk.iter().copied().eq(first..first + group) {
            return Err(Error::usage(format!(
                "clips {first} to {} are draws of one video, and only some of them are chosen",
                first + group - 1
            ))
            .help("choose all of them or none"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn torn_groups_are_refused() {
        assert!(check_whole(&[], 3).is_ok());
        assert!(check_whole(&[5, 9], 1).is_ok());
        assert!(check_whole(&[0, 1, 2, 6, 7, 8], 3).is_ok());
        for torn in [&[0, 1][..], &[1, 2, 3], &[0, 1, 2, 4, 5, 6], &[2]] {
            assert!(check_whole(torn, 3).is_err(), "{torn:?}");
        }
    }
}
