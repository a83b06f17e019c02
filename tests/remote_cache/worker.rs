//! A process that reads a remote data set through a cache, as an own run of this program.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use vidrec::{Dataset, Loader, LoaderOptions, Storage};

use crate::common::own_process;
use crate::remote_cache::orders;
use crate::remote_cache::served::{Served, cached, epoch};

const JOB: &str = "VIDREC_TEST_REMOTE_CACHE";
const SAYS: &str = "worker: ";

/// What a worker does.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Job {
    pub url: String,
    pub local: PathBuf,
    pub cache: PathBuf,
    pub cache_bytes: u64,
    pub seed: u64,
    pub rank: u32,
    pub world_size: u32,
    /// It ends after so many.
    pub epochs: u64,
    /// Whether it begins only when it is told.
    pub waits: bool,
}

impl Job {
    pub fn new(served: &Served, cache: &Path, cache_bytes: u64) -> Self {
        let (url, local, cache) = (served.url(), served.dir(), cache.to_owned());
        Job { url, local, cache, cache_bytes, seed: 1, rank: 0, world_size: 1, epochs: 1, waits: false }
    }

    /// Makes a command that runs this program a worker.
    pub fn describe(&self, command: &mut Command) {
        command.args(own_process::arguments(module_path!(), "work"));
        command.env(JOB, serde_json::to_string(self).unwrap());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
    }

    pub fn start(&self) -> Worker {
        let mut command = Command::new(std::env::current_exe().unwrap());
        self.describe(&mut command);
        Worker::of(command)
    }
}

/// A running worker, which is killed with the test.
pub struct Worker {
    child: Child,
    /// Until it is followed.
    out: Option<BufReader<ChildStdout>>,
}

impl Worker {
    pub fn of(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let out = child.stdout.take().map(BufReader::new);
        Worker { child, out }
    }

    /// Lets one begin that waits.
    pub fn go(&mut self) {
        drop(self.child.stdin.take());
    }

    /// Waits for the next thing that the worker says.
    pub fn says(&mut self) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            let out = self.out.as_mut().unwrap();
            assert!(out.read_line(&mut line).unwrap() > 0, "the worker ended without a word");
            // The test program may have begun the line.
            if let Some((_, said)) = line.split_once(SAYS) {
                return said.trim_end().to_owned();
            }
        }
    }

    /// From now on, only counts what it says.
    pub fn follow(&mut self) -> Arc<AtomicU64> {
        let (out, count) = (self.out.take().unwrap(), Arc::<AtomicU64>::default());
        let of_thread = count.clone();
        // It ends with the worker.
        std::thread::spawn(move || out.lines().map_while(Result::ok).for_each(|_| _ = of_thread.fetch_add(1, SeqCst)));
        count
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Whether it still runs, or has ended well.
    pub fn is_well(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none_or(|status| status.success())
    }

    pub fn end(mut self) {
        self.go();
        self.out.take().unwrap().read_to_end(&mut Vec::new()).unwrap();
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn say(what: impl std::fmt::Display) {
    println!("{SAYS}{what}");
}

/// Not a test by itself: it does nothing unless this is a worker.
#[test]
fn work() {
    let Ok(job) = std::env::var(JOB) else { return };
    let job: Job = serde_json::from_str(&job).unwrap();
    let rank = (job.rank, job.world_size);
    let o = LoaderOptions { seed: job.seed, rank, ..orders::with(&orders::shuffled()) };
    let local = Loader::new(&Dataset::open(&job.local).unwrap(), o.clone()).unwrap();
    let storage = Storage { memory_bytes: 1 << 20, ..cached(&job.cache, job.cache_bytes) };
    let set = Dataset::open_with(&job.url, storage).unwrap();
    let loader = Loader::new(&set, o).unwrap();
    say("open");
    if job.waits {
        std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    }
    for e in 0..job.epochs {
        assert!(epoch(&loader, e) == epoch(&local, e), "epoch {e} of {job:?}");
        say(e);
    }
    say(serde_json::to_string(&set.remote_stats().unwrap()).unwrap());
}
