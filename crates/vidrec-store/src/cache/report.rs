//! Reports on the contents of a cache.

use std::path::Path;
use std::time::UNIX_EPOCH;

use serde::Serialize;

use crate::cache::budget::Budget;
use crate::cache::layout;
use crate::cache::layout::{BUDGET, Identity, PAGES};
use crate::cache::page_map::PRESENT;
use crate::cache::removal::{count, last_use};
use crate::disk::sparse_file::is_in_use;
use vidrec_format::error::Result;

/// A summary of a cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CacheReport {
    /// Bytes of all pages that are present.
    pub bytes: u64,
    /// Bytes that count toward the limit: pages that are present, pages that are being fetched, and pages that
    /// killed processes left. `None` if no process has used the cache yet.
    pub taken: Option<u64>,
    /// The limit of the process that opened the cache last, in bytes. `None` if no process has used the cache yet.
    pub limit: Option<u64>,
    /// The objects, most recently used first.
    pub objects: Vec<CachedReport>,
}

/// One version of one object in a cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CachedReport {
    /// Where the object is.
    pub location: String,
    /// Its ETag, or another value that tells its versions apart.
    pub version: String,
    /// Bytes of the object.
    pub length: u64,
    /// Bytes of its pages that are present.
    pub bytes: u64,
    /// When a process last opened or filled it, in seconds since 1970. `None` if the system does not say.
    pub last_used: Option<u64>,
    /// Whether a process uses it now.
    pub in_use: bool,
}

impl CachedReport {
    /// Describes the object in a folder; `None` if it is damaged.
    pub(super) fn of(object: &Path) -> Option<Self> {
        let identity = Identity::read(object)?;
        let bytes = count(object, |state| state == PRESENT).min(identity.length);
        let since_1970 = last_use(object).and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        let last_used = since_1970.map(|duration| duration.as_secs());
        let in_use = is_in_use(&object.join(PAGES));
        let Identity { location, version, length, .. } = identity;
        Some(CachedReport { location, version, length, bytes, last_used, in_use })
    }
}

impl CacheReport {
    pub(super) fn of(dir: &Path) -> Result<Self> {
        let mut objects: Vec<_> = layout::objects(dir)?.iter().filter_map(|object| CachedReport::of(object)).collect();
        objects.sort_by_key(|object| std::cmp::Reverse(object.last_used));
        let bytes = objects.iter().map(|object| object.bytes).sum();
        let budget = Budget::read(&dir.join(BUDGET));
        Ok(CacheReport {
            bytes,
            taken: budget.map(|(taken, _)| taken),
            limit: budget.and_then(|(_, limit)| limit),
            objects,
        })
    }
}
