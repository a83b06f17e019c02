//! Files that somebody cuts while they are mapped: an error of the clips that are lost, and the process goes on.

use std::fs::OpenOptions;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Once;

use vidrec::{Dataset, ErrorKind, VerifyOptions, verify};

use crate::common::{self, own_process};

fn records(dir: &Path) -> PathBuf {
    common::names::file(dir, "shard-00000.rec")
}

fn cut(path: PathBuf, length: u64) {
    OpenOptions::new().write(true).open(path).unwrap().set_len(length).unwrap();
}

fn half(path: &Path) -> u64 {
    std::fs::metadata(path).unwrap().len() / 2
}

#[test]
fn a_loader_tells_of_every_clip_that_is_lost_and_gives_the_others_unchanged() {
    {
        let (_folder, dir) = common::set(30, 4, (160, 120));
        let loader = common::loader(&dir, common::options(1, (64, 64)));
        let before: Vec<_> = common::one_by_one(&loader, 0).map(Result::unwrap).collect();
        let mut batches = loader.iter(0).unwrap();
        let mut lost = 0;
        for (clip, before) in before.iter().enumerate() {
            if clip == 2 {
                cut(records(&dir), half(&records(&dir)));
            }
            match batches.next().unwrap() {
                Ok(batch) => assert_eq!(&*batch, before, "clip {clip}"),
                Err(e) => {
                    lost += 1;
                    assert_eq!((e.kind(), e.clip()), (ErrorKind::Io, Some(clip as u64)), "{e}");
                    assert!(e.path().is_some_and(|p| p == records(&dir)), "{e}");
                    assert!(e.to_string().contains("truncated while it was open"), "{e}");
                }
            }
        }
        assert!((10..=20).contains(&lost), "{lost} of 30 clips are lost with half of the file");
    }
    assert!(vidrec::lost_pages() > 0);
}

#[test]
fn verify_reports_a_file_that_is_cut_while_it_looks() {
    let (_folder, dir) = common::set(20, 4, (160, 120));
    let once = Once::new();
    let report = verify(&dir, VerifyOptions { deep: true, ..VerifyOptions::default() }, &mut |_| {
        once.call_once(|| cut(records(&dir), half(&records(&dir))));
        std::ops::ControlFlow::Continue(())
    });
    let report = report.unwrap();
    assert!(!report.ok);
    assert_eq!(report.problems[0].kind, "io", "{:?}", report.problems[0]);
    assert!(report.problems[0].message.contains("truncated while it was open"), "{:?}", report.problems[0]);
}

#[test]
fn entries_and_names_of_an_index_that_is_cut_are_errors() {
    let (_folder, dir) = common::set(300, 8, (16, 16));
    let index = common::names::file(&dir, "shard-00000.vidx");
    assert!(half(&index) > 32 << 10, "large enough to be mapped");
    let set = Dataset::open(&dir).unwrap();
    cut(index, 4096);
    let errors: Vec<_> = set.clips().filter_map(|clip| clip.and_then(|clip| clip.source().map(drop)).err()).collect();
    assert!(errors.len() > 250, "{}", errors.len());
    for e in errors {
        assert_eq!(e.kind(), ErrorKind::Io, "{e}");
        assert!(e.path().is_some_and(|p| p.extension().unwrap() == "vidx"), "{e}");
    }
}

/// Runs a test of this program in a process of its own, which has a data set in [`its_folder`].
fn in_a_process(test: &str, variables: &[(&str, &str)]) -> ExitStatus {
    let (folder, _) = common::set(20, 4, (160, 120));
    let mut command = own_process::command(module_path!(), test);
    command.env("VIDREC_TEST_FOLDER", folder.path()).envs(variables.iter().copied()).status().unwrap()
}

/// Left to the parent to remove, because the process ends early. `None` where no other test runs this.
fn its_folder() -> Option<PathBuf> {
    std::env::var_os("VIDREC_TEST_FOLDER").map(PathBuf::from)
}

/// Opens a data set, which installs the handler, then reads what is cut of a map that is nobody's here.
fn fault_elsewhere(folder: &Path) {
    let set = Dataset::open(folder.join("set")).unwrap();
    let path = folder.join("other");
    std::fs::write(&path, [1; 8192]).unwrap();
    let file = std::fs::File::open(&path).unwrap();
    // SAFETY: read here alone; that it is cut is what is tried.
    let map = unsafe { memmap2::Mmap::map(&file) }.unwrap();
    cut(path, 10);
    println!("{}", std::hint::black_box(&map)[5000]);
    drop(set);
    std::process::exit(7);
}

extern "C" fn leave(_: libc::c_int) {
    // SAFETY: ends the process at once, as a signal handler may.
    unsafe { libc::_exit(42) }
}

#[test]
fn child_with_a_fault_elsewhere() {
    let Some(folder) = its_folder() else { return };
    if std::env::var_os("VIDREC_TEST_HANDLER").is_some() {
        // SAFETY: the handler only ends the process.
        unsafe { libc::signal(libc::SIGBUS, leave as *const () as libc::sighandler_t) };
    }
    fault_elsewhere(&folder);
}

#[test]
fn child_that_is_sent_the_signal() {
    let Some(folder) = its_folder() else { return };
    // As in a program that is not one of Rust, whose library has a handler of its own.
    // SAFETY: that is the state in which most processes begin.
    unsafe { libc::signal(libc::SIGBUS, libc::SIG_DFL) };
    let _set = Dataset::open(folder.join("set")).unwrap();
    // SAFETY: ends this process, or runs its handler.
    unsafe { libc::raise(libc::SIGBUS) };
    std::process::exit(7);
}

#[test]
fn child_that_reads_a_cut_data_set() {
    let Some(folder) = its_folder() else { return };
    let dir = folder.join("set");
    let set = Dataset::open(&dir).unwrap();
    cut(records(&dir), 4096);
    let is_lost = set.clip(19).and_then(|clip| clip.frame(3).map(drop)).is_err();
    std::process::exit(if is_lost { 7 } else { 8 });
}

#[test]
fn every_other_bus_error_goes_where_it_went() {
    let ended = in_a_process("child_with_a_fault_elsewhere", &[]);
    assert_eq!(ended.signal(), Some(libc::SIGBUS), "{ended}");
    let ended = in_a_process("child_with_a_fault_elsewhere", &[("VIDREC_TEST_HANDLER", "1")]);
    assert_eq!(ended.code(), Some(42), "the handler that was there before: {ended}");
    let ended = in_a_process("child_that_is_sent_the_signal", &[]);
    assert_eq!(ended.signal(), Some(libc::SIGBUS), "{ended}");
    let ended = in_a_process("child_that_reads_a_cut_data_set", &[]);
    assert_eq!(ended.code(), Some(7), "{ended}");
    let ended = in_a_process("child_that_reads_a_cut_data_set", &[("VIDREC_NO_SIGBUS_HANDLER", "1")]);
    assert_eq!(ended.signal(), Some(libc::SIGBUS), "no handler where none is wanted: {ended}");
}
