//! Processes that use one cache: this test program, started again to run one test, which is the worker.

use std::fmt;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::str::FromStr;
use std::sync::PoisonError;
use std::time::Duration;

use super::support::{GATE, bytes, is_right, right_pages};
use crate::cache::{CachedObject, PAGE_BYTES, PageCache};
use vidrec_format::random::Random;

const NAME: &str = "cache::tests::worker::work";
const VARIABLE: &str = "VIDREC_TEST_CACHE_WORKER";
/// The text that the worker prints before its result.
const RESULT: &str = "worker: ";

/// The job of a worker.
#[derive(Debug, Clone)]
pub struct Job {
    pub dir: PathBuf,
    pub kind: Kind,
    pub limit: u64,
    pub length: u64,
    pub seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Reads the whole object once, in an order of its own. Prints how many bytes it fetched to keep, and how many it
    /// fetched without keeping them.
    Once,
    /// Reads, forgets some pages, and evicts some, until it is killed. Prints a line when it begins.
    Forever,
    /// Claims the first page, prints a line, and waits until it is killed.
    Hold,
    /// Stores pages until the disk is full. Prints how many it stored, and the error.
    Fill,
    /// Forks, and prints what the forked process may do.
    Fork,
}

const KINDS: [Kind; 5] = [Kind::Once, Kind::Forever, Kind::Hold, Kind::Fill, Kind::Fork];

impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = KINDS.iter().position(|&kind| kind == self.kind).unwrap();
        write!(f, "{kind} {} {} {} {}", self.limit, self.length, self.seed, self.dir.display())
    }
}

impl FromStr for Job {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut parts = text.splitn(5, ' ');
        let mut number = || parts.next().unwrap().parse::<u64>().unwrap();
        let (kind, limit, length, seed) = (KINDS[number() as usize], number(), number(), number());
        Ok(Job { kind, limit, length, seed, dir: parts.next().unwrap().into() })
    }
}

impl Job {
    pub fn new(dir: &Path, kind: Kind, limit: u64, length: u64) -> Self {
        Job { dir: dir.to_owned(), kind, limit, length, seed: 1 }
    }

    /// The command of a worker for this job.
    pub fn command(&self) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        self.describe(&mut command);
        command
    }

    /// Turns a command that runs this program into a worker for this job.
    pub fn describe(&self, command: &mut Command) {
        command.args(["--exact", NAME, "--nocapture", "--test-threads=1"]).env(VARIABLE, self.to_string());
        command.stdin(Stdio::null()).stdout(Stdio::piped());
    }

    pub fn start(&self) -> Worker {
        let mut child = self.command().spawn().unwrap();
        let out = child.stdout.take().map(BufReader::new).unwrap();
        Worker { child, out }
    }
}

/// Runs a test in a process of its own, so that it may start and kill others without handing them the locks of other
/// tests for a moment. `name` is the name of the test.
pub fn in_own_process(name: &str, test: impl FnOnce()) {
    const OWN: &str = "VIDREC_TEST_CACHE_OWN";
    if std::env::var_os(OWN).is_some() {
        return test();
    }
    let name = format!("cache::tests::processes::{name}");
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &name, "--nocapture", "--test-threads=1"]).env(OWN, "1").stdin(Stdio::null());
    let gate = GATE.write().unwrap_or_else(PoisonError::into_inner);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(gate);
    let run = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{said}{}", String::from_utf8_lossy(&run.stderr));
    assert!(said.contains("1 passed"), "{said}");
}

