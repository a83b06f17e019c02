//! A disk that is full before the cache's limit is reached.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::skip::skip;
use crate::served::Served;
use crate::worker::{Job, Worker};

/// A shell for one command, with a file system of so many bytes mounted at `folder` that goes away with the shell.
fn shell_that_mounts(folder: &Path, bytes: u64) -> Option<Command> {
    let ways = [
        &["unshare", "--mount"][..],
        &["unshare", "--map-root-user", "--mount"],
        &["sudo", "-n", "--preserve-env", "unshare", "--mount"],
    ];
    let owner = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(folder).unwrap());
    let mount = format!("mount -t tmpfs -o size={bytes},uid={owner} tmpfs '{}'", folder.display());
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

/// The disk fills up with pages; or it is so small that there is no room for the files of most objects.
#[test]
fn batches_are_right_and_failures_are_counted() {
    let served = Served::new(&[6; 8], 16, 7_000);
    for bytes in [1 << 20, 64 << 10] {
        let folder = tempfile::tempdir().unwrap();
        let Some(mut shell) = shell_that_mounts(folder.path(), bytes) else {
            return skip("no file system can be mounted");
        };
        shell.arg(std::env::current_exe().unwrap());
        let job = Job { epochs: 3, ..Job::new(&served, &folder.path().join("cache"), 1 << 30) };
        job.describe(&mut shell);
        let mut worker = Worker::of(shell);
        assert_eq!([worker.says(), worker.says(), worker.says(), worker.says()], ["open", "0", "1", "2"]);
        let stats: serde_json::Value = serde_json::from_str(&worker.says()).unwrap();
        let number = |name: &str| stats[name].as_u64().unwrap();
        assert!(number("cache_failures") > 0 && number("fetched_bytes") > served.record_bytes(), "{bytes} {stats}");
        assert!(bytes < 1 << 20 || number("cached_bytes") > bytes / 2, "what was kept is used: {stats}");
        worker.end();
    }
}
