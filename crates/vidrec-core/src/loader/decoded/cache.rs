//! Looking up, reading and keeping tiles.

use std::path::Path;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Mutex, OnceLock, PoisonError};

use sha2::{Digest, Sha256};

use super::found::Found;
use super::layout::{ALIGNED, Layout, TAKEN};
use super::segment::{FIXED, FrameKey, Head, head_bytes, is_possible, is_whole, places, tile_bytes};
use super::window::Window;
use crate::store::disk::memory_file::{IN_MEMORY, MemoryFile, room};
use vidrec_format::allocation;
use vidrec_format::data_binding::hex;
use vidrec_format::error::Hint;
use vidrec_format::error::{Error, Result};
use vidrec_jpeg::{Parts, Scale, TileGrid};

/// The maximum number of segments of a frame. Only crops that hardly overlap would need more.
const MOST_SEGMENTS: usize = 32;

/// The contents of a cache: planes of these frames, in the order of the data set's shards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Contents {
    /// A digest of the record files.
    pub records: [u8; 32],
    pub frames: u64,
}

impl Contents {
    /// Returns the digest that tells cache files apart. Files differ if their records differ or another version of
    /// vidrec decoded their planes.
    fn digest(&self) -> [u8; 32] {
        let mut digest = Sha256::new();
        digest.update(concat!("vidrec ", env!("CARGO_PKG_VERSION")));
        digest.update(self.records);
        digest.update(self.frames.to_le_bytes());
        digest.finalize().into()
    }
}

/// Decoded planes in memory that processes share.
#[derive(Debug)]
pub(crate) struct Cache {
    file: MemoryFile,
    layout: Layout,
    /// One bit for each number in the index: whether this process has found the whole frame in the cache.
    complete: Vec<AtomicU64>,
    /// The end of the bytes that this process last took.
    given: Mutex<u64>,
    /// The reason why nothing more is kept, or why nothing is read any more.
    failure: OnceLock<String>,
    /// Whether the file has bytes that no vidrec process should have written. If so, the cache trusts nothing in
    /// the file.
    is_wrong: AtomicBool,
}

/// The result of looking at an offset of the file.
enum Look {
    /// It is a segment of the frame. The value is the offset of the segment before it.
    At(u64),
    /// It is a segment of another JPEG.
    OtherFrame,
    Damaged,
}

/// The outcome of an attempt to keep tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    /// All processes can now read the tiles, which took this many bytes.
    Yes(u64),
    /// There is no room.
    NoRoom,
    /// Another process has kept tiles of the frame in the meantime, or the cache is no longer used.
    No,
}

impl Cache {
    /// Opens the cache of `contents`, or creates it with at most `limit` bytes in all.
    pub fn open(contents: &Contents, limit: u64, dir: Option<&Path>) -> Result<Self> {
        let dir = dir.unwrap_or(Path::new(IN_MEMORY));
        let (size, memory) = (room(dir)?, crate::memory::memory().unwrap_or(u64::MAX));
        let layout = Layout::new(contents.frames, limit)?;
        let too_much = |what: &str, most: u64, help: &str| {
            let e = Error::usage(format!("loader option decoded_cache: {what}")).file(dir);
            let e = e.expected(format!("at most {most} bytes")).found(format!("{limit} bytes"));
            Err(e.help(help).hint(Hint::Set("decoded_cache")))
        };
        if limit > memory {
            return too_much("this machine or its container does not have so much memory", memory, "ask for less");
        }
        if limit > size {
            let help = "ask for less, or enlarge it: docker run --shm-size, or mount -o remount,size=…";
            return too_much("the file system in memory does not have so much room", size, help);
        }
        let digest = contents.digest();
        let file = MemoryFile::open(dir, &hex(&digest[..16]), layout.length, &layout.header(&digest))?;
        let words = usize::try_from(layout.numbers().div_ceil(64)).unwrap_or(usize::MAX);
        let mut complete = allocation::with_capacity(words, "what is kept of which frame")?;
        complete.resize_with(words, || AtomicU64::new(0));
        let given = Mutex::default();
        Ok(Cache { file, layout, complete, given, failure: OnceLock::new(), is_wrong: AtomicBool::new(false) })
    }

    /// The maximum number of bytes of the file.
    pub fn limit(&self) -> u64 {
        self.layout.length
    }

    /// Bytes that all processes have taken.
    pub fn taken(&self) -> u64 {
        let taken = self.file.map().word(TAKEN).map_or(0, |taken| taken.load(Relaxed));
        taken.clamp(self.layout.begin(), self.layout.length)
    }

    /// The reason why nothing more is kept or read, if there is one.
    pub fn failure(&self) -> Option<&str> {
        self.failure.get().map(String::as_str)
    }

