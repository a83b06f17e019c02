//! LeRobot data sets in object storage or on the Hugging Face Hub: everything but the videos, copied to this machine.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::endings::LEROBOT_INFO;
use super::listed::ObjectList;
use super::places;
use vidrec_core::store::disk::{AtomicFile, folder};
use vidrec_core::store::remote::{ListedObject, Opening, REQUEST_BYTES, Remote};
use vidrec_core::store::storage::Storage;
use vidrec_core::transfer::upload::own_folder_for;
use vidrec_format::error::{Error, Result};
use vidrec_format::workers::in_order;

/// The folders that are copied.
const FOLDERS: [&str; 2] = ["meta/", "data/"];
/// The number of files to copy at a time.
const AT_ONCE: usize = 8;

/// The copy, which goes when this does.
#[derive(Debug)]
pub(crate) struct EpisodesCopy {
    folder: PathBuf,
    /// While it is open, no other process has a copy of this data set.
    _list: Arc<ObjectList>,
}

impl EpisodesCopy {
    /// Copies the data set whose objects are these. Returns `None` if it is none of LeRobot.
    pub(super) fn of(list: &Arc<ObjectList>, storage: &Storage) -> Result<Option<Self>> {
        let (mut objects, mut is_one) = (Vec::new(), false);
        list.each(&mut |object| {
            is_one |= object.name == LEROBOT_INFO;
            if FOLDERS.iter().any(|folder| object.name.starts_with(folder)) {
                objects.push(object);
            }
            Ok(())
        })?;
        if !is_one {
            return Ok(None);
        }
        let location = list.location();
        let folder = own_folder_for(None, &location.join(LEROBOT_INFO))?;
        let copy = EpisodesCopy { folder, _list: Arc::clone(list) };
        let remote = Remote::new(&Storage { cache: None, ..storage.clone() })?;
        in_order(objects.len(), AT_ONCE, |i| copy.add(&remote, location, &objects[i]))?;
        Ok(Some(copy))
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn add(&self, remote: &Arc<Remote>, location: &Path, object: &ListedObject) -> Result<()> {
        let name = Path::new(&object.name);
        if !name.components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(Error::usage("no file of this machine can have this name").file(location).found(&object.name));
        }
        let to = self.folder.join(name);
        let parent = to.parent().unwrap_or(&self.folder);
        fs::create_dir_all(parent).map_err(|e| Error::io("create the folder", parent, e))?;
        let file = Opening::start(remote, &places::below(location, name), object.bytes == 0)?;
        let (file, mut out, mut buffer, mut at) = (file.finish()?, AtomicFile::create(&to)?, Vec::new(), 0);
        while at < file.len() {
            let range = at..file.len().min(at + REQUEST_BYTES);
            at = range.end;
            file.read(range.clone(), || range, &mut buffer)?;
            out.write_all(&buffer)?;
        }
        out.sync()?;
        out.place()
    }
}

impl Drop for EpisodesCopy {
    fn drop(&mut self) {
        // What stays does no harm: the next pack of this data set writes it again.
        let _ = folder::remove(&self.folder, &[]);
    }
}
