//! Folders as inputs: videos in folders named for their class, and folders that hold the frames of a clip.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use super::attributes::Attributes;
use super::endings::has_video_ending;
use super::inputs::Found;
use super::labels::Label;
use super::passed_over::{Tally, kind_by_ending, kind_of_special};
use crate::{Error, ErrorKind, Result, source_name};

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

/// Adds the clips below `root` in order of their paths, and counts the files that belong to none. What cannot be looked at
/// (a link that leads nowhere, a folder that cannot be listed) is a clip with a fault in its place.
///
/// # Errors
///
/// `root` itself cannot be listed, or the machine has not enough of something to list folders.
pub(super) fn walk(root: &Path, found: &mut Vec<Found>, passed_over: &mut Tally) -> Result<()> {
    let mut contents: BTreeMap<PathBuf, Contents> = BTreeMap::new();
    // Pictures are only counted.
    let mut entries: Vec<Entry> = Vec::new();
    let walk = WalkDir::new(root).follow_links(true).sort_by_file_name();
    for entry in walk.into_iter().filter_entry(|e| e.depth() == 0 || !is_hidden(e.file_name())) {
        let entry = match entry {
            Ok(entry) => entry,
            Err(e) => {
                let unreadable = Unreadable::new(root, e)?;
                let folder = unreadable.path.parent().unwrap_or(root).to_owned();
                let kind = kind_by_ending(&unreadable.path);
                let name = || source_name::of_path(unreadable.path.strip_prefix(root).unwrap_or(&unreadable.path));
                // What has another ending would be passed over if it could be read. A folder of pictures whose pictures
                // cannot all be read fails by itself.
                match () {
                    () if is_hidden(unreadable.path.file_name().unwrap_or_default()) => {}
                    () if unreadable.is_folder => entries.push(Entry::Unreadable(unreadable)),
                    () if is_picture(&unreadable.path) => contents.entry(folder).or_default().pictures.add(kind, name),
                    () if has_video_ending(&unreadable.path) => {
                        contents.entry(folder).or_default().videos += 1;
                        entries.push(Entry::Unreadable(unreadable));
                    }
                    () => passed_over.add(kind, name),
                }
                continue;
            }
        };
        let folder = || entry.path().parent().unwrap_or(root).to_owned();
        let name = || source_name::of_path(entry.path().strip_prefix(root).unwrap_or(entry.path()));
        if entry.file_type().is_dir() {
            if entry.depth() > 0 {
                contents.entry(folder()).or_default().folders += 1;
            }
            entries.push(Entry::Folder(entry.into_path()));
        } else if !entry.file_type().is_file() {
            passed_over.add(kind_of_special(entry.file_type()), name);
        } else if is_picture(entry.path()) {
            contents.entry(folder()).or_default().pictures.add(kind_by_ending(entry.path()), name);
        } else if has_video_ending(entry.path()) {
            contents.entry(folder()).or_default().videos += 1;
            entries.push(Entry::Video(entry.into_path()));
        } else {
            passed_over.add(kind_by_ending(entry.path()), name);
        }
    }
    for entry in entries {
        match entry {
            Entry::Folder(path) if !contents.get(&path).is_some_and(Contents::is_clip) => {}
            Entry::Folder(path) | Entry::Video(path) => found.push(clip(root, path)),
            Entry::Unreadable(unreadable) => found.push(unreadable.clip(root)),
        }
    }
    contents.into_values().filter(|c| !c.is_clip()).for_each(|c| passed_over.merge(c.pictures));
    Ok(())
}

enum Entry {
    Folder(PathBuf),
    Video(PathBuf),
    Unreadable(Unreadable),
}

/// An entry of a folder that cannot be looked at, or a folder that cannot be listed.
struct Unreadable {
    path: PathBuf,
    is_folder: bool,
    /// In the system's words.
    fault: String,
}

