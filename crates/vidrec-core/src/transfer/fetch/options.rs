//! What to fetch, and how.

use crate::dataset::edit::Selection;
use crate::store::storage::Storage;

/// Options of [`fetch`](crate::transfer::fetch::fetch()).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FetchOptions {
    /// How the remote data set is read.
    pub storage: Storage,
    /// Which clips to fetch. Default `None`: all clips, in the same files.
    pub selection: Option<Selection>,
    /// Replace another, existing data set. Off by default: such a data set is an error.
    pub overwrite: bool,
}
