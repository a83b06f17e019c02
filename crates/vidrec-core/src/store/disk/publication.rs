//! The commit point: replacing `dataset.json` turns staged files into a data set.
//!
//! A writer stages files: it writes them under temporary names and syncs them to the disk. Publishing renames the files
//! to their final names, which no other contents ever have, replaces `dataset.json`, and removes the files that the new
//! `dataset.json` no longer lists. Readers see the old data set until `dataset.json` is replaced, and the new one from
//! then on.
//!
//! Before the first rename, a list of changes names the new files and those that only the old data set has. Whatever
//! happens then, the rule is the same: the files of the list that `dataset.json` does not list are removed, and then the
//! list. If a process dies in between, the next writer in the folder does that ([`recover`]).
//!
//! Once `dataset.json` is replaced, the new data set exists, whatever happens next. If files cannot be removed or
//! synced from then on, this is not an error. The result says so, and the list stays for the next writer.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::atomic_file::{AtomicFile, Temporary};
use super::folder::{self, sync_folder};
use super::folder_lock::FolderLock;
use super::map::MappedFile;
use super::regular_file::{Links, open_regular, read_if_there};
use vidrec_format::dataset_json::DatasetJson;
use vidrec_format::error::{Error, Hint, Result};
use vidrec_format::file_name;
use vidrec_format::file_name::FileName;
use vidrec_format::file_name::LISTING;
use vidrec_format::limits;

/// Name of the list of changes.
pub const CHANGES: &str = ".vidrec.changes";

/// The files that a data set gains or loses. A list on the disk may come from anybody, so only files with names that
/// vidrec gives are removed.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Changes {
    files: Vec<FileName>,
}

impl Changes {
    fn write(&self, dir: &Path) -> Result<()> {
        let bytes = serde_json::to_vec(self).map_err(|e| Error::internal(format!("list of changes: {e}")))?;
        let mut file = AtomicFile::create(&dir.join(CHANGES))?;
        file.write_all(&bytes)?;
        file.sync()?;
        // Its name is synced to the disk together with the names of the files that it lists.
        file.place()
    }

    fn read(dir: &Path) -> Result<Option<Self>> {
        let path = dir.join(CHANGES);
        let Some(bytes) = read_if_there(&path, limits::MAX_PLAN_BYTES, Links::Refuse)? else { return Ok(None) };
        serde_json::from_slice(&bytes).map(Some).map_err(|e| {
            Error::usage("this version of vidrec did not write this list of an interrupted write")
                .file(&path)
                .found(e)
                .help("if another version wrote it, run that version again; if the folder came from others, remove the file")
        })
    }

    /// Removes the files that `dataset.json` does not list, and then the list of changes.
    fn settle(&self, dir: &Path) -> Result<()> {
        // The sync comes first, because the files of the old data set must outlive its `dataset.json`.
        sync_folder(dir)?;
        let listing = read_if_there(&dir.join(LISTING), limits::MAX_LISTING_BYTES, Links::Follow)?;
        // Nobody knows what a damaged `dataset.json` listed: then all files stay for a repair.
        if let Ok(json) = listing.map(|bytes| DatasetJson::prove(&bytes)).transpose() {
            let listed: HashSet<&FileName> = json.iter().flat_map(DatasetJson::file_names).collect();
            let mut unlisted = self.files.iter().filter(|name| name.is_given() && !listed.contains(name));
            unlisted.try_for_each(|name| folder::remove_file(&dir.join(name)))?;
        }
        folder::remove_file(&dir.join(format!(".{LISTING}.tmp")))?;
        folder::remove_file(&dir.join(CHANGES))
    }
}

/// Removes what a killed process left in `dir`, which the caller has locked: its new files if it did not replace
/// `dataset.json`, and the old ones if it did.
///
/// # Errors
///
/// [`Io`](vidrec_format::error::ErrorKind::Io) from the file system;
/// [`Usage`](vidrec_format::error::ErrorKind::Usage) if another version of vidrec was interrupted there.
pub fn recover(dir: &Path) -> Result<()> {
    Changes::read(dir)?.map_or(Ok(()), |changes| changes.settle(dir))
}

