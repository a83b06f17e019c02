//! Folders as inputs: videos in folders named for their class, and folders that hold the frames of one clip.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use super::extensions::{is_clip, is_picture};
use super::job::FoundVideo;
use super::labels::Label;
use super::notes::{IgnoredTally, kind_by_ending};
use super::options::InputOptions;
use vidrec_core::source_name;
use vidrec_core::source_name::is_hidden;
use vidrec_core::store::disk::inside::{Inside, LEADS_OUT};
use vidrec_core::store::disk::regular_file::{Links, open_regular};
use vidrec_format::error::{Error, ErrorKind, Result};

/// The direct contents of a folder.
#[derive(Default)]
struct Contents {
    pictures: IgnoredTally,
    videos: u64,
    folders: u64,
    /// Why the pictures of the folder are not a clip, if one of them leads out of the input.
    fault: Option<Box<str>>,
}

impl Contents {
    /// Whether the folder holds pictures, and neither videos nor further folders.
    fn is_clip(&self) -> bool {
        !self.pictures.is_empty() && self.videos == 0 && self.folders == 0
    }
}

/// Adds the clips below `root` in the order of their paths, and counts the files that belong to no clip.
///
/// An entry that cannot be looked at (a link to nothing, a folder that cannot be listed) becomes a clip with a
/// fault, at its place in the order. So does a link that leads out of `root`, unless the options allow it.
///
/// # Errors
///
/// `root` itself cannot be listed, or the machine lacks the resources to list folders.
pub(super) fn walk(
    root: &Path,
    options: &InputOptions,
    found: &mut Vec<FoundVideo>,
    passed_over: &mut IgnoredTally,
) -> Result<()> {
    let mut walk = Walk { root, images: options.images, folders: BTreeMap::new(), entries: Vec::new(), passed_over };
    let mut inside = if options.outside { None } else { Some(Inside::new(root)?) };
    let mut leads_out = |entry: &DirEntry| {
        entry.depth() > 0
            && entry.path_is_symlink()
            && inside.as_mut().is_some_and(|inside| !inside.holds(entry.path()))
    };
    let entries = WalkDir::new(root).follow_links(true).sort_by_file_name().into_iter();
    let mut entries = entries.filter_entry(|e| e.depth() == 0 || !is_hidden(e.file_name()));
    while let Some(entry) = entries.next() {
        match entry {
            Ok(entry) if leads_out(&entry) => {
                if entry.file_type().is_dir() {
                    entries.skip_current_dir();
                }
                walk.take_outside(entry);
            }
            Ok(entry) => walk.take(entry),
            Err(e) => walk.take_unreadable(Unreadable::new(root, e)?),
        }
    }
    walk.finish(found);
    Ok(())
}

/// A walk through the folders of an input.
struct Walk<'a> {
    root: &'a Path,
    /// Whether each picture is a clip.
    images: bool,
    folders: BTreeMap<PathBuf, Contents>,
    /// Entries that may be clips, in order. Pictures are only counted.
    entries: Vec<FolderEntry>,
    passed_over: &'a mut IgnoredTally,
}

impl Walk<'_> {
    fn take(&mut self, entry: DirEntry) {
        let path = entry.path();
        if entry.file_type().is_dir() {
            if entry.depth() > 0 {
                self.folder_of(path).folders += 1;
            }
            self.entries.push(FolderEntry::Folder(entry.into_path()));
        } else if !entry.file_type().is_file() {
            self.passed_over.add("special file".to_owned(), || below(self.root, path));
        } else {
            self.take_file(entry.into_path(), FolderEntry::Video);
        }
    }

    fn take_file(&mut self, path: PathBuf, entry: impl FnOnce(PathBuf) -> FolderEntry) {
        let (kind, name) = (kind_by_ending(&path), below(self.root, &path));
        if is_picture(&path) && !self.images {
            self.folder_of(&path).pictures.add(kind, || name);
        } else if is_clip(&path, self.images) {
            self.folder_of(&path).videos += 1;
            self.entries.push(entry(path));
        } else {
            self.passed_over.add(kind, || name);
        }
    }

    /// Takes an entry that cannot be read.
    ///
    /// A file with another extension would be ignored even if it could be read, so it is only counted. A folder in
    /// which some pictures cannot be read fails later by itself.
    fn take_unreadable(&mut self, unreadable: Unreadable) {
        if is_hidden(unreadable.path.file_name().unwrap_or_default()) {
            return;
        }
        if unreadable.is_folder {
            self.entries.push(FolderEntry::Unreadable(unreadable));
        } else {
            self.take_file(unreadable.path.clone(), |_| FolderEntry::Unreadable(unreadable));
        }
    }

    /// Takes a link that leads out of the input.
    fn take_outside(&mut self, entry: DirEntry) {
        let fault = format!("{LEADS_OUT}; to follow it, set outside = true");
        if !entry.file_type().is_dir() && is_picture(entry.path()) && !self.images {
            let name = below(self.root, entry.path());
            self.folder_of(entry.path()).fault.get_or_insert_with(|| format!("{name}: {fault}").into());
        }
        let (path, is_folder) = (entry.path().to_owned(), entry.file_type().is_dir());
        self.take_unreadable(Unreadable { path, is_folder, fault });
    }

    fn folder_of(&mut self, path: &Path) -> &mut Contents {
        self.folders.entry(path.parent().unwrap_or(self.root).to_owned()).or_default()
    }

    fn finish(self, found: &mut Vec<FoundVideo>) {
        for entry in self.entries {
            match entry {
                FolderEntry::Folder(path) if !self.folders.get(&path).is_some_and(Contents::is_clip) => {}
                FolderEntry::Folder(path) => {
                    let fault = self.folders.get(&path).and_then(|contents| contents.fault.clone());
                    found.push(FoundVideo { fault, ..clip(self.root, path) });
                }
                FolderEntry::Video(path) => found.push(clip(self.root, path)),
                FolderEntry::Unreadable(unreadable) => found.push(unreadable.clip(self.root)),
            }
        }
        let beside = self.folders.into_values().filter(|folder| !folder.is_clip());
        beside.for_each(|folder| self.passed_over.merge(folder.pictures));
    }
}

