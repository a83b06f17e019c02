//! How the parts of a pack are packed on one machine.

use std::path::PathBuf;

use crate::pack::options::PackOptions;
use crate::{Error, Result};

/// How many parts, and how many of them at a time. Two numbers do for a data set in a folder:
///
/// ```
/// use vidrec::pack::InParts;
///
/// let parts: InParts = (100, 4).into();
/// assert_eq!((parts.parts, parts.jobs, parts.scratch), (100, 4, None));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InParts {
    /// Number of parts.
    pub parts: u32,
    /// Number of parts that are packed at a time.
    pub jobs: u32,
    /// For a data set in object storage: a folder on this machine to pack in, with room for the parts that are packed at a
    /// time. Default `None`: `TMPDIR`, or else the user's cache folder (`$XDG_CACHE_HOME/vidrec`, `~/.cache/vidrec`).
    pub scratch: Option<PathBuf>,
    /// As [`PublishOptions::only_publisher`](super::PublishOptions::only_publisher). Off by default.
    pub only_publisher: bool,
}

impl From<(u32, u32)> for InParts {
    fn from((parts, jobs): (u32, u32)) -> Self {
        InParts { parts, jobs, scratch: None, only_publisher: false }
    }
}

/// Refuses what parts cannot do.
pub(super) fn refuse_retry(options: &PackOptions) -> Result<()> {
    if options.run.retry_failed {
        return Err(Error::usage("what failed in a pack in parts is not packed again apart from the rest"));
    }
    Ok(())
}
