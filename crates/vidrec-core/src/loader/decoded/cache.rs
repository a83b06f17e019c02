//! Finding, reading and keeping frames.

use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::sync::atomic::{AtomicBool, AtomicU64};

use parking_lot::Mutex;
use sha2::{Digest, Sha256};

use super::layout::{ALIGNED, FrameKey, HEAD, Head, Layout, TAKEN};
use crate::store::disk::memory_file::{IN_MEMORY, MemoryFile, room};
use vidrec_format::data_binding::hex;
use vidrec_format::error::{Error, Hint, Result};
use vidrec_jpeg::{Cut, Scale, TileGrid, make_room};

/// Decoded planes in memory that processes share.
#[derive(Debug)]
pub(crate) struct DecodedFrames {
    file: MemoryFile,
    layout: Layout,
    /// The end of the bytes that this process last took.
    end_of_own: Mutex<u64>,
    /// The reason why nothing more is kept, or why nothing is read any more.
    failure: OnceLock<String>,
    /// Whether the file has bytes that no vidrec process should have written. If so, the cache trusts nothing in
    /// the file.
    is_wrong: AtomicBool,
}

/// A frame in the cache.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoredFrame {
    /// The offset of its planes.
    at: u64,
    head: Head,
}

impl StoredFrame {
    pub fn grid(&self) -> TileGrid {
        self.head.grid
    }
}

/// The use of the cache for a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CacheUse {
    /// The planes came from the cache.
    Hit,
    /// The frame was decoded. All processes can now read it; it took this many bytes.
    Kept(u64),
    /// The frame was decoded, and there is no room for it.
    NoRoom,
    /// The frame was decoded. Another process has kept it in the meantime, or the cache is no longer used.
    NotKept,
    /// The cache does not keep frames of this kind.
    OtherFrame,
}

impl DecodedFrames {
    /// Opens the cache of a number of frames, or creates it with at most `limit` bytes in all. `records` is a digest of the
    /// record files that have the frames.
    pub fn open((frames, records): (u64, [u8; 32]), limit: u64, dir: Option<&Path>) -> Result<Self> {
        let dir = dir.unwrap_or(Path::new(IN_MEMORY));
        let (size, memory) = (room(dir)?, crate::memory::memory().unwrap_or(u64::MAX));
        let layout = Layout::new(frames, limit)?;
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
        // Files differ if their records differ or another version of vidrec decoded their planes.
        let digest = Sha256::new().chain_update(concat!("vidrec ", env!("CARGO_PKG_VERSION")));
        let digest: [u8; 32] = digest.chain_update(records).chain_update(frames.to_le_bytes()).finalize().into();
        let file = MemoryFile::open(dir, &hex(&digest[..16]), layout.length, &layout.header(&digest))?;
        let (end_of_own, failure, is_wrong) = Default::default();
        Ok(DecodedFrames { file, layout, end_of_own, failure, is_wrong })
    }

    /// The maximum number of bytes of the file.
    pub fn limit(&self) -> u64 {
        self.layout.length
    }

    /// Bytes that all processes have taken.
    pub fn taken(&self) -> u64 {
        let taken = self.file.word(TAKEN).map_or(0, |taken| taken.load(Relaxed));
        taken.clamp(self.layout.begin(), self.layout.length)
    }

    /// The reason why nothing more is kept or read, if there is one.
    pub fn failure(&self) -> Option<&str> {
        self.failure.get().map(String::as_str)
    }

    /// Looks up a frame at a scale.
    pub fn find(&self, frame: FrameKey, scale: Scale) -> Option<StoredFrame> {
        let at = self.offset_of(frame, scale)?.load(Acquire);
        if at == 0 {
            return None;
        }
        let Some(head) = self.head(at).filter(|head| (head.frame.number, head.scale) == (frame.number, scale)) else {
            // If the file was truncated, the rest is zeros.
            if self.is_whole() {
                self.give_up();
            }
            return None;
        };
        // The entry may be that of another JPEG, which then stays in the cache.
        (head.frame == frame).then_some(StoredFrame { at: at + HEAD as u64, head })
    }

    /// The number that says where a frame is.
    fn offset_of(&self, frame: FrameKey, scale: Scale) -> Option<&AtomicU64> {
        if self.is_wrong.load(Relaxed) || !self.is_whole() {
            return None;
        }
        self.file.word(self.layout.index(frame.number, scale)?)
    }

    /// The head at an offset, if there is one, with its planes inside the file.
    fn head(&self, at: u64) -> Option<Head> {
        let mut bytes = [0; HEAD];
        let is_copied = at >= self.layout.begin() && at.is_multiple_of(ALIGNED) && self.file.copy(at, &mut bytes);
        let head = Head::read(&bytes).filter(|_| is_copied)?;
        at.checked_add(head.length()).filter(|&end| end <= self.layout.length).map(|_| head)
    }

