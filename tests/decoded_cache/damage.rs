//! Damage: of records, which a cache must neither hide nor keep, and of the memory.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;

use proptest::prelude::*;
use vidrec::{Crop, Dataset, LoaderOptions, OnBadFrame};

use crate::common::{damage, loader, one_by_one, own_process, set};
use crate::decoded_cache::support::{batches, cache, expected, files, memory, stats, training};

/// What comes out, with errors as text.
fn told(set: &std::path::Path, options: &LoaderOptions, epochs: u64) -> Vec<Result<vidrec::Batch, String>> {
    let loader = loader(set, options.clone());
    let all = (0..epochs).flat_map(|epoch| one_by_one(&loader, epoch));
    all.map(|batch| batch.map_err(|e| format!("{e:#}"))).collect()
}

#[test]
fn a_damaged_record_is_the_same_error_or_the_same_substitute() {
    let Some(memory) = memory() else { return };
    let (_folder, dir) = set(8, 2, (64, 64));
    damage(&dir, 3, 1);
    for on_bad_frame in [OnBadFrame::Error, OnBadFrame::Substitute] {
        let without = LoaderOptions { on_bad_frame, ..training(2, (32, 32)) };
        let with = LoaderOptions { decoded_cache: cache(memory.path(), 8 << 20), ..without.clone() };
        let expected = told(&dir, &without, 5);
        assert!(told(&dir, &with, 5) == expected, "{on_bad_frame:?}");
        let errors = expected.iter().filter(|batch| batch.is_err()).count();
        assert_eq!(errors, if on_bad_frame == OnBadFrame::Error { 5 } else { 0 });
    }
}

#[test]
fn what_is_not_what_its_checksum_says_is_not_kept() {
    let Some(memory) = memory() else { return };
    let (_folder, dir) = set(8, 1, (64, 64));
    // Among the coded pixels, where a bit may change nothing but colors.
    damage(&dir, 4, 0);
    let crop = Crop::center((64, 64));
    let options = LoaderOptions { crop, decoded_cache: cache(memory.path(), 8 << 20), ..training(1, (64, 64)) };
    let loader = loader(&dir, options);
    (0..3).for_each(|epoch| one_by_one(&loader, epoch).for_each(drop));
    let stats = stats(&loader);
    // A frame that is not what its checksum says counts as none.
    assert!(stats.hits == 14 && stats.misses == 7, "{stats:?}");
}

#[test]
fn a_record_that_is_damaged_after_it_was_kept_is_not_read() {
    let Some(memory) = memory() else { return };
    let (_folder, dir) = set(2, 1, (64, 64));
    let crop = Crop::center((64, 64));
    let options = LoaderOptions { crop, decoded_cache: cache(memory.path(), 8 << 20), ..training(1, (64, 64)) };
    let expected = expected(&dir, &options, 3);
    let loader = loader(&dir, options);
    assert!(batches(&loader, 1)[..] == expected[..2]);
    damage(&dir, 1, 0);
    assert!(batches(&loader, 3) == expected);
}

#[test]
fn a_file_that_is_cut_off_is_given_up_and_nothing_is_wrong() {
    own_process::run(module_path!(), "a_file_that_is_cut_off_is_given_up_and_nothing_is_wrong", || {
        let Some(memory) = memory() else { return };
        let (_folder, dir) = set(6, 2, (100, 80));
        for length in [0, 5000, 100_000] {
            let options = LoaderOptions { decoded_cache: cache(memory.path(), 8 << 20), ..training(2, (40, 40)) };
            let cached = loader(&dir, options.clone());
            let expected = expected(&dir, &options, 6);
            assert!(batches(&cached, 3) == expected[..9]);
            let file = File::options().write(true).open(&files(memory.path())[0]).unwrap();
            file.set_len(length).unwrap();
            assert!(batches(&cached, 6) == expected, "{length}");
            let failure = stats(&cached).failure;
            assert!(failure.as_ref().is_some_and(|text| text.contains("truncated")), "{length}: {failure:?}");
            assert!(cached.warnings().iter().any(|text| text.contains("truncated")));
            // Whoever comes next has a file of its own, if the name is free.
            drop(cached);
            assert!(batches(&loader(&dir, options), 6) == expected);
            assert!(files(memory.path()).is_empty());
        }
    });
}

