//! One version of one object in the cache: which of its blocks are here, and how pages get into them.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::block::{BLOCK_BYTES, BLOCK_PAGES, Block, HEADER_BYTES, Pages};
use super::folder::{DiskCache, Used};
use super::layout::{Identity, OBJECT_JSON, OBJECTS, PAGE_BYTES};
use crate::store::counters::{Counters, add};
use crate::store::disk::positional::read_at;
use crate::store::disk::{private_folder, remove_file, whole_folder};
use vidrec_format::allocation;
use vidrec_format::error::Result;

/// Blocks that stay open: the frames of a clip are read one after another.
pub(super) const RECENT: usize = 16;

static KEY: AtomicU64 = AtomicU64::new(0);

/// The pages of an object that are on this machine.
#[derive(Debug)]
pub(crate) struct CachedObject {
    cache: Arc<DiskCache>,
    /// The number of this object among all that this process has opened.
    key: u64,
    identity: Identity,
    dir: PathBuf,
    counters: Arc<Counters>,
}

impl CachedObject {
    /// An object by its location without secrets, its ETag or generation, and its length. Nothing is created yet.
    pub fn new(cache: Arc<DiskCache>, object: (&str, &str, u64), counters: Arc<Counters>) -> Self {
        let identity = Identity::new(object.0, object.1, object.2);
        let dir = cache.dir().join(OBJECTS).join(identity.key());
        cache.reads(&dir);
        CachedObject { cache, key: KEY.fetch_add(1, Relaxed), identity, dir, counters }
    }

    /// Whether there is room for so many bytes more.
    pub fn has_room(&self, bytes: u64) -> bool {
        self.cache.has_room(bytes).unwrap_or(false)
    }

    /// Whether there was no room a moment ago.
    pub fn is_full(&self) -> bool {
        self.cache.is_full()
    }

    /// Whether all of a range is here.
    pub fn has(&self, range: &Range<u64>) -> bool {
        let has = |(number, pages): (u64, Range<u64>)| self.open(number).is_some_and(|block| block.pages.has(&pages));
        blocks(range).all(has)
    }

    /// Replaces the contents of `buffer` with a range, if all of it is here. Returns whether it is.
    pub fn read(&self, range: Range<u64>, buffer: &mut Vec<u8>) -> Result<bool> {
        buffer.clear();
        allocation::reserve(buffer, (range.end - range.start) as usize, "a record")?;
        let mut of_block = Vec::new();
        for (number, pages) in blocks(&range) {
            let Some(block) = self.recent(number, &pages) else { return Ok(false) };
            let first = number * BLOCK_BYTES + pages.start * PAGE_BYTES;
            let part = range.start.max(first)..range.end.min((number + 1) * BLOCK_BYTES);
            let at = block.pages.place(pages.start) + (part.start - first);
            if read_at(&block.file, at..at + (part.end - part.start), &mut of_block).is_err() {
                self.forget(&part);
                return Ok(false);
            }
            buffer.extend_from_slice(&of_block);
        }
        add(&self.counters.cached_bytes, buffer.len() as u64);
        Ok(true)
    }

    /// A block that has these pages; `None` if there is none.
    fn recent(&self, number: u64, pages: &Range<u64>) -> Option<Arc<Block>> {
        let mut recent = self.cache.recent();
        let place = recent.iter().position(|(key, block)| *key == (self.key, number) && block.pages.has(pages));
        if let Some((_, block)) = place.and_then(|place| recent.get(place)) {
            return Some(block.clone());
        }
        drop(recent);
        let block = Arc::new(self.open(number).filter(|block| block.pages.has(pages))?);
        block.renew();
        recent = self.cache.recent();
        recent.truncate(RECENT - 1);
        recent.push_front(((self.key, number), block.clone()));
        Some(block)
    }

    /// Keeps bytes of the object, which begin at `start`, if there is room. Parts of pages are left out.
    pub fn store(&self, start: u64, bytes: &[u8]) {
        if let Err(e) = self.try_store(start, bytes) {
            self.counters.cache_failed(&e);
        }
    }

