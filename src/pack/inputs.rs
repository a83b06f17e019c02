//! What is to be packed: from the inputs on the command line to a list of videos with labels.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use walkdir::WalkDir;

use super::manifest;
use crate::{Error, Result, limits};

/// Endings by which a file in a folder is taken for a video; a file without an ending is taken for one too.
const VIDEO_ENDINGS: [&str; 38] = [
    "3g2", "3gp", "amv", "apng", "asf", "avi", "dv", "f4v", "flv", "gif", "h264", "h265", "hevc", "ivf", "m1v", "m2p",
    "m2ts", "m2v", "m4v", "mjpeg", "mjpg", "mkv", "mov", "mp4", "mpe", "mpeg", "mpg", "mts", "mxf", "nut", "obu",
    "ogm", "ogv", "rm", "ts", "vob", "webm", "wmv",
];

/// A video to be packed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// Where it is.
    #[serde(with = "super::wire::path")]
    pub path: PathBuf,
    /// How it is called in the data set: the path relative to the input root, with `/` between folders.
    pub source: String,
    /// Label, if it has one.
    pub label: Option<u32>,
    /// Class name; empty when there is none.
    pub class: String,
    /// Further columns of a manifest.
    pub attributes: Map<String, Value>,
}

/// The videos to be packed, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The videos.
    pub items: Vec<Item>,
    /// Class names by label; empty when labels are plain integers or absent.
    pub classes: Vec<String>,
    /// Files in folders that do not have a video's ending.
    pub ignored_files: u64,
}

/// A label as an input gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Label {
    None,
    Name(String),
    Number(u32),
}

/// A video as an input gives it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    pub path: PathBuf,
    pub source: String,
    pub label: Label,
    pub attributes: Map<String, Value>,
}

impl Plan {
    /// Finds the videos of some inputs: directories, video files, manifests (`.csv`, `.tsv`).
    ///
    /// # Errors
    ///
    /// [`Io`](crate::ErrorKind::Io): an input or a folder cannot be read. [`Usage`](crate::ErrorKind::Usage): a bad
    /// line in a manifest, labels that are numbers in one input and names in another, or no video at all.
    pub fn from_inputs<P: AsRef<Path>>(inputs: &[P]) -> Result<Self> {
        let mut found = Vec::new();
        let mut ignored_files = 0;
        for input in inputs {
            let path = input.as_ref();
            let meta = std::fs::metadata(path).map_err(|e| Error::io("open the input", path, e))?;
            if meta.is_dir() {
                ignored_files += walk(path, &mut found)?;
            } else if let Some(delimiter) = manifest::delimiter(path) {
                manifest::read(path, delimiter, &mut found)?;
            } else {
                let source = source_name(Path::new(path.file_name().unwrap_or_default()));
                found.push(Found { path: path.to_owned(), source, label: Label::None, attributes: Map::new() });
            }
        }
        if found.is_empty() {
            let names: Vec<_> = inputs.iter().map(|p| p.as_ref().display().to_string()).collect();
            return Err(Error::usage(format!("no videos in {}", names.join(", ")))
                .expected("files with a video's ending, in folders named for their class"));
        }
        let classes = class_names(&found)?;
        let items = found.into_iter().map(|f| f.into_item(&classes)).collect();
        Ok(Plan { items, classes, ignored_files })
    }
}

impl Found {
    fn into_item(self, classes: &[String]) -> Item {
        let (label, class) = match self.label {
            Label::None => (None, String::new()),
            Label::Number(n) => (Some(n), String::new()),
            // Every name is in the sorted list that was made of all of them.
            Label::Name(name) => (classes.binary_search(&name).ok().map(|i| i as u32), name),
        };
        Item { path: self.path, source: self.source, label, class, attributes: self.attributes }
    }
}

/// The class names, sorted; the label is the place in the list.
fn class_names(found: &[Found]) -> Result<Vec<String>> {
    let names: BTreeSet<&str> = found
        .iter()
        .filter_map(|f| if let Label::Name(name) = &f.label { Some(name.as_str()) } else { None })
        .collect();
    let number = found.iter().find(|f| matches!(f.label, Label::Number(_)));
    match (names.first(), number) {
        (Some(name), Some(f)) => Err(Error::usage("labels are numbers in one input and names in another")
            .expected("one kind")
            .found(format!("\"{name}\" and, for {}, a number", f.source))),
        _ if names.len() as u64 > limits::MAX_LABEL as u64 => Err(Error::limit("too many classes").found(names.len())),
        _ => Ok(names.into_iter().map(str::to_owned).collect()),
    }
}

