//! The commit point: replacing `dataset.json` turns staged files into a data set.
//!
//! A writer stages files: it writes them under temporary names and syncs them to the disk. Publishing has three
//! steps. It renames the files to their final names, which no other contents ever have. It replaces `dataset.json`.
//! It removes the files that only the replaced data set had. Readers see the old data set until `dataset.json` is
//! replaced, and the new one from then on.
//!
//! Once `dataset.json` is replaced, the new data set exists, whatever happens next. If files cannot be removed or
//! synced from then on, this is not an error. The result says so, and the intent stays for the next writer.
//!
//! An intent file in each folder says what is being published there, so that a killed process leaves nothing behind. The
//! next writer in the folder [recovers](recover) first: it completes a committed intent and undoes any other. Folders
//! that are published together have the same intent. Once one of them is committed, all of them will be. Until then,
//! readers [refuse](check_whole) them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize};
use sha2::{Digest, Sha256};

use super::atomic_file::{AtomicFile, Temporary, sha256_of};
use super::folder::{self, folder_of, sync_folder};
use super::folder_lock::FolderLock;
use super::regular_file::{Links, open_regular, read_if_there};
use vidrec_format::data_binding::hex;
use vidrec_format::dataset_json::DatasetJson;
use vidrec_format::error::{Error, Hint, Result};
use vidrec_format::file_name::{FileName, FolderName, StagedName};
use vidrec_format::limits;
use vidrec_format::names;
use vidrec_format::names::LISTING;

/// Name of the intent file.
pub const INTENT: &str = ".vidrec.intent";

/// A staged file and its final name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct StagedFile {
    temporary: StagedName,
    name: FileName,
    /// Whether a file of this name exists that the new one may replace. If so, undoing leaves that file alone.
    shared: bool,
}

/// The steps of publishing in one folder. They may be repeated. An intent on the disk may come from anybody, so only
/// files with names of this form are renamed or removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderIntent {
    files: Vec<StagedFile>,
    /// SHA-256 of the new `dataset.json`.
    listing: String,
    /// Files that only the replaced data set has.
    #[serde(deserialize_with = "given_names")]
    stale: Vec<FileName>,
}

/// Reads file names, and refuses those that vidrec does not give: record files of other programs.
fn given_names<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Vec<FileName>, D::Error> {
    let names = Vec::<FileName>::deserialize(deserializer)?;
    match names.iter().find(|name| !name.is_given()) {
        Some(name) => Err(not_given(name)),
        None => Ok(names),
    }
}

/// Reads the intent of a pack, in which vidrec gives all files their names.
pub fn intent_of_given_names<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<FolderIntent, D::Error> {
    let intent = FolderIntent::deserialize(deserializer)?;
    match intent.files.iter().find(|file| !file.name.is_given()) {
        Some(file) => Err(not_given(&file.name)),
        None => Ok(intent),
    }
}

fn not_given<E: serde::de::Error>(name: &FileName) -> E {
    E::custom(format!("vidrec does not give files the name {:?}", &**name))
}

impl FolderIntent {
    /// Carries out all steps that an earlier call has not. An intent of one folder needs no other record of its
    /// progress. If it is committed but cannot be cleaned up, an intent file is left for the next writer.
    pub fn carry_out(&self, dir: &Path) -> Result<LeftBehind> {
        self.place(dir)?;
        self.commit(dir)?;
        let Err(e) = self.clean_up(dir) else { return Ok(Vec::new()) };
        let publication = FolderName::of(dir).map(|name| Publication { folders: vec![(name, self.clone())] });
        // If the intent file cannot be written, the caller's own record has to stay.
        let _ = publication.and_then(|publication| publication.write(&[(dir.to_owned(), self)]));
        Ok(vec![not_cleaned_up(&e)])
    }

