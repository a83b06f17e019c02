//! How a data set is opened.

use std::path::Path;
#[cfg(feature = "remote")]
use std::sync::Arc;

use super::storage::Io;
#[cfg(feature = "remote")]
use crate::ErrorKind;
use crate::disk::regular_file::{Links, read_regular};
use crate::limits;
use crate::location::is_remote;
#[cfg(feature = "remote")]
use crate::remote::Remote;
use crate::{Error, Result, Storage};

/// How to open a data set: on this machine's file systems, or elsewhere.
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
    /// How remote ones are.
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

/// From where the files of a data set are read.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    Local(Io),
    #[cfg(feature = "remote")]
    Remote(Arc<Remote>),
}

impl Source {
    /// From where to read the data set at `location`.
    pub fn of(location: &Path, options: &OpenOptions) -> Result<Self> {
        if !is_remote(location) {
            return Ok(Source::Local(options.io));
        }
        #[cfg(feature = "remote")]
        return Remote::new(&options.storage).map(Source::Remote);
        #[cfg(not(feature = "remote"))]
        Err(Error::usage("this build reads local files only").file(location).help("build it with the feature remote"))
    }

    /// Reads a small file as a whole.
    pub fn read(&self, location: &Path) -> Result<Vec<u8>> {
        match self {
            Source::Local(_) => read_regular(location, limits::MAX_SMALL_OBJECT_BYTES, Links::Follow),
            #[cfg(feature = "remote")]
            Source::Remote(remote) => {
                let missing = || Error::lost("there is no such object").file(location);
                remote.read(location, limits::MAX_SMALL_OBJECT_BYTES)?.ok_or_else(missing)
            }
        }
    }

    /// Does something once more if what was fetched proves wrong: it may have been damaged on the way.
    pub fn twice<T>(&self, work: impl Fn() -> Result<T>) -> Result<T> {
        match (work(), self) {
            (found, Source::Local(_)) => found,
            #[cfg(feature = "remote")]
            (Err(e), Source::Remote(_)) if matches!(e.kind(), ErrorKind::Format | ErrorKind::Limit) => work(),
            #[cfg(feature = "remote")]
            (found, Source::Remote(_)) => found,
        }
    }

    /// As what callers see of it. Remote files are read with requests, which are positional.
    pub fn io(&self) -> Io {
        match self {
            Source::Local(io) => *io,
            #[cfg(feature = "remote")]
            Source::Remote(_) => Io::Read,
        }
    }
}
