//! How the files of a local data set are read.

use vidrec_format::words::words;

/// How a data set's files are read.
///
/// In text (`FromStr`, `Display`, serde): `map` or `read`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
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

words!(Io, "io", { "map" => Map, "read" => Read });
