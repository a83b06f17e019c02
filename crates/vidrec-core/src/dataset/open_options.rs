//! Options for opening a data set.

use crate::store::storage::Storage;
use vidrec_format::Error;
use vidrec_format::words::unknown_variant;

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
    /// with [`Io::Read`]. It always reads indexes of up to 64 KiB.
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
