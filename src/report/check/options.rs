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
    /// The kinds of findings to look for. Default: all. Frames are read only if a kind needs them.
    pub kinds: Vec<FindingKind>,
    /// The number of threads that decode frames; `None`, the default, for one per core. The report is the same for
    /// any number.
    pub threads: Option<usize>,
    /// The difference up to which two clips count as nearly the same.
    ///
    /// This is the number of different bits of a perceptual hash of 256 bits, averaged over its frames. Default
    /// [`DEFAULT_DISTANCE`](Self::DEFAULT_DISTANCE); 0 finds only copies; at most
    /// [`MAX_DISTANCE`](Self::MAX_DISTANCE).
    pub distance: u32,
}

impl CheckOptions {
    /// The default of [`distance`](Self::distance).
    ///
    /// It comes from a collection of 366 real clips. Videos that were encoded again, at other sizes and by other
    /// codecs, differed in up to 11 bits. Other moments in front of the same camera differed in 23 or more.
    pub const DEFAULT_DISTANCE: u32 = 16;

    /// The largest [`distance`](Self::distance). Pictures that have nothing in common differ in 128 bits on
    /// average.
    pub const MAX_DISTANCE: u32 = 64;

    /// Whether the options ask for this kind of finding.
    pub(super) fn wants(&self, kind: FindingKind) -> bool {
        self.kinds.contains(&kind)
    }
}

impl Default for CheckOptions {
    fn default() -> Self {
        CheckOptions { kinds: FindingKind::ALL.to_vec(), threads: None, distance: CheckOptions::DEFAULT_DISTANCE }
    }
}
