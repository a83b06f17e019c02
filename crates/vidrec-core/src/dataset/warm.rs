//! Moves a data set to a place that is fast to read, and back.

use std::io::Read;
use std::path::Path;

use super::dataset::Dataset;
use super::warm_report::WarmReport;
use crate::store::disk::regular_file::{Links, open_regular};
use crate::store::disk::system::{Advice, advise};
use crate::store::location::is_remote;
use vidrec_format::error::{Error, Result};
use vidrec_format::progress::{Progress, ProgressFn, tell};

impl Dataset {
    /// Reads the data set once, so that the next epoch reads it from a faster place. A local data set is then in the
    /// system's page cache. A remote one is in the [`cache`](crate::store::storage::Storage::cache) on local disk.
    ///
    /// For a local data set, this reads all files from start to end. That pays off if the disk is slow at random
    /// reads and the data set fits in memory. For a remote one, it fetches the records of all clips, or of those that
    /// [`select`](Self::select) chose, and their part of the indexes. It uses large requests. It compares every
    /// fetched byte with its checksum, and fetches wrong bytes once more. It skips bytes that are in the cache
    /// already, so the call resumes after an interruption. Bytes for which the cache has no room stay on the server,
    /// and the report counts them. An item of `progress` is a byte.
    ///
    /// ```no_run
    /// use vidrec::{Dataset, Storage};
    ///
    /// let storage = Storage { cache: Some("/scratch/vidrec".into()), ..Storage::default() };
    /// let train = Dataset::open_with("s3://bucket/train", storage)?;
    /// let report = train.warm(&mut vidrec::no_progress)?;
    /// assert_eq!(report.missing_bytes, 0, "the cache is too small");
    /// # Ok::<(), vidrec::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Io`](vidrec_format::error::ErrorKind::Io) if a file cannot be read, or the cache's disk is full or failing.
    /// [`Usage`](vidrec_format::error::ErrorKind::Usage) if the data set is remote and has no cache.
    /// [`Format`](vidrec_format::error::ErrorKind::Format) if a fetched record or entry is damaged.
    /// [`Interrupted`](vidrec_format::error::ErrorKind::Interrupted) if `progress` stops the call.
    pub fn warm(&self, progress: &mut ProgressFn<'_>) -> Result<WarmReport> {
        if self.is_remote() {
            return super::warm_remote::warm(self, progress);
        }
        let (mut so_far, mut buffer) = (Progress::default(), vec![0; 1 << 20]);
        for path in self.files() {
            read_through(path, &mut buffer, &mut |bytes| {
                so_far.done += bytes;
                so_far.bytes = so_far.done;
                tell(progress, &so_far)
            })?;
        }
        Ok(WarmReport { clips: self.len(), bytes: so_far.done, ..WarmReport::default() })
    }

    /// Asks the system to drop the files from the page cache, so that a measurement starts cold. Returns whether the
    /// system agreed for all files. Pages that any process has mapped and used stay, so call this before reading.
    ///
    /// # Errors
    ///
    /// [`Io`](vidrec_format::error::ErrorKind::Io) if a file cannot be opened.
    /// [`Usage`](vidrec_format::error::ErrorKind::Usage) if the data set is remote.
    pub fn cool(&self) -> Result<bool> {
        if let Some(path) = self.record_files().find(|path| is_remote(path)) {
            let e = Error::usage("the page cache of the system does not hold remote data sets").file(path);
            return Err(e.help("clear its cache on local disk, or read it without one"));
        }
        let cool = |path: &Path| {
            let file = open_regular(path, Links::Follow)?;
            let length = file.metadata().map_err(|e| Error::io("read the file's size", path, e))?.len();
            Ok(advise(&file, 0..length, Advice::Done))
        };
        self.files().map(cool).try_fold(true, |all, taken| Ok(all & taken?))
    }
}

/// Reads a file from start to end, and tells `came` how many bytes each read returned.
fn read_through(path: &Path, buffer: &mut [u8], came: &mut dyn FnMut(u64) -> Result<()>) -> Result<()> {
    let failed = |e| Error::io("read the file", path, e);
    let mut file = open_regular(path, Links::Follow)?;
    loop {
        match file.read(buffer).map_err(failed)? {
            0 => return Ok(()),
            n => came(n as u64)?,
        }
    }
}
