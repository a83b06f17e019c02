//! How a data set is opened.

use super::io::Io;
use crate::store::storage::Storage;

/// How to open a data set, local or remote.
///
/// ```
/// use vidrec::{Io, OpenOptions};
///
/// let options = OpenOptions::from(Io::Read);
/// assert_eq!(options.io, Io::Read);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct OpenOptions {
    /// How local files are read. Default [`Io::Map`].
    pub io: Io,
    /// How remote files are read.
    pub storage: Storage,
}

impl From<Io> for OpenOptions {
    fn from(io: Io) -> Self {
        OpenOptions { io, ..OpenOptions::default() }
    }
}

impl From<Storage> for OpenOptions {
    fn from(storage: Storage) -> Self {
        OpenOptions { storage, ..OpenOptions::default() }
    }
}
