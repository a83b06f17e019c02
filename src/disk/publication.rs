//! The commit point: replacing `dataset.json` turns staged files into a data set.
//!
//! A writer stages files: it writes them under temporary names and syncs them to the disk. Publishing has three steps. It
//! renames the files to their final names, which no other contents ever have. It replaces `dataset.json`. It removes the
//! files that only the replaced data set had. Readers see the old data set until `dataset.json` is replaced, and the new
//! one from then on.
//!
//! Once `dataset.json` is replaced, the new data set is there, whatever comes. What cannot be removed or synced from then
//! on is no error: the result says so, and the plan stays for the next writer.
//!
//! A plan file in each folder says what is being published there, so that a killed process leaves nothing behind. The next
//! writer in the folder [recovers](recover) first: it completes what was committed and undoes what was not. Folders that
//! are published together have the same plan. Once one of them is committed, all of them will be. Until then, readers
//! [refuse](check_whole) them.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::atomic_file::{AtomicFile, Temporary};
use super::folder::{self, folder_of, sync_folder};
use super::folder_lock::FolderLock;
use crate::format::data_binding::hex;
use crate::format::names::LISTING;
use crate::{Error, Result};

/// Name of the plan file.
pub(crate) const PLAN: &str = ".vidrec.plan";

/// Largest plan that is read, in bytes.
const MAX_PLAN: u64 = 256 << 20;

/// A staged file and its final name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct PlannedFile {
    temporary: String,
    name: String,
    /// Whether the replaced data set has the same file. If so, undoing leaves the file alone.
    shared: bool,
}

/// What publishing does in one folder: steps that may be repeated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FolderPlan {
    files: Vec<PlannedFile>,
    /// SHA-256 of the new `dataset.json`.
    listing: String,
    /// Files that only the replaced data set has.
    stale: Vec<String>,
}

impl FolderPlan {
    /// Does all steps that an earlier call has not done. A plan of one folder needs no other record of its progress, until
    /// it is committed and cannot be cleaned up: then a plan file is left for the next writer.
    #[cfg(feature = "pack")]
    pub fn carry_out(&self, dir: &Path) -> Result<LeftBehind> {
        self.place(dir)?;
        self.commit(dir)?;
        let Err(e) = self.clean_up(dir) else { return Ok(Vec::new()) };
        let publication = Publication { folders: vec![(name_of(dir), self.clone())] };
        // Without the file, the caller's own record has to stay.
        let _ = publication.write(&[(dir.to_owned(), self)]);
        Ok(vec![not_cleaned_up(&e)])
    }

    /// Completes the plan if it was committed, and undoes it otherwise. Returns whether it was committed.
    #[cfg(feature = "pack")]
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
        self.files.iter().try_for_each(|file| rename(dir, &file.temporary, &file.name))?;
        sync_folder(dir)
    }

    /// The commit point.
    fn commit(&self, dir: &Path) -> Result<()> {
        if self.is_committed(dir)? {
            // The old `dataset.json` may also be identical to the new one.
            folder::remove(&dir.join(staged_listing()))?;
        } else {
            // Only the planned `dataset.json` may be committed, because stale files are removed afterwards.
            let (from, to) = (dir.join(staged_listing()), dir.join(LISTING));
            fs::rename(from, &to).map_err(|e| Error::io("rename the file", to, e))?;
        }
        Ok(())
    }

    /// What follows the commit point.
    fn clean_up(&self, dir: &Path) -> Result<()> {
        // First, because the files of the old data set must outlive its `dataset.json`.
        sync_folder(dir)?;
        self.remove_stale(dir)
    }

    fn is_committed(&self, dir: &Path) -> Result<bool> {
        let path = dir.join(LISTING);
        match fs::read(&path) {
            Ok(bytes) => Ok(hex(&Sha256::digest(bytes)) == self.listing),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(e) => Err(Error::io("read the file", path, e)),
        }
    }

    fn remove_stale(&self, dir: &Path) -> Result<()> {
        // No sync is needed: a plan that reappears after a power failure is carried out again.
        self.stale.iter().try_for_each(|name| folder::remove(&dir.join(name)))
    }

    /// Removes the files of a plan that was not committed.
    fn undo(&self, dir: &Path) -> Result<()> {
        for file in &self.files {
            folder::remove(&dir.join(&file.temporary))?;
            if !file.shared {
                folder::remove(&dir.join(&file.name))?;
            }
        }
        folder::remove(&dir.join(staged_listing()))?;
        sync_folder(dir)
    }
}

