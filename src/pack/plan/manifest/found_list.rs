//! Lists that nobody named: they were found in a folder, and whoever made the folder wrote them.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use super::super::found::FoundVideo;
use super::super::options::InputOptions;
use crate::disk::inside::{Inside, is_below};
use crate::{Result, is_remote};

/// Where a list may lead that was found in an input folder.
pub(super) struct FoundList {
    /// Where its videos are: the list's own folder, or what the caller named instead.
    root: PathBuf,
    /// Where its files of values are, which are on this machine.
    values: PathBuf,
    /// What links may lead to.
    inside: RefCell<Inside>,
}

impl FoundList {
    /// A list that was found in `folder`, and whose paths begin at `root`.
    ///
    /// # Errors
    ///
    /// The list is a link that leads out of the folder.
    pub fn new(file: &Path, folder: &Path, root: &Path, options: &InputOptions) -> Result<Self> {
        let mut inside = Inside::new(folder)?;
        inside.check(file)?;
        // Whoever names a root wants what is there.
        if let Some(root) = options.root.as_deref().filter(|root| !is_remote(root)) {
            inside = Inside::new(root)?;
        }
        let values = if is_remote(root) { file.parent().unwrap_or(Path::new("")) } else { root };
        Ok(FoundList { root: root.to_owned(), values: values.to_owned(), inside: RefCell::new(inside) })
    }

    /// What leads where the list may not: the video, or values beside it.
    pub fn outside<'a>(&self, found: &'a FoundVideo) -> Option<&'a Path> {
        let mut inside = self.inside.borrow_mut();
        let video = found.path.as_path();
        let is_kept = is_below(&self.root, video) && (is_remote(video) || inside.holds_all(video));
        let mut files = found.tracks.iter().flat_map(|tracks| tracks.files());
        Some(video)
            .filter(|_| !is_kept)
            .or_else(|| files.find(|file| !is_below(&self.values, file) || !inside.holds(file)))
    }
}
