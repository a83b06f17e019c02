//! Processes that share a cache, and die: this test program, started again to run one test, which is the worker.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use vidrec::LoaderOptions;

use crate::common::until::until;
use crate::common::{loader, own_process, set};
use crate::decoded_cache::support::{batches, cache, expected, files, memory, stats, training};

const VARIABLE: &str = "VIDREC_TEST_DECODED_WORKER";

/// What a worker does: loads some epochs, compares them with those of a loader without a cache, and prints what came out.
pub struct Job {
    pub seed: u64,
    /// 0: until it is killed.
    pub epochs: u64,
    pub limit: u64,
    /// Bytes that something else takes of the file system.
    pub ballast: u64,
    pub set: PathBuf,
    pub memory: PathBuf,
}

impl Job {
    /// Makes a command that runs this program a worker for this job.
    pub fn describe(&self, command: &mut Command) {
        let Job { seed, epochs, limit, ballast, set, memory } = self;
        let text = format!("{seed} {epochs} {limit} {ballast} {} {}", set.display(), memory.display());
        command.args(own_process::arguments(module_path!(), "work")).env(VARIABLE, text);
    }

    pub fn command(&self) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        self.describe(&mut command);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        command
    }

    fn read() -> Option<Self> {
        let text = std::env::var(VARIABLE).ok()?;
        let mut parts = text.splitn(6, ' ');
        let mut number = || parts.next()?.parse().ok();
        let (seed, epochs, limit, ballast) = (number()?, number()?, number()?, number()?);
        Some(Job { seed, epochs, limit, ballast, set: parts.next()?.into(), memory: parts.next()?.into() })
    }

    fn options(&self) -> LoaderOptions {
        LoaderOptions { seed: self.seed, decoded_cache: cache(&self.memory, self.limit), ..training(2, (40, 40)) }
    }
}

/// Not a test by itself.
#[test]
fn work() {
    let Some(job) = Job::read() else { return };
    if job.ballast > 0 {
        fs::write(job.memory.join("ballast"), vec![1; job.ballast as usize]).unwrap();
    }
    let loader = loader(&job.set, job.options());
    let epochs = job.epochs.max(3);
    let expected = expected(&job.set, &job.options(), epochs);
    println!("begins");
    loop {
        let same = batches(&loader, epochs) == expected;
        if job.epochs > 0 || !same {
            let stats = stats(&loader);
            println!("worker: same: {same} hits: {}, misses: {}, {:?}", stats.hits, stats.misses, stats.failure);
            break;
        }
    }
}

fn job(set: &Path, memory: &Path, seed: u64, epochs: u64) -> Job {
    Job { seed, epochs, limit: 8 << 20, ballast: 0, set: set.to_owned(), memory: memory.to_owned() }
}

#[test]
fn two_and_four_processes_share_what_any_of_them_has_decoded() {
    own_process::run(module_path!(), "two_and_four_processes_share_what_any_of_them_has_decoded", || {
        let Some(memory) = memory() else { return };
        let (_folder, dir) = set(12, 2, (120, 90));
        for count in [2, 4] {
            // Holds the cache while workers come and go.
            let options = LoaderOptions { decoded_cache: cache(memory.path(), 8 << 20), ..training(2, (40, 40)) };
            let own = loader(&dir, options);
            let workers: Vec<_> =
                (0..count).map(|seed| job(&dir, memory.path(), seed, 6).command().spawn().unwrap()).collect();
            for worker in workers {
                let output = worker.wait_with_output().unwrap();
                let text = String::from_utf8_lossy(&output.stdout).into_owned();
                assert!(output.status.success() && text.contains("same: true"), "{text}");
                assert!(!text.contains("hits: 0,") && text.contains("None"), "{text}");
            }
            let found = batches(&own, 1);
            assert!(found == expected(&dir, &LoaderOptions { ..training(2, (40, 40)) }, 1));
            let stats = stats(&own);
            assert!(stats.hits > 0 && stats.misses == 0, "others have decoded everything: {stats:?}");
            assert_eq!(files(memory.path()).len(), 1);
            drop(own);
            assert!(files(memory.path()).is_empty());
        }
    });
}

#[test]
#[ignore = "full: kills at many times"]
fn a_kill_at_any_time_leaves_what_is_right_and_is_used() {
    own_process::run(module_path!(), "a_kill_at_any_time_leaves_what_is_right_and_is_used", || {
        let Some(memory) = memory() else { return };
        let (_folder, dir) = set(12, 2, (120, 90));
        let rounds: u64 = if std::env::var_os("VIDREC_SOAK").is_some() { 300 } else { 12 };
        for round in 0..rounds {
            let mut workers: Vec<_> = (0..2)
                .map(|i| {
                    let mut worker = job(&dir, memory.path(), 100 * round + i, 0).command().spawn().unwrap();
                    let mut lines = BufReader::new(worker.stdout.take().unwrap()).lines();
                    // The test harness prints something of its own before.
                    assert!(lines.any(|line| line.unwrap().contains("begins")));
                    (worker, lines)
                })
                .collect();
            // Somewhere in filling or in reading.
            let wait = Duration::from_micros(round * 7919 % 30_000);
            let began = Instant::now();
            while began.elapsed() < wait {
                std::hint::spin_loop();
            }
            for (worker, lines) in &mut workers {
                worker.kill().unwrap();
                worker.wait().unwrap();
                assert!(!lines.any(|line| line.unwrap().contains("same: false")));
            }
            if round % 3 == 0 {
                // The next workers begin with what these left.
                continue;
            }
            let options =
                LoaderOptions { seed: round, decoded_cache: cache(memory.path(), 8 << 20), ..training(2, (40, 40)) };
            let next = loader(&dir, options.clone());
            assert!(batches(&next, 2) == expected(&dir, &options, 2), "{round}");
            assert_eq!(stats(&next).failure, None);
            // The system releases the locks when it has taken the processes apart.
            let mut next = Some(next);
            until("the last one removes the file", || {
                drop(next.take().unwrap_or_else(|| loader(&dir, options.clone())));
                files(memory.path()).is_empty()
            });
        }
    });
}

#[test]
fn what_killed_processes_left_of_other_data_sets_is_removed() {
    own_process::run(module_path!(), "what_killed_processes_left_of_other_data_sets_is_removed", || {
        let Some(memory) = memory() else { return };
        let ((_a, one), (_b, other)) = (set(3, 1, (48, 32)), set(4, 1, (48, 32)));
        let mut worker = job(&one, memory.path(), 1, 0).command().spawn().unwrap();
        let mut lines = BufReader::new(worker.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().contains("begins")));
        let left = files(memory.path());
        assert_eq!(left.len(), 1);
        let options = LoaderOptions { decoded_cache: cache(memory.path(), 8 << 20), ..training(1, (16, 16)) };
        let second = loader(&other, options.clone());
        assert!(left[0].exists() && files(memory.path()).len() == 2, "it is in use");
        worker.kill().unwrap();
        worker.wait().unwrap();
        // The system releases the lock when it has taken the process apart.
        until("the dead process's file is removed", || {
            drop(loader(&other, options.clone()));
            !left[0].exists()
        });
        assert_eq!(files(memory.path()).len(), 1);
        drop(second);
        assert!(files(memory.path()).is_empty());
    });
}