/// Whether an interrupted write left a list of changes in `dir`.
pub fn is_pending(dir: &Path) -> bool {
    dir.join(CHANGES).exists()
}

/// The existing files, and which of them may be removed.
#[derive(Debug, Clone, Default)]
pub struct Replaced {
    /// Names of the files of the replaced data set, which new files may replace.
    pub files: Vec<FileName>,
    /// Names of the files to remove when it is replaced.
    pub removable: Vec<FileName>,
}

impl Replaced {
    /// Keeps the files that the new data set lists.
    pub fn but_for(self, new: &DatasetJson) -> Self {
        let listed: HashSet<&FileName> = new.file_names().collect();
        let (kept, removable) = self.removable.into_iter().partition(|name| listed.contains(name));
        let files = [self.files, kept].concat();
        Replaced { files, removable }
    }

    /// Refuses to replace a file in `dir` that is not in the replaced data set. A file that is named for its contents
    /// equals the new one.
    pub fn check<'a>(&self, dir: &Path, new: impl Iterator<Item = &'a FileName>) -> Result<()> {
        let replaced: HashSet<&FileName> = self.files.iter().chain(&self.removable).collect();
        for name in new.filter(|name| !replaced.contains(name)) {
            let path = dir.join(name);
            if fs::symlink_metadata(&path).is_err() {
                continue;
            }
            if !(file_name::has_digits(name) && name.has_digest(&sha256_of(&path)?)) {
                return Err(Error::usage("a file of this name already exists, and the data set here does not list it")
                    .file(&path)
                    .help("move it away, or choose another folder")
                    .hint(Hint::Overwrite));
            }
        }
        Ok(())
    }
}

/// SHA-256 of a file, from its first byte to its last. Its name is no link.
pub fn sha256_of(path: &Path) -> Result<[u8; 32]> {
    let map = MappedFile::of(&open_regular(path, Links::Refuse)?, path, None)?;
    let digest = Sha256::digest(&map[..]).into();
    map.prove_whole(path).map(|()| digest)
}

/// The files of a data set, synced to the disk under temporary names.
#[derive(Debug)]
pub struct Staged {
    dir: PathBuf,
    // Declared before the lock, so that dropped files are removed while it is held.
    files: Vec<(Temporary, FileName)>,
    listing: Temporary,
    removable: Vec<FileName>,
    _lock: FolderLock,
}

/// Files that a writer could not remove after the commit point, worded for its report. The data set is complete, and the
/// next writer in the folder cleans up.
pub type LeftBehind = Vec<String>;

impl Staged {
    /// Adds the new `dataset.json` to staged files and their final names.
    ///
    /// # Errors
    ///
    /// [`Usage`](vidrec_format::error::ErrorKind::Usage) also if a file with a final name exists that is not
    /// `replaced`.
    pub fn new(
        dir: &Path,
        lock: FolderLock,
        files: Vec<(Temporary, FileName)>,
        listing: &[u8],
        replaced: Replaced,
    ) -> Result<Self> {
        replaced.check(dir, files.iter().map(|(_, name)| name))?;
        let mut staged = AtomicFile::create(&dir.join(LISTING))?;
        staged.write_all(listing)?;
        staged.sync()?;
        Ok(Staged { dir: dir.to_owned(), files, listing: staged.seal(), removable: replaced.removable, _lock: lock })
    }

    /// Turns the staged files into a data set. Returns what could not be cleaned up afterwards.
    ///
    /// # Errors
    ///
    /// [`Io`](vidrec_format::error::ErrorKind::Io): nothing has changed.
    pub fn publish(self) -> Result<LeftBehind> {
        let Staged { _lock, dir, files, listing, removable } = self;
        // A killed pack that goes on here may have left files to remove.
        let left = Changes::read(&dir)?.into_iter().flat_map(|left| left.files);
        let new = files.iter().map(|(_, name)| name.clone());
        let changes = Changes { files: new.chain(removable).chain(left).collect() };
        let stay = files.iter().any(|(file, _)| file.keep);
        changes.write(&dir)?;
        if let Err(e) = commit(&dir, files, listing) {
            // Best effort: the next writer settles a list that stays. Finished shards are kept, so that a pack can resume.
            let _ = if stay { Ok(()) } else { changes.settle(&dir) };
            return Err(e);
        }
        let left = changes.settle(&dir).err().map(|e| {
            format!(
                "the data set is complete, but vidrec could not remove what it replaced: {e:#}; the next write there removes it"
            )
        });
        Ok(left.into_iter().collect())
    }
}

