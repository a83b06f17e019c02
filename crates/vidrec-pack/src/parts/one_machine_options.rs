//! How the parts of a pack are packed on one machine.

use std::path::PathBuf;

/// The number of parts, and how many of them are packed at a time.
///
/// For a data set in a folder, these two numbers are enough:
///
/// ```
/// # mod vidrec { pub use vidrec_pack as pack; }
/// use vidrec::pack::InParts;
///
/// let parts: InParts = (100, 4).into();
/// assert_eq!((parts.parts, parts.jobs, parts.scratch), (100, 4, None));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InParts {
    /// The number of parts.
    pub parts: u32,
    /// The number of parts that are packed at a time.
    pub jobs: u32,
    /// For a data set in object storage: a folder on this machine to pack in, with room for the parts that are
    /// packed at a time. Default `None`: `TMPDIR`, or else the user's cache folder (`$XDG_CACHE_HOME/vidrec`,
    /// `~/.cache/vidrec`).
    pub scratch: Option<PathBuf>,
    /// The same as [`PublishOptions::only_publisher`](super::PublishOptions::only_publisher). Off by default.
    pub only_publisher: bool,
}

impl From<(u32, u32)> for InParts {
    fn from((parts, jobs): (u32, u32)) -> Self {
        InParts { parts, jobs, scratch: None, only_publisher: false }
    }
}
