//! The options of [`report`](super::report()), and the data sets that it takes.

use crate::Dataset;

/// A data set, and its name on the page.
#[derive(Debug, Clone)]
pub struct NamedSet {
    /// The name of the data set on the page, such as its path.
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
/// assert_eq!(options.budget, 14_000_000);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportOptions {
    /// The title of the page. Default: the names of the data sets.
    pub title: Option<String>,
    /// The most clips to show, of all data sets together. Default 1000. If there are more, they are drawn by
    /// class.
    pub clips: u64,
    /// The most bytes that the page may have. Default 14 MB, which mail servers take. To stay within the limit, strips get
    /// smaller first, and then fewer.
    pub budget: u64,
    /// Whether to look for findings in all clips, which decodes every frame. `None`, the default: in all clips if
    /// all data sets are local; otherwise in none.
    pub check: Option<bool>,
    /// The seed for the choice of the clips. Default 0.
    pub seed: u64,
    /// The number of threads that decode frames; `None`, the default, for one per core. The page is the same for
    /// any number.
    pub threads: Option<usize>,
}

impl Default for ReportOptions {
    fn default() -> Self {
        ReportOptions { title: None, clips: 1000, budget: 14_000_000, check: None, seed: 0, threads: None }
    }
}