    /// Completes the intent if it was committed, and undoes it otherwise. Returns whether it was committed.
    pub fn settle(&self, dir: &Path) -> Result<bool> {
        let committed = self.is_committed(dir)?;
        if committed {
            self.clean_up(dir)?
        } else {
            self.undo(dir)?
        }
        Ok(committed)
    }

    /// Renames the files to their final names.
    fn place(&self, dir: &Path) -> Result<()> {
        self.files.iter().try_for_each(|file| file.place(dir))?;
        sync_folder(dir)
    }

    /// Replaces `dataset.json`, which is the commit point.
    fn commit(&self, dir: &Path) -> Result<()> {
        if self.is_committed(dir)? {
            // The old `dataset.json` may also be identical to the new one.
            folder::remove(&dir.join(staged_listing()))?;
        } else {
            // Only the staged `dataset.json` may be committed, because stale files are removed afterwards.
            let (from, to) = (dir.join(staged_listing()), dir.join(LISTING));
            fs::rename(from, &to).map_err(|e| Error::io("rename the file", to, e))?;
        }
        Ok(())
    }

    /// Carries out the steps after the commit point.
    fn clean_up(&self, dir: &Path) -> Result<()> {
        // The sync comes first, because the files of the old data set must outlive its `dataset.json`.
        sync_folder(dir)?;
        self.remove_stale(dir)
    }

    fn is_committed(&self, dir: &Path) -> Result<bool> {
        let listing = read_if_there(&dir.join(LISTING), limits::MAX_LISTING_BYTES, Links::Follow)?;
        Ok(listing.is_some_and(|bytes| hex(&Sha256::digest(bytes)) == self.listing))
    }

    fn remove_stale(&self, dir: &Path) -> Result<()> {
        // No sync is needed: an intent that reappears after a power failure is carried out again.
        self.stale.iter().try_for_each(|name| folder::remove(&dir.join(name)))
    }

    /// Removes the files of an intent that was not committed.
    fn undo(&self, dir: &Path) -> Result<()> {
        for file in &self.files {
            folder::remove(&dir.join(file.temporary.to_string()))?;
            // A record file that has a name from another program is never removed. A later run finds it there.
            if !file.shared && file.name.is_given() {
                folder::remove(&dir.join(&file.name))?;
            }
        }
        folder::remove(&dir.join(staged_listing()))?;
        sync_folder(dir)
    }
}

impl StagedFile {
    /// Renames the file to its final name. It is fine if the file was already renamed.
    fn place(&self, dir: &Path) -> Result<()> {
        let (from, to) = (dir.join(self.temporary.to_string()), dir.join(&self.name));
        if !self.shared && is_there(&to) && is_there(&from) {
            return Err(in_the_way(&to));
        }
        match fs::rename(&from, &to) {
            Err(e) if e.kind() == io::ErrorKind::NotFound && is_there(&to) => Ok(()),
            // If both names lead to the same file, POSIX leaves both.
            Ok(()) => folder::remove(&from),
            Err(e) => Err(Error::io("rename the file", to, e)),
        }
    }
}

/// The error about a file that would be replaced but is not in the replaced data set.
fn in_the_way(file: &Path) -> Error {
    Error::usage("a file of this name already exists, and the data set here does not list it")
        .file(file)
        .help("move it away, or choose another folder")
        .hint(Hint::Overwrite)
}

fn staged_listing() -> String {
    format!(".{LISTING}.tmp")
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
        let (kept, removable) = self.removable.into_iter().partition(|name| new.lists(name));
        let files = [self.files, kept].concat();
        Replaced { files, removable }
    }

    /// Refuses to replace a file in `dir` that is not in the replaced data set. A file that is named for its contents
    /// equals the new one.
    pub fn check<'a>(&self, dir: &Path, new: impl Iterator<Item = &'a FileName>) -> Result<()> {
        for name in new.filter(|name| !self.files.contains(name) && !self.removable.contains(name)) {
            let path = dir.join(name);
            if is_there(&path) && !is_named_for_contents(name, &path)? {
                return Err(in_the_way(&path));
            }
        }
        Ok(())
    }
}

fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Whether the digits in a file's name are those of its digest.
fn is_named_for_contents(name: &FileName, path: &Path) -> Result<bool> {
    if !names::has_digits(name) {
        return Ok(false);
    }
    let digest = sha256_of(&mut open_regular(path, Links::Refuse)?).map_err(|e| Error::io("read the file", path, e))?;
    Ok(name.has_digest(&digest))
}

/// The files of a data set, synced to the disk under temporary names.
#[derive(Debug)]
pub struct Staged {
    dir: PathBuf,
    intent: FolderIntent,
    // Declared before the lock, so that dropped files are removed while it is held.
    temporaries: Vec<Temporary>,
    _lock: FolderLock,
}

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
        let staged_file = |(temporary, name): &(Temporary, FileName)| {
            let shared = is_there(&dir.join(name)) || replaced.files.contains(name);
            Ok(StagedFile { temporary: temporary.staged_name()?, shared, name: name.clone() })
        };
        let staged_files = files.iter().map(staged_file).collect::<Result<_>>()?;
        let listing = hex(&Sha256::digest(listing));
        let intent = FolderIntent { files: staged_files, listing, stale: replaced.removable };
        let temporaries = files.into_iter().map(|(file, _)| file).chain([staged.seal()]).collect();
        Ok(Staged { dir: dir.to_owned(), intent, temporaries, _lock: lock })
    }

    /// Returns the intent, for a caller that records it in its own journal before it does anything.
    pub fn into_intent(mut self) -> (FolderIntent, FolderLock) {
        self.keep();
        (self.intent, self._lock)
    }

    fn keep(&mut self) {
        self.temporaries.iter_mut().for_each(Temporary::keep);
    }
}

/// Folders that are published together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Publication {
    /// The name and intent of each folder. All of them lie in the same folder.
    folders: Vec<(FolderName, FolderIntent)>,
}

/// What a writer could not clean up after the commit point, worded for its report. The data set is complete, and the
/// next writer in the folder cleans up.
pub type LeftBehind = Vec<String>;

/// A folder that still has the intent.
type Pending<'a> = (PathBuf, &'a FolderIntent);

/// Turns staged files into data sets, all of them or none. Returns what it could not clean up afterwards.
///
/// # Errors
///
/// [`Io`](vidrec_format::error::ErrorKind::Io): nothing has changed. If a later folder failed after the first was
/// committed, the next writer completes it.
pub fn publish(mut outputs: Vec<Staged>) -> Result<LeftBehind> {
    let publication = Publication::of(&outputs)?;
    let folders: Vec<Pending<'_>> = outputs.iter().map(|o| (o.dir.clone(), &o.intent)).collect();
    if let Some((other, _)) = folders.iter().find(|(dir, _)| folder_of(dir) != folder_of(&folders[0].0)) {
        return Err(Error::internal("outputs in different folders cannot be published together").file(other));
    }
    let done = publication.write(&folders).and_then(|()| complete(&folders));
    if done.is_err() && !any_committed(&folders).unwrap_or(true) {
        // Best effort: if the intent stays, the next writer undoes it.
        let _ = undo(&folders);
    }
    outputs.iter_mut().for_each(Staged::keep);
    Ok(done?.err().iter().map(not_cleaned_up).collect())
}

fn not_cleaned_up(e: &Error) -> String {
    format!(
        "the data set is complete, but vidrec could not remove what it replaced: {e:#}; \
         the next write or repair there removes it"
    )
}

impl Publication {
    fn of(outputs: &[Staged]) -> Result<Self> {
        let folder = |output: &Staged| Ok((FolderName::of(&output.dir)?, output.intent.clone()));
        Ok(Publication { folders: outputs.iter().map(folder).collect::<Result<_>>()? })
    }

