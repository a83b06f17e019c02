//! Manifests that the caller did not name. They were found in a folder, and come from whoever made it.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use super::super::found::FoundVideo;
use super::super::options::InputOptions;
use vidrec_core::store::disk::inside::{Inside, is_below};
use vidrec_core::store::location::is_remote;
use vidrec_format::error::Result;

/// The limits on where a manifest from an input folder may lead.
pub(super) struct FoundList {
    /// The root of its videos: the folder of the manifest, or the root that the caller named.
    root: PathBuf,
    /// The root of its files of values, which are on this machine.
    values: PathBuf,
    /// The folder that links may lead to.
    inside: RefCell<Inside>,
}

impl FoundList {
    /// Creates the limits for a manifest that was found in `folder`, and whose paths begin at `root`.
    ///
    /// # Errors
    ///
    /// The manifest is a link that leads out of the folder.
    pub fn new(file: &Path, folder: &Path, root: &Path, options: &InputOptions) -> Result<Self> {
        let mut inside = Inside::new(folder)?;
        inside.check(file)?;
        // A caller who names a root wants what is there.
        if let Some(root) = options.root.as_deref().filter(|root| !is_remote(root)) {
            inside = Inside::new(root)?;
        }
        let values = if is_remote(root) { file.parent().unwrap_or(Path::new("")) } else { root };
        Ok(FoundList { root: root.to_owned(), values: values.to_owned(), inside: RefCell::new(inside) })
    }

    /// Returns the first path that leads where the manifest may not lead: the video, or values beside it.
    pub fn outside<'a>(&self, found: &'a FoundVideo) -> Option<&'a Path> {
        let mut inside = self.inside.borrow_mut();
        let video = found.path.as_path();
        let is_kept = is_below(&self.root, video) && (is_remote(video) || inside.holds_all(video));
        let mut files = found.tracks.iter().flat_map(|tracks| tracks.files());
        Some(video)
            .filter(|_| !is_kept)
            .or_else(|| files.find(|file| !is_below(&self.values, file) || !inside.holds_all(file)))
    }
}