#[test]
fn bytes_are_never_given_out_twice() {
    let Some(memory) = memory() else { return };
    let (_folder, dir) = set(8, 2, (100, 80));
    let options = LoaderOptions { decoded_cache: cache(memory.path(), 8 << 20), ..training(2, (40, 40)) };
    let expected = expected(&dir, &options, 4);
    let loader = loader(&dir, options);
    // The other frames take bytes afterwards.
    assert!((0..2).all(|k| loader.batch(0, k).unwrap() == expected[k as usize]));
    // How many are taken, as if none were.
    let file = File::options().write(true).open(&files(memory.path())[0]).unwrap();
    file.write_all_at(&[0; 8], 128).unwrap();
    assert!(batches(&loader, 4) == expected);
    let failure = stats(&loader).failure;
    assert!(failure.as_ref().is_some_and(|text| text.contains("other bytes")), "{failure:?}");
}

#[test]
fn files_that_are_no_caches_are_replaced_or_left_alone() {
    own_process::run(module_path!(), "files_that_are_no_caches_are_replaced_or_left_alone", || {
        let Some(memory) = memory() else { return };
        let (_folder, dir) = set(3, 1, (48, 40));
        let options = LoaderOptions { decoded_cache: cache(memory.path(), 1 << 20), ..training(1, (32, 32)) };
        let expected = expected(&dir, &options, 3);
        let file = {
            let _loader = loader(&dir, options.clone());
            files(memory.path()).remove(0)
        };
        for bytes in [vec![], vec![7; 100], vec![7; 1 << 20], vec![0; 1 << 20]] {
            let own = file.parent().unwrap();
            fs::create_dir(own).unwrap();
            fs::set_permissions(own, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
            fs::write(&file, bytes).unwrap();
            fs::write(own.join("notes.txt"), b"mine").unwrap();
            fs::create_dir(own.join("folder.planes")).unwrap();
            let loader = loader(&dir, options.clone());
            assert!(batches(&loader, 3) == expected && stats(&loader).hits > 0);
            drop(loader);
            assert!(!file.exists() && fs::read(own.join("notes.txt")).unwrap() == b"mine");
            fs::remove_dir_all(own).unwrap();
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    /// Not the samples themselves: who can write to them can write to any memory of this user's processes.
    #[test]
    fn numbers_and_heads_with_any_bytes_are_noticed(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u64>(), 0u8..3), 1..5), all: bool,
    ) {
        let Some(memory) = memory() else { return Ok(()) };
        let (_folder, dir) = set(3, 2, (64, 48));
        let options = LoaderOptions { decoded_cache: cache(memory.path(), 1 << 20), ..training(2, (32, 32)) };
        let loader = loader(&dir, options.clone());
        let expected = expected(&dir, &options, 6);
        prop_assert!(batches(&loader, 3) == expected[..6]);
        let file = OpenOptions::new().read(true).write(true).open(&files(memory.path())[0]).unwrap();
        // Where frames are found, and where the segments begin that are found there.
        let frames = Dataset::open(&dir).unwrap().frame_count() * 4;
        let index_of = |at: prop::sample::Index| 4096 + 8 * at.index(if all { frames as usize } else { 6 }) as u64;
        let read = |index| {
            let mut word = [0; 8];
            file.read_exact_at(&mut word, index).unwrap();
            u64::from_ne_bytes(word)
        };
        // Before any change: a changed number leads to samples, and a head that is written there would change these.
        let segments: Vec<u64> = changes.iter().map(|(at, ..)| read(index_of(*at))).collect();
        for ((at, value, kind), segment) in changes.into_iter().zip(segments) {
            let index = index_of(at);
            match kind {
                0 => file.write_all_at(&value.to_ne_bytes(), index).unwrap(),
                // Another frame's segment, or into the middle of one.
                1 => file.write_all_at(&(read(index) ^ (64 << (value % 16))).to_ne_bytes(), index).unwrap(),
                _ if segment > 0 && segment < 1 << 20 => {
                    file.write_all_at(&[value as u8], segment + value % 64).unwrap();
                }
                _ => {}
            }
        }
        prop_assert!(batches(&loader, 6) == expected);
        let stats = stats(&loader);
        prop_assert!(stats.failure.as_ref().is_none_or(|text| text.contains("other bytes")), "{:?}", stats);
    }
}
