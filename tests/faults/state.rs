//! What is in a folder: all of its files, and what a reader takes for a data set.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use vidrec::{Clip, Dataset, VerifyOptions, verify};

/// Every file and folder below a folder by its path; a folder's path ends with "/".
pub type Tree = BTreeMap<String, Vec<u8>>;

/// What is where a command writes, for those who read it.
#[derive(Debug, Clone, PartialEq)]
pub enum State {
    /// No data set: opening it fails with these words.
    Refused(String),
    /// It opens, but is not whole.
    Broken(String),
    /// A data set of which every byte is proven, with all that is known of its clips.
    Whole(Vec<String>),
    /// Files of another kind, or none.
    Files(Tree),
}

impl State {
    /// Of the data set at `path`.
    pub fn of_set(path: &Path) -> State {
        let set = match Dataset::open(path) {
            Ok(set) => set,
            Err(e) => return State::Refused(words(&e)),
        };
        match verify(path, VerifyOptions { deep: true, ..VerifyOptions::default() }, &mut vidrec::no_progress) {
            Err(e) => State::Broken(words(&e)),
            Ok(report) if !report.ok => State::Broken(report.problems[0].message.clone()),
            Ok(_) => State::Whole(content(path, &set)),
        }
    }

    /// Of the files at `path`.
    pub fn of_files(path: &Path) -> State {
        let mut files = tree(path);
        files.retain(|name, _| !name.ends_with('/'));
        State::Files(files)
    }

    /// In a word.
    pub fn word(&self) -> String {
        match self {
            State::Refused(why) => format!("refused ({why})"),
            State::Broken(why) => format!("broken ({why})"),
            State::Whole(content) => format!("whole ({} clips)", content.len() - 1),
            State::Files(files) => format!("{} files", files.len()),
        }
    }
}

fn words(e: &vidrec::Error) -> String {
    let cause = std::error::Error::source(e).map(|e| format!(": {e}")).unwrap_or_default();
    format!("{e}{cause}")
}

/// A line for the set and one for each clip, without names of files.
fn content(path: &Path, set: &Dataset) -> Vec<String> {
    let json = set.to_json();
    let head = format!("{:?} {:?} {:?} {}", json.classes, json.settings, json.draws, failures(path));
    std::iter::once(head).chain(set.clips().map(|clip| describe(&clip.unwrap()))).collect()
}

fn describe(clip: &Clip<'_>) -> String {
    let frames: Vec<_> = clip.frames().map(|f| f.unwrap()).map(|f| (f.crc32(), f.pts(), f.source_index())).collect();
    let names = (clip.source().unwrap(), clip.class().unwrap(), clip.attributes_json().unwrap());
    let tracks = clip.tracks().unwrap().all().unwrap();
    let tracks: Vec<_> = tracks.iter().map(|t| (t.name(), t.texts().map(Vec::from_iter), t.number_bytes())).collect();
    format!("{names:?} {:?} {:?} {frames:?} {tracks:?}", clip.label(), clip.time_base())
}

/// The list of what could not be packed: the file that `dataset.json` names, or the one of the usual name.
fn failures(path: &Path) -> String {
    let listing = fs::read_to_string(path.join("dataset.json")).unwrap_or_default();
    let mut words = listing.split('"');
    let named = words.find(|word| word.starts_with("failures") && word.ends_with(".jsonl"));
    fs::read_to_string(path.join(named.unwrap_or("failures.jsonl"))).unwrap_or_default()
}

/// All that is below `path`, or the file that it is.
pub fn tree(path: &Path) -> Tree {
    let mut tree = Tree::new();
    add(path, "", &mut tree);
    tree
}

fn add(path: &Path, name: &str, tree: &mut Tree) {
    let Ok(meta) = fs::symlink_metadata(path) else { return };
    if meta.is_symlink() {
        let to = fs::read_link(path).unwrap();
        tree.insert(name.to_owned(), format!("-> {}", to.display()).into_bytes());
    } else if meta.is_dir() {
        if !name.is_empty() {
            tree.insert(format!("{name}/"), Vec::new());
        }
        for entry in fs::read_dir(path).unwrap().map(Result::unwrap) {
            let file = entry.file_name().into_string().unwrap();
            add(&entry.path(), &if name.is_empty() { file } else { format!("{name}/{file}") }, tree);
        }
    } else {
        tree.insert(name.to_owned(), fs::read(path).unwrap());
    }
}

/// Where two trees differ, in a few words; `None` if they are the same.
pub fn difference(found: &Tree, wanted: &Tree) -> Option<String> {
    let extra = found.keys().filter(|name| !wanted.contains_key(*name)).map(|name| format!("{name} stays"));
    let missing = wanted.keys().filter(|name| !found.contains_key(*name)).map(|name| format!("{name} is missing"));
    let other = wanted.iter().filter(|(name, bytes)| found.get(*name).is_some_and(|b| b != *bytes));
    let all: Vec<_> = extra.chain(missing).chain(other.map(|(name, _)| format!("{name} differs"))).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// Copies all that is in a folder into another, which is made.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}