    fn try_store(&self, start: u64, bytes: &[u8]) -> Result<()> {
        let end = start + bytes.len() as u64;
        let whole_end = if end == self.identity.length { end } else { end / PAGE_BYTES * PAGE_BYTES };
        let range = start.next_multiple_of(PAGE_BYTES)..whole_end;
        if range.start >= range.end {
            return Ok(());
        }
        // Of a forked process, this may be the first call.
        self.cache.reads(&self.dir);
        let Some(mut used) = self.cache.lock()? else { return Ok(()) };
        // Room for all of it is taken at once. If there is none, it is taken for one block after another.
        let most = range.end - range.start + blocks(&range).count() as u64 * HEADER_BYTES;
        let mut taken = if used.take(most)? { most } else { 0 };
        let put = blocks(&range).try_for_each(|(number, pages)| {
            let first = number * BLOCK_BYTES + pages.start * PAGE_BYTES;
            let part = first..range.end.min((number + 1) * BLOCK_BYTES);
            let new = &bytes[(part.start - start) as usize..(part.end - start) as usize];
            self.put((&mut used, &mut taken), number, pages, new)
        });
        used.give(taken)?;
        put
    }

    /// Writes a block with new pages and those that it has already, if there is room.
    fn put(&self, room: (&mut Used<'_>, &mut u64), number: u64, pages: Range<u64>, new: &[u8]) -> Result<()> {
        let (old, (used, taken)) = (self.open(number), room);
        let (has, old_bytes) = old.as_ref().map_or_else(Default::default, |block| (block.pages, block.bytes));
        if has.has(&pages) {
            return Ok(());
        }
        let mut joined = Vec::new();
        let (all, bytes) = match old {
            Some(old) => self.join(old, number, &pages, new, &mut joined)?,
            None => (Pages::of(pages), new),
        };
        let more = (HEADER_BYTES + bytes.len() as u64).saturating_sub(old_bytes);
        if *taken < more {
            if !used.take(more)? {
                return Ok(());
            }
            *taken += more;
        }
        let put = || whole_folder::put_whole(&self.cache.new_name(), &self.path(number), &[&all.header(), bytes]);
        // The first block of an object has no folder yet.
        put().or_else(|_| self.create().and_then(|()| put()))?;
        *taken -= more;
        Ok(())
    }

    /// Returns the pages of a block together with new ones, and their bytes, which are in `joined`.
    fn join<'j>(
        &self,
        old: Block,
        number: u64,
        pages: &Range<u64>,
        new: &[u8],
        joined: &'j mut Vec<u8>,
    ) -> Result<(Pages, &'j [u8])> {
        let (mut has, mut old_bytes) = (old.pages, Vec::new());
        let whole = HEADER_BYTES..HEADER_BYTES + self.bytes_of(number, &has);
        if old.bytes != whole.end || read_at(&old.file, whole, &mut old_bytes).is_err() {
            // The old pages are lost, and the new ones stay alone.
            has = Pages::default();
        }
        let mut all = Pages::of(pages.clone());
        all.0.iter_mut().zip(has.0).for_each(|(all, old)| *all |= old);
        allocation::reserve(joined, BLOCK_BYTES as usize, "a block of the cache")?;
        for page in (0..BLOCK_PAGES).filter(|&page| all.has(&(page..page + 1))) {
            let (from, at) = match pages.contains(&page) {
                true => (new, (page - pages.start) * PAGE_BYTES),
                false => (&*old_bytes, has.place(page) - HEADER_BYTES),
            };
            let rest = &from[at as usize..];
            joined.extend_from_slice(&rest[..rest.len().min(PAGE_BYTES as usize)]);
        }
        Ok((all, joined))
    }

    /// The bytes of pages of a block. Only the last page of the object may be short.
    fn bytes_of(&self, number: u64, pages: &Pages) -> u64 {
        let end = self.identity.length.saturating_sub(number * BLOCK_BYTES);
        let last = end / PAGE_BYTES;
        let missing =
            if last < BLOCK_PAGES && pages.has(&(last..last + 1)) { PAGE_BYTES - end % PAGE_BYTES } else { 0 };
        pages.count(BLOCK_PAGES) * PAGE_BYTES - missing
    }

    /// Forgets the blocks with bytes of a range, because they proved wrong.
    pub fn forget(&self, range: &Range<u64>) {
        self.cache.recent().clear();
        let mut used = self.cache.lock().ok().flatten();
        for (number, _) in blocks(range) {
            let Some(block) = self.open(number) else { continue };
            // Without the lock, the number of bytes stays too large until the next recount.
            if remove_file(&self.path(number)).is_ok() {
                used.iter_mut().for_each(|used| _ = used.give(block.bytes));
            }
        }
    }

