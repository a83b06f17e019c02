//! Several processes on one cache, some of which are killed.

use std::time::Duration;

use super::support::{bytes, on_disk, on_disk_at_least, right_pages};
use super::worker::{Job, Kind, Worker, in_own_process};
use crate::cache::{PAGE_BYTES, PageCache, layout, show};
use vidrec_format::random::Random;

const LENGTH: u64 = 1000 * PAGE_BYTES + 17;

/// Starts processes that read a whole object. Returns how many bytes they fetched to keep, how many they did not
/// keep, and the number of pages.
fn read_together(processes: u64, limit: u64) -> (u64, u64, u64) {
    let dir = tempfile::tempdir().unwrap();
    let job = Job::new(dir.path(), Kind::Once, limit, LENGTH);
    let mut workers: Vec<Worker> = (0..processes).map(|seed| Job { seed, ..job.clone() }.start()).collect();
    let (mut kept, mut not_kept) = (0, 0);
    while workers.iter_mut().any(|worker| worker.is_running()) {
        assert!(on_disk_at_least(dir.path()) <= limit);
        std::thread::sleep(Duration::from_millis(1));
    }
    for mut worker in workers.drain(..) {
        let result = worker.result();
        let (more, full) = result.split_once(' ').unwrap();
        kept += more.parse::<u64>().unwrap();
        not_kept += full.parse::<u64>().unwrap();
        worker.end();
    }
    let cache = PageCache::open(dir.path(), limit).unwrap();
    let pages = right_pages(&cache.object("s3://b/o", "1", LENGTH).unwrap());
    assert_eq!(cache.taken(), pages * PAGE_BYTES);
    (kept, not_kept, pages)
}

#[test]
fn two_and_eight_processes_fetch_each_page_once() {
    in_own_process("two_and_eight_processes_fetch_each_page_once", || {
        for processes in [2, 8] {
            assert_eq!(read_together(processes, 1 << 30), (LENGTH, 0, 1001), "{processes} processes");
        }
    });
}

#[test]
fn processes_keep_what_fits_and_fetch_only_the_rest_again() {
    in_own_process("processes_keep_what_fits_and_fetch_only_the_rest_again", || {
        let (kept, not_kept, pages) = read_together(4, 300 * PAGE_BYTES);
        // The last page may be shorter. It may or may not be among them.
        assert!(pages == 300 && (299 * PAGE_BYTES + 17..=300 * PAGE_BYTES).contains(&kept), "{kept} {pages}");
        assert!(not_kept >= 4 * (LENGTH - kept), "{not_kept}");
    });
}

