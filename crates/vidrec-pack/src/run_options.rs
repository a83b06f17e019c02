//! What a run does with an output that exists, and where it works.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use vidrec_format::error::{Error, Hint, Result};
use vidrec_format::words::unknown_variant;

/// What a run does with an output that exists, and where it works.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunOptions {
    /// What to do if the output exists. Default [`IfExists::Fail`].
    pub if_exists: IfExists,
    /// For an output in object storage: a folder on this machine to pack in, with room for two shards. Default `None`:
    /// `TMPDIR`, or else the user's cache folder (`$XDG_CACHE_HOME/vidrec`, `~/.cache/vidrec`).
    pub scratch: Option<PathBuf>,
    /// The same as [`PublishOptions::only_publisher`](crate::PublishOptions::only_publisher). Off by default.
    pub only_publisher: bool,
}

/// What to do if there is a data set in the output, or an interrupted pack.
///
/// The text form (`FromStr`, `Display`, serde) is `fail`, `resume`, `retry-failed` or `replace`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
#[derive(strum::Display, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "kebab-case", parse_err_ty = Error, parse_err_fn = unknown_variant::<Self>)]
pub enum IfExists {
    /// Do nothing and return an error, because either may be hours of work.
    #[default]
    Fail,
    /// Resume an interrupted pack of the same inputs and options. If they are packed already, return the report. Begin
    /// if there is nothing.
    Resume,
    /// Pack the shards again that have videos which failed when the data set was packed from the same inputs, with the same
    /// options.
    ///
    /// The other shards stay as they are. A video that was packed before must not fail now. The result is that of a pack
    /// in which these videos had not failed. It replaces the data set when it is complete.
    RetryFailed,
    /// Replace a data set when the new one is complete. An interrupted pack goes on if it is the same, and is discarded
    /// if it is not.
    Replace,
}

impl IfExists {
    /// Whether an interrupted pack is resumed, if it is the same.
    ///
    /// # Errors
    ///
    /// It is to stay as it is. `found` describes it.
    pub(crate) fn resumes(self, found: impl FnOnce() -> Error) -> Result<()> {
        match self {
            IfExists::Fail => Err(found().hint(Hint::Resume).hint(Hint::Restart)),
            _ => Ok(()),
        }
    }

    /// Whether the data set that is there may be replaced.
    pub(crate) fn replaces(self) -> bool {
        matches!(self, IfExists::RetryFailed | IfExists::Replace)
    }
}
