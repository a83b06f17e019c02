//! Where the files of a data set are, the options for opening them, and how they are opened.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::store::disk::map::MappedFile;
use crate::store::disk::open_files::PositionalFile;
use crate::store::disk::open_files::{FILES, MAPS};
use crate::store::disk::regular_file::{Links, missing, read_if_there, read_regular};
use crate::store::location::is_remote;
use crate::store::read_at::ReadAt;
use crate::store::remote::{Opening, Remote};
use crate::store::storage::Storage;
use vidrec_format::words::unknown_variant;
use vidrec_format::{Error, ErrorKind, Result, limits};

/// Options for opening a data set, local or remote.
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
    /// The way in which local files are read. Default [`Io::Map`].
    pub io: Io,
    /// Options for reading remote files.
    pub storage: Storage,
    /// The number of clips, from the first on. Default `None`: all. With the number that a data set had before more clips were
    /// appended, it is the data set as it was: with the same order of samples, the same class names, and the states of loaders.
    pub clips: Option<u64>,
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

/// The way in which a data set's files are read.
///
/// In text (`FromStr`, `Display`, serde): `map` or `read`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[derive(strum::Display, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "kebab-case", parse_err_ty = Error, parse_err_fn = unknown_variant::<Self>)]
pub enum Io {
    /// Map the files: no copies, and opening takes the same time for files of any size. This is the default. If the
    /// system allows no more maps (with tens of thousands of shards, or a limit on memory), vidrec reads the files as
    /// with [`Io::Read`].
    ///
    /// If a file is truncated while it is open, or its disk or network fails, reads of the lost clips return errors
    /// on Linux. On other systems, or if the environment variable `VIDREC_NO_SIGBUS_HANDLER` is set, the system ends
    /// the process with `SIGBUS`.
    #[default]
    Map,
    /// Read the record files with positional reads, for network file systems and for systems without such a handler.
    /// Half of the files that the process may have open stay open. The others are opened for each read.
    ///
    /// Opening a data set reads the indexes into memory: 32 bytes per frame, 80 bytes per clip, and the strings.
    Read,
}

/// The source from which the files of a data set are read.
#[derive(Debug, Clone)]
pub enum Source {
    /// On local disk, read this way.
    Local(Io),
    /// In object storage or on a web server.
    Remote(Arc<Remote>),
}

impl Source {
    /// Returns the source for the data set at `location`.
    pub fn of(location: &Path, options: &OpenOptions) -> Result<Self> {
        if !is_remote(location) {
            return Ok(Source::Local(options.io));
        }
        Remote::new(&options.storage).map(Source::Remote).map_err(|e| e.file(location))
    }

    /// Returns the location at which all files of one version are: [`Remote::pinned`].
    pub fn pinned(&self, location: &Path) -> Result<PathBuf> {
        match self {
            Source::Local(_) => Ok(location.to_owned()),
            Source::Remote(remote) => remote.pinned(location),
        }
    }

    /// Reads a whole file of at most `most` bytes. `None` if it does not exist.
    pub fn read_if_there(&self, location: &Path, most: u64) -> Result<Option<Vec<u8>>> {
        match self {
            Source::Local(_) => read_if_there(location, most, Links::Follow),
            Source::Remote(remote) => remote.read(location, most),
        }
    }

    /// Reads a whole small file.
    pub fn read(&self, location: &Path) -> Result<Vec<u8>> {
        let absent = || match self {
            Source::Local(_) => missing(location),
            Source::Remote(_) => Error::lost("there is no such object").file(location),
        };
        self.read_if_there(location, limits::MAX_SMALL_OBJECT_BYTES)?.ok_or_else(absent)
    }

    /// Repeats `work` if fetched bytes prove wrong, because they may have been damaged on the way.
    pub fn twice<T>(&self, work: impl Fn() -> Result<T>) -> Result<T> {
        match (work(), self) {
            (Err(e), Source::Remote(_)) if matches!(e.kind(), ErrorKind::Format | ErrorKind::Limit) => work(),
            (found, _) => found,
        }
    }

    /// Starts to open a file. A remote file begins to arrive. Set `is_empty` if it is known to be empty. The result opens the
    /// file; its argument is whether it is an index, whose parts stay in memory.
    pub fn start(
        &self,
        location: &Path,
        is_empty: bool,
    ) -> Result<impl FnOnce(bool) -> Result<Box<dyn ReadAt>> + use<>> {
        let opening = match self {
            Source::Local(io) => Err((location.to_owned(), *io)),
            Source::Remote(remote) => Ok(Opening::start(remote, location, is_empty)?),
        };
        Ok(move |is_index| match opening {
            Ok(opening) => Ok(Box::new(Arc::new(opening.finish()?)) as Box<dyn ReadAt>),
            Err((path, io)) => open_local(&path, io, is_index),
        })
    }

    /// Opens a record file or a track file.
    pub fn open(&self, location: &Path) -> Result<Box<dyn ReadAt>> {
        self.start(location, false)?(false)
    }
}

/// Opens a file on this machine. It is mapped, unless it should not be or the system allows no more maps.
fn open_local(path: &Path, io: Io, is_index: bool) -> Result<Box<dyn ReadAt>> {
    if io == Io::Map {
        match MappedFile::open_within(path, &MAPS) {
            Ok(Some(map)) => return Ok(Box::new(map)),
            Err(e) if !e.is_out_of_memory() => return Err(e),
            _ => {}
        }
    }
    Ok(match is_index {
        true => Box::new(read_regular(path, u64::MAX, Links::Follow)?),
        false => Box::new(PositionalFile::open(path, &FILES)?),
    })
}
