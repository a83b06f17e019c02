//! Bringing a data set to where reading it is fast, and the opposite.

use std::io::Read;
use std::path::Path;

use super::dataset::Dataset;
use super::warm_report::WarmReport;
use crate::disk::advice::{Advice, advise};
use crate::disk::regular_file::{Links, open_regular};
use crate::location::is_remote;
use crate::progress::{Progress, ProgressFn, tell};
use crate::{Error, Result};

impl Dataset {
    /// Reads the data set once, so that the next epoch reads it from where reading is fast: a local one from the system's
    /// page cache, a remote one from the [`cache`](crate::Storage::cache) on local disk.
    ///
    /// Of a local data set, this reads all files from start to end. This pays off if the disk is slow at random reads and
    /// the data set fits in memory. Of a remote one, it fetches the records of all clips, or of those that
    /// [`select`](Self::select) chose, with large requests, and their part of the indexes. Every fetched byte is compared
    /// with its checksum, and what is wrong is fetched once more. What is in the cache already is not fetched, so the call
    /// continues after an interruption. What the cache has no room for stays on the server, and the report counts it.
    /// An item of `progress` is a byte.
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
    /// [`Io`](crate::ErrorKind::Io) if a file cannot be read, or the cache's disk is full or fails.
    /// [`Usage`](crate::ErrorKind::Usage) if the data set is remote and has no cache. [`Format`](crate::ErrorKind::Format)
    /// if a fetched record or entry is damaged. [`Interrupted`](crate::ErrorKind::Interrupted) if `progress` stops the
    /// call.
    pub fn warm(&self, progress: &mut ProgressFn<'_>) -> Result<WarmReport> {
        #[cfg(feature = "remote")]
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
    /// system agreed for all of them. Pages that any process has mapped and used stay, so call this before reading.
    ///
    /// # Errors
    ///
    /// [`Io`](crate::ErrorKind::Io) if a file cannot be opened. [`Usage`](crate::ErrorKind::Usage) if the data set is
    /// remote.
    pub fn cool(&self) -> Result<bool> {
        if let Some(path) = self.record_files().find(|path| is_remote(path)) {
            let e = Error::usage("the page cache has no files of a remote data set").file(path);
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

/// Reads a file from start to end, and says how many bytes came at a time.
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