    /// Copies a part of a frame to the planes. Returns `None` if the bytes may not be those that were written. In that
    /// case, the planes have unspecified samples.
    pub fn read(&self, stored: &StoredFrame, cut: &Cut, planes: &mut [Vec<u8>; 3]) -> Option<()> {
        let (scale, map) = (stored.head.scale, &self.file);
        make_room(cut, scale, planes).ok()?;
        let (of_frame, of_cut) = (stored.head.whole().chroma_sides(scale), cut.chroma_sides(scale));
        let (x, y) = (scale.side(cut.region.x) as usize / 2, scale.side(cut.region.y) as usize / 2);
        let mut at = stored.at;
        for (plane, factor) in planes.iter_mut().zip([2, 1, 1]) {
            let (pitch, width) = (factor * of_frame.0, factor * of_cut.0);
            let first = at + (factor * y * pitch + factor * x) as u64;
            for (row, to) in plane.chunks_exact_mut(width).take(factor * of_cut.1).enumerate() {
                let from = first + (row * pitch) as u64;
                // The copies wait for memory, so a later row is prefetched while a row is copied.
                map.prefetch(from + 4 * pitch as u64..from + (4 * pitch + width) as u64);
                if !map.copy(from, to) {
                    return None;
                }
            }
            at += (factor * factor * of_frame.0 * of_frame.1) as u64;
        }
        self.is_whole().then_some(())
    }

    /// Returns the bytes that a frame needs, if there is room for it.
    pub fn has_room(&self, grid: TileGrid, scale: Scale) -> Option<u64> {
        let bytes = Head { frame: FrameKey::default(), scale, grid }.length().next_multiple_of(ALIGNED);
        (self.failure().is_none() && bytes <= self.layout.length - self.taken()).then_some(bytes)
    }

    /// Keeps a frame. `planes` holds the samples of all of its tiles. A checksum must have proven that the samples are
    /// those of the frame.
    pub fn keep(&self, frame: FrameKey, grid: TileGrid, scale: Scale, planes: &[Vec<u8>; 3]) -> CacheUse {
        let is_free = self.offset_of(frame, scale).is_some_and(|offset| offset.load(Relaxed) == 0);
        if !is_free || !grid.is_possible() || self.failure().is_some() {
            return CacheUse::NotKept;
        }
        let head = Head { frame, scale, grid };
        let taken = self.has_room(grid, scale).and_then(|bytes| Some((bytes, self.take(bytes)?)));
        let Some((bytes, at)) = taken else { return CacheUse::NoRoom };
        let (width, height) = head.whole().chroma_sides(scale);
        let lengths = [4, 1, 1].map(|factor| factor * width * height);
        let mut to = at;
        let samples = planes.iter().zip(lengths).map(|(plane, length)| plane.get(..length));
        for part in std::iter::once(Some(&head.bytes()[..])).chain(samples) {
            let Some(part) = part else { return CacheUse::NotKept };
            if let Err(e) = self.file.write(part, to) {
                self.fail(&format!("could not be written: {e}"));
                return CacheUse::NoRoom;
            }
            to += part.len() as u64;
        }
        // In the rare case that another process was faster, the bytes that were written stay unused.
        let offset = self.offset_of(frame, scale);
        match offset.and_then(|offset| offset.compare_exchange(0, at, AcqRel, Relaxed).ok()) {
            Some(_) => CacheUse::Kept(bytes),
            None => CacheUse::NotKept,
        }
    }

    /// Takes free bytes. Returns where they begin. The number of taken bytes never exceeds the limit, not even for a moment.
    fn take(&self, bytes: u64) -> Option<u64> {
        let (begin, end) = (self.layout.begin(), self.layout.length);
        let taken = self.file.word(TAKEN)?;
        let mut end_of_own = self.end_of_own.lock();
        let mut now = taken.load(Relaxed);
        loop {
            // The number starts as 0. Any other value comes from memory that other processes can write to.
            let at = now.max(begin).checked_next_multiple_of(ALIGNED)?;
            let behind = at.checked_add(bytes).filter(|&behind| behind <= end)?;
            match taken.compare_exchange_weak(now, behind, Relaxed, Relaxed) {
                // Two threads of this process must never get the same bytes.
                Ok(_) if at < *end_of_own => {
                    self.give_up();
                    return None;
                }
                Ok(_) => {
                    *end_of_own = behind;
                    return Some(at);
                }
                Err(other) => now = other,
            }
        }
    }

    /// Whether the file still has its original length. If not, its bytes may be zeros.
    fn is_whole(&self) -> bool {
        let is_whole = self.file.is_whole();
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
        let _ = self.failure.set(format!("{} {why}", self.file.path.display()));
    }
}
