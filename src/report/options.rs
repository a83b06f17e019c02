//! The options of [`report`](super::report()), and what it is about.

use crate::Dataset;

/// A data set, and what a page calls it.
#[derive(Debug, Clone)]
pub struct NamedSet {
    /// What the page calls it, such as its path.
    pub name: String,
    /// The data set.
    pub set: Dataset,
}

/// Options of [`report`](super::report()).
///
/// ```
/// use vidrec::report::ReportOptions;
///
/// let options = ReportOptions { clips: 200, ..ReportOptions::default() };
/// assert_eq!(options.budget, 25_000_000);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportOptions {
    /// Title of the page. Default: the names of the data sets.
    pub title: Option<String>,
    /// The most clips that are shown, of all data sets together. Default 1000. If there are more, they are drawn by class.
    pub clips: u64,
    /// The most bytes that the page may have. Default 25 MB. Strips get smaller, and then fewer, to keep it.
    pub budget: u64,
    /// Whether to look for findings in all clips, which decodes every frame. `None`, the default: if all data sets are
    /// local; otherwise in those clips that the page shows.
    pub check: Option<bool>,
    /// Seed for the choice of the clips. Default 0.
    pub seed: u64,
    /// The number of threads that decode frames; `None`, the default, for one per core. The page is the same for any.
    pub threads: Option<usize>,
}

/// Which clips are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    None,
    /// Those that the page shows.
    Shown,
    All,
}

impl ReportOptions {
    pub(super) fn extent(&self, sets: &[NamedSet]) -> Extent {
        match self.check {
            Some(false) => Extent::None,
            None if sets.iter().any(|set| set.set.is_remote()) => Extent::Shown,
            None | Some(true) => Extent::All,
        }
    }
}

impl Default for ReportOptions {
    fn default() -> Self {
        ReportOptions { title: None, clips: 1000, budget: 25_000_000, check: None, seed: 0, threads: None }
    }
}
