//! The JPEGs that a device keeps in its own memory for later epochs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::decoded::FrameKey;
use vidrec_jpeg::FoundTiles;

/// JPEGs begin at a multiple of so many bytes.
const ALIGNMENT: u64 = 64;

/// A device that makes pictures, and what it keeps. A JPEG that was kept stays: a run reads all clips equally often, so
/// nothing is gained by giving its room to another one.
#[derive(Debug)]
pub(crate) struct Device {
    /// The number of bytes for JPEGs in its memory.
    room: u64,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    jpegs: HashMap<FrameKey, KeptJpeg>,
    /// The number of bytes that have an owner.
    taken: u64,
}

/// A JPEG with a place in the device's memory.
#[derive(Debug, Clone)]
pub(super) struct KeptJpeg {
    /// The first byte in the memory.
    pub start: u64,
    pub tiles: Arc<FoundTiles>,
    /// Whether its bytes are there. Until then, each batch that needs them brings them.
    is_there: bool,
}

impl Device {
    pub fn new(room: u64) -> Self {
        Device { room, kept: Mutex::default() }
    }

    /// The JPEG of a frame, if the device has its bytes.
    pub(super) fn find(&self, frame: FrameKey) -> Option<KeptJpeg> {
        self.lock().jpegs.get(&frame).filter(|jpeg| jpeg.is_there).cloned()
    }

    /// The place for the JPEG of a frame. `None` if the memory is full.
    pub(super) fn place(&self, frame: FrameKey, tiles: &Arc<FoundTiles>) -> Option<u64> {
        let mut kept = self.lock();
        if let Some(known) = kept.jpegs.get(&frame) {
            return Some(known.start);
        }
        let start = kept.taken;
        let end = start.checked_add(frame.jpeg_length.into())?.checked_next_multiple_of(ALIGNMENT)?;
        if end > self.room {
            return None;
        }
        kept.jpegs.insert(frame, KeptJpeg { start, tiles: tiles.clone(), is_there: false });
        kept.taken = end;
        Some(start)
    }

    /// Notes that the bytes of these frames are there for all batches that begin from now on.
    pub fn has(&self, frames: &[FrameKey]) {
        let mut kept = self.lock();
        for frame in frames {
            kept.jpegs.entry(*frame).and_modify(|jpeg| jpeg.is_there = true);
        }
    }

    /// Bytes of JPEGs that have a place.
    pub fn bytes(&self) -> u64 {
        self.lock().taken
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        // No code under the lock leaves the list half changed.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
