//! Shows, trims and clears a cache, even while other processes use it.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::cache::home::{Home, check_is_cache};
use crate::cache::layout;
use crate::cache::removal::Remover;
use crate::cache::report::{CacheReport, CachedReport};
use vidrec_format::error::{Error, Result};

/// What was removed from a cache, and what stayed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RemovalReport {
    /// The objects that were removed.
    pub removed: Vec<CachedReport>,
    /// The objects that should have been removed, but stay because a process uses them.
    pub in_use: Vec<CachedReport>,
    /// Bytes that the remaining objects take.
    pub taken: u64,
}

/// Returns what is in a cache. It changes nothing.
///
/// # Errors
///
/// The folder is not a cache, or is a cache of another version of vidrec.
pub fn show(dir: impl AsRef<Path>) -> Result<CacheReport> {
    check_is_cache(dir.as_ref())?;
    CacheReport::of(dir.as_ref())
}

/// Removes objects, least recently used first, until the others take no more than `bytes`. Objects that a process
/// uses stay.
///
/// # Errors
///
/// The folder is not a cache, or is a cache of another version of vidrec, or there is no permission to write.
pub fn trim(dir: impl AsRef<Path>, bytes: u64) -> Result<RemovalReport> {
    let by_last_use = |mut objects: Vec<(PathBuf, CachedReport)>| {
        objects.sort_by_key(|(_, object)| object.last_used);
        objects
    };
    remove(dir.as_ref(), by_last_use, |taken| taken > bytes)
}

/// Removes all objects, or those whose location begins with `prefix`. Objects that a process uses stay.
///
/// # Errors
///
/// The folder is not a cache, or is a cache of another version of vidrec, or there is no permission to write.
pub fn clear(dir: impl AsRef<Path>, prefix: Option<&str>) -> Result<RemovalReport> {
    let wanted =
        |(_, object): &(PathBuf, CachedReport)| prefix.is_none_or(|prefix| object.location.starts_with(prefix));
    remove(dir.as_ref(), |objects| objects.into_iter().filter(wanted).collect(), |_| true)
}

/// Removes the chosen objects one by one, as long as `go_on` returns true for the number of bytes that are taken.
pub fn remove(
    dir: &Path,
    choose: impl FnOnce(Vec<(PathBuf, CachedReport)>) -> Vec<(PathBuf, CachedReport)>,
    go_on: impl Fn(u64) -> bool,
) -> Result<RemovalReport> {
    let home = Home::open_existing(dir)?;
    let busy = || Error::usage("another process is removing objects from this cache").file(dir).help("try again");
    let remover = Remover::take(&home)?.ok_or_else(busy)?;
    let objects = layout::objects(dir)?.into_iter();
    let described = objects.filter_map(|object| CachedReport::of(&object).map(|report| (object, report)));
    let mut report = RemovalReport::default();
    for (object, described) in choose(described.collect()) {
        if !go_on(home.budget.taken()) {
            break;
        }
        let to = if remover.remove(&object)? { &mut report.removed } else { &mut report.in_use };
        to.push(described);
    }
    report.taken = home.budget.taken();
    Ok(report)
}
