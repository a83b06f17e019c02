//! Tests of cache files that were changed from outside, or lost in a power failure: vidrec starts over, and never
//! panics.

use std::fs;
use std::path::{Path, PathBuf};

use super::support::{bytes, fill, on_disk, on_disk_at_least, right_pages};
use crate::cache::{PAGE_BYTES, PageCache, clear, layout, show};

const P: u64 = PAGE_BYTES;
const LENGTH: u64 = 20 * P + 5;

/// A closed cache with one complete object, and the object's folder.
fn whole() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let cache = PageCache::open(dir.path(), 1 << 20).unwrap();
    let object = cache.object("s3://b/o", "1", LENGTH).unwrap();
    assert_eq!(fill(&object, 0..LENGTH), LENGTH);
    drop((object, cache));
    let folder = dir.path().join("objects").join(layout::Identity::new("s3://b/o", "1", LENGTH).key());
    assert!(folder.join("clean").exists());
    (dir, folder)
}

/// Opens the cache and makes the whole object right, as its user would. Returns how many pages were right before.
fn use_it(dir: &Path) -> u64 {
    let cache = PageCache::open(dir, 1 << 20).unwrap();
    let object = cache.object("s3://b/o", "1", LENGTH).unwrap();
    let mut right = 0;
    for page in (0..LENGTH).step_by(P as usize) {
        let range = page..LENGTH.min(page + P);
        let is_right = object.get(range.clone()).is_some_and(|got| got == bytes(range.clone()));
        right += u64::from(is_right);
        if !is_right {
            object.forget(range.clone());
        }
        fill(&object, range.clone());
        assert_eq!(object.get(range.clone()).unwrap(), bytes(range));
    }
    assert!(cache.taken() >= on_disk_at_least(dir) && right_pages(&object) == 21);
    right
}

/// What happens to an object's folder, a function that does it, and how many pages are right afterwards.
type Damage<'a> = (&'a str, &'a dyn Fn(&Path), u64);

#[test]
fn damaged_files_of_an_object_are_dropped_or_proved_wrong() {
    let _starts = crate::process_starts::none();
    let damages: &[Damage] = &[
        ("nothing", &|_| {}, 21),
        ("no identity", &|o| fs::remove_file(o.join("object.json")).unwrap(), 0),
        ("another identity", &|o| fs::write(o.join("object.json"), "{}").unwrap(), 0),
        ("an identity that is a folder", &|o| folder(&o.join("object.json")), 0),
        ("no map", &|o| fs::remove_file(o.join("map")).unwrap(), 0),
        ("a map that is too short", &|o| cut(&o.join("map"), 20), 0),
        ("a map that is too long", &|o| cut(&o.join("map"), 22), 0),
        ("an empty map", &|o| cut(&o.join("map"), 0), 0),
        ("a map of dead claims", &|o| fs::write(o.join("map"), [7; 21]).unwrap(), 0),
        ("a map of all states", &|o| fs::write(o.join("map"), (235..=255).collect::<Vec<u8>>()).unwrap(), 1),
        ("no pages", &|o| fs::remove_file(o.join("pages")).unwrap(), 0),
        ("pages that are cut off", &|o| cut(&o.join("pages"), 3 * P), 0),
        ("pages that are a folder", &|o| folder(&o.join("pages")), 0),
        ("pages of zeros", &|o| fs::write(o.join("pages"), vec![0; LENGTH as usize]).unwrap(), 0),
        (
            "an empty folder",
            &|o| {
                fs::remove_dir_all(o).unwrap();
                fs::create_dir(o).unwrap()
            },
            0,
        ),
        (
            "a file",
            &|o| {
                fs::remove_dir_all(o).unwrap();
                fs::write(o, b"x").unwrap()
            },
            0,
        ),
    ];
    for (what, damage, expected) in damages {
        // A process that opens the cache alone finds the damage, and so does one that opens the object while others
        // use the cache.
        for alone in [true, false] {
            let (dir, object) = whole();
            let other = (!alone).then(|| PageCache::open(dir.path(), 1 << 20).unwrap());
            damage(&object);
            assert!(show(dir.path()).unwrap().objects.len() <= 1);
            assert_eq!(use_it(dir.path()), *expected, "{what}, {alone}");
            drop(other);
            assert_eq!(use_it(dir.path()), 21, "{what}, {alone}, again");
            clear(dir.path(), None).unwrap();
            assert_eq!(on_disk(dir.path()), 0);
        }
    }
}