/// Returns the name of a path below `root`.
fn below(root: &Path, path: &Path) -> String {
    source_name::of_path(path.strip_prefix(root).unwrap_or(path))
}

enum FolderEntry {
    Folder(PathBuf),
    Video(PathBuf),
    Unreadable(Unreadable),
}

/// An entry of a folder that cannot be looked at, or a folder that cannot be listed.
struct Unreadable {
    path: PathBuf,
    is_folder: bool,
    /// The fault, in the system's words.
    fault: String,
}

impl Unreadable {
    /// # Errors
    ///
    /// The fault is not that of this entry alone: `root` itself cannot be listed, or the machine lacks the
    /// resources to list folders.
    fn new(root: &Path, e: walkdir::Error) -> Result<Self> {
        let path = e.path().unwrap_or(root).to_owned();
        let depth = e.depth();
        let ancestor = e.loop_ancestor().map(|ancestor| below(root, ancestor));
        // The system does not refuse a link that leads back to a folder above it; the walk does.
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

    /// Returns the clip with a fault that takes the place of this entry.
    ///
    /// Directly below `root`, a folder is a class, and so is a link without an extension. The other classes
    /// therefore have the same numbers as if the entry could be read.
    fn clip(self, root: &Path) -> FoundVideo {
        let is_class = self.path.parent() == Some(root) && (self.is_folder || self.path.extension().is_none());
        let name = self.path.file_name().map(source_name::of_os_str);
        let found = clip(root, self.path);
        let label = name.filter(|_| is_class).map_or(found.label, |name| Label::name(&name));
        FoundVideo { label, fault: Some(self.fault.into()), ..found }
    }
}

/// Returns the video or the folder of frames at `path`. Its class is the first folder below `root` on the way.
fn clip(root: &Path, path: PathBuf) -> FoundVideo {
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
    FoundVideo::new(path, source, label)
}

const METADATA: [&str; 2] = ["metadata.csv", "metadata.jsonl"];

/// Returns the manifests in `root` itself, or else those in the folders directly below it, which are then the
/// splits.
///
/// # Errors
///
/// A folder or a manifest cannot be read.
pub(super) fn lists(root: &Path) -> Result<Vec<(PathBuf, Option<String>)>> {
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

/// Whether a file has `file_name` at its start. The manifests of a VideoFolder do; other tables of that name may
/// not.
///
/// # Errors
///
/// The file exists but cannot be read. Without it, the folder would be packed in another way.
fn names_files(path: &Path) -> Result<bool> {
    let io = |e| Error::io("read the list", path, e);
    let is_file = match fs::metadata(path) {
        Ok(meta) => meta.is_file(),
        // The walk through the folder reports entries that cannot be looked at.
        Err(_) => false,
    };
    if !is_file {
        return Ok(false);
    }
    let mut start = Vec::new();
    open_regular(path, Links::Follow)?.take(64 << 10).read_to_end(&mut start).map_err(io)?;
    // In UTF-16, reading it says so.
    let wide: Vec<u8> = b"file_name".iter().flat_map(|&byte| [byte, 0]).collect();
    Ok([&b"file_name"[..], &wide].into_iter().any(|name| memchr::memmem::find(&start, name).is_some()))
}

/// Refuses a folder that is a data set of LeRobot.
///
/// # Errors
///
/// It is one.
pub(super) fn refuse_lerobot(folder: &Path) -> Result<()> {
    let mut start = Vec::new();
    // Files that cannot be read are reported by the walk through the folder.
    let Ok(file) = open_regular(&folder.join("meta/info.json"), Links::Follow) else { return Ok(()) };
    let is_read = file.take(64 << 10).read_to_end(&mut start).is_ok();
    match is_read && memchr::memmem::find(&start, b"codebase_version").is_some() {
        true => Err(refused_lerobot(folder)),
        false => Ok(()),
    }
}

/// Whether an object of this name is in data sets of LeRobot alone.
pub(super) fn is_of_lerobot(name: &str) -> bool {
    name.strip_prefix("meta/episodes").is_some_and(|rest| rest.ends_with(".parquet") || rest == ".jsonl")
}

/// The error for a data set of LeRobot.
pub(super) fn refused_lerobot(place: &Path) -> Error {
    let e = Error::usage("this is a data set of LeRobot, whose videos hold several episodes").file(place);
    e.help("pack it from Python, with vidrec.convert.from_lerobot")
}