    fn write(&self, folders: &[Pending<'_>]) -> Result<()> {
        let bytes = serde_json::to_vec(self).map_err(|e| Error::internal(format!("intent: {e}")))?;
        folders.iter().try_for_each(|(dir, _)| {
            let mut file = AtomicFile::create(&dir.join(INTENT))?;
            file.write_all(&bytes)?;
            file.sync()?;
            // Its name is synced to the disk together with the names of the files that it lists.
            file.place()
        })
    }

    /// Reads the intent in `dir`, if there is one.
    fn read(dir: &Path) -> Result<Option<Self>> {
        let path = dir.join(INTENT);
        let Some(bytes) = read_if_there(&path, limits::MAX_PLAN_BYTES, Links::Refuse)? else { return Ok(None) };
        serde_json::from_slice(&bytes).map(Some).map_err(|e| unknown_intent(&path).found(e))
    }

    /// The folders that have this intent, as seen from one of them. A folder beside it is touched only if it has the
    /// same intent. In that case, the writer of this intent wrote the other one, too.
    fn pending(&self, dir: &Path) -> Result<Vec<Pending<'_>>> {
        if let [(_, intent)] = &self.folders[..] {
            return Ok(vec![(dir.to_owned(), intent)]);
        }
        let mut pending = Vec::new();
        for (name, intent) in &self.folders {
            let sibling = folder_of(dir).join(name);
            if Publication::read(&sibling)?.as_ref() == Some(self) {
                pending.push((sibling, intent));
            }
        }
        Ok(pending)
    }
}

fn unknown_intent(path: &Path) -> Error {
    Error::usage("this version of vidrec did not write this intent of an interrupted write").file(path).help(
        "if another version wrote it, run that version again; if the folder came from somebody else, remove the file",
    )
}

