//! What a power cut would leave: only what was synced is sure to be on the disk. So when `dataset.json` gets its name,
//! all else must be there, bytes and names, and its own name when the program ends.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::common::shim::Step;

/// What may not be on the disk yet.
#[derive(Default)]
struct Pending {
    /// Files with bytes that were not synced.
    bytes: BTreeSet<PathBuf>,
    /// Files whose folders were not synced since they got their names.
    names: BTreeSet<PathBuf>,
}

/// For each step that puts a `dataset.json` in place: what was not on the disk by then, in words.
pub fn cuts(steps: &[Step]) -> Vec<(usize, Result<(), String>)> {
    let mut pending = Pending::default();
    let mut cuts = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        if step.call == "rename" && is_listing(&step.paths[1]) {
            cuts.push((number, pending.check(&step.paths[0], &step.paths[1])));
        }
        pending.take(step);
    }
    for (number, verdict) in &mut cuts {
        let listing = &steps[*number].paths[1];
        if verdict.is_ok() && pending.names.contains(listing) {
            *verdict = Err(format!("the folder of {} is not synced before the end", listing.display()));
        }
    }
    cuts
}

/// Whether this is the `dataset.json` of a data set that is to be seen.
fn is_listing(path: &Path) -> bool {
    path.file_name() == Some(OsStr::new("dataset.json")) && !path.iter().any(is_hidden)
}

fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

impl Pending {
    /// Whether all but the name of `from`, which is about to be `listing`, is on the disk. Hidden files do not count.
    fn check(&self, from: &Path, listing: &Path) -> Result<(), String> {
        let there = |path: &&PathBuf| {
            let hidden = path.file_name().is_some_and(is_hidden);
            path.parent() == listing.parent() && (!hidden || *path == from)
        };
        let bytes = self.bytes.iter().filter(there).map(|path| format!("the bytes of {}", path.display()));
        let names = self.names.iter().filter(|path| *path != from).filter(there);
        let names = names.map(|path| format!("the name of {}", path.display()));
        let all: Vec<_> = bytes.chain(names).collect();
        if all.is_empty() { Ok(()) } else { Err(format!("not on the disk yet: {}", all.join(", "))) }
    }

    fn take(&mut self, step: &Step) {
        let path = step.paths[0].clone();
        match step.call.as_str() {
            "fsync" | "fdatasync" => {
                self.bytes.remove(&path);
                self.names.retain(|name| name.parent() != Some(&path));
            }
            "syncfs" => *self = Pending::default(),
            "unlink" | "rmdir" => {
                self.bytes.remove(&path);
                self.names.remove(&path);
            }
            "create" | "symlink" => drop(self.names.insert(path)),
            "link" | "rename" => self.name(&path, &step.paths[1], step.call == "rename"),
            "open" | "mkdir" => {}
            _ => drop(self.bytes.insert(path)),
        }
    }

    /// `to` is another name of the file `from`, or its only one.
    fn name(&mut self, from: &Path, to: &Path, only: bool) {
        let dirty = if only { self.bytes.remove(from) } else { self.bytes.contains(from) };
        if only {
            self.names.remove(from);
        }
        if dirty {
            self.bytes.insert(to.to_owned());
        }
        self.names.insert(to.to_owned());
    }
}