/// A running worker. It is killed with the test.
pub struct Worker {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Worker {
    /// Waits for the next result that the worker prints.
    pub fn result(&mut self) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            assert!(self.out.read_line(&mut line).unwrap() > 0, "the worker ended without a result");
            // The test program may have begun the line.
            if let Some((_, result)) = line.split_once(RESULT) {
                return result.trim_end().to_owned();
            }
        }
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    pub fn end(mut self) {
        self.out.read_to_end(&mut Vec::new()).unwrap();
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn say(result: impl fmt::Display) {
    println!("{RESULT}{result}");
}

/// Not a test by itself: it does nothing unless this is a worker.
#[test]
fn work() {
    let Ok(job) = std::env::var(VARIABLE) else { return };
    let job: Job = job.parse().unwrap();
    let cache = PageCache::open(&job.dir, job.limit).unwrap();
    let object = cache.object("s3://b/o", "1", job.length).unwrap();
    let mut random = Random::new(job.seed, &[]);
    match job.kind {
        Kind::Once => once(&object, &mut random),
        Kind::Forever => {
            say("begun");
            loop {
                if random.below(20) == 0 {
                    // Other objects come and go, and make room for each other.
                    let name = format!("s3://b/{}", random.below(4));
                    let other = cache.object(&name, "1", 30 * PAGE_BYTES).unwrap();
                    read(&other, 0, other.len());
                }
                let range = some_range(&object, &mut random);
                match random.below(8) {
                    0 => object.forget(range),
                    1 => _ = object.evict(&range),
                    _ => _ = read(&object, range.start, range.end),
                }
            }
        }
        Kind::Hold => {
            assert_eq!(object.claim(0..1).mine.len(), 1);
            say("claimed");
            std::thread::sleep(Duration::from_secs(3600));
        }
        Kind::Fill => fill_the_disk(&cache, &object),
        Kind::Fork => fork(&job, &object),
    }
}

fn some_range(object: &CachedObject, random: &mut Random) -> std::ops::Range<u64> {
    let start = random.below(object.len());
    start..object.len().min(start + 1 + random.below(20 * PAGE_BYTES))
}

/// Reads a range as a data set would. Returns how many bytes were fetched to keep, and how many were fetched without
/// keeping them.
fn read(object: &CachedObject, start: u64, end: u64) -> (u64, u64) {
    let mut kept = 0;
    loop {
        if is_right(object, start..end) == Some(true) {
            return (kept, 0);
        }
        let claims = object.claim(start..end);
        for mine in claims.mine {
            object.store(mine.start, &bytes(mine.clone())).unwrap();
            kept += mine.end - mine.start;
        }
        if !claims.full.is_empty() {
            return (kept, claims.full.iter().map(|full| full.end - full.start).sum());
        }
        object.wait(start..end, Duration::from_secs(60));
    }
}

fn once(object: &CachedObject, random: &mut Random) {
    let chunk = 5 * PAGE_BYTES;
    let mut starts: Vec<u64> = (0..object.len()).step_by(chunk as usize).collect();
    for i in (1..starts.len()).rev() {
        starts.swap(i, random.below(i as u64 + 1) as usize);
    }
    let (mut kept, mut not_kept) = (0, 0);
    for start in starts {
        let (more, full) = read(object, start, object.len().min(start + chunk));
        kept += more;
        not_kept += full;
    }
    say(format!("{kept} {not_kept}"));
}

fn fill_the_disk(cache: &PageCache, object: &CachedObject) {
    let all = object.claim(0..object.len());
    assert_eq!(all.mine, [0..object.len()]);
    let stored = |at: &u64| object.store(*at, &bytes(*at..object.len().min(at + PAGE_BYTES)));
    let mut pages = (0..object.len()).step_by(PAGE_BYTES as usize);
    let failed = pages.find_map(|at| stored(&at).err().map(|e| (at, e)));
    let (at, e) = failed.expect("the disk is not full");
    object.give_up(at + PAGE_BYTES..object.len());
    assert_eq!(right_pages(object), at / PAGE_BYTES);
    // The page that failed has no owner, and no more pages are kept.
    let claims = object.claim(0..object.len());
    assert_eq!((claims.mine, claims.others, claims.full), (vec![], vec![], vec![at..object.len()]));
    assert_eq!(cache.taken(), at + PAGE_BYTES, "what may be on the disk is counted");
    say(format!("{at} {e:#}"));
}

/// Checks what a forked process may do with an inherited object: it may read.
fn fork(job: &Job, object: &CachedObject) {
    read(object, 0, 2 * PAGE_BYTES);
    let mine = object.claim(2 * PAGE_BYTES..4 * PAGE_BYTES).mine;
    // SAFETY: the child calls nothing that needs a lock which another thread of this process may have held. It uses
    // files, and memory, whose allocator is made for forks. It ends without running exit handlers.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let is_right = std::panic::catch_unwind(|| {
            assert_eq!(object.get(0..2 * PAGE_BYTES).unwrap(), bytes(0..2 * PAGE_BYTES));
            let claims = object.claim(0..object.len());
            assert_eq!((claims.mine, claims.others, claims.full), (vec![], vec![], vec![2 * PAGE_BYTES..object.len()]));
            let e = object.store(2 * PAGE_BYTES, &bytes(2 * PAGE_BYTES..3 * PAGE_BYTES)).unwrap_err();
            assert!(e.to_string().contains("was forked"), "{e}");
            object.give_up(2 * PAGE_BYTES..4 * PAGE_BYTES);
            // The inherited object is dropped, and a cache of the child's own has a slot of its own.
            drop(object.clone());
            let own = PageCache::open(&job.dir, job.limit).unwrap();
            let own = own.object("s3://b/o", "1", job.length).unwrap();
            assert_eq!(own.claim(0..5 * PAGE_BYTES).others, [2 * PAGE_BYTES..4 * PAGE_BYTES]);
            assert_eq!(own.claim(5 * PAGE_BYTES..6 * PAGE_BYTES).mine.len(), 1);
        });
        // SAFETY: the call does not return, and touches no memory.
        unsafe { libc::_exit(i32::from(is_right.is_err())) };
    }
    let mut status = 0;
    // SAFETY: `status` is valid memory for the number that the call writes.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    for mine in mine {
        object.store(mine.start, &bytes(mine.clone())).unwrap();
    }
    say(status);
}