fn commit(dir: &Path, files: Vec<(Temporary, FileName)>, mut listing: Temporary) -> Result<()> {
    for (mut temporary, name) in files {
        temporary.rename(&dir.join(&name))?;
    }
    sync_folder(dir)?;
    listing.rename(&dir.join(LISTING))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: &str = "shard-00000-111111111111.rec";
    const OLD: &str = "shard-00000-000000000000.rec";
    const BOTH: &str = "shard-00001-222222222222.rec";

    fn named(name: &str) -> FileName {
        name.parse().unwrap()
    }

    fn listing(records: [&str; 2]) -> Vec<u8> {
        let shard = |record: &&str| {
            let record = named(record);
            let index_file = named(&record.replace(".rec", ".vidx"));
            let (track_file, added, index_crc32, sha256) = (None, None, None, "00".repeat(32));
            ShardJson {
                record_file: record,
                index_file,
                track_file,
                added,
                clips: 1,
                frames: 1,
                bytes: 1,
                sha256,
                index_crc32,
            }
        };
        DatasetJson::new(&Meta::default(), records.iter().map(shard).collect()).to_bytes()
    }

    /// Fills a folder with an old data set.
    fn old_set(dir: &Path) {
        fs::create_dir_all(dir).unwrap();
        [OLD, BOTH].iter().for_each(|name| fs::write(dir.join(name), name).unwrap());
        fs::write(dir.join(LISTING), listing([OLD, BOTH])).unwrap();
    }

    fn stage(dir: &Path) -> Staged {
        let lock = FolderLock::take(dir).unwrap();
        let files = [NEW, BOTH].map(|name| {
            let mut file = AtomicFile::create(&dir.join(format!("staged-{name}"))).unwrap();
            file.write_all(name.as_bytes()).unwrap();
            (file.seal(), named(name))
        });
        let replaced = Replaced { files: vec![named(OLD), named(BOTH)], removable: vec![named(OLD)] };
        Staged::new(dir, lock, files.into(), &listing([NEW, BOTH]), replaced).unwrap()
    }

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_a_killed_writer_left_is_undone_or_completed() {
        for steps in 0..5 {
            let temp = tempfile::tempdir().unwrap();
            let dir = temp.path();
            old_set(dir);
            let Staged { mut files, mut listing, removable, _lock, .. } = stage(dir);
            let changes = Changes { files: files.iter().map(|(_, name)| name.clone()).chain(removable).collect() };
            changes.write(dir).unwrap();
            files.iter_mut().take(steps).for_each(|(file, name)| file.rename(&dir.join(name)).unwrap());
            if steps > 2 {
                listing.rename(&dir.join(LISTING)).unwrap();
            }
            if steps > 3 {
                folder::remove_file(&dir.join(OLD)).unwrap();
            }
            std::mem::forget((files, listing));
            assert!(is_pending(dir));
            recover(dir).unwrap();
            drop(_lock);
            remove_temporaries(dir, |_| true).unwrap();
            let shard = if steps > 2 { NEW } else { OLD };
            assert_eq!(names(dir), ["dataset.json", shard, BOTH], "{steps}");
            assert_eq!(fs::read(dir.join(BOTH)).unwrap(), BOTH.as_bytes());
            recover(dir).unwrap();
        }
    }

    #[test]
    fn without_a_list_of_files_that_can_be_read_all_files_stay() {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path();
        old_set(dir);
        fs::write(dir.join(CHANGES), format!(r#"{{"files": ["{OLD}"]}}"#)).unwrap();
        fs::write(dir.join(LISTING), "{").unwrap();
        recover(dir).unwrap();
        assert_eq!(names(dir), ["dataset.json", OLD, BOTH]);
    }

    use crate::store::disk::remove_temporaries;
    use vidrec_format::dataset_json::ShardJson;
    use vidrec_format::meta::Meta;
}
