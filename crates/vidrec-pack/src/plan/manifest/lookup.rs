//! Videos by their names without folder and extension, for manifests that contain ids.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::super::endings::has_video_ending;
use vidrec_core::source_name;
use vidrec_core::store::location::is_remote;
use vidrec_format::error::{Error, Result};

/// The videos below a folder.
pub(super) struct Lookup {
    root: PathBuf,
    /// Paths relative to the root, in order.
    by_stem: HashMap<String, Vec<PathBuf>>,
}

impl Lookup {
    pub fn new(root: &Path) -> Result<Self> {
        if is_remote(root) {
            let e = Error::usage(
                "a list of ids needs a local folder to find its videos in, because vidrec cannot list a remote one",
            );
            return Err(e.file(root).help("give a manifest with the paths of the videos"));
        }
        let mut by_stem: HashMap<String, Vec<PathBuf>> = HashMap::new();
        // The root is empty if the manifest was named without a folder.
        let start = if root.as_os_str().is_empty() { Path::new(".") } else { root };
        for entry in WalkDir::new(start).follow_links(true).sort_by_file_name() {
            let entry = entry.map_err(|e| {
                let path = e.path().unwrap_or(start).to_owned();
                Error::io("list the folder", path, e.into())
            })?;
            let path = entry.path();
            if entry.file_type().is_file() && path.extension().is_some() && has_video_ending(path) {
                let stem = source_name::of_os_str(path.file_stem().unwrap_or_default());
                by_stem.entry(stem).or_default().push(path.strip_prefix(start).unwrap_or(path).to_owned());
            }
        }
        Ok(Lookup { root: start.to_owned(), by_stem })
    }

    /// Returns the file called `stem`. Of several, it is the one in a folder called `class`, or else the first.
    pub fn find(&self, stem: &str, class: &str) -> Option<&Path> {
        let paths = self.by_stem.get(stem)?;
        let folder = |path: &PathBuf| {
            path.parent().is_some_and(|p| {
                p.components().any(|c| {
                    let name = source_name::of_os_str(c.as_os_str());
                    !class.is_empty() && (name == class || name == class.replace(' ', "_"))
                })
            })
        };
        paths.iter().find(|path| folder(path)).or(paths.first()).map(PathBuf::as_path)
    }

    /// Whether a folder called `name` is directly below the root.
    pub fn has_folder(&self, name: &str) -> bool {
        self.root.join(name).is_dir()
    }
}
