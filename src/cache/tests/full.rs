//! A disk that is full before the limit is reached.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::PoisonError;

use super::support::GATE;
use super::worker::{Job, Kind};
use crate::cache::PAGE_BYTES;
use crate::skip::skip;

/// A shell for one command, with a file system of 400 kB mounted at `folder` that goes away with the shell.
fn shell_that_mounts(folder: &Path) -> Option<Command> {
    let ways = [
        &["unshare", "--mount"][..],
        &["unshare", "--map-root-user", "--mount"],
        &["sudo", "-n", "--preserve-env", "unshare", "--mount"],
    ];
    let owner = std::os::unix::fs::MetadataExt::uid(&fs::metadata(folder).unwrap());
    let mount = format!("mount -t tmpfs -o size=400k,uid={owner} tmpfs '{}'", folder.display());
    ways.into_iter().find_map(|way| {
        let shell = |script: &str| {
            let mut shell = Command::new(way[0]);
            shell.args(&way[1..]).args(["sh", "-c", script]).stdin(Stdio::null());
            shell
        };
        let may = shell(&mount).stderr(Stdio::null()).status().is_ok_and(|status| status.success());
        may.then(|| shell(&format!("{mount} && exec \"$0\" \"$@\"")))
    })
}

#[test]
fn a_full_disk_is_an_error_once_and_what_was_stored_stays() {
    let folder = tempfile::tempdir().unwrap();
    let gate = GATE.write().unwrap_or_else(PoisonError::into_inner);
    let shell = shell_that_mounts(folder.path());
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
    assert!(error.contains("No space left") && error.contains("keeps no more pages"), "{error}");
}