fn any_committed(folders: &[Pending<'_>]) -> Result<bool> {
    for (dir, intent) in folders {
        if intent.is_committed(dir)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Commits all folders. The inner result is that of cleaning up.
fn complete(folders: &[Pending<'_>]) -> Result<Result<()>> {
    folders.iter().try_for_each(|(dir, intent)| intent.place(dir))?;
    commit(folders)
}

/// Like [`complete`], but all files must have their final names.
fn commit(folders: &[Pending<'_>]) -> Result<Result<()>> {
    folders.iter().try_for_each(|(dir, intent)| intent.commit(dir))?;
    let cleaned = folders.iter().try_for_each(|(dir, intent)| intent.clean_up(dir));
    Ok(cleaned.and_then(|()| remove_intents(folders)))
}

fn undo(folders: &[Pending<'_>]) -> Result<()> {
    folders.iter().try_for_each(|(dir, intent)| intent.undo(dir))?;
    remove_intents(folders)
}

fn remove_intents(folders: &[Pending<'_>]) -> Result<()> {
    folders.iter().try_for_each(|(dir, _)| folder::remove(&dir.join(INTENT)))
}

/// Completes or undoes what a killed process left in `dir`, which the caller has locked. Returns whether it completed
/// something.
///
/// # Errors
///
/// [`Io`](vidrec_format::error::ErrorKind::Io) from the file system;
/// [`Usage`](vidrec_format::error::ErrorKind::Usage) if another process is writing in a folder that was being
/// published together with this one, or if the intent is not of this version.
pub fn recover(dir: &Path) -> Result<bool> {
    let Some(publication) = Publication::read(dir)? else { return Ok(false) };
    let folders = publication.pending(dir)?;
    let is_this = |other: &Path| fs::canonicalize(other).ok() == fs::canonicalize(dir).ok();
    let others = folders.iter().filter(|(other, _)| !is_this(other));
    let _locks = others.map(|(other, _)| FolderLock::take(other)).collect::<Result<Vec<_>>>()?;
    let completes = any_committed(&folders)?;
    if completes {
        // All files have had their names since before the first commit.
        commit(&folders)??
    } else {
        undo(&folders)?
    }
    Ok(completes)
}

/// Refuses a folder if it was being published together with others and only some of them are committed.
pub fn check_whole(dir: &Path) -> Result<()> {
    let Some(publication) = Publication::read(dir)? else { return Ok(()) };
    let folders = publication.pending(dir)?;
    let committed = folders.iter().map(|(dir, intent)| intent.is_committed(dir)).collect::<Result<Vec<_>>>()?;
    if committed.iter().all(|c| *c == committed[0]) {
        return Ok(());
    }
    Err(Error::usage(
        "this is one of several data sets that were being replaced together when the writer was interrupted",
    )
    .file(dir)
    .help("run the same command again, or repair this folder: either completes the write"))
}

/// Whether an interrupted write left an intent in `dir`.
pub fn is_pending(dir: &Path) -> bool {
    dir.join(INTENT).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> FileName {
        name.parse().unwrap()
    }

    /// Fills a folder with an old data set of the files `old.vidx` and `both.rec`.
    fn old_set(dir: &Path) {
        fs::create_dir_all(dir).unwrap();
        for name in ["old.vidx", "both.rec"] {
            fs::write(dir.join(name), name).unwrap();
        }
        fs::write(dir.join(LISTING), "old, both").unwrap();
    }

    fn stage(dir: &Path) -> Staged {
        let lock = FolderLock::take(dir).unwrap();
        let files = ["new.vidx", "both.rec"].map(|name| {
            let mut file = AtomicFile::create(&dir.join(format!("staged-{name}"))).unwrap();
            file.write_all(name.as_bytes()).unwrap();
            (file.seal(), named(name))
        });
        let replaced =
            Replaced { files: vec![named("old.vidx"), named("both.rec")], removable: vec![named("old.vidx")] };
        Staged::new(dir, lock, files.into(), b"new, both", replaced).unwrap()
    }

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    const OLD: [&str; 3] = ["both.rec", "dataset.json", "old.vidx"];
    const NEW: [&str; 3] = ["both.rec", "dataset.json", "new.vidx"];

    /// Leaves the state of a process that is killed after `steps` of these: the intents, the files, each
    /// `dataset.json`.
    fn killed(dirs: &[PathBuf], steps: usize) {
        let mut outputs: Vec<_> = dirs.iter().map(|dir| stage(dir)).collect();
        outputs.iter_mut().for_each(Staged::keep);
        let intent = Publication::of(&outputs).unwrap();
        let folders: Vec<_> = outputs.iter().map(|o| (o.dir.clone(), &o.intent)).collect();
        intent.write(&folders).unwrap();
        if steps > 0 {
            folders.iter().for_each(|(dir, intent)| intent.place(dir).unwrap());
        }
        folders.iter().take(steps.saturating_sub(1)).for_each(|(dir, intent)| intent.commit(dir).unwrap());
    }

    #[test]
    fn what_a_killed_writer_left_is_undone_or_completed_in_all_folders() {
        let temp = tempfile::tempdir().unwrap();
        let dirs = ["a", "b"].map(|name| temp.path().join(name));
        for (steps, wanted) in [(0, OLD), (1, OLD), (2, NEW), (3, NEW)] {
            for first in [0, 1] {
                dirs.iter().for_each(|dir| drop(fs::remove_dir_all(dir)));
                dirs.iter().for_each(|dir| old_set(dir));
                killed(&dirs, steps);
                let refused = dirs.iter().map(|dir| check_whole(dir).is_err()).collect::<Vec<_>>();
                assert_eq!(refused, [steps == 2; 2], "{steps}");
                let lock = FolderLock::take(&dirs[first]).unwrap();
                recover(&dirs[first]).unwrap();
                drop(lock);
                dirs.iter().for_each(|dir| assert_eq!(names(dir), wanted, "{steps} from {first}"));
                assert!(fs::read(dirs[0].join("both.rec")).unwrap() == b"both.rec");
                recover(&dirs[1]).unwrap();
            }
        }
    }

    #[test]
    fn a_list_that_is_gone_is_not_taken_for_replaced() {
        let temp = tempfile::tempdir().unwrap();
        old_set(temp.path());
        let staged = stage(temp.path());
        fs::remove_file(temp.path().join(".dataset.json.tmp")).unwrap();
        assert!(publish(vec![staged]).is_err());
        assert_eq!(names(temp.path()), OLD);
    }

    /// An intent of two folders, as an attacker may write it.
    fn intent(first: &str, second: &str, temporary: &str, name: &str, stale: &str) -> String {
        let intent = format!(
            r#"{{"files": [{{"temporary": {temporary:?}, "name": {name:?}, "shared": false}}], "listing": "",
                "stale": [{stale:?}]}}"#
        );
        format!(r#"{{"folders": [[{first:?}, {intent}], [{second:?}, {intent}]]}}"#)
    }

    #[test]
    fn an_intent_names_nothing_but_files_of_data_sets() {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path().join("a");
        old_set(&dir);
        fs::write(dir.join("thesis.txt"), "").unwrap();
        fs::write(temp.path().join("precious.vidx"), "").unwrap();
        let good = ("a", "b", ".x.vidx.tmp", "x.vidx", "y.vidx");
        fs::write(dir.join(INTENT), intent(good.0, good.1, good.2, good.3, good.4)).unwrap();
        assert!(!recover(&dir).unwrap());
        for (first, second, temporary, name, stale) in [
            ("../a", good.1, good.2, good.3, good.4),
            (good.0, "..", good.2, good.3, good.4),
            (good.0, "/", good.2, good.3, good.4),
            (good.0, good.1, "x.vidx", good.3, good.4),
            (good.0, good.1, ".thesis.txt.tmp", good.3, good.4),
            (good.0, good.1, good.2, "thesis.txt", good.4),
            (good.0, good.1, good.2, "../precious.vidx", good.4),
            (good.0, good.1, good.2, good.3, "thesis.txt"),
            (good.0, good.1, good.2, good.3, "both.rec"),
            (good.0, good.1, good.2, good.3, "../precious.vidx"),
            (good.0, good.1, good.2, good.3, "/etc/passwd"),
        ] {
            fs::write(dir.join(INTENT), intent(first, second, temporary, name, stale)).unwrap();
            let e = recover(&dir).unwrap_err().to_string();
            assert!(e.contains("did not write this intent of an interrupted write"), "{e}");
            assert!(check_whole(&dir).is_err());
        }
        fs::write(dir.join(INTENT), "{").unwrap();
        assert!(recover(&dir).is_err());
        fs::remove_file(dir.join(INTENT)).unwrap();
        assert_eq!(names(&dir), ["both.rec", "dataset.json", "old.vidx", "thesis.txt"]);
        assert!(temp.path().join("precious.vidx").exists());
    }

    #[test]
    fn a_file_that_is_not_listed_is_not_replaced() {
        let temp = tempfile::tempdir().unwrap();
        old_set(temp.path());
        fs::write(temp.path().join("new.vidx"), "not ours").unwrap();
        let lock = FolderLock::take(temp.path()).unwrap();
        let mut file = AtomicFile::create(&temp.path().join("staged.vidx")).unwrap();
        file.write_all(b"ours").unwrap();
        let files = vec![(file.seal(), named("new.vidx"))];
        let e = Staged::new(temp.path(), lock, files, b"", Replaced::default()).unwrap_err();
        assert!(e.to_string().contains("does not list it"), "{e}");
        assert_eq!(fs::read(temp.path().join("new.vidx")).unwrap(), b"not ours");
        assert_eq!(names(temp.path()), ["both.rec", "dataset.json", "new.vidx", "old.vidx"]);
    }
}
