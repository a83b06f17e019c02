//! What is asked for, what there is, and who may see it.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::process::Stdio;

use vidrec::{Dataset, ErrorKind, Loader, LoaderOptions};

use crate::common::small_disk::shell_that_mounts;
use crate::common::{loader, own_process, set, skip};
use crate::decoded_cache::processes::Job;
use crate::decoded_cache::support::{batches, cache, expected, files, memory, stats, training};

fn refused(options: &LoaderOptions, set: &std::path::Path) -> String {
    let e = Loader::new(&Dataset::open(set).unwrap(), options.clone()).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Usage, "{e}");
    format!("{e:#}")
}

#[test]
fn with_room_for_some_frames_the_limit_is_never_passed_and_the_rest_is_decoded() {
    let Some(memory) = memory() else { return };
    let (_folder, dir) = set(20, 2, (120, 90));
    let limit = 400_000;
    let options = LoaderOptions { decoded_cache: cache(memory.path(), limit), ..training(4, (40, 40)) };
    let loaders: Vec<_> = (0..3).map(|_| loader(&dir, options.clone())).collect();
    let expected = expected(&dir, &options, 4);
    // Six threads of three loaders.
    std::thread::scope(|scope| {
        for loader in &loaders {
            scope.spawn(|| assert!(batches(loader, 4) == expected));
        }
        for _ in 0..50 {
            let files = files(memory.path());
            let bytes: u64 = files.iter().filter_map(|file| fs::metadata(file).ok()).map(|meta| meta.len()).sum();
            let held: u64 =
                files.iter().filter_map(|file| fs::metadata(file).ok()).map(|meta| meta.blocks() * 512).sum();
            assert!(bytes <= limit && held <= limit.next_multiple_of(4096), "{files:?}: {bytes} {held}");
            std::thread::yield_now();
        }
    });
    let all: Vec<_> = loaders.iter().map(stats).collect();
    assert!(all.iter().any(|stats| stats.refused > 0) && all.iter().all(|stats| stats.hits > 0), "{all:?}");
    assert!(all.iter().all(|stats| stats.failure.is_none()));
    // What the loaders took, and what lies before the first segment.
    let kept: u64 = all.iter().map(|stats| stats.kept_bytes).sum();
    assert!(kept <= all[0].taken_bytes && all[0].taken_bytes <= limit);
}

#[test]
fn more_than_there_is_and_less_than_is_needed_are_refused_with_what_to_do() {
    own_process::run(module_path!(), "more_than_there_is_and_less_than_is_needed_are_refused_with_what_to_do", || {
        let Some(memory) = memory() else { return };
        let (_folder, dir) = set(2, 1, (32, 32));
        let of = |bytes| LoaderOptions { decoded_cache: cache(memory.path(), bytes), ..training(1, (16, 16)) };
        let e = refused(&of(1 << 60), &dir);
        assert!(e.contains("decoded_cache") && e.contains("so much memory") && e.contains("at most"), "{e}");
        let e = refused(&of(1000), &dir);
        assert!(e.contains("decoded_cache") && e.contains("at least") && e.contains("2 frames"), "{e}");
        assert!(files(memory.path()).is_empty());
        let on_disk = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let options = LoaderOptions { decoded_cache: cache(on_disk.path(), 1 << 20), ..of(1) };
        let e = refused(&options, &dir);
        assert!(
            e.contains("not on a file system in memory") && e.contains("tmpfs") && e.contains("decoded_cache_dir"),
            "{e}"
        );
        let missing = LoaderOptions { decoded_cache: cache(&memory.path().join("none"), 1 << 20), ..of(1) };
        assert_eq!(Loader::new(&Dataset::open(&dir).unwrap(), missing).unwrap_err().kind(), ErrorKind::Io);
    });
}

#[test]
fn a_link_in_place_of_the_file_is_not_followed() {
    own_process::run(module_path!(), "a_link_in_place_of_the_file_is_not_followed", || {
        let Some(memory) = memory() else { return };
        let (_folder, dir) = set(2, 1, (32, 32));
        let options = LoaderOptions { decoded_cache: cache(memory.path(), 1 << 20), ..training(1, (16, 16)) };
        let loader = loader(&dir, options.clone());
        let file = files(memory.path()).remove(0);
        let own = file.parent().unwrap().to_owned();
        let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&own), mode(&file)), (0o700, 0o600));
        drop(loader);
        assert!(!own.exists(), "the last one that ends removes everything");

        // A link in place of the file.
        fs::create_dir(&own).unwrap();
        fs::set_permissions(&own, fs::Permissions::from_mode(0o700)).unwrap();
        let victim = memory.path().join("victim");
        fs::write(&victim, b"precious").unwrap();
        symlink(&victim, &file).unwrap();
        let e = Loader::new(&Dataset::open(&dir).unwrap(), options).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Io, "{e}");
        assert_eq!(fs::read(&victim).unwrap(), b"precious");
    });
}

#[test]
fn a_folder_that_another_user_took_first_is_refused_and_left_alone() {
    let Some(memory) = memory() else { return };
    let (_folder, dir) = set(6, 2, (32, 32));
    let own = memory.path().join(format!("vidrec-{}", fs::metadata("/proc/self").unwrap().uid()));
    let elsewhere = memory.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let of = |dir: &std::path::Path| LoaderOptions { decoded_cache: cache(dir, 8 << 20), ..training(1, (16, 16)) };
    // As another user makes them: a link, and a folder in which all can write.
    for is_link in [true, false] {
        if is_link {
            symlink(&elsewhere, &own).unwrap();
        } else {
            fs::create_dir(&own).unwrap();
            fs::create_dir(own.join("x")).unwrap();
            fs::set_permissions(&own, fs::Permissions::from_mode(0o777)).unwrap();
        }
        let e = refused(&of(memory.path()), &dir);
        assert!(e.contains("other users own or can write to") && e.contains("name another folder"), "{e}");
        let _ = if is_link { fs::remove_file(&own) } else { fs::remove_dir_all(&own) };
    }
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    drop(loader(&dir, of(&elsewhere)));
}

#[test]
fn processes_with_different_limits_are_told_so() {
    let Some(memory) = memory() else { return };
    let (_folder, dir) = set(2, 1, (32, 32));
    let of = |bytes| LoaderOptions { decoded_cache: cache(memory.path(), bytes), ..training(1, (16, 16)) };
    let first = loader(&dir, of(1 << 20));
    let e = refused(&of(2 << 20), &dir);
    assert!(e.contains("a different limit") && e.contains("2097152 bytes") && e.contains("1048576 bytes"), "{e}");
    drop(first);
    loader(&dir, of(2 << 20));
}

#[test]
fn a_full_file_system_ends_keeping_and_nothing_else() {
    let Some(memory) = memory() else { return };
    let (_folder, dir) = set(30, 2, (160, 120));
    let small = memory.path().join("small");
    fs::create_dir(&small).unwrap();
    let Some(mut shell) = shell_that_mounts(&small, 4 << 20) else {
        return skip::skip("nobody may mount a file system here");
    };
    // Something else takes most of it.
    let job = Job { seed: 1, epochs: 4, limit: 3 << 20, ballast: 3 << 20, set: dir, memory: small };
    job.describe(shell.arg(std::env::current_exe().unwrap()));
    let output = shell.stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text} {}", String::from_utf8_lossy(&output.stderr));
    let told = text.lines().find_map(|line| line.split_once("worker: ").map(|(_, told)| told)).unwrap();
    assert!(told.contains("same: true") && told.contains("could not be written"), "{told}");
    assert!(!told.contains("hits: 0,"), "what was kept before that is used: {told}");
}