/// Renames a file within a folder. It is fine if the file was already renamed.
fn rename(dir: &Path, temporary: &str, name: &str) -> Result<()> {
    let (from, to) = (dir.join(temporary), dir.join(name));
    match fs::rename(&from, &to) {
        Err(e) if e.kind() == io::ErrorKind::NotFound && to.exists() => Ok(()),
        // If both names lead to the same file, POSIX leaves both.
        Ok(()) => folder::remove(&from),
        Err(e) => Err(Error::io("rename the file", to, e)),
    }
}

fn staged_listing() -> String {
    format!(".{LISTING}.tmp")
}

/// The existing files, and which of them may be removed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Replaced {
    /// Names of the files of the replaced data set.
    pub files: Vec<String>,
    /// Names of the files to remove when it is replaced.
    pub removable: Vec<String>,
}

/// The files of a data set, synced to the disk under temporary names.
#[derive(Debug)]
pub(crate) struct Staged {
    dir: PathBuf,
    plan: FolderPlan,
    // Declared before the lock, so that dropped files are removed while it is held.
    temporaries: Vec<Temporary>,
    _lock: FolderLock,
}

impl Staged {
    /// Adds the new `dataset.json` to staged files and their final names.
    pub fn new(
        dir: &Path,
        lock: FolderLock,
        files: Vec<(Temporary, String)>,
        listing: &[u8],
        replaced: Replaced,
    ) -> Result<Self> {
        let mut staged = AtomicFile::create(&dir.join(LISTING))?;
        staged.write_all(listing)?;
        staged.sync()?;
        let planned = |(temporary, name): &(Temporary, String)| PlannedFile {
            temporary: temporary.name(),
            shared: replaced.files.contains(name),
            name: name.clone(),
        };
        let files_of_plan = files.iter().map(planned).collect();
        let listing = hex(&Sha256::digest(listing));
        let plan = FolderPlan { files: files_of_plan, listing, stale: replaced.removable };
        let temporaries = files.into_iter().map(|(file, _)| file).chain([staged.seal()]).collect();
        Ok(Staged { dir: dir.to_owned(), plan, temporaries, _lock: lock })
    }

    /// The plan, for a caller that records it in its own journal before doing anything.
    #[cfg(feature = "pack")]
    pub fn into_plan(mut self) -> (FolderPlan, FolderLock) {
        self.keep();
        (self.plan, self._lock)
    }

    fn keep(&mut self) {
        self.temporaries.iter_mut().for_each(Temporary::keep);
    }
}

/// Folders that are published together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Publication {
    /// The name and plan of each folder. All of them lie in the same folder.
    folders: Vec<(String, FolderPlan)>,
}

/// What a writer could not clean up after the commit point, in words for its report. The data set is complete, and the next
/// writer in the folder cleans up.
pub(crate) type LeftBehind = Vec<String>;

/// A folder that still has the plan.
type Pending<'a> = (PathBuf, &'a FolderPlan);

/// Turns staged files into data sets, all of them or none. Returns what it could not clean up afterwards.
///
/// # Errors
///
/// [`Io`](crate::ErrorKind::Io): nothing has changed. If a later folder failed after the first was committed, the next
/// writer completes it.
pub(crate) fn publish(mut outputs: Vec<Staged>) -> Result<LeftBehind> {
    let publication = Publication { folders: outputs.iter().map(|o| (name_of(&o.dir), o.plan.clone())).collect() };
    let folders: Vec<Pending<'_>> = outputs.iter().map(|o| (o.dir.clone(), &o.plan)).collect();
    if let Some((other, _)) = folders.iter().find(|(dir, _)| folder_of(dir) != folder_of(&folders[0].0)) {
        return Err(Error::internal("outputs in different folders cannot be published together").file(other));
    }
    let done = publication.write(&folders).and_then(|()| complete(&folders));
    if done.is_err() && !any_committed(&folders).unwrap_or(true) {
        // Best effort: if the plan stays, the next writer undoes it.
        let _ = undo(&folders);
    }
    outputs.iter_mut().for_each(Staged::keep);
    Ok(done?.err().iter().map(not_cleaned_up).collect())
}