    /// Looks up the tiles of a frame at a scale.
    pub fn find(&self, frame: FrameKey, scale: Scale, found: &mut Found) {
        found.clear(frame);
        let Some(newest) = self.newest(frame, scale) else { return };
        let mut at = newest;
        while at != 0 && found.segments < MOST_SEGMENTS {
            match self.look(at, scale, found) {
                Look::At(before) => at = before,
                Look::OtherFrame => {
                    found.clear(frame);
                    found.is_other = true;
                    return;
                }
                Look::Damaged => {
                    // If the file was truncated, the rest is zeros.
                    if self.is_whole() {
                        self.give_up();
                    }
                    return found.clear(frame);
                }
            }
            found.segments += 1;
        }
        found.newest = newest;
        self.note(found, scale);
    }

    /// Remembers that a frame is complete, if all its tiles were found.
    fn note(&self, found: &Found, scale: Scale) {
        let Some((word, bit)) = self.bit(found.frame, scale) else { return };
        if word.load(Relaxed) & bit == 0 && found.is_complete() {
            word.fetch_or(bit, Relaxed);
        }
    }

    fn bit(&self, frame: FrameKey, scale: Scale) -> Option<(&AtomicU64, u64)> {
        let number = self.layout.number(frame.number, scale)?;
        Some((self.complete.get(usize::try_from(number / 64).ok()?)?, 1 << (number % 64)))
    }

    /// Whether this process has found the whole frame before. This does not read the file.
    pub fn was_complete(&self, frame: FrameKey, scale: Scale) -> bool {
        let is_used = !self.is_wrong.load(Relaxed) && self.file.map().is_whole();
        is_used && self.bit(frame, scale).is_some_and(|(word, bit)| word.load(Relaxed) & bit != 0)
    }

    /// Returns the offset of the frame's newest segment.
    fn newest(&self, frame: FrameKey, scale: Scale) -> Option<u64> {
        Some(self.word_of(frame, scale)?.load(Acquire))
    }

    fn word_of(&self, frame: FrameKey, scale: Scale) -> Option<&AtomicU64> {
        if self.is_wrong.load(Relaxed) || !self.is_whole() {
            return None;
        }
        self.file.map().word(self.layout.index(frame.number, scale)?)
    }

    /// Adds the segment at `at` to `found`.
    fn look(&self, at: u64, scale: Scale, found: &mut Found) -> Look {
        let map = self.file.map();
        let mut fixed = [0; FIXED];
        if at < self.layout.begin() || !at.is_multiple_of(ALIGNED) || !map.copy(at, &mut fixed) {
            return Look::Damaged;
        }
        let Some(head) = Head::read(&fixed) else { return Look::Damaged };
        let length = head_bytes(&head.grid);
        // The bits take at most 128 KiB, and only if the file has that many bytes.
        if at.checked_add(length as u64).is_none_or(|end| end > self.layout.length) {
            return Look::Damaged;
        }
        found.head.resize(length, 0);
        if !map.copy(at, &mut found.head) || !is_whole(&found.head) {
            return Look::Damaged;
        }
        if (head.frame.number, head.scale) != (found.frame.number, scale) {
            return Look::Damaged;
        }
        if head.frame != found.frame {
            return Look::OtherFrame;
        }
        if found.of.is_some_and(|of| of != (head.grid, scale)) {
            return Look::Damaged;
        }
        if found.of.is_none() {
            found.places.resize(head.grid.count(), 0);
            found.of = Some((head.grid, scale));
        }
        let (bytes, mut next) = (tile_bytes(&head.grid, scale) as u64, at + length as u64);
        let mut count = 0;
        for tile in places(&found.head) {
            let Some(place) = found.places.get_mut(tile) else { return Look::Damaged };
            if *place == 0 {
                *place = next;
            }
            next += bytes;
            count += 1;
        }
        if count == head.tiles && next <= self.layout.length { Look::At(head.before) } else { Look::Damaged }
    }

    /// Copies the tiles among `parts` that were found to planes with room for these parts. Returns the number of
    /// tiles, or `None` if the bytes may not be those that were written. In that case, the planes have unspecified
    /// samples.
    pub fn read(&self, found: &Found, parts: &Parts, planes: &mut [Vec<u8>; 3]) -> Option<u32> {
        let (grid, scale) = found.of?;
        let window = Window::new(&grid, scale, parts);
        let (map, bytes) = (self.file.map(), tile_bytes(&grid, scale) as u64);
        let mut tiles = 0;
        let kept = |row: u32| found.row(row, &parts.columns).iter().filter(|&&place| place != 0);
        let prefetch = |row| kept(row).for_each(|&place| map.prefetch(place..place.saturating_add(bytes)));
        // The copies wait for memory, so the next row is prefetched while a row is copied.
        prefetch(parts.rows.start);
        for row in parts.rows.clone() {
            if row + 1 < parts.rows.end {
                prefetch(row + 1);
            }
            for (column, &place) in parts.columns.clone().zip(found.row(row, &parts.columns)) {
                if place != 0 {
                    window.put(map, place, column, row, planes)?;
                    tiles += 1;
                }
            }
        }
        self.is_whole().then_some(tiles)
    }

