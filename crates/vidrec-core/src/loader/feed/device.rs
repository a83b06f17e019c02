//! The JPEGs that a device keeps in its own memory for later epochs.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::loader::decoded::FrameKey;
use crate::loader::jpeg_memory::PinnedAllocator;
use vidrec_jpeg::TileHeader;

/// JPEGs begin at a multiple of so many bytes.
const ALIGNMENT: u64 = 64;

/// A device that makes pictures, and what it keeps. A JPEG that was kept stays: a run reads all clips equally often, so
/// nothing is gained by giving its room to another one.
pub(crate) struct Device {
    /// The number of bytes for JPEGs in its memory.
    room: u64,
    kept: Mutex<KeptJpegs>,
    /// What makes the memory of batches that go to it.
    pub allocate: Option<PinnedAllocator>,
}

#[derive(Debug, Default)]
struct KeptJpegs {
    jpegs: HashMap<FrameKey, KeptJpeg>,
    /// The number of bytes that have an owner.
    taken: u64,
}

/// The header of JPEGs that a device can decode, which those of a clip share.
#[derive(Debug)]
pub(crate) struct DeviceHeader {
    pub facts: TileHeader,
    pub bytes: Vec<u8>,
}

/// A JPEG with a place in the device's memory.
#[derive(Debug)]
struct KeptJpeg {
    /// The first byte in the memory.
    start: u64,
    header: Arc<DeviceHeader>,
    /// Whether its bytes are there. Until then, each batch that needs them brings them.
    is_there: bool,
}

impl Device {
    pub fn new(room: u64, allocate: Option<PinnedAllocator>) -> Self {
        Device { room, kept: Mutex::default(), allocate }
    }

    /// The JPEG of a frame, if the device has its bytes: its first byte in the memory, and its header.
    pub(super) fn find(&self, frame: FrameKey) -> Option<(u64, Arc<DeviceHeader>)> {
        let kept = self.kept.lock();
        let jpeg = kept.jpegs.get(&frame).filter(|jpeg| jpeg.is_there)?;
        Some((jpeg.start, jpeg.header.clone()))
    }

    /// The place for the JPEG of a frame. `None` if the memory is full.
    pub(super) fn place(&self, frame: FrameKey, header: &Arc<DeviceHeader>) -> Option<u64> {
        let mut kept = self.kept.lock();
        if let Some(known) = kept.jpegs.get(&frame) {
            return Some(known.start);
        }
        let start = kept.taken;
        let end = start.checked_add(frame.jpeg_length.into())?.checked_next_multiple_of(ALIGNMENT)?;
        if end > self.room {
            return None;
        }
        kept.jpegs.insert(frame, KeptJpeg { start, header: header.clone(), is_there: false });
        kept.taken = end;
        Some(start)
    }

    /// Notes that the bytes of these frames are there for all batches that begin from now on.
    pub fn has(&self, frames: &[FrameKey]) {
        let mut kept = self.kept.lock();
        for frame in frames {
            kept.jpegs.entry(*frame).and_modify(|jpeg| jpeg.is_there = true);
        }
    }

    /// Bytes of JPEGs that have a place.
    pub fn bytes(&self) -> u64 {
        self.kept.lock().taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vidrec_jpeg::Planes;
    use vidrec_jpeg::{Encoder, RegionDecoder};

    fn frame(number: u64, jpeg_length: u32) -> FrameKey {
        FrameKey { number, jpeg_length, ..FrameKey::default() }
    }

    #[test]
    fn a_jpeg_has_a_place_at_once_and_is_there_once_its_bytes_are() {
        let mut jpeg = Vec::new();
        Encoder::new(90).unwrap().encode(&Planes::new(32, 16).unwrap(), &mut jpeg).unwrap();
        let facts = RegionDecoder::new().unwrap().tile_header(&jpeg).unwrap().unwrap();
        let header = Arc::new(DeviceHeader { facts, bytes: Vec::new() });
        let device = Device::new(200, None);
        let [first, second, third] = [frame(0, 65), frame(1, 64), frame(2, 9)];
        assert_eq!([first, second, third].map(|frame| device.place(frame, &header)), [Some(0), Some(128), None]);
        assert_eq!(device.place(first, &header), Some(0), "it keeps its place");
        assert!(device.find(first).is_none());
        device.has(&[first, third]);
        assert_eq!(device.find(first).map(|(start, _)| start), Some(0));
        assert!(device.find(second).is_none() && device.find(third).is_none());
        assert_eq!(device.bytes(), 192);
        assert!(device.find(frame(0, 64)).is_none(), "a JPEG of another length is another one");
    }
}