fn kill_at_random_moments() {
    let dir = tempfile::tempdir().unwrap();
    let limit = 400 * PAGE_BYTES;
    let job = Job::new(dir.path(), Kind::Forever, limit, LENGTH);
    let mut random = Random::new(7, &[]);
    // This cache stays open, so that no process recounts meanwhile.
    let witness = PageCache::open(dir.path(), limit).unwrap();
    let object = witness.object("s3://b/o", "1", LENGTH).unwrap();
    for round in 0..34u64 {
        let start = |i| Job { seed: 3 * round + i, ..job.clone() }.start();
        let mut workers: Vec<Worker> = (0..3).map(start).collect();
        workers.iter_mut().for_each(|worker| assert_eq!(worker.result(), "begun"));
        for worker in &mut workers {
            // The time only decides where the process is killed.
            std::thread::sleep(Duration::from_micros(random.below(20_000)));
            assert!(on_disk_at_least(dir.path()) <= limit);
            assert!(worker.is_running(), "a worker failed");
            worker.kill();
        }
        let (on_disk, taken) = (on_disk_at_least(dir.path()), witness.taken());
        assert!(on_disk <= taken && taken <= limit, "{on_disk} {taken} {limit}");
        right_pages(&object);
    }
    // No living process has claims, so every page can be claimed, or there is no room for it.
    let claims = object.claim(0..LENGTH);
    assert_eq!(claims.others, []);
    for mine in claims.mine {
        object.store(mine.start, &bytes(mine.clone())).unwrap();
    }
    right_pages(&object);
    assert!(on_disk_at_least(dir.path()) <= witness.taken());
    drop((object, witness));

    // With a single process again, the budget equals the present pages, and nothing else is left.
    let cache = PageCache::open(dir.path(), 1 << 30).unwrap();
    let objects = show(dir.path()).unwrap().objects;
    let there: u64 = objects.iter().map(|object| object.bytes.next_multiple_of(PAGE_BYTES)).sum();
    assert_eq!(cache.taken(), there);
    let tables = (on_disk(dir.path()) - there) / PAGE_BYTES;
    assert!(tables <= 10, "{tables} blocks more than the pages");
    assert!(layout::trash(dir.path()).unwrap().is_empty() && layout::unfinished(dir.path()).unwrap().is_empty());
    let object = cache.object("s3://b/o", "1", LENGTH).unwrap();
    assert!(right_pages(&object) > 100, "{}", right_pages(&object));
    let pages = (0..LENGTH).step_by(PAGE_BYTES as usize).map(|at| at..LENGTH.min(at + PAGE_BYTES));
    let absent: u64 = pages.filter(|page| object.get(page.clone()).is_none()).map(|page| page.end - page.start).sum();
    assert_eq!(Job { kind: Kind::Once, limit: 1 << 30, ..job }.start().result(), format!("{absent} 0"));
}

#[test]
fn killed_at_random_moments() {
    in_own_process("killed_at_random_moments", kill_at_random_moments);
}

#[test]
fn the_pages_of_a_killed_process_are_waited_for_until_it_is_dead_and_then_claimed() {
    in_own_process("the_pages_of_a_killed_process_are_waited_for_until_it_is_dead_and_then_claimed", || {
        let dir = tempfile::tempdir().unwrap();
        let cache = PageCache::open(dir.path(), 1 << 20).unwrap();
        let object = cache.object("s3://b/o", "1", LENGTH).unwrap();
        let hold = Job::new(dir.path(), Kind::Hold, 1 << 20, LENGTH);
        let page = 0..PAGE_BYTES;
        let mut worker = hold.start();
        assert_eq!(worker.result(), "claimed");
        assert_eq!(object.claim(page.clone()).others, std::slice::from_ref(&page));
        object.wait(page.clone(), Duration::from_millis(5));
        assert_eq!(object.claim(page.clone()).others, std::slice::from_ref(&page), "it is alive");
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| object.wait(page.clone(), Duration::from_secs(3600)));
            worker.kill();
            waiting.join().unwrap();
        });
        // A new process may get the number of the dead one first, but not its claim.
        let mut next = hold.start();
        assert_eq!(next.result(), "claimed");
        assert_eq!(cache.taken(), PAGE_BYTES);
        next.kill();
        assert_eq!(object.claim(page.clone()).mine, std::slice::from_ref(&page));
        assert_eq!(cache.taken(), PAGE_BYTES);
        // Bytes may be on the disk, so the room stays taken when the claim is given up.
        object.give_up(page);
        assert_eq!(cache.taken(), PAGE_BYTES);
    });
}

#[test]
fn a_forked_process_reads_and_keeps_nothing_of_what_it_has_inherited() {
    in_own_process("a_forked_process_reads_and_keeps_nothing_of_what_it_has_inherited", || {
        let dir = tempfile::tempdir().unwrap();
        let mut worker = Job::new(dir.path(), Kind::Fork, 1 << 20, LENGTH).start();
        assert_eq!(worker.result(), "0", "the status of the forked process");
        worker.end();
        let cache = PageCache::open(dir.path(), 1 << 20).unwrap();
        assert_eq!((right_pages(&cache.object("s3://b/o", "1", LENGTH).unwrap()), cache.taken()), (4, 4 * PAGE_BYTES));
    });
}
