//! Memory for the JPEGs of a batch: our own, or memory that a device reads faster.

use std::fmt;
use std::ops::{Deref, DerefMut};

use vidrec_format::allocation;
use vidrec_format::error::{Error, Result};

/// Memory of any owner.
pub type PinnedMemory = Box<dyn DerefMut<Target = [u8]> + Send + Sync>;

/// What makes memory of so many bytes that a device reads fast.
pub type PinnedAllocator = Box<dyn Fn(usize) -> Result<PinnedMemory> + Send + Sync>;

/// The bytes of the JPEGs of a batch.
#[derive(Default)]
pub struct JpegMemory {
    memory: Option<PinnedMemory>,
    /// The number of bytes that are in use.
    len: usize,
}

impl JpegMemory {
    /// Makes room for `len` bytes. Later batches that are a little larger or smaller fit the same memory. The contents are
    /// unspecified.
    pub(super) fn reserve(&mut self, len: usize, allocate: Option<&PinnedAllocator>) -> Result<()> {
        /// The number of memory sizes from one power of two to the next.
        const STEPS: usize = 8;
        if self.memory.as_ref().is_none_or(|memory| memory.len() < len) {
            // Freed first, it leaves more memory for the new one.
            self.memory = None;
            let step = (len.checked_next_power_of_two().unwrap_or(len) / STEPS).max(1);
            let room = len.checked_next_multiple_of(step).unwrap_or(len);
            self.memory = Some(allocate.map_or_else(|| plain(room), |allocate| allocate(room))?);
        }
        self.len = len;
        Ok(())
    }
}

/// Memory of our own.
fn plain(room: usize) -> Result<PinnedMemory> {
    let memory: Vec<u8> = allocation::try_zeroed(room).map_err(|bytes| {
        Error::no_memory("a batch of JPEGs", bytes).help("make batches smaller, or keep fewer of them ready (prefetch)")
    })?;
    Ok(Box::new(memory))
}

impl Deref for JpegMemory {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.memory.as_ref().and_then(|memory| memory.get(..self.len)).unwrap_or_default()
    }
}

impl DerefMut for JpegMemory {
    fn deref_mut(&mut self) -> &mut [u8] {
        self.memory.as_mut().and_then(|memory| memory.get_mut(..self.len)).unwrap_or_default()
    }
}

impl PartialEq for JpegMemory {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl fmt::Debug for JpegMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_there_can_be_is_an_error() {
        let e = JpegMemory::default().reserve(isize::MAX as usize, None).unwrap_err();
        assert_eq!(e.kind(), vidrec_format::error::ErrorKind::Resources);
        assert!(e.to_string().contains("a batch of JPEGs"), "{e}");
    }

    #[test]
    fn memory_is_made_again_only_when_a_batch_does_not_fit() {
        let allocate: PinnedAllocator = Box::new(|len| Ok(Box::new(vec![7; len])));
        let mut memory = JpegMemory::default();
        memory.reserve(1000, Some(&allocate)).unwrap();
        memory[999] = 1;
        for len in [10, 1000, 1024] {
            memory.reserve(len, Some(&allocate)).unwrap();
            assert_eq!(memory.len(), len);
        }
        assert_eq!(memory[999], 1, "room is made for batches that are a little larger");
        memory.reserve(1025, Some(&allocate)).unwrap();
        assert_eq!(memory[999], 7);
    }
}