    fn create(&self) -> Result<()> {
        private_folder::create(&self.cache.dir().join(OBJECTS))?;
        private_folder::create(&self.dir)?;
        let name = self.dir.join(OBJECT_JSON);
        if name.exists() {
            Ok(())
        } else {
            whole_folder::put_whole(&self.cache.new_name(), &name, &[&self.identity.json()])
        }
    }

    fn path(&self, number: u64) -> PathBuf {
        self.dir.join(number.to_string())
    }

    /// Opens a block; `None` if there is none.
    fn open(&self, number: u64) -> Option<Block> {
        Block::open(&self.path(number))
    }
}

/// The blocks with bytes of a range: their numbers, and the pages of each.
fn blocks(range: &Range<u64>) -> impl Iterator<Item = (u64, Range<u64>)> + use<> {
    let (first, end) = (range.start / PAGE_BYTES, range.end.div_ceil(PAGE_BYTES));
    let numbers = if first < end { first / BLOCK_PAGES..end.div_ceil(BLOCK_PAGES) } else { 0..0 };
    numbers.map(move |number| {
        let begin = number * BLOCK_PAGES;
        (number, first.max(begin) - begin..end.min(begin + BLOCK_PAGES) - begin)
    })
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use proptest::prelude::*;

    use super::*;

    fn object(dir: &std::path::Path, limit: u64, length: u64) -> CachedObject {
        CachedObject::new(DiskCache::open(dir, limit).unwrap(), ("s3://a/b", "1", length), Arc::default())
    }

    fn content(range: Range<u64>) -> Vec<u8> {
        range.map(|at| (at as u32).wrapping_mul(2_654_435_761).to_be_bytes()[0]).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// What is read is what was stored, and what was stored in whole pages can be read.
        #[test]
        fn pages_are_kept(
            length in 1u64..3 << 20, stores in prop::collection::vec((0u64..3 << 20, 1u64..1 << 20), 1..8),
            reads in prop::collection::vec((0u64..3 << 20, 1u64..100_000), 1..20),
        ) {
            let dir = tempfile::tempdir().unwrap();
            let cached = object(&dir.path().join("cache"), 1 << 30, length);
            let mut kept = vec![false; length.div_ceil(PAGE_BYTES) as usize];
            for (start, count) in stores {
                let start = start.min(length - 1) / PAGE_BYTES * PAGE_BYTES;
                let end = (start + count).min(length);
                cached.store(start, &content(start..end));
                let whole = if end == length { end.div_ceil(PAGE_BYTES) } else { end / PAGE_BYTES };
                (start / PAGE_BYTES..whole).for_each(|page| kept[page as usize] = true);
            }
            for (start, count) in reads {
                let range = start.min(length - 1)..(start.min(length - 1) + count).min(length);
                let mut pages = range.start / PAGE_BYTES..range.end.div_ceil(PAGE_BYTES);
                let (mut buffer, is_here) = (vec![7], pages.all(|page| kept[page as usize]));
                prop_assert_eq!(cached.has(&range), is_here);
                prop_assert_eq!(cached.read(range.clone(), &mut buffer).unwrap(), is_here);
                prop_assert!(!is_here || buffer == content(range));
            }
            let report = super::super::show(dir.path().join("cache")).unwrap();
            let files: u64 = report.objects.iter().map(|object| object.bytes).sum();
            prop_assert_eq!(report.bytes, files);
        }
    }

    #[test]
    fn a_cache_is_opened_and_shown_while_others_open_it() {
        let dir = tempfile::tempdir().unwrap();
        let open = || {
            DiskCache::open(dir.path(), 1 << 20).unwrap();
            super::super::show(dir.path()).unwrap();
        };
        std::thread::scope(|scope| (0..4).for_each(|_| _ = scope.spawn(|| (0..100).for_each(|_| open()))));
    }

    #[test]
    fn a_damaged_block_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let cached = object(dir.path(), 1 << 30, 1 << 20);
        cached.store(0, &content(0..1 << 20));
        for length in [0, 31, 5000, (1 << 20) + 31] {
            File::options().write(true).open(cached.path(0)).unwrap().set_len(length).unwrap();
            assert!(!cached.read(0..1 << 20, &mut Vec::new()).unwrap(), "{length}");
            cached.store(0, &content(0..1 << 20));
            let mut buffer = Vec::new();
            assert!(cached.read(0..1 << 20, &mut buffer).unwrap() && buffer == content(0..1 << 20), "{length}");
        }
    }
}
