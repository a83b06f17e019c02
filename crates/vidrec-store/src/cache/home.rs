//! The folder of a cache, opened by a process that shares it with others.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cache::boot::boot;
use crate::cache::budget::Budget;
use crate::cache::layout::{BUDGET, MARKER, check_ours, marker_text};
use crate::cache::recovery;
use crate::disk::claim_file::ClaimFile;
use crate::disk::private_folder;
use vidrec_format::error::{Error, Result};

/// How long a process may have exclusive use of the cache to count what is in it.
const LONGEST_RECOVERY: Duration = Duration::from_secs(60);

/// The folder of a cache. As long as this value exists, no other process gets exclusive use of the cache.
#[derive(Debug)]
pub(super) struct Home {
    pub dir: PathBuf,
    pub budget: Budget,
    /// Holds the shared lock of the cache.
    _marker: ClaimFile,
}

impl Home {
    /// Opens a cache, and creates it if it does not exist. If no other process uses it, frees what killed
    /// processes left.
    pub fn open(dir: &Path) -> Result<Self> {
        if cfg!(not(unix)) {
            return Err(Error::usage("vidrec keeps pages on disk only on Linux and macOS").file(dir));
        }
        private_folder::create_all(dir).map_err(cannot_write)?;
        of_user(dir, private_folder::check)?;
        check_ours(dir)?;
        Self::open_marked(dir)
    }

    /// Opens a cache that exists.
    pub fn open_existing(dir: &Path) -> Result<Self> {
        of_user(dir, private_folder::check)?;
        check_is_cache(dir)?;
        Self::open_marked(dir)
    }

    fn open_marked(dir: &Path) -> Result<Self> {
        of_user(dir, private_folder::claim)?;
        let marker = ClaimFile::open(&dir.join(MARKER)).map_err(cannot_write)?;
        if marker.take()? {
            let text = marker.read()?;
            // A process that was killed while it created the cache left only the beginning of the text, or
            // nothing.
            if marker_text().as_bytes().starts_with(&text) {
                marker.write(marker_text().as_bytes())?;
            }
            check_marker(dir, &marker)?;
            recovery::recover(dir).map_err(cannot_write)?;
            marker.release()?;
        }
        // Another process may have exclusive use of the cache in between. It leaves the cache in the state that
        // this process would.
        if !marker.share_within(LONGEST_RECOVERY)? {
            let e = Error::usage("another process holds the cache and does not release it").file(dir);
            return Err(e.help("end that process (lslocks names it), or name another folder"));
        }
        check_marker(dir, &marker)?;
        let budget = Budget::open(&dir.join(BUDGET)).map_err(damaged)?;
        if budget.boot() != boot() {
            return Err(Error::usage("the cache is in use by another machine; its pages are shared in memory")
                .file(dir)
                .help("name a folder on a disk of this machine"));
        }
        Ok(Home { dir: dir.to_owned(), budget, _marker: marker })
    }
}

/// Refuses a folder of another user. Pages are as secret as the bucket they come from, and a user who can write
/// them decides what is read. A link to a folder of this user is accepted.
fn of_user(dir: &Path, check: impl Fn(&Path, &str) -> Result<()>) -> Result<()> {
    // If the path is wrong, the code that opens it reports that.
    let Ok(folder) = dir.canonicalize() else { return Ok(()) };
    check(&folder, "the folder of the cache").map_err(|e| {
        e.also_help("each user needs their own cache, but several users can read one copy that `fetch` makes")
    })
}

/// Refuses a folder that is not a cache of this version.
pub(super) fn check_is_cache(dir: &Path) -> Result<()> {
    let marker = dir.join(MARKER);
    if !marker.is_file() {
        return Err(Error::usage("this folder is not a vidrec cache: it has no file vidrec-cache").file(dir));
    }
    check_marker(dir, &ClaimFile::open_to_read(&marker)?)
}

fn check_marker(dir: &Path, marker: &ClaimFile) -> Result<()> {
    let (expected, found) = (marker_text(), marker.read()?);
    if found == expected.as_bytes() || found.is_empty() {
        return Ok(());
    }
    let found = String::from_utf8_lossy(&found).chars().take(60).collect::<String>();
    Err(Error::usage("another version of vidrec made this cache, or the folder is not a cache")
        .file(dir)
        .expected(format!("{:?} in vidrec-cache", expected.trim_end()))
        .found(format!("{:?}", found.trim_end()))
        .help("name another folder, or remove this one if it is a cache"))
}

fn cannot_write(e: Error) -> Error {
    e.help("a cache needs a folder that vidrec can write to")
}

fn damaged(e: Error) -> Error {
    e.help("end the processes that use the cache; the next process to open it starts over")
}
