//! How a data set is opened.

use std::path::Path;
#[cfg(feature = "remote")]
use std::sync::Arc;

use super::storage::Io;
#[cfg(feature = "remote")]
use vidrec_format::error::ErrorKind;
use vidrec_format::error::{Error, Result};
use vidrec_format::limits;
use vidrec_store::disk::regular_file::{Links, read_regular};
use vidrec_store::location::is_remote;
#[cfg(feature = "remote")]
use vidrec_store::remote::Remote;
use vidrec_store::storage::Storage;

/// How to open a data set, local or remote.
///
/// ```
/// # mod vidrec { pub use vidrec_dataset::{Io, OpenOptions}; }
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

/// The source from which the files of a data set are read.
#[derive(Debug, Clone)]
pub enum Source {
    /// On local disk, read this way.
    Local(Io),
    /// In object storage or on a web server.
    #[cfg(feature = "remote")]
    Remote(Arc<Remote>),
}

impl Source {
    /// Returns the source for the data set at `location`.
    pub fn of(location: &Path, options: &OpenOptions) -> Result<Self> {
        if !is_remote(location) {
            return Ok(Source::Local(options.io));
        }
        #[cfg(feature = "remote")]
        return Remote::new(&options.storage).map(Source::Remote);
        #[cfg(not(feature = "remote"))]
        Err(Error::usage("this build of vidrec reads only local files")
            .file(location)
            .help("build it with the feature remote"))
    }

    /// Reads a whole small file.
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

    /// Repeats `work` if fetched bytes prove wrong, because they may have been damaged on the way.
    pub fn twice<T>(&self, work: impl Fn() -> Result<T>) -> Result<T> {
        match (work(), self) {
            (found, Source::Local(_)) => found,
            #[cfg(feature = "remote")]
            (Err(e), Source::Remote(_)) if matches!(e.kind(), ErrorKind::Format | ErrorKind::Limit) => work(),
            #[cfg(feature = "remote")]
            (found, Source::Remote(_)) => found,
        }
    }

    /// The [`Io`] that callers see. Remote files are read with requests, which are positional.
    pub fn io(&self) -> Io {
        match self {
            Source::Local(io) => *io,
            #[cfg(feature = "remote")]
            Source::Remote(_) => Io::Read,
        }
    }
}