fn name_of(dir: &Path) -> String {
    dir.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn not_cleaned_up(e: &Error) -> String {
    format!(
        "the data set is complete, but what it replaced is not cleaned up: {e:#}; the next write or repair there does that"
    )
}

impl Publication {
    fn write(&self, folders: &[Pending<'_>]) -> Result<()> {
        let bytes = serde_json::to_vec(self).map_err(|e| Error::internal(format!("plan: {e}")))?;
        folders.iter().try_for_each(|(dir, _)| {
            let mut file = AtomicFile::create(&dir.join(PLAN))?;
            file.write_all(&bytes)?;
            file.sync()?;
            // Its name is synced to the disk together with those of the files that it names.
            file.place()
        })
    }

    /// Reads the plan in `dir`, if there is one.
    fn read(dir: &Path) -> Result<Option<Self>> {
        let path = dir.join(PLAN);
        let file = match fs::File::open(&path) {
            Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => return Ok(None),
            file => file.map_err(|e| Error::io("open the file", &path, e))?,
        };
        let mut bytes = Vec::new();
        file.take(MAX_PLAN).read_to_end(&mut bytes).map_err(|e| Error::io("read the file", &path, e))?;
        let plan: Self = serde_json::from_slice(&bytes).map_err(|e| unknown_plan(&path).found(e))?;
        let names = plan.folders.iter().flat_map(|(_, f)| {
            let files = f.files.iter().flat_map(|file| [&file.temporary, &file.name]);
            files.chain(&f.stale)
        });
        for name in names.chain(plan.folders.iter().skip(1).map(|(name, _)| name)) {
            if Path::new(name).file_name() != Some(name.as_ref()) {
                return Err(unknown_plan(&path).found(format!("{name:?}, which is not a plain file name")));
            }
        }
        Ok(Some(plan))
    }

    /// The folders that have this plan, as seen from one of them.
    fn pending(&self, dir: &Path) -> Result<Vec<Pending<'_>>> {
        if let [(_, plan)] = &self.folders[..] {
            return Ok(vec![(dir.to_owned(), plan)]);
        }
        let mut pending = Vec::new();
        for (name, plan) in &self.folders {
            let sibling = folder_of(dir).join(name);
            if Publication::read(&sibling)?.as_ref() == Some(self) {
                pending.push((sibling, plan));
            }
        }
        Ok(pending)
    }
}

fn unknown_plan(path: &Path) -> Error {
    Error::usage("this plan of an interrupted write is not of this version of vidrec")
        .file(path)
        .help("run the version that wrote it again, or remove the file")
}

fn any_committed(folders: &[Pending<'_>]) -> Result<bool> {
    for (dir, plan) in folders {
        if plan.is_committed(dir)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Commits all folders. The inner result is that of cleaning up.
fn complete(folders: &[Pending<'_>]) -> Result<Result<()>> {
    folders.iter().try_for_each(|(dir, plan)| plan.place(dir))?;
    folders.iter().try_for_each(|(dir, plan)| plan.commit(dir))?;
    let cleaned = folders.iter().try_for_each(|(dir, plan)| plan.clean_up(dir));
    Ok(cleaned.and_then(|()| remove_plans(folders)))
}

fn undo(folders: &[Pending<'_>]) -> Result<()> {
    folders.iter().try_for_each(|(dir, plan)| plan.undo(dir))?;
    remove_plans(folders)
}

fn remove_plans(folders: &[Pending<'_>]) -> Result<()> {
    folders.iter().try_for_each(|(dir, _)| folder::remove(&dir.join(PLAN)))
}

/// Completes or undoes what a killed process left in `dir`, which the caller has locked. Returns whether it completed
/// something.
///
/// # Errors
///
/// [`Io`](crate::ErrorKind::Io) from the file system; [`Usage`](crate::ErrorKind::Usage) if another process is writing in
/// a folder that was being published together with this one, or if the plan is not of this version.
pub(crate) fn recover(dir: &Path) -> Result<bool> {
    let Some(publication) = Publication::read(dir)? else { return Ok(false) };
    let folders = publication.pending(dir)?;
    let is_this = |other: &Path| fs::canonicalize(other).ok() == fs::canonicalize(dir).ok();
    let others = folders.iter().filter(|(other, _)| !is_this(other));
    let _locks = others.map(|(other, _)| FolderLock::take(other)).collect::<Result<Vec<_>>>()?;
    let completes = any_committed(&folders)?;
    if completes {
        complete(&folders)??
    } else {
        undo(&folders)?
    }
    Ok(completes)
}

/// Refuses a folder if it was being published together with others and only some of them are committed.
pub(crate) fn check_whole(dir: &Path) -> Result<()> {
    let Some(publication) = Publication::read(dir)? else { return Ok(()) };
    let folders = publication.pending(dir)?;
    let committed = folders.iter().map(|(dir, plan)| plan.is_committed(dir)).collect::<Result<Vec<_>>>()?;
    if committed.iter().all(|c| *c == committed[0]) {
        return Ok(());
    }
    Err(Error::usage(
        "this is one of several data sets that were being replaced together when the writer was interrupted",
    )
    .file(dir)
    .help("run the same command again, or repair this folder: both complete it"))
}

/// Whether an interrupted write left a plan in `dir`.
pub(crate) fn is_pending(dir: &Path) -> bool {
    dir.join(PLAN).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fills a folder with an old data set of the files `old` and `both`.
    fn old_set(dir: &Path) {
        fs::create_dir_all(dir).unwrap();
        for name in ["old", "both"] {
            fs::write(dir.join(name), name).unwrap();
        }
        fs::write(dir.join(LISTING), "old, both").unwrap();
    }

    fn stage(dir: &Path) -> Staged {
        let lock = FolderLock::take(dir).unwrap();
        let files = ["new", "both"].map(|name| {
            let mut file = AtomicFile::create(&dir.join(format!("staged-{name}"))).unwrap();
            file.write_all(name.as_bytes()).unwrap();
            (file.seal(), name.to_owned())
        });
        let replaced = Replaced { files: vec!["old".into(), "both".into()], removable: vec!["old".into()] };
        Staged::new(dir, lock, files.into(), b"new, both", replaced).unwrap()
    }

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    const OLD: [&str; 3] = ["both", "dataset.json", "old"];
    const NEW: [&str; 3] = ["both", "dataset.json", "new"];

    /// Leaves what a process leaves that is killed after `steps` of these: the plans, the files, each `dataset.json`.
    fn killed(dirs: &[PathBuf], steps: usize) {
        let mut outputs: Vec<_> = dirs.iter().map(|dir| stage(dir)).collect();
        outputs.iter_mut().for_each(Staged::keep);
        let name = |dir: &Path| dir.file_name().unwrap().to_str().unwrap().to_owned();
        let plan = Publication { folders: outputs.iter().map(|o| (name(&o.dir), o.plan.clone())).collect() };
        let folders: Vec<_> = outputs.iter().map(|o| (o.dir.clone(), &o.plan)).collect();
        plan.write(&folders).unwrap();
        if steps > 0 {
            folders.iter().for_each(|(dir, plan)| plan.place(dir).unwrap());
        }
        folders.iter().take(steps.saturating_sub(1)).for_each(|(dir, plan)| plan.commit(dir).unwrap());
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
                assert!(fs::read(dirs[0].join("both")).unwrap() == b"both");
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

    #[test]
    fn a_plan_names_nothing_elsewhere() {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path().join("a");
        old_set(&dir);
        fs::write(temp.path().join("precious"), "").unwrap();
        let plan = FolderPlan { files: Vec::new(), listing: String::new(), stale: vec!["../precious".into()] };
        let publication = Publication { folders: vec![("a".into(), plan)] };
        fs::write(dir.join(PLAN), serde_json::to_vec(&publication).unwrap()).unwrap();
        assert!(recover(&dir).unwrap_err().to_string().contains("precious"));
        fs::write(dir.join(PLAN), "{").unwrap();
        assert!(recover(&dir).is_err());
        assert!(temp.path().join("precious").exists());
    }
}
