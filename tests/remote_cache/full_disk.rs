//! A disk that is full before the cache's limit is reached.

use crate::common::skip::skip;
use crate::common::small_disk::shell_that_mounts;
use crate::remote_cache::served::Served;
use crate::remote_cache::worker::{Job, Worker};

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
