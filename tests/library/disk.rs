//! One room writes: nothing in the library outside of `crates/vidrec-core/src/store/disk` creates, renames,
//! removes, links, cuts or syncs files.

use std::fs;
use std::path::{Path, PathBuf};

const CALLS: [&str; 15] = [
    "fs::rename(",
    "fs::remove_file(",
    "fs::remove_dir",
    "fs::hard_link(",
    "fs::soft_link(",
    "symlink(",
    "fs::copy(",
    "fs::write(",
    " File::create",
    "fs::File::create",
    "OpenOptions::new",
    "sync_all(",
    "sync_data(",
    "set_len(",
    "renameat",
];

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for path in fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()) {
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// The code of a file: without its tests, which come last, and without comments.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().take_while(|line| !line.contains("cfg(test)") && !line.contains("cfg(all(test"));
    lines.enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"))
}

#[test]
fn only_one_room_writes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in ["crates", "src/report", "src/interop"] {
        sources(&root.join(folder), &mut files);
    }
    let (mut inside, mut outside) = (0, Vec::new());
    for path in &files {
        let name = path.strip_prefix(root).unwrap();
        // What confines processes names calls that it refuses, and tests of that try them. Some files are all tests.
        if name.starts_with("crates/vidrec-pack/src/work/confine")
            || name.starts_with("crates/vidrec-pack/examples")
            || name.file_name().unwrap() == "tests.rs"
            || name.components().any(|c| c.as_os_str() == "tests")
        {
            continue;
        }
        let text = fs::read_to_string(path).unwrap();
        // A question, and no call.
        let does = |line: &str, call: &str| line.replace("is_symlink(", "").contains(call);
        for (n, line) in code(&text).filter(|(_, line)| CALLS.iter().any(|call| does(line, call))) {
            if name.starts_with("crates/vidrec-core/src/store/disk") {
                inside += 1;
            } else {
                outside.push(format!("{}:{}: {}", name.display(), n + 1, line.trim()));
            }
        }
    }
    assert!(inside > 10, "the search finds what it looks for: {inside}");
    assert!(outside.is_empty(), "{outside:#?}");
}
