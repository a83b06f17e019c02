//! Folders as inputs: videos in folders named for their class, and folders that hold the frames of a clip.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use super::attributes::Attributes;
use super::endings::has_video_ending;
use super::inputs::Found;
use super::labels::Label;
use super::passed_over::{Tally, kind_by_ending, kind_of_special};
use crate::{Error, Result, source_name};

/// Endings of pictures that make a clip.
const PICTURE_ENDINGS: [&str; 3] = ["jpg", "jpeg", "png"];

/// Lists of Hugging Face's VideoFolder.
const METADATA: [&str; 2] = ["metadata.csv", "metadata.jsonl"];

/// What a folder holds, itself.
#[derive(Default)]
struct Contents {
    pictures: Tally,
    videos: u64,
    folders: u64,
}

impl Contents {
    /// Pictures, and neither videos nor further folders.
    fn is_clip(&self) -> bool {
        !self.pictures.is_empty() && self.videos == 0 && self.folders == 0
    }
}

/// Adds the clips below `root` in order of their paths, and counts the files that belong to none.
pub(super) fn walk(root: &Path, found: &mut Vec<Found>, passed_over: &mut Tally) -> Result<()> {
    let mut contents: BTreeMap<PathBuf, Contents> = BTreeMap::new();
    // Folders and videos; pictures are only counted.
    let mut entries: Vec<(PathBuf, bool)> = Vec::new();
    let walk = WalkDir::new(root).follow_links(true).sort_by_file_name();
    for entry in walk.into_iter().filter_entry(|e| e.depth() == 0 || !is_hidden(e.file_name())) {
        let entry = entry.map_err(|e| {
            let path = e.path().unwrap_or(root).to_owned();
            Error::io("list the folder", path, e.into())
        })?;
        let folder = || entry.path().parent().unwrap_or(root).to_owned();
        let name = || source_name::of_path(entry.path().strip_prefix(root).unwrap_or(entry.path()));
        if entry.file_type().is_dir() {
            if entry.depth() > 0 {
                contents.entry(folder()).or_default().folders += 1;
            }
            entries.push((entry.into_path(), true));
        } else if !entry.file_type().is_file() {
            passed_over.add(kind_of_special(entry.file_type()), name);
        } else if is_picture(entry.path()) {
            contents.entry(folder()).or_default().pictures.add(kind_by_ending(entry.path()), name);
        } else if has_video_ending(entry.path()) {
            contents.entry(folder()).or_default().videos += 1;
            entries.push((entry.into_path(), false));
        } else {
            passed_over.add(kind_by_ending(entry.path()), name);
        }
    }
    for (path, is_folder) in entries {
        if !is_folder || contents.get(&path).is_some_and(Contents::is_clip) {
            found.push(clip(root, path));
        }
    }
    contents.into_values().filter(|c| !c.is_clip()).for_each(|c| passed_over.merge(c.pictures));
    Ok(())
}

/// A video or a folder of frames below `root`; its class is the first folder on the way.
fn clip(root: &Path, path: PathBuf) -> Found {
    let relative = path.strip_prefix(root).unwrap_or(&path);
    let mut levels = relative.components();
    let first = levels.next().map(|c| source_name::of_os_str(c.as_os_str()));
    let label = match (first, levels.next()) {
        (Some(folder), Some(_)) => Label::name(&folder),
        _ => Label::None,
    };
    let own_name = relative.as_os_str().is_empty();
    let source =
        source_name::of_path(if own_name { Path::new(path.file_name().unwrap_or(OsStr::new("."))) } else { relative });
    Found { path, source, label, segment: None, split: None, attributes: Attributes::default() }
}

/// The lists of a VideoFolder: in the folder itself, or in folders right below it, which then are the splits.
pub(super) fn metadata(root: &Path) -> Result<Vec<(PathBuf, Option<String>)>> {
    let of = |folder: &Path| METADATA.iter().map(|name| folder.join(name)).find(|path| names_files(path));
    if let Some(list) = of(root) {
        return Ok(vec![(list, None)]);
    }
    let io = |e| Error::io("list the folder", root, e);
    let mut lists = Vec::new();
    for entry in fs::read_dir(root).map_err(io)? {
        let entry = entry.map_err(io)?;
        if let Some(list) = of(&entry.path()) {
            lists.push((list, Some(source_name::of_os_str(&entry.file_name()))));
        }
    }
    lists.sort();
    Ok(lists)
}

/// Whether a file says `file_name` at its start, as the lists of a VideoFolder do and other tables of that name need not.
fn names_files(path: &Path) -> bool {
    // Opening a named pipe would wait for its writer.
    if !path.is_file() {
        return false;
    }
    let mut start = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(64 << 10).read_to_end(&mut start));
    read.is_ok() && memchr::memmem::find(&start, b"file_name").is_some()
}

/// The pictures of a folder in the natural order of their names: `img_2.jpg` before `img_10.jpg`.
pub(super) fn pictures(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in WalkDir::new(folder).min_depth(1).max_depth(1).follow_links(true) {
        let entry: DirEntry = entry.map_err(|e| Error::io("list the folder", folder, e.into()))?;
        if entry.file_type().is_file() && is_picture(entry.path()) && !is_hidden(entry.file_name()) {
            paths.push(entry.into_path());
        }
    }
    let name = |path: &PathBuf| source_name::of_os_str(path.file_name().unwrap_or_default());
    paths.sort_by_cached_key(|path| Natural(name(path)));
    Ok(paths)
}

pub(super) fn is_jpeg(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("jpg") || e.eq_ignore_ascii_case("jpeg"))
}

fn is_picture(path: &Path) -> bool {
    path.extension().is_some_and(|e| PICTURE_ENDINGS.iter().any(|p| e.eq_ignore_ascii_case(p)))
}

fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

/// A name in which runs of digits count as numbers.
#[derive(PartialEq, Eq)]
struct Natural(String);

impl Natural {
    /// Text and numbers in turn; a number as its digits without leading zeros, longer ones being larger.
    fn parts(&self) -> impl Iterator<Item = (usize, &str)> {
        let mut rest = self.0.as_str();
        std::iter::from_fn(move || {
            let digits = rest.starts_with(|c: char| c.is_ascii_digit());
            let end = rest.find(|c: char| c.is_ascii_digit() != digits).unwrap_or(rest.len());
            let (part, behind) = rest.split_at(end);
            rest = behind;
            let number = part.trim_start_matches('0');
            (!part.is_empty()).then(|| if digits { (number.len() + 1, number) } else { (0, part) })
        })
    }
}

impl Ord for Natural {
    fn cmp(&self, other: &Self) -> Ordering {
        // Names that differ in zeros alone stand in the order of their bytes.
        self.parts().cmp(other.parts()).then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for Natural {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_count_as_numbers() {
        let mut names = [
            "img10.jpg",
            "img9.jpg",
            "img_1.jpg",
            "a",
            "img009.jpg",
            "img1b2.jpg",
            "img1b10.jpg",
            "",
            "7",
            "99999999999999999999999999",
        ];
        names.sort_by_cached_key(|n| Natural((*n).to_owned()));
        let expected = [
            "",
            "a",
            "img1b2.jpg",
            "img1b10.jpg",
            "img009.jpg",
            "img9.jpg",
            "img10.jpg",
            "img_1.jpg",
            "7",
            "99999999999999999999999999",
        ];
        assert_eq!(names, expected);
    }
}
