//! What stands for `remote` in a build without that feature, so that the code above has no conditions.
//!
//! Everything that would reach a server begins with [`Remote::new`], [`Bucket::open`] or [`check_location`]. Here they
//! return an error that says how to get a build that can. The types have no values, so the compiler removes the code
//! that handles them.

#[path = "remote/wanted.rs"]
mod wanted;

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

pub use wanted::{Filled, RunFrom, Wanted};

use crate::storage::{RemoteStats, Storage};
use vidrec_format::error::{Error, Result};

/// The length of one request. No request is sent here.
pub const REQUEST_BYTES: u64 = 8 << 20;

fn absent<T>() -> Result<T> {
    let e = Error::usage(
        "this build of vidrec reads and writes local data sets only: it was built without its feature \"remote\"",
    );
    Err(e.help("use a released wheel or program, or build one from a checkout with `cargo install --path .`"))
}

/// Returns an error: no location can be that of an object.
pub fn check_location(_: &Path) -> Result<()> {
    absent()
}

/// Returns the location, which nobody can read.
pub fn pinned(location: &Path, _: &Storage) -> Result<PathBuf> {
    Ok(location.to_owned())
}

/// Declares types without values, and their methods, which nobody can call.
macro_rules! without_values {
    ($($name:ident { $($method:ident($($argument:ty),*) $(-> $found:ty)?;)* })*) => {$(
        #[derive(Debug, Clone)]
        pub enum $name {}

        impl $name {$(
            pub fn $method(&self $(, _: $argument)*) $(-> $found)? {
                match *self {}
            }
        )*}
    )*};
}

type Told<'a> = &'a mut dyn FnMut(u64) -> Result<()>;

without_values! {
    Remote {
        cache_failure() -> Option<&str>;
        cache_limit() -> Option<u64>;
        frugal() -> Remote;
        keeps(u64) -> bool;
        memory() -> &Memory;
        patience() -> Duration;
        pinned(&Path) -> Result<PathBuf>;
        read(&Path, u64) -> Result<Option<Vec<u8>>>;
        shares_cache() -> Option<bool>;
        stats() -> RemoteStats;
        timeout() -> Duration;
    }
    Memory {
        limit() -> u64;
        take(u64, impl Fn() -> bool) -> bool;
        take_anyway(u64);
        wake();
    }
    Opening {
        is_over_within(Duration) -> bool;
    }
    RemoteFile {
        begin(Range<u64>) -> Result<()>;
        evict(&Range<u64>) -> u64;
        fetch_wanted(Vec<Wanted>) -> Result<()>;
        fetch_tables(&[Range<u64>]) -> Result<()>;
        find(&Range<u64>) -> RunFrom;
        forget(&Range<u64>) -> bool;
        forget_tables(usize) -> bool;
        generation() -> usize;
        give_up(&Range<u64>);
        hold(&Range<u64>) -> bool;
        is_kept(&Range<u64>) -> bool;
        is_settled_within(&Range<u64>, Duration) -> bool;
        is_table_kept(&Range<u64>) -> bool;
        len() -> u64;
        read(Range<u64>, impl FnOnce() -> Range<u64>, &mut Vec<u8>) -> Result<()>;
        release(&Range<u64>);
        remote() -> &Arc<Remote>;
        table(Range<u64>) -> Result<&[u8]>;
        version() -> &str;
    }
    PendingRange {
        wait(&mut dyn FnMut() -> Result<()>, &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>;
    }
    Filling {
        add(&Range<u64>) -> Result<Filled>;
        file() -> &Arc<RemoteFile>;
        holds_back(&Range<u64>) -> bool;
    }
    ObjectBytes {
        kept_bytes() -> u64;
        len() -> u64;
    }
    Bucket {
        copy(&Path, &str) -> Result<()>;
        has_conditions() -> Result<bool>;
        location() -> &Path;
        look(&str) -> Result<Option<Found>>;
        path(&str) -> PathBuf;
        put(&str, Vec<u8>) -> Result<()>;
        put_instead(&str, Vec<u8>, &Tag) -> Result<bool>;
        put_once(&str, Vec<u8>) -> Result<bool>;
        read(&str, u64) -> Result<Option<(Vec<u8>, Tag)>>;
        read_range(&str, u64, u64) -> Result<Vec<u8>>;
        remove(&str) -> Result<()>;
        remove_probe() -> Result<()>;
        stats() -> RemoteStats;
        try_to_write() -> Result<()>;
        upload(&str, &Path, Told<'_>) -> Result<()>;
        upload_pieces(&str, &mut dyn Pieces, Told<'_>) -> Result<()>;
    }
}

impl Remote {
    pub fn new(_: &Storage) -> Result<Arc<Self>> {
        absent()
    }
}

impl Opening {
    pub fn start(remote: &Arc<Remote>, _: &Path, _: bool) -> Result<Self> {
        match **remote {}
    }

    pub fn start_with(remote: &Arc<Remote>, _: &Path, _: u64) -> Result<Self> {
        match **remote {}
    }

    pub fn finish(self) -> Result<RemoteFile> {
        match self {}
    }
}

impl PendingRange {
    pub fn ask(file: &Arc<RemoteFile>, _: Range<u64>) -> Result<Self> {
        match **file {}
    }
}

impl Filling {
    pub fn of(file: &Arc<RemoteFile>) -> Self {
        match **file {}
    }

    pub fn send(&mut self) -> Result<()> {
        match *self {}
    }
}

impl ObjectBytes {
    pub fn new(file: RemoteFile) -> Arc<Self> {
        match file {}
    }
}

pub struct ObjectReader(Arc<ObjectBytes>);

impl ObjectReader {
    pub fn new(bytes: &Arc<ObjectBytes>) -> Self {
        ObjectReader(bytes.clone())
    }
}

impl Read for ObjectReader {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        match *self.0 {}
    }
}

impl Seek for ObjectReader {
    fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
        match *self.0 {}
    }
}

impl Bucket {
    pub fn open(_: &Path, _: &Storage) -> Result<Self> {
        absent()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tag {}

pub struct Found {
    pub bytes: u64,
    pub tag: Tag,
    pub changed: SystemTime,
}

pub trait Pieces {
    fn bytes(&self) -> u64;
    fn next(&mut self, bytes: usize) -> Result<Vec<u8>>;
    fn finish(&mut self) -> Result<()>;
}

pub struct ListedObject {
    pub name: String,
    pub bytes: u64,
    pub version: String,
}

pub enum Listing {}

impl Listing {
    pub fn begin(_: &Path, _: &Storage, _: Option<&str>) -> Result<Self> {
        absent()
    }

    pub fn next_page(&mut self) -> Result<Option<Vec<ListedObject>>> {
        match *self {}
    }
}
