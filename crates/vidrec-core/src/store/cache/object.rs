//! One version of one object in the cache: which of its ranges are here, and how others get there.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

use super::folder::{DiskCache, KEY_DIGITS};
use super::segments::{FORGOTTEN, HEADER_BYTES, Segments, Stored, header};
use crate::store::disk::open_files::{read_exact_at, write_all_at};
use crate::store::disk::private;
use crate::store::per_process::PerProcess;
use crate::store::storage::Counters;
use vidrec_format::allocation;
use vidrec_format::data_binding::hex;
use vidrec_format::error::{Error, Result};

/// The most bytes of a range in a segment. A kill loses at most the range that is being written.
const RANGE_BYTES: u64 = 1 << 20;
/// The age at which a read renews the time of a segment's last use.
const RENEWED: Duration = Duration::from_secs(60);

/// Returns the name of the folder of one version of an object.
fn key((location, version, length): (&str, &str, u64)) -> String {
    let mut digest = Sha256::new();
    // The lengths are included, so that no two versions produce the same bytes.
    for text in [location, version] {
        digest.update((text.len() as u64).to_le_bytes());
        digest.update(text);
    }
    digest.update(length.to_le_bytes());
    hex(&digest.finalize())[..KEY_DIGITS].to_owned()
}

/// The ranges of an object that are on this machine.
#[derive(Debug)]
pub(crate) struct CachedObject {
    cache: Arc<DiskCache>,
    /// The bytes of the whole object.
    length: u64,
    dir: PathBuf,
    counters: Arc<Counters>,
    segments: PerProcess<Mutex<Segments>>,
    /// The number and the length of the segment to which this process appends.
    own: PerProcess<Mutex<Option<(u64, u64)>>>,
    /// When a read last renewed the time of a segment, in seconds since 1970.
    renewed: AtomicU64,
}

impl CachedObject {
    /// An object by its location without secrets, its ETag or generation, and its length. Nothing is created yet.
    pub fn new(cache: Arc<DiskCache>, version: (&str, &str, u64), counters: Arc<Counters>) -> Self {
        let dir = cache.object(&key(version));
        cache.reads.lock().insert(dir.clone());
        let (segments, own, renewed) = Default::default();
        CachedObject { cache, length: version.2, dir, counters, segments, own, renewed }
    }

    /// Whether all of a range is here.
    pub fn has(&self, range: &Range<u64>) -> bool {
        self.covering(range).is_some()
    }

    fn covering(&self, range: &Range<u64>) -> Option<Vec<(Range<u64>, Stored)>> {
        let mut segments = self.segments.lock();
        segments.ranges.covering(range).or_else(|| {
            segments.refresh(&self.dir, self.length);
            segments.ranges.covering(range)
        })
    }

    /// Replaces the contents of `buffer` with a range, if the whole range is here. Returns whether it is.
    pub fn read(&self, range: Range<u64>, buffer: &mut Vec<u8>) -> Result<bool> {
        let Some(parts) = self.covering(&range) else { return Ok(false) };
        allocation::resize(buffer, (range.end - range.start) as usize, 0, "a record")?;
        for (found, stored) in parts {
            let (from, end) = (range.start.max(found.start), range.end.min(found.end));
            let part = &mut buffer[(from - range.start) as usize..(end - range.start) as usize];
            let file = self.open(stored.segment);
            if file.and_then(|file| read_exact_at(&file, part, stored.at + (from - found.start))).is_err() {
                self.segments.lock().remove_segment(stored.segment);
                return Ok(false);
            }
        }
        self.counters.stats.lock().cached_bytes += buffer.len() as u64;
        Ok(true)
    }

    /// Opens a segment, and notes that it is used.
    fn open(&self, segment: u64) -> io::Result<File> {
        let file = private::open_to_read(&self.segment(segment))?;
        let now = SystemTime::now();
        let seconds = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        if seconds.saturating_sub(self.renewed.load(Relaxed)) > RENEWED.as_secs() {
            self.renewed.store(seconds, Relaxed);
            // If the system refuses, the object may be removed sooner.
            let _ = file.set_modified(now);
        }
        Ok(file)
    }

