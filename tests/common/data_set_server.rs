//! A folder with a data set, and a server for it.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use fault_proxy::{Exchange, Origin, Server};
use tempfile::TempDir;
use vidrec::{Batch, Dataset, Loader, LoaderOptions, Result, Storage};

/// How long a read may take in these tests.
pub const TIMEOUT: Duration = Duration::from_secs(3);

/// A data set in the folder `set`, and a server of what is above it.
pub struct Served {
    pub folder: TempDir,
    pub server: Server,
}

impl Served {
    pub fn new(write: impl FnOnce(&Path)) -> Self {
        Self::by(write, |origin| origin)
    }

    /// With a server that is like `kind` makes it.
    pub fn by(write: impl FnOnce(&Path), kind: impl FnOnce(Origin) -> Origin) -> Self {
        let folder = tempfile::tempdir().unwrap();
        write(&folder.path().join("set"));
        let server = kind(Origin::new(folder.path())).start("127.0.0.1:0").unwrap();
        Served { folder, server }
    }

    pub fn dir(&self) -> PathBuf {
        self.folder.path().join("set")
    }

    pub fn url(&self) -> String {
        format!("{}/set", self.server.url())
    }

    pub fn local(&self) -> Dataset {
        Dataset::open(self.dir()).unwrap()
    }

    pub fn open(&self) -> Result<Dataset> {
        self.open_with(storage())
    }

    pub fn open_with(&self, storage: Storage) -> Result<Dataset> {
        Dataset::open_with(self.url(), storage)
    }

    /// The files of the data set with this ending, and the requests for them since the log was taken last.
    pub fn log(&self, ending: &str) -> Vec<(PathBuf, Exchange)> {
        let log = self.server.take_log().into_iter().filter(|exchange| exchange.path.ends_with(ending));
        log.map(|exchange| (self.folder.path().join(exchange.path.trim_start_matches('/')), exchange)).collect()
    }
}

/// Storage with little patience.
pub fn storage() -> Storage {
    Storage { timeout: TIMEOUT, ..Storage::default() }
}

pub fn with_memory(memory_bytes: u64) -> Storage {
    Storage { memory_bytes, ..storage() }
}

/// The batches of an epoch, made ahead.
pub fn epoch(set: &Dataset, options: &LoaderOptions, epoch: u64) -> Result<Vec<Batch>> {
    Loader::new(set, options.clone())?.iter(epoch)?.map(|batch| Ok(batch?.into_batch())).collect()
}

/// Does something that must end, well or badly. Only what hangs takes as long as this waits.
pub fn ends<T: Send + 'static>(what: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    const HANGS: Duration = Duration::from_secs(240);
    let (done, result) = channel();
    let thread = std::thread::spawn(move || drop(done.send(work())));
    match result.recv_timeout(HANGS) {
        Ok(value) => {
            thread.join().unwrap();
            value
        }
        Err(RecvTimeoutError::Disconnected) => std::panic::resume_unwind(thread.join().unwrap_err()),
        Err(RecvTimeoutError::Timeout) => panic!("{what}: hangs"),
    }
}