/// Adds the videos below `root` in order of their paths; returns how many other files there are.
fn walk(root: &Path, found: &mut Vec<Found>) -> Result<u64> {
    let mut ignored = 0;
    let entries = WalkDir::new(root).follow_links(true).sort_by_file_name();
    for entry in entries.into_iter().filter_entry(|e| e.depth() == 0 || !is_hidden(e.file_name())) {
        let entry = entry.map_err(|e| {
            let path = e.path().unwrap_or(root).to_owned();
            Error::io("list the folder", path, e.into())
        })?;
        if !entry.file_type().is_file() {
            continue;
        }
        if !has_video_ending(entry.path()) {
            ignored += 1;
            continue;
        }
        let relative = entry.path().strip_prefix(root).unwrap_or(entry.path());
        let mut levels = relative.components();
        let first = levels.next().map(|c| c.as_os_str().to_string_lossy().into_owned());
        let label = match (first, levels.next()) {
            (Some(folder), Some(_)) => Label::Name(folder),
            _ => Label::None,
        };
        let source = source_name(relative);
        found.push(Found { path: entry.path().to_owned(), source, label, attributes: Map::new() });
    }
    Ok(ignored)
}

fn is_hidden(name: &std::ffi::OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

fn has_video_ending(path: &Path) -> bool {
    match path.extension() {
        None => true,
        Some(ending) => {
            let ending = ending.to_string_lossy().to_ascii_lowercase();
            VIDEO_ENDINGS.contains(&ending.as_str())
        }
    }
}

/// A path with `/` between folders on every system.
pub(super) fn source_name(path: &Path) -> String {
    let below_root = path.components().filter(|c| *c != Component::RootDir);
    let parts: Vec<_> = below_root.map(|c| c.as_os_str().to_string_lossy()).collect();
    format!("{}{}", if path.has_root() { "/" } else { "" }, parts.join("/"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn tree(files: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for file in files {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, b"").unwrap();
        }
        dir
    }

    #[test]
    fn folders_are_classes_and_order_is_that_of_paths() {
        let files = ["b/2.mp4", "b/1.MP4", "a/deep/3.mkv", "a/notes.txt", "a/.hidden.mp4", "noextension", "c/x.json"];
        let dir = tree(&files);
        let plan = Plan::from_inputs(&[dir.path()]).unwrap();
        assert_eq!(plan.classes, ["a", "b"]);
        let short: Vec<_> = plan.items.iter().map(|i| (i.source.as_str(), i.label, i.class.as_str())).collect();
        let expected = [
            ("a/deep/3.mkv", Some(0), "a"),
            ("b/1.MP4", Some(1), "b"),
            ("b/2.mp4", Some(1), "b"),
            ("noextension", None, ""),
        ];
        assert_eq!(short, expected);
        assert_eq!(plan.ignored_files, 2);
    }

    #[test]
    fn files_have_no_label_and_any_ending() {
        let dir = tree(&["odd.name"]);
        let plan = Plan::from_inputs(&[dir.path().join("odd.name")]).unwrap();
        assert_eq!((plan.items[0].source.as_str(), plan.items[0].label), ("odd.name", None));
    }

    #[test]
    fn names_have_one_slash_between_folders() {
        for name in ["a.mp4", "a/b c.mp4", "/a/b.mp4", "../a.mp4"] {
            assert_eq!(source_name(Path::new(name)), name);
        }
        assert_eq!(source_name(Path::new("a//b.mp4")), "a/b.mp4");
    }

    #[test]
    fn no_videos_is_an_error() {
        let dir = tree(&["a/notes.txt"]);
        let e = Plan::from_inputs(&[dir.path()]).unwrap_err();
        assert!(e.to_string().contains("no videos in"), "{e}");
        assert!(Plan::from_inputs(&[dir.path().join("missing")]).is_err());
    }
}
