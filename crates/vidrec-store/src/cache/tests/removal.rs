//! Tests of what is removed when there is no room, and what stays.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::support::{fill, on_disk, right_pages};
use crate::cache::{PAGE_BYTES, PageCache, clear, layout, show, trim};

const P: u64 = PAGE_BYTES;

/// Fills an object and closes it. `age` is the number of seconds since its last use.
fn put(dir: &Path, location: &str, pages: u64, age: u64) {
    let cache = PageCache::open(dir, 1 << 30).unwrap();
    let object = cache.object(location, "1", pages * P).unwrap();
    assert_eq!(fill(&object, 0..pages * P), pages * P);
    drop(object);
    let path = dir.join("objects").join(layout::Identity::new(location, "1", pages * P).key()).join("pages");
    let then = SystemTime::now() - Duration::from_secs(age);
    fs::File::options().write(true).open(path).unwrap().set_modified(then).unwrap();
}

fn locations(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> = show(dir).unwrap().objects.into_iter().map(|object| object.location).collect();
    names.sort();
    names
}

#[test]
fn without_room_the_objects_go_that_nobody_has_open_and_the_oldest_first() {
    let _starts = crate::process_starts::none();
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), "a", 10, 100);
    put(dir.path(), "b", 10, 300);
    put(dir.path(), "c", 10, 200);
    let cache = PageCache::open(dir.path(), 40 * P).unwrap();
    let used = cache.object("b", "1", 10 * P).unwrap();
    let new = cache.object("d", "1", 100 * P).unwrap();
    assert_eq!(fill(&new, 0..10 * P), 10 * P);
    assert_eq!(locations(dir.path()), ["a", "b", "c", "d"]);
    assert_eq!(fill(&new, 10 * P..15 * P), 5 * P);
    assert_eq!((locations(dir.path()), cache.taken()), (vec!["a".into(), "b".into(), "d".into()], 35 * P));
    // The object gets all the remaining room.
    assert_eq!(fill(&new, 0..100 * P), 15 * P);
    assert_eq!((locations(dir.path()), cache.taken()), (vec!["b".into(), "d".into()], 40 * P));
    assert_eq!(new.claim(0..100 * P).full, [30 * P..100 * P]);
    assert_eq!((right_pages(&used), right_pages(&new), on_disk(dir.path())), (10, 30, 40 * P));
    drop((used, new, cache));
    // A smaller limit applies from the start.
    let cache = PageCache::open(dir.path(), 10 * P).unwrap();
    assert!(cache.taken() <= 10 * P && on_disk(dir.path()) <= 10 * P);
    assert_eq!(cache.limit(), 10 * P);
}

#[test]
fn trimming_and_clearing_leave_what_is_in_use_and_say_so() {
    let _starts = crate::process_starts::none();
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), "s3://a/1", 10, 300);
    put(dir.path(), "s3://a/2", 10, 200);
    put(dir.path(), "s3://b/1", 10, 100);
    let cache = PageCache::open(dir.path(), 1 << 20).unwrap();
    let used = cache.object("s3://a/1", "1", 10 * P).unwrap();
    let report = show(dir.path()).unwrap();
    assert_eq!((report.bytes, report.taken, report.limit), (30 * P, Some(30 * P), Some(1 << 20)));
    let in_use = |location: &str| report.objects.iter().find(|object| object.location == location).unwrap().in_use;
    assert_eq!([in_use("s3://a/1"), in_use("s3://a/2")], [true, false]);

    let names = |objects: &[crate::cache::CachedReport]| -> Vec<String> {
        objects.iter().map(|object| object.location.clone()).collect()
    };
    assert_eq!(trim(dir.path(), 30 * P).unwrap().removed, []);
    let report = trim(dir.path(), 25 * P).unwrap();
    assert_eq!((names(&report.removed), report.taken), (vec!["s3://a/2".into()], 20 * P));
    let report = clear(dir.path(), Some("s3://a/")).unwrap();
    assert_eq!((names(&report.removed), names(&report.in_use)), (vec![], vec!["s3://a/1".into()]));
    let report = clear(dir.path(), None).unwrap();
    assert_eq!((names(&report.removed), report.taken), (vec!["s3://b/1".into()], 10 * P));
    assert_eq!(right_pages(&used), 10);
    drop((used, cache));
    assert_eq!(names(&clear(dir.path(), None).unwrap().removed), ["s3://a/1"]);
    assert_eq!((show(dir.path()).unwrap().objects, on_disk(dir.path())), (vec![], 0));
}

#[test]
fn a_removal_that_was_interrupted_is_completed_and_counted_once() {
    let _starts = crate::process_starts::none();
    for keep_pages in [true, false] {
        let dir = tempfile::tempdir().unwrap();
        put(dir.path(), "a", 10, 100);
        put(dir.path(), "b", 10, 50);
        let cache = PageCache::open(dir.path(), 20 * P).unwrap();
        // The state that a process leaves if it is killed after it renamed the folder, or after it deleted the pages.
        let key = layout::Identity::new("a", "1", 10 * P).key();
        let trash = dir.path().join(format!("trash-{key}"));
        fs::rename(dir.path().join("objects").join(key), &trash).unwrap();
        if !keep_pages {
            fs::remove_file(trash.join("pages")).unwrap();
        }
        assert_eq!(cache.taken(), 20 * P);
        let new = cache.object("c", "1", 15 * P).unwrap();
        assert_eq!(fill(&new, 0..10 * P), 10 * P);
        assert_eq!(
            (locations(dir.path()), cache.taken(), trash.exists()),
            (vec!["b".into(), "c".into()], 20 * P, false)
        );
    }
}

#[test]
fn a_folder_with_other_files_is_refused_and_left_alone() {
    let _starts = crate::process_starts::none();
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("objects/00112233445566778899aabbccddeeff")).unwrap();
    fs::write(dir.path().join("thesis.txt"), b"mine").unwrap();
    let before = fs::read_dir(dir.path()).unwrap().count();
    let e = PageCache::open(dir.path(), 1 << 20).unwrap_err();
    assert!(e.to_string().contains("other files") && e.to_string().contains("empty"), "{e}");
    for e in [show(dir.path()).unwrap_err(), trim(dir.path(), 0).unwrap_err(), clear(dir.path(), None).unwrap_err()] {
        assert!(e.to_string().contains("not a vidrec cache"), "{e}");
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), before);
    assert!(dir.path().join("objects/00112233445566778899aabbccddeeff").exists());

    let other = dir.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("vidrec-cache"), "vidrec cache, format 2\n").unwrap();
    for e in [PageCache::open(&other, 1 << 20).unwrap_err(), show(&other).unwrap_err()] {
        assert!(e.to_string().contains("another version") && e.to_string().contains("format 2"), "{e}");
    }
    assert!(PageCache::open(&dir.path().join("thesis.txt"), 1 << 20).is_err());
    let e = PageCache::open(&dir.path().join("new"), P - 1).unwrap_err();
    assert!(e.to_string().contains("at least 4096"), "{e}");
    // Other files in a cache stay.
    let cache = dir.path().join("cache");
    drop(PageCache::open(&cache, 1 << 20).unwrap());
    for name in ["notes.txt", "trash-bin", "new-ideas", "objects/readme"] {
        fs::write(cache.join(name), b"mine").unwrap();
    }
    drop(PageCache::open(&cache, 1 << 20).unwrap());
    clear(&cache, None).unwrap();
    assert!(["notes.txt", "trash-bin", "new-ideas", "objects/readme"].iter().all(|name| cache.join(name).exists()));
}
