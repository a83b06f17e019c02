//! Removal of objects that no process uses.
//!
//! First the folder of an object is renamed, so that the object disappears in one step. Then the pages are
//! deleted, then the map, and only then does the budget shrink. If a process is killed in between, it leaves a
//! folder whose map still says how much to subtract, or a budget that is too large. The budget is never too small.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::cache::claims::PAGE_BYTES;
use crate::cache::home::Home;
use crate::cache::layout;
use crate::cache::layout::{MAP, PAGES, REMOVAL, TRASH};
use crate::cache::page_map::ABSENT;
use crate::disk::claim_file::ClaimFile;
use crate::disk::regular_file::{Links, read_regular};
use crate::disk::sparse_file::SparseFile;
use crate::disk::whole_folder;
use vidrec_format::error::Result;

/// The right to remove objects. Only one process has it at a time.
#[derive(Debug)]
pub(super) struct Remover<'a> {
    home: &'a Home,
    _lock: ClaimFile,
}

impl<'a> Remover<'a> {
    /// Takes the right, and completes removals that a killed process began; `None` if another process has the
    /// right.
    pub fn take(home: &'a Home) -> Result<Option<Self>> {
        let lock = ClaimFile::open(&home.dir.join(REMOVAL))?;
        if !lock.take()? {
            return Ok(None);
        }
        let remover = Remover { home, _lock: lock };
        for left in layout::trash(&home.dir)? {
            remover.delete(&left)?;
        }
        Ok(Some(remover))
    }

    /// Removes an object. Returns false if a process uses it.
    pub fn remove(&self, object: &Path) -> Result<bool> {
        // No process can use the object without its file of pages. The lock is held until the folder is gone.
        let pages = object.join(PAGES);
        let is_file = std::fs::symlink_metadata(&pages).is_ok_and(|meta| meta.is_file());
        let lock = if is_file { SparseFile::open(&pages)? } else { None };
        if lock.as_ref().is_some_and(|pages| !pages.take().unwrap_or(false)) {
            return Ok(false);
        }
        let Some(name) = object.file_name().and_then(|name| name.to_str()) else { return Ok(false) };
        let trash = self.home.dir.join(format!("{TRASH}{name}"));
        if !object.exists() || !whole_folder::rename(object, &trash)? {
            return Ok(false);
        }
        self.delete(&trash)?;
        Ok(true)
    }

    /// Removes unused objects, least recently used first, until at most `most` bytes are taken. Returns whether it
    /// reached that.
    pub fn trim(&self, most: u64) -> Result<bool> {
        let is_done = || self.home.budget.taken() <= most;
        if !is_done() {
            for object in by_last_use(&self.home.dir)? {
                self.remove(&object)?;
                if is_done() {
                    break;
                }
            }
        }
        Ok(is_done())
    }

    fn delete(&self, trash: &Path) -> Result<()> {
        let bytes = counted(trash);
        whole_folder::remove(trash, &[PAGES])?;
        self.home.budget.give(bytes);
        Ok(())
    }
}

/// The bytes that the budget counts for an object, according to its map.
pub(super) fn counted(object: &Path) -> u64 {
    count(object, |state| state != ABSENT)
}

/// Bytes of the pages of an object in the wanted states, according to its map; 0 if the map cannot be read.
pub(super) fn count(object: &Path, wanted: impl Fn(u8) -> bool) -> u64 {
    let map = read_regular(&object.join(MAP), u64::MAX, Links::Refuse).unwrap_or_default();
    PAGE_BYTES * map.iter().filter(|&&state| wanted(state)).count() as u64
}

fn by_last_use(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut objects = layout::objects(dir)?;
    objects.sort_by_cached_key(|object| last_use(object));
    Ok(objects)
}

/// When an object was last opened, or written to; `None` if it is damaged.
pub(super) fn last_use(object: &Path) -> Option<SystemTime> {
    std::fs::metadata(object.join(PAGES)).and_then(|meta| meta.modified()).ok()
}
