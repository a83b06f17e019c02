//! How the parts of a pack are packed on one machine.

use std::path::PathBuf;

/// The number of parts, and where they are packed. For a data set in a folder, the number is enough:
///
/// ```
/// # mod vidrec { pub use vidrec_pack as pack; }
/// use vidrec::pack::InParts;
///
/// let parts: InParts = 100.into();
/// assert_eq!((parts.parts, parts.scratch), (100, None));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InParts {
    /// The number of parts.
    pub parts: u32,
    /// For a data set in object storage: a folder on this machine to pack in, with room for a part. Default `None`:
    /// `TMPDIR`, or else the user's cache folder (`$XDG_CACHE_HOME/vidrec`, `~/.cache/vidrec`).
    pub scratch: Option<PathBuf>,
    /// The same as [`PublishOptions::only_publisher`](super::PublishOptions::only_publisher). Off by default.
    pub only_publisher: bool,
}

impl From<u32> for InParts {
    fn from(parts: u32) -> Self {
        InParts { parts, scratch: None, only_publisher: false }
    }
}