    /// Keeps bytes of the object, which begin at `start`, as far as there is room.
    pub fn store(&self, start: u64, bytes: &[u8]) {
        // Of a forked process, this may be the first call.
        self.cache.reads.lock().insert(self.dir.clone());
        let mut own = self.own.lock();
        let mut segments = self.segments.lock();
        segments.refresh(&self.dir, self.length);
        let missing = segments.ranges.missing(&(start..start + bytes.len() as u64));
        drop(segments);
        let pieces = missing.into_iter().flat_map(|range| {
            let starts = range.clone().step_by(RANGE_BYTES as usize);
            starts.map(move |start| start..range.end.min(start + RANGE_BYTES))
        });
        for range in pieces {
            let part = &bytes[(range.start - start) as usize..(range.end - start) as usize];
            if let Err(e) = self.append(&mut own, range.start, part) {
                self.counters.stats.lock().cache_failures += 1;
                self.counters.cache_failure.get_or_init(|| e.to_string());
            }
        }
    }

    /// Appends a range to the segment of this process, as far as there is room.
    fn append(&self, own: &mut Option<(u64, u64)>, start: u64, bytes: &[u8]) -> Result<()> {
        // The lock is held until the bytes are written, so that a count of all segments has them.
        let Some(mut used) = self.cache.lock()? else { return Ok(()) };
        let granted = used.take(HEADER_BYTES + bytes.len() as u64)?;
        if granted == 0 {
            return Ok(());
        }
        let bytes = &bytes[..(granted - HEADER_BYTES) as usize];
        let range = start..start + bytes.len() as u64;
        match self.write(own, &range, bytes) {
            Ok((segment, at)) => {
                self.segments.lock().insert(&range, segment, at);
                Ok(())
            }
            Err(e) => used.give(granted).and(Err(e)),
        }
    }

    /// Writes a range at the end of the segment of this process. Returns its number, and the place of the header.
    fn write(&self, own: &mut Option<(u64, u64)>, range: &Range<u64>, bytes: &[u8]) -> Result<(u64, u64)> {
        // Another process may have removed the segment, and a third one may have created another of its number.
        let open = |(segment, at)| Some((private::open_to_write(&self.segment(segment)).ok()?, segment, at));
        let open = own.and_then(open).filter(|(file, _, at)| file.metadata().is_ok_and(|meta| meta.len() == *at));
        let (file, segment, at) = open.map_or_else(|| self.create(), Ok)?;
        let written = write_all_at(&file, bytes, at + HEADER_BYTES);
        if let Err(e) = written.and_then(|()| write_all_at(&file, &header(range), at)) {
            // If this fails, the segment takes more room than is counted, until the next count.
            let _ = private::set_length(&file, at);
            *own = Some((segment, at));
            return Err(Error::io("write", self.segment(segment), e));
        }
        *own = Some((segment, at + HEADER_BYTES + bytes.len() as u64));
        Ok((segment, at))
    }

    /// Creates a segment, and the folder of the object.
    fn create(&self) -> Result<(File, u64, u64)> {
        self.dir.parent().map_or(Ok(()), private::create_folder)?;
        private::create_folder(&self.dir)?;
        let io = |e| Error::io("create", &self.dir, e);
        for segment in 0.. {
            match private::create_new(&self.segment(segment)) {
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                file => return Ok((file.map_err(io)?, segment, 0)),
            }
        }
        Err(Error::internal("an object has too many segments"))
    }

    /// Forgets the ranges with bytes of a range, because they proved wrong.
    pub fn forget(&self, range: &Range<u64>) {
        let mut segments = self.segments.lock();
        segments.refresh(&self.dir, self.length);
        for (segment, header) in segments.remove(range) {
            // Processes that know of the range, and one that opens the cache if this fails, find the error by themselves.
            let file = private::open_to_write(&self.segment(segment));
            let _ = file.and_then(|file| write_all_at(&file, &FORGOTTEN.to_le_bytes(), header));
        }
    }