    /// Returns the bytes that `tiles` more tiles of such a frame need, if there is room for them.
    fn has_room(&self, grid: &TileGrid, scale: Scale, tiles: usize) -> Option<u64> {
        let bytes =
            (head_bytes(grid) as u64).checked_add((tile_bytes(grid, scale) as u64).checked_mul(tiles as u64)?)?;
        let bytes = bytes.checked_next_multiple_of(ALIGNED)?;
        (bytes <= self.layout.length - self.taken()).then_some(bytes)
    }

    /// Keeps the tiles among `parts` that the lookup of the frame did not find. `planes` holds the samples of
    /// these parts. A checksum must have proven that the samples are those of the frame.
    pub fn keep(
        &self,
        found: &Found,
        (grid, scale): (TileGrid, Scale),
        parts: &Parts,
        planes: &[Vec<u8>; 3],
        scratch: &mut Vec<u8>,
    ) -> Kept {
        let is_of_frame = !found.is_other && found.of.is_none_or(|of| of == (grid, scale));
        let is_known = self.newest(found.frame, scale) == Some(found.newest);
        if !is_of_frame
            || !is_known
            || !is_possible(&grid)
            || self.failure().is_some()
            || found.segments >= MOST_SEGMENTS
        {
            return Kept::No;
        }
        let missing = || {
            let all = parts.rows.clone().flat_map(|row| parts.columns.clone().map(move |column| (column, row)));
            all.filter(|&(column, row)| !found.has(column, row))
        };
        let tiles = missing().count();
        if tiles == 0 {
            return Kept::No;
        }
        let Some(bytes) = self.has_room(&grid, scale, tiles) else { return Kept::NoRoom };
        let (across, _) = grid.parts();
        let places = missing().map(|(column, row)| row as usize * across as usize + column as usize);
        let head = Head { frame: found.frame, scale, before: found.newest, grid, tiles: tiles as u32 };
        head.bytes(places, scratch);
        let Some(at) = self.take(bytes) else { return Kept::NoRoom };
        let (window, tile) = (Window::new(&grid, scale, parts), tile_bytes(&grid, scale));
        // The tiles are not kept if there is no memory for them.
        let has_memory = scratch.try_reserve(tiles * tile).is_ok();
        if !has_memory || missing().any(|(column, row)| window.take(planes, column, row, scratch).is_none()) {
            return Kept::No;
        }
        if let Err(e) = self.file.write(scratch, at) {
            self.fail(&format!("could not be written: {e}"));
            return Kept::NoRoom;
        }
        let Some(word) = self.word_of(found.frame, scale) else { return Kept::No };
        match word.compare_exchange(found.newest, at, AcqRel, Relaxed) {
            Ok(_) => Kept::Yes(bytes),
            // In this rare case, the bytes that were written stay unused.
            Err(_) => Kept::No,
        }
    }

    /// Takes free bytes. Returns where they begin. The number of taken bytes never exceeds the limit, not even for a moment.
    fn take(&self, bytes: u64) -> Option<u64> {
        let (begin, end) = (self.layout.begin(), self.layout.length);
        let taken = self.file.map().word(TAKEN)?;
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        let mut now = taken.load(Relaxed);
        loop {
            // The number starts as 0. Any other value comes from memory that other processes can write to.
            let at = now.max(begin).checked_next_multiple_of(ALIGNED)?;
            let behind = at.checked_add(bytes).filter(|&behind| behind <= end)?;
            match taken.compare_exchange_weak(now, behind, Relaxed, Relaxed) {
                // Two threads of this process must never get the same bytes.
                Ok(_) if at < *given => {
                    self.give_up();
                    return None;
                }
                Ok(_) => {
                    *given = behind;
                    return Some(at);
                }
                Err(other) => now = other,
            }
        }
    }

    /// Whether the file still has its original length. If not, its bytes may be zeros.
    fn is_whole(&self) -> bool {
        let is_whole = self.file.map().is_whole();
        if !is_whole {
            self.fail("was truncated by another program");
        }
        is_whole
    }

    /// Stops trusting the file.
    fn give_up(&self) {
        self.is_wrong.store(true, Relaxed);
        self.fail("has other bytes than vidrec writes");
    }

    fn fail(&self, why: &str) {
        let _ = self.failure.set(format!("{} {why}", self.file.path().display()));
    }
}
