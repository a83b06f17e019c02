//! Folders and files that belong to this user alone, even in folders where others can write: `/tmp` or `/dev/shm`. The
//! names of these files are never links. One is a lock.

use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind::AlreadyExists;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::folder_lock::is_taken;
use super::open_files::write_all_at;
use super::regular_file::{in_place, private};
use vidrec_format::error::{Error, Result};

/// The most bytes that are read of a small file.
const MOST_BYTES: u64 = 4096;

/// Creates a folder that only this user can enter, if it does not exist.
pub(crate) fn create_folder(folder: &Path) -> Result<()> {
    let mut how = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut how, 0o700);
    match how.create(folder) {
        Err(e) if e.kind() != AlreadyExists => Err(Error::io("create the folder", folder, e)),
        _ => Ok(()),
    }
}

/// Creates such a folder and its missing parents. The parents are as open as this user's other new folders.
pub fn create_folder_all(folder: &Path) -> Result<()> {
    let above = super::folder_of(folder);
    fs::create_dir_all(above).map_err(|e| Error::io("create the folder", above, e))?;
    create_folder(folder)
}

/// Refuses a folder of another user, or anything else in its place, such as a link. `what` names it in the error.
///
/// # Errors
///
/// [`Usage`](vidrec_format::error::ErrorKind::Usage) if it is not a folder of this user. Other kinds if the system
/// reports an error.
pub(crate) fn check(folder: &Path, what: &str) -> Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let meta = fs::symlink_metadata(folder).map_err(|e| Error::io("read the owner of the folder", folder, e))?;
        if !meta.is_dir() || meta.uid() != user() {
            return Err(not_alone(folder, what, &meta));
        }
    }
    let _ = (folder, what);
    Ok(())
}

/// Like `check`, and closes the folder to other users from then on. If others could write there, a folder with
/// contents is refused, because the contents may be theirs.
///
/// # Errors
///
/// See `check`.
pub fn claim(folder: &Path, what: &str) -> Result<()> {
    check(folder, what)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let io = |e| Error::io("close the folder to others", folder, e);
        let meta = fs::symlink_metadata(folder).map_err(io)?;
        let is_open_to_all = meta.mode() & 0o022 != 0;
        let is_empty = || fs::read_dir(folder).map(|mut entries| entries.next().is_none()).map_err(io);
        if is_open_to_all && !is_empty()? {
            return Err(not_alone(folder, what, &meta));
        }
        if meta.mode() & 0o077 != 0 {
            fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).map_err(io)?;
        }
        // Another user may have put something there just before.
        if is_open_to_all && !is_empty()? {
            return Err(not_alone(folder, what, &meta));
        }
    }
    Ok(())
}

#[cfg(unix)]
fn not_alone(folder: &Path, what: &str, meta: &fs::Metadata) -> Error {
    use std::os::unix::fs::MetadataExt;
    let kind = if meta.is_dir() { "a folder" } else { "a file or link" };
    let found = format!("{kind} of user {}, mode {:o}", meta.uid(), meta.mode() & 0o7777);
    let e = Error::usage(format!("other users own or can write to {what}")).file(folder).found(found);
    let e = e.expected(format!("a folder of user {} that nobody else can write to", user()));
    e.help("name another folder, or find out what this one is and remove it")
}

/// The folder for files that this program keeps between its runs: `$XDG_CACHE_HOME/vidrec`, or `.cache/vidrec` in the
/// user's home folder. `None` if the environment names neither.
pub(crate) fn of_user() -> Option<PathBuf> {
    let named = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let caches = named("XDG_CACHE_HOME").or_else(|| named("HOME").map(|home| home.join(".cache")))?;
    Some(caches.join("vidrec"))
}

/// The folder for large temporary files. It is the one that the environment names (`TMPDIR`), or else `of_user`. If
/// neither exists, it is the folder that all users of the system share.
pub fn for_scratch() -> PathBuf {
    let is_named = cfg!(not(unix)) || std::env::var_os("TMPDIR").is_some_and(|dir| !dir.is_empty());
    of_user().filter(|_| !is_named).unwrap_or_else(std::env::temp_dir)
}