impl Unreadable {
    /// # Errors
    ///
    /// Not this entry alone is at fault: `root` itself cannot be listed, or the machine has not enough of something.
    fn new(root: &Path, e: walkdir::Error) -> Result<Self> {
        let path = e.path().unwrap_or(root).to_owned();
        let depth = e.depth();
        let ancestor =
            e.loop_ancestor().map(|ancestor| source_name::of_path(ancestor.strip_prefix(root).unwrap_or(ancestor)));
        // A link that leads back is none that the system refuses.
        let Some(system) = e.into_io_error() else {
            let fault = format!("it leads back to the folder \"{}\" that it is in", ancestor.unwrap_or_default());
            return Ok(Unreadable { path, is_folder: true, fault });
        };
        let fault = system.to_string();
        let error = Error::io("list the folder", &path, system);
        if depth == 0 || path == root || error.kind() == ErrorKind::Resources {
            return Err(error);
        }
        let is_folder = path.is_dir();
        let what = if is_folder { "could not list the folder" } else { "could not look at it" };
        Ok(Unreadable { path, is_folder, fault: format!("{what}: {fault}") })
    }

    /// In its place among the clips. Right below `root` a folder is a class, and so is a link without an ending; so the
    /// numbers of the other classes are what they would be if it could be read.
    fn clip(self, root: &Path) -> Found {
        let is_class = self.path.parent() == Some(root) && (self.is_folder || self.path.extension().is_none());
        let name = self.path.file_name().map(source_name::of_os_str);
        let found = clip(root, self.path);
        let label = name.filter(|_| is_class).map_or(found.label, |name| Label::name(&name));
        Found { label, fault: Some(self.fault), ..found }
    }
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
    Found { path, source, label, segment: None, split: None, attributes: Attributes::default(), fault: None }
}

/// The lists of a VideoFolder: in the folder itself, or in folders right below it, which then are the splits.
pub(super) fn metadata(root: &Path) -> Result<Vec<(PathBuf, Option<String>)>> {
    let of = |folder: &Path| {
        let lists = METADATA.iter().map(|name| folder.join(name));
        lists.map(|list| Ok(names_files(&list)?.then_some(list))).find_map(Result::transpose).transpose()
    };
    if let Some(list) = of(root)? {
        return Ok(vec![(list, None)]);
    }
    let io = |e| Error::io("list the folder", root, e);
    let mut lists = Vec::new();
    for entry in fs::read_dir(root).map_err(io)? {
        let entry = entry.map_err(io)?;
        if let Some(list) = of(&entry.path())? {
            lists.push((list, Some(source_name::of_os_str(&entry.file_name()))));
        }
    }
    lists.sort();
    Ok(lists)
}

/// Whether a file says `file_name` at its start, as the lists of a VideoFolder do and other tables of that name need not.
///
/// # Errors
///
/// There is such a file, and it cannot be read: without it the folder would be packed as another one.
fn names_files(path: &Path) -> Result<bool> {
    let io = |e| Error::io("read the list", path, e);
    let is_file = match fs::metadata(path) {
        Ok(meta) => meta.is_file(),
        // What cannot be looked at below a folder, the walk through the folder reports.
        Err(_) => false,
    };
    if !is_file {
        return Ok(false);
    }
    let mut start = Vec::new();
    fs::File::open(path).and_then(|file| file.take(64 << 10).read_to_end(&mut start)).map_err(io)?;
    Ok(memchr::memmem::find(&start, b"file_name").is_some())
}

/// The pictures of a folder in the natural order of their names: `img_2.jpg` before `img_10.jpg`.
pub(super) fn pictures(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in WalkDir::new(folder).min_depth(1).max_depth(1).follow_links(true) {
        let entry: DirEntry = entry.map_err(|e| {
            let path = e.path().unwrap_or(folder).to_owned();
            let doing = if path == folder { "list the folder" } else { "look at the picture" };
            let looped = || io::Error::other("it leads back to a folder that it is in");
            Error::io(doing, path, e.into_io_error().unwrap_or_else(looped))
        })?;
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
