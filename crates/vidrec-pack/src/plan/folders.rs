//! Folders as inputs: videos in folders named for their class, and folders that hold the frames of one clip.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use super::endings::is_clip;
use super::found::FoundVideo;
use super::labels::Label;
use super::options::InputOptions;
use super::passed_over::{PassedOverTally, kind_by_ending, kind_of_special};
use super::pictures::is_picture;
use vidrec_core::natural_order::is_hidden;
use vidrec_core::source_name;
use vidrec_core::store::disk::inside::{Inside, LEADS_OUT};
use vidrec_format::error::{Error, ErrorKind, Result};

/// The direct contents of a folder.
#[derive(Default)]
struct Contents {
    pictures: PassedOverTally,
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
    passed_over: &mut PassedOverTally,
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
    passed_over: &'a mut PassedOverTally,
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
            self.passed_over.add(kind_of_special(entry.file_type()), || below(self.root, path));
        } else if is_picture(path) && !self.images {
            self.add_picture(path);
        } else if is_clip(path, self.images) {
            self.folder_of(path).videos += 1;
            self.entries.push(FolderEntry::Video(entry.into_path()));
        } else {
            self.passed_over.add(kind_by_ending(path), || below(self.root, path));
        }
    }

    /// Takes an entry that cannot be read.
    ///
    /// A file with another extension would be ignored even if it could be read, so it is only counted. A folder in
    /// which some pictures cannot be read fails later by itself.
    fn take_unreadable(&mut self, unreadable: Unreadable) {
        let path = unreadable.path.as_path();
        if is_hidden(path.file_name().unwrap_or_default()) {
            return;
        }
        if unreadable.is_folder {
            self.entries.push(FolderEntry::Unreadable(unreadable));
        } else if is_picture(path) && !self.images {
            self.add_picture(path);
        } else if is_clip(path, self.images) {
            self.folder_of(path).videos += 1;
            self.entries.push(FolderEntry::Unreadable(unreadable));
        } else {
            self.passed_over.add(kind_by_ending(path), || below(self.root, path));
        }
    }

    /// Takes a link that leads out of the input.
    fn take_outside(&mut self, entry: DirEntry) {
        let fault = LEADS_OUT.to_owned();
        if !entry.file_type().is_dir() && is_picture(entry.path()) && !self.images {
            let name = below(self.root, entry.path());
            self.folder_of(entry.path()).fault.get_or_insert_with(|| format!("{name}: {fault}").into());
        }
        let (path, is_folder) = (entry.path().to_owned(), entry.file_type().is_dir());
        self.take_unreadable(Unreadable { path, is_folder, fault });
    }

    fn add_picture(&mut self, path: &Path) {
        let name = below(self.root, path);
        self.folder_of(path).pictures.add(kind_by_ending(path), || name);
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