    fn segment(&self, number: u64) -> PathBuf {
        self.dir.join(number.to_string())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;

    fn object(dir: &Path, limit: u64, length: u64) -> CachedObject {
        CachedObject::new(
            DiskCache::open(dir, Some(limit)).unwrap(),
            ("s3://bücket/ö", "\"etag\"", length),
            Arc::default(),
        )
    }

    fn content(range: Range<u64>) -> Vec<u8> {
        range.map(|at| (at as u32).wrapping_mul(2_654_435_761).to_be_bytes()[0]).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// Two processes store ranges, and one reads what either of them stored.
        #[test]
        fn ranges_are_kept(
            length in 1u64..1 << 14, stores in prop::collection::vec((0u64..1 << 14, 1u64..1 << 12), 1..8),
            reads in prop::collection::vec((0u64..1 << 14, 1u64..2000), 1..20),
        ) {
            let dir = tempfile::tempdir().unwrap();
            let dir = dir.path().join("cache");
            let both = [object(&dir, 1 << 30, length), object(&dir, 1 << 30, length)];
            let mut kept = vec![false; length as usize];
            for (i, (start, count)) in stores.into_iter().enumerate() {
                let start = start.min(length - 1);
                let end = (start + count).min(length);
                both[i % 2].store(start, &content(start..end));
                kept[start as usize..end as usize].fill(true);
            }
            // The other process goes on to read what this one forgets.
            let cached = &both[0];
            for (start, count) in reads {
                let range = start.min(length - 1)..(start.min(length - 1) + count).min(length);
                let is_here = kept[range.start as usize..range.end as usize].iter().all(|&is_here| is_here);
                let mut buffer = vec![7];
                prop_assert_eq!(cached.has(&range), is_here);
                prop_assert_eq!(cached.read(range.clone(), &mut buffer).unwrap(), is_here);
                prop_assert!(!is_here || buffer == content(range.clone()));
                cached.forget(&range);
                prop_assert!(!cached.has(&range));
                cached.store(range.start, &content(range.clone()));
                prop_assert!(cached.read(range.clone(), &mut buffer).unwrap() && buffer == content(range.clone()));
                kept[range.start as usize..range.end as usize].fill(true);
                // A whole range is forgotten, and not only the bytes that proved wrong.
                let segments = cached.segments.lock();
                kept.iter_mut().zip(0u64..).for_each(|(kept, at)| *kept &= segments.ranges.covering(&(at..at + 1)).is_some());
            }
        }
    }

    #[test]
    fn a_cache_is_opened_while_others_open_it() {
        let dir = tempfile::tempdir().unwrap();
        let open = || _ = DiskCache::open(dir.path(), Some(1 << 20)).unwrap();
        std::thread::scope(|scope| (0..4).for_each(|_| _ = scope.spawn(|| (0..100).for_each(|_| open()))));
    }

    #[test]
    fn damaged_segments_are_not_used() {
        let dir = tempfile::tempdir().unwrap();
        let (mut buffer, all) = (Vec::new(), content(0..1 << 20));
        for cut in [0, 15, 16, 5000, (1 << 20) + 15] {
            object(dir.path(), 1 << 30, 1 << 20).store(0, &all);
            for segment in std::fs::read_dir(object(dir.path(), 1 << 30, 1 << 20).dir).unwrap().flatten() {
                File::options().write(true).open(segment.path()).unwrap().set_len(cut).unwrap();
            }
            let cached = object(dir.path(), 1 << 30, 1 << 20);
            assert!(!cached.read(0..1 << 20, &mut buffer).unwrap(), "{cut}");
            cached.store(0, &all);
            assert!(cached.read(0..1 << 20, &mut buffer).unwrap() && buffer == all, "{cut}");
        }
    }
}
