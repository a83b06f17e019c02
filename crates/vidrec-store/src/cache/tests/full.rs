//! A disk that is full before the limit is reached.

use std::process::Stdio;
use std::sync::PoisonError;

use super::support::GATE;
use super::worker::{Job, Kind};
use crate::cache::PAGE_BYTES;
use crate::skip::skip;
use crate::small_disk::shell_that_mounts;

#[test]
fn a_full_disk_is_an_error_once_and_what_was_stored_stays() {
    let folder = tempfile::tempdir().unwrap();
    let gate = GATE.write().unwrap_or_else(PoisonError::into_inner);
    let shell = shell_that_mounts(folder.path(), 400 << 10);
    drop(gate);
    let Some(mut shell) = shell else { return skip("no file system can be mounted") };
    shell.arg(std::env::current_exe().unwrap());
    Job::new(&folder.path().join("cache"), Kind::Fill, 1 << 30, 500 * PAGE_BYTES + 1).describe(&mut shell);
    shell.stderr(Stdio::piped());
    let gate = GATE.write().unwrap_or_else(PoisonError::into_inner);
    let child = shell.spawn().unwrap();
    drop(gate);
    let run = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{said}{}", String::from_utf8_lossy(&run.stderr));
    let result = said.lines().find_map(|line| line.split_once("worker: ")).unwrap().1;
    let (stored, error) = result.split_once(' ').unwrap();
    assert!((50..100).contains(&(stored.parse::<u64>().unwrap() / PAGE_BYTES)), "{result}");
    assert!(error.contains("No space left") && error.contains("continues without storing more pages"), "{error}");
}
