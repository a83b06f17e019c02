//! Shows and clears a cache, even while other processes use it.

use std::path::Path;
use std::time::UNIX_EPOCH;

use serde::Serialize;

use super::folder::{self, DiskCache, check_is_cache, read_used};
use super::object::Identity;
use crate::store::disk::folder::remove;
use vidrec_format::error::{Error, Result};

/// A summary of a cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CacheReport {
    /// Bytes of all segments.
    pub bytes: u64,
    /// The limit of the process that wrote last, in bytes. `None` if no process has used the cache yet.
    pub limit: Option<u64>,
    /// The objects, most recently used first.
    pub objects: Vec<CachedReport>,
}

/// One version of one object in a cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CachedReport {
    /// The location of the object.
    pub location: String,
    /// Its ETag, or another value that tells its versions apart.
    pub version: String,
    /// Bytes of the object.
    pub length: u64,
    /// Bytes of its segments.
    pub bytes: u64,
    /// When one of its segments was used last, in seconds since 1970.
    pub last_used: Option<u64>,
}

/// The result of removing objects from a cache.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RemovalReport {
    /// Bytes of the segments that were removed.
    pub removed_bytes: u64,
    /// Bytes of the segments that stay.
    pub bytes: u64,
}

/// Returns what is in a cache. It changes nothing.
///
/// # Errors
///
/// The folder is not a cache, or is a cache of another version of vidrec.
pub fn show(dir: impl AsRef<Path>) -> Result<CacheReport> {
    let dir = dir.as_ref();
    check_is_cache(dir)?;
    let mut objects = Vec::new();
    for folder in folder::objects(dir)?.into_iter().filter(|folder| folder.bytes > 0) {
        let Some(Identity { location, version, length, .. }) = Identity::read(&folder.path) else { continue };
        let last_used = folder.used.duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs());
        objects.push(CachedReport { location, version, length, bytes: folder.bytes, last_used });
    }
    objects.sort_by_key(|object| std::cmp::Reverse(object.last_used));
    let limit = read_used(dir).map(|(_, limit)| limit);
    Ok(CacheReport { bytes: objects.iter().map(|object| object.bytes).sum(), limit, objects })
}

/// Removes all objects, or those whose location begins with `prefix`. A process that needs them fetches them again.
///
/// # Errors
///
/// The folder is not a cache, or is a cache of another version of vidrec, or there is no permission to write.
pub fn clear(dir: impl AsRef<Path>, prefix: Option<&str>) -> Result<RemovalReport> {
    let dir = dir.as_ref();
    let is_in =
        |object: &Path, prefix: &str| Identity::read(object).is_some_and(|found| found.location.starts_with(prefix));
    let CacheReport { bytes: before, limit, .. } = show(dir)?;
    let cache = DiskCache::open(dir, limit.unwrap_or(u64::MAX))?;
    let busy = || Error::usage("another process holds the lock of the cache").file(dir).help("try again");
    let mut used = cache.lock()?.ok_or_else(busy)?;
    let objects = folder::objects(dir)?.into_iter().map(|object| object.path);
    let mut objects = objects.filter(|object| prefix.is_none_or(|prefix| is_in(object, prefix)));
    objects.try_for_each(|object| remove(&object))?;
    let bytes = used.recount()?;
    Ok(RemovalReport { removed_bytes: before.saturating_sub(bytes), bytes })
}
