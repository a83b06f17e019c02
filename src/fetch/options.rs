//! What is fetched, and how.

use crate::Storage;
use crate::edit::Selection;

/// Options of [`fetch`](crate::fetch).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FetchOptions {
    /// How the remote data set is read.
    pub storage: Storage,
    /// Which clips to fetch. Default `None`: all of them, as the same files.
    pub selection: Option<Selection>,
    /// Replace another data set that is already there. Off by default: then it is an error.
    pub overwrite: bool,
}