/// The number of the user that this process acts for. Other systems do not number their users.
pub(super) fn user() -> u32 {
    #[cfg(unix)]
    return rustix::process::geteuid().as_raw();
    #[cfg(not(unix))]
    0
}

/// The lock of a file, until this is dropped. The system releases it when the process dies.
#[derive(Debug)]
pub(crate) struct Lock(File);

impl Lock {
    /// Waits until no other thread or process holds the lock of the file, and takes it. Creates the file if it does
    /// not exist. `None` if another one holds the lock longer than `at_most`.
    pub fn within(path: &Path, at_most: Duration) -> Result<Option<Self>> {
        let (file, begin) = (open(path)?, Instant::now());
        while !is_taken(file.try_lock()).map_err(|e| Error::io("lock", path, e))? {
            if begin.elapsed() >= at_most {
                return Ok(None);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(Some(Lock(file)))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // To close the file would not do: a forked process may have it open, too.
        let _ = self.0.unlock();
    }
}

/// Opens an existing file to read it.
pub(crate) fn open_to_read(path: &Path) -> io::Result<File> {
    in_place(OpenOptions::new().read(true)).open(path)
}

/// Opens an existing file to write to it.
pub(crate) fn open_to_write(path: &Path) -> io::Result<File> {
    in_place(OpenOptions::new().write(true)).open(path)
}

/// Creates a file, which must not exist.
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    private(OpenOptions::new().write(true).create_new(true)).open(path)
}

/// Makes a file longer, or cuts it.
pub(crate) fn set_length(file: &File, length: u64) -> io::Result<()> {
    file.set_len(length)
}

/// Opens a small file that only this user can read, and creates it if it does not exist.
pub(crate) fn open(path: &Path) -> Result<File> {
    let opened = private(OpenOptions::new().read(true).write(true).create(true).truncate(false)).open(path);
    opened.map_err(|e| Error::io("open", path, e))
}

/// Reads a small file.
pub(crate) fn read(path: &Path) -> Result<String> {
    let mut text = Vec::new();
    let read = open_to_read(path).and_then(|file| file.take(MOST_BYTES).read_to_end(&mut text));
    read.map_err(|e| Error::io("read", path, e))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Writes to a position of a small file.
pub(crate) fn write(file: &File, path: &Path, at: u64, text: &str) -> Result<()> {
    write_all_at(file, text.as_bytes(), at).map_err(|e| Error::io("write", path, e))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn a_folder_is_made_and_closed_or_refused() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        create_folder_all(&at("a/b")).unwrap();
        create_folder_all(&at("a/b")).unwrap();
        assert_eq!(mode(&at("a/b")), 0o700);
        for (given, is_taken) in [(0o755, true), (0o777, true), (0o700, true), (0o770, false), (0o707, false)] {
            // An empty folder can be closed in any case.
            let _ = if is_taken { fs::remove_file(at("a/b/x")).ok() } else { fs::write(at("a/b/x"), b"").ok() };
            fs::set_permissions(at("a/b"), fs::Permissions::from_mode(given)).unwrap();
            let claimed = claim(&at("a/b"), "the folder");
            assert_eq!(claimed.is_ok(), is_taken, "{given:o} {claimed:?}");
            assert!(!is_taken || mode(&at("a/b")) == 0o700);
        }
        symlink(at("a"), at("link")).unwrap();
        fs::write(at("file"), b"").unwrap();
        for name in ["link", "file"] {
            let e = claim(&at(name), "the folder").unwrap_err();
            assert_eq!(e.kind(), vidrec_format::error::ErrorKind::Usage, "{e}");
        }
        assert_eq!(claim(&at("nothing"), "the folder").unwrap_err().kind(), vidrec_format::error::ErrorKind::Io);
    }
}