fn cut(path: &Path, length: u64) {
    fs::File::options().write(true).open(path).unwrap().set_len(length).unwrap();
}

fn folder(path: &Path) {
    fs::remove_file(path).unwrap();
    fs::create_dir_all(path.join("deep")).unwrap();
}

#[test]
fn links_are_not_followed() {
    let _starts = crate::process_starts::none();
    let (dir, object) = whole();
    let source = dir.path().join("source");
    let original = vec![9; LENGTH as usize];
    for name in ["pages", "object.json"] {
        fs::write(&source, &original).unwrap();
        fs::remove_file(object.join(name)).unwrap();
        std::os::unix::fs::symlink(&source, object.join(name)).unwrap();
        assert_eq!(use_it(dir.path()), 0, "{name}");
        clear(dir.path(), None).unwrap();
        assert_eq!(fs::read(&source).unwrap(), original);
        use_it(dir.path());
    }
}

#[test]
fn a_damaged_budget_is_counted_anew() {
    let _starts = crate::process_starts::none();
    for damage in [&[][..], &[0xff; 32], &[1, 2, 3]] {
        let (dir, _) = whole();
        fs::write(dir.path().join("budget"), damage).unwrap();
        assert_eq!(show(dir.path()).unwrap().taken, None);
        assert_eq!(use_it(dir.path()), 21);
        assert_eq!(PageCache::open(dir.path(), 1 << 20).unwrap().taken(), 21 * P);
        let user = PageCache::open(dir.path(), 1 << 20).unwrap();
        fs::write(dir.path().join("budget"), damage).unwrap();
        let e = PageCache::open(dir.path(), 1 << 20).unwrap_err();
        assert!(e.to_string().contains("changed from outside") && e.to_string().contains("end the processes"), "{e}");
        // A process that has it open keeps no more pages, and continues to read.
        let object = user.object("s3://b/o", "1", LENGTH).unwrap();
        assert_eq!(right_pages(&object), 21);
    }
}

#[test]
fn a_map_or_budget_that_is_cut_off_in_use_ends_the_keeping_and_nothing_else() {
    let _starts = crate::process_starts::none();
    for name in ["map", "budget"] {
        let (dir, object) = whole();
        let cache = PageCache::open(dir.path(), 1 << 20).unwrap();
        let opened = cache.object("s3://b/o", "1", LENGTH).unwrap();
        let new = cache.object("s3://b/new", "1", LENGTH).unwrap();
        let path = if name == "map" { object.join(name) } else { dir.path().join(name) };
        cut(&path, 0);
        let (of_old, of_new) = (opened.claim(0..LENGTH), new.claim(0..LENGTH));
        assert!(right_pages(&opened) <= 21);
        if cfg!(target_os = "linux") && name == "budget" {
            assert_eq!((of_old.mine.len(), of_new.mine.len(), of_new.full.len()), (0, 0, 1));
        }
        drop((opened, new, cache));
        use_it(dir.path());
    }
}

#[test]
fn after_the_machine_started_anew_only_what_was_closed_in_order_is_trusted() {
    let _starts = crate::process_starts::none();
    let other_boot = |dir: &Path| {
        let path = dir.join("budget");
        let mut budget = fs::read(&path).unwrap();
        budget[16] ^= 1;
        fs::write(path, budget).unwrap();
    };
    let (dir, object) = whole();
    other_boot(dir.path());
    assert_eq!(use_it(dir.path()), 21, "closed in order");
    // The state that a process leaves if it is killed while it stores a page.
    let cache = PageCache::open(dir.path(), 1 << 20).unwrap();
    let opened = cache.object("s3://b/o", "1", LENGTH).unwrap();
    assert!(object.join("clean").exists());
    opened.forget(0..1);
    fill(&opened, 0..1);
    assert!(!object.join("clean").exists(), "removed before the first page is stored");
    drop((opened, cache));
    assert!(object.join("clean").exists());
    fs::remove_file(object.join("clean")).unwrap();
    assert_eq!(use_it(dir.path()), 21, "the machine did not restart");
    fs::remove_file(object.join("clean")).unwrap();
    other_boot(dir.path());
    assert_eq!(use_it(dir.path()), 0);

    let user = PageCache::open(dir.path(), 1 << 20).unwrap();
    other_boot(dir.path());
    let e = PageCache::open(dir.path(), 1 << 20).unwrap_err();
    assert!(e.to_string().contains("another machine"), "{e}");
    drop(user);
}
