//! Filling a cache before training: what is downloaded, what does not fit, and what an interruption leaves.

use std::ops::ControlFlow;

use fault_proxy::{Fault, Rule};
use vidrec::{Dataset, ErrorKind, Loader, Storage, no_progress};

use crate::common::until::until;
use crate::remote_cache::disk_use::Watch;
use crate::remote_cache::orders;
use crate::remote_cache::served::{PAGE, Served, cached, epoch, kept};
use crate::remote_cache::worker::Job;

/// The first page of each record file comes when it is opened.
const HEADS: u64 = 3 * PAGE;

/// Whether an epoch of a data set is that of the local one, and its record files are not asked for.
fn reads_from_disk(served: &Served, set: &Dataset) -> bool {
    let o = orders::with(&orders::shuffled());
    let expected = epoch(&Loader::new(&served.set, o.clone()).unwrap(), 0);
    served.downloaded();
    epoch(&Loader::new(set, o).unwrap(), 0) == expected && served.downloaded() == (0, 0)
}

#[test]
fn each_page_is_downloaded_once_with_large_requests_and_the_first_epoch_reads_from_disk() {
    let served = Served::large();
    let folder = tempfile::tempdir().unwrap();
    let storage = || cached(folder.path(), served.all_bytes() * 2);
    let mut done = Vec::new();
    let report = {
        let set = served.open(storage());
        let report = set.warm(&mut |progress| {
            done.push((progress.done, progress.total));
            ControlFlow::Continue(())
        });
        assert!(reads_from_disk(&served, &set));
        report.unwrap()
    };
    let records = served.record_bytes();
    assert_eq!((report.clips, report.bytes, report.kept_bytes), (served.set.len(), records, 0));
    assert_eq!((report.missing_clips, report.missing_bytes), (0, 0));
    assert!(done.is_sorted() && done.last() == Some(&(records, Some(records))), "{:?}", done.last());

    // Again: nothing but what opening takes.
    served.server.reset_counts();
    let set = served.open(storage());
    let report = set.warm(&mut no_progress).unwrap();
    assert_eq!((report.kept_bytes, report.missing_bytes), (records, 0));
    let all = served.server.counts();
    assert!(all.body_bytes <= 2 * HEADS + (8 << 10), "{all:?}");
    assert_eq!(served.downloaded(), (3, HEADS));
    assert!(reads_from_disk(&served, &set));
}

#[test]
fn some_clips_are_fetched_and_no_others() {
    let served = Served::large();
    let folder = tempfile::tempdir().unwrap();
    let chosen = [3, 4, 5, 90, 4, 41];
    let set = served.open(cached(folder.path(), served.all_bytes() * 2)).select(chosen).unwrap();
    let report = set.warm(&mut no_progress).unwrap();
    let sizes = served.clip_bytes();
    let wanted: u64 = [3, 4, 5, 41, 90].iter().map(|&clip| sizes[clip as usize]).sum();
    assert_eq!((report.clips, report.bytes, report.missing_bytes), (6, wanted, 0));
    let (_, came) = served.downloaded();
    assert!(came <= wanted + 2 * HEADS + 5 * 2 * PAGE, "{came} of {wanted}");
    let local = served.set.select(chosen).unwrap();
    let o = orders::with(&orders::shuffled());
    assert!(epoch(&Loader::new(&set, o.clone()).unwrap(), 0) == epoch(&Loader::new(&local, o).unwrap(), 0));
    assert_eq!(served.downloaded(), (0, 0));
}

#[test]
fn what_does_not_fit_is_counted_and_not_fetched() {
    // Several requests fit, and the last of them is a short one.
    let served = Served::new(&[100, 80], 16, 7_000);
    let folder = tempfile::tempdir().unwrap();
    let limit = served.all_bytes() * 8 / 10;
    let watch = Watch::of(folder.path(), limit);
    for run in 0..2 {
        served.downloaded();
        let report = served.open(cached(folder.path(), limit)).warm(&mut no_progress).unwrap();
        let (_, came) = served.downloaded();
        let what = format!("run {run}: {came} bytes, {report:?}");
        assert_eq!(report.cache_bytes, limit, "{what}");
        let held = report.bytes - report.missing_bytes;
        assert!(held <= limit && held * 100 > limit * 90, "{what}");
        assert!(report.missing_clips > 20 && report.missing_clips < served.set.len(), "{what}");
        assert!(came <= if run == 0 { held + 2 * HEADS + 200 * PAGE } else { HEADS }, "{what}");
    }
    watch.end();
}

#[test]
fn after_a_kill_it_continues() {
    let served = Served::large();
    let folder = tempfile::tempdir().unwrap();
    let limit = served.all_bytes() * 2;
    // Both ends of three record files, and one more answer.
    served.server.rules().add(Rule::new(Fault::NoAnswer).path(".rec").after(7));
    let job = Job { warms: true, ..Job::new(&served, folder.path(), limit) };
    let mut worker = job.start();
    until("some of it is kept", || kept(folder.path()) > 1 << 20);
    worker.kill();
    served.server.rules().clear();

    // What was being written is lost.
    const RANGE: u64 = 1 << 20;
    let kept = kept(folder.path());
    assert!(kept < served.record_bytes());
    served.downloaded();
    let set = served.open(cached(folder.path(), limit));
    let report = set.warm(&mut no_progress).unwrap();
    let (_, came) = served.downloaded();
    // The last page of an object counts as a whole one until all are there.
    let edges = served.set.len() * PAGE;
    assert!(came <= served.record_bytes() - kept + RANGE + 2 * HEADS + edges, "{came} bytes, {kept} kept");
    assert!(report.kept_bytes + RANGE > kept / 2 && report.kept_bytes <= kept, "{report:?}, {kept} kept");
    assert!(reads_from_disk(&served, &set));
}

#[test]
fn it_stops_when_told_and_without_a_cache_it_says_so() {
    let served = Served::small();
    let e = served.open(Storage::default()).warm(&mut no_progress).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Usage);
    assert!(e.hints().contains(&vidrec::Hint::Set("cache")), "{e:#}");

    let folder = tempfile::tempdir().unwrap();
    let set = served.open(cached(folder.path(), served.all_bytes() * 2));
    let stop = |progress: &vidrec::Progress| match progress.done > 0 {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    assert_eq!(set.warm(&mut { stop }).unwrap_err().kind(), ErrorKind::Interrupted);
    // What was asked for and not taken is not left in the way.
    assert_eq!(set.warm(&mut no_progress).unwrap().missing_bytes, 0);
    assert!(reads_from_disk(&served, &set));
}
