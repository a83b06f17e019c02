//! The options of [`check`](super::check).

use super::finding::FindingKind;

/// Options of [`check`](super::check).
///
/// ```
/// use vidrec::check::{CheckOptions, FindingKind};
///
/// let options = CheckOptions { kinds: vec![FindingKind::Leak], ..CheckOptions::default() };
/// assert_eq!(options.distance, CheckOptions::DEFAULT_DISTANCE);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckOptions {
    /// The kinds of findings to look for. Default: all. Frames are only read if a kind needs them.
    pub kinds: Vec<FindingKind>,
    /// The number of threads that decode frames; `None`, the default, for one per core. The report is the same for any.
    pub threads: Option<usize>,
    /// How much clips may differ that show nearly the same: bits of a perceptual hash of 256, in the mean of its
    /// frames. Default [`DEFAULT_DISTANCE`](Self::DEFAULT_DISTANCE); 0 finds copies only; at most
    /// [`MAX_DISTANCE`](Self::MAX_DISTANCE).
    pub distance: u32,
}

impl CheckOptions {
    /// The default of [`distance`](Self::distance). Videos that were encoded again, at other sizes and by other codecs,
    /// differ in up to 6 bits, other moments in front of the same camera in 23 or more, in a collection of 366 real clips.
    pub const DEFAULT_DISTANCE: u32 = 16;

    /// The largest [`distance`](Self::distance). Pictures that have nothing in common differ in 128 bits.
    pub const MAX_DISTANCE: u32 = 64;

    /// Whether a kind of finding is wanted.
    pub(super) fn wants(&self, kind: FindingKind) -> bool {
        self.kinds.contains(&kind)
    }
}

impl Default for CheckOptions {
    fn default() -> Self {
        CheckOptions { kinds: FindingKind::ALL.to_vec(), threads: None, distance: CheckOptions::DEFAULT_DISTANCE }
    }
}
