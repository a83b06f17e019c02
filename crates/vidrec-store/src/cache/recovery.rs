//! Recovery by the only process that uses a cache: it removes what killed processes left, and recounts.

use std::path::Path;

use crate::cache::boot::boot;
use crate::cache::budget::Budget;
use crate::cache::claims::PAGE_BYTES;
use crate::cache::layout;
use crate::cache::layout::{BUDGET, CLEAN, Identity, MAP, OBJECTS, PAGES};
use crate::cache::page_map::{ABSENT, PRESENT, PageMap, VACANT};
use crate::cache::slots::Slot;
use crate::disk::private_folder;
use crate::disk::sparse_file::SparseFile;
use crate::disk::whole_folder;
use vidrec_format::error::{Error, Result};

/// Makes the cache consistent. The caller must have exclusive use of it. If this process is killed, the next one
/// repeats the recovery: until its end, the old budget counts at least what is on the disk.
pub(super) fn recover(dir: &Path) -> Result<()> {
    private_folder::create(&dir.join(OBJECTS))?;
    for left in layout::unfinished(dir)?.into_iter().chain(layout::trash(dir)?) {
        whole_folder::remove(&left, &[])?;
    }
    let budget = Budget::begin(&dir.join(BUDGET))?;
    let may_be_lost = budget.boot() != boot();
    let mut taken = 0u64;
    for object in layout::objects(dir)? {
        let is_durable = !may_be_lost || object.join(CLEAN).exists();
        match Some(()).filter(|()| is_durable).and_then(|()| recount(&object).ok()) {
            Some(bytes) => taken = taken.saturating_add(bytes),
            None => whole_folder::remove(&object, &[PAGES])?,
        }
    }
    budget.recount(taken);
    budget.set_boot(boot());
    Slot::retire_all(dir)
}

/// Frees the pages of an object that no process fetches anymore. Returns how many bytes the others take. An error
/// says that the object is damaged.
fn recount(object: &Path) -> Result<u64> {
    let damaged = |what: &str| Error::lost(what).file(object);
    let identity = Identity::read(object).ok_or_else(|| damaged("its object.json is missing or damaged"))?;
    let (file, map) = open_files(object, &identity)?;
    let mut kept = 0u64;
    for (page, state) in map.iter() {
        let at = page * PAGE_BYTES;
        // Bytes that cannot be returned to the file system stay counted.
        let to = match state {
            ABSENT | PRESENT => state,
            _ if file.punch(at, PAGE_BYTES) => ABSENT,
            _ => VACANT,
        };
        if state != to && !map.change(page, state, to) {
            return Err(damaged("its map changed"));
        }
        kept += u64::from(to != ABSENT);
    }
    let bytes = kept.saturating_mul(PAGE_BYTES);
    // Some file systems count their own tables as part of the file.
    let most = bytes + bytes / 64 + (1 << 20);
    match file.taken() {
        Some(taken) if taken > most => Err(damaged("its file takes more space than its map says")),
        _ => Ok(bytes),
    }
}

/// The file of pages and the map of an object, if they are as long as its identity says.
pub(super) fn open_files(object: &Path, identity: &Identity) -> Result<(SparseFile, PageMap)> {
    let pages = object.join(PAGES);
    let file = SparseFile::open(&pages)?.ok_or_else(|| Error::lost("the file is gone").file(&pages))?;
    check_length(&pages, &file, identity)?;
    Ok((file, PageMap::open(&object.join(MAP), identity.pages())?))
}

/// Whether the file of pages is as long as the object.
pub(super) fn check_length(path: &Path, file: &SparseFile, identity: &Identity) -> Result<()> {
    let found = file.len()?;
    if found == identity.length {
        return Ok(());
    }
    let e = Error::lost("a file of the cache was changed from outside").file(path);
    Err(e.expected(format!("{} bytes", identity.length)).found(format!("{found} bytes")))
}
