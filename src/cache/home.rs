//! The folder of a cache, opened by a process that shares it with others.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cache::boot::boot;
use crate::cache::budget::Budget;
use crate::cache::layout::{BUDGET, MARKER, check_ours, marker_text};
use crate::cache::recovery;
use crate::disk::claim_file::ClaimFile;
use crate::disk::own_folder;
use crate::{Error, Result};

/// How long a process may have the cache for itself, which counts what is in it.
const LONGEST_RECOVERY: Duration = Duration::from_secs(60);

/// A cache's folder. As long as this exists, no other process has the cache for itself.
#[derive(Debug)]
pub(super) struct Home {
    pub dir: PathBuf,
    pub budget: Budget,
    /// Keeps the cache shared.
    _marker: ClaimFile,
}

impl Home {
    /// Opens a cache, and creates it if there is none. If nobody else uses it, frees what killed processes left.
    pub fn open(dir: &Path) -> Result<Self> {
        if cfg!(not(unix)) {
            return Err(Error::usage("vidrec keeps pages on disk only on Linux and macOS").file(dir));
        }
        own_folder::create_all(dir).map_err(cannot_write)?;
        of_user(dir, own_folder::check)?;
        check_ours(dir)?;
        Self::open_marked(dir)
    }

    /// Opens a cache that exists.
    pub fn open_existing(dir: &Path) -> Result<Self> {
        of_user(dir, own_folder::check)?;
        check_is_cache(dir)?;
        Self::open_marked(dir)
    }

    fn open_marked(dir: &Path) -> Result<Self> {
        of_user(dir, own_folder::claim)?;
        let marker = ClaimFile::open(&dir.join(MARKER)).map_err(cannot_write)?;
        if marker.take()? {
            let text = marker.read()?;
            // A process that was killed as it began the cache left less of the text, or none.
            if marker_text().as_bytes().starts_with(&text) {
                marker.write(marker_text().as_bytes())?;
            }
            check_marker(dir, &marker)?;
            recovery::recover(dir).map_err(cannot_write)?;
            marker.release()?;
        }
        // Another process may have the cache for itself in between. It leaves it as it would be now.
        if !marker.share_within(LONGEST_RECOVERY)? {
            let e = Error::usage("another process has the cache for itself, and does not come to an end").file(dir);
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

/// Refuses a folder of another user: pages are as secret as the bucket that they are of, and whoever can write them decides
/// what is read. A link that leads to a folder of this user is as good as its name.
fn of_user(dir: &Path, check: impl Fn(&Path, &str) -> Result<()>) -> Result<()> {
    // Whoever opens it says what is wrong with its name.
    let Ok(folder) = dir.canonicalize() else { return Ok(()) };
    check(&folder, "the folder of the cache")
        .map_err(|e| e.also_help("each user has a cache of their own; several can read one copy that `fetch` makes"))
}

/// Refuses a folder that is no cache of this version.
pub(super) fn check_is_cache(dir: &Path) -> Result<()> {
    let marker = dir.join(MARKER);
    if !marker.is_file() {
        return Err(Error::usage("not a cache of vidrec: it has no file vidrec-cache").file(dir));
    }
    check_marker(dir, &ClaimFile::open_to_read(&marker)?)
}

fn check_marker(dir: &Path, marker: &ClaimFile) -> Result<()> {
    let (expected, found) = (marker_text(), marker.read()?);
    if found == expected.as_bytes() || found.is_empty() {
        return Ok(());
    }
    let found = String::from_utf8_lossy(&found).chars().take(60).collect::<String>();
    Err(Error::usage("another version of vidrec made this cache, or it is none")
        .file(dir)
        .expected(format!("{:?} in vidrec-cache", expected.trim_end()))
        .found(format!("{:?}", found.trim_end()))
        .help("name another folder, or remove this one if it is a cache"))
}

fn cannot_write(e: Error) -> Error {
    e.help("a cache needs a folder in which vidrec may write")
}

fn damaged(e: Error) -> Error {
    e.help("end the processes that use the cache; the next one to open it starts over")
}
