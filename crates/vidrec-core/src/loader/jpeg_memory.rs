//! Memory for the JPEGs of a batch: our own, or memory that a device reads faster.

use std::fmt;
use std::ops::{Deref, DerefMut};

use super::aligned::Aligned;
use vidrec_format::error::{Error, Result};

/// Memory of others, such as pinned memory.
pub type PinnedMemory = Box<dyn DerefMut<Target = [u8]> + Send + Sync>;

/// What makes pinned memory of at least so many bytes.
pub type PinnedAllocator = Box<dyn Fn(usize) -> Result<PinnedMemory> + Send + Sync>;

/// The JPEGs of a batch, as bytes.
#[derive(Default)]
pub struct JpegMemory {
    own: Aligned<u8>,
    pinned: Option<PinnedMemory>,
    /// The length of what is used of the pinned memory.
    len: usize,
}

impl JpegMemory {
    /// Makes room for `len` bytes. Later batches that are a little larger or smaller fit the same memory. The contents are
    /// unspecified.
    pub(super) fn reserve(&mut self, len: usize, allocate: Option<&PinnedAllocator>) -> Result<()> {
        /// The number of memory sizes from one power of two to the next.
        const STEPS: usize = 8;
        let roomy =
            len.checked_next_power_of_two().and_then(|power| len.checked_next_multiple_of((power / STEPS).max(1)));
        let roomy = roomy.unwrap_or(len);
        if let Some(allocate) = allocate {
            if self.pinned.as_ref().is_none_or(|memory| memory.len() < len) {
                self.pinned = None;
                self.pinned = Some(allocate(roomy)?);
            }
            self.len = len;
            return Ok(());
        }
        let reserved = self.own.try_resize(roomy).and_then(|()| self.own.try_resize(len));
        reserved.map_err(|bytes| {
            Error::no_memory("a batch of JPEGs", bytes)
                .help("make batches smaller, or keep fewer of them ready (prefetch)")
        })
    }
}

impl Deref for JpegMemory {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.pinned.as_ref().map_or(&self.own, |memory| memory.get(..self.len).unwrap_or_default())
    }
}

impl DerefMut for JpegMemory {
    fn deref_mut(&mut self) -> &mut [u8] {
        match &mut self.pinned {
            Some(memory) => memory.get_mut(..self.len).unwrap_or_default(),
            None => &mut self.own,
        }
    }
}

/// A copy is memory of our own.
impl Clone for JpegMemory {
    fn clone(&self) -> Self {
        let mut own = Aligned::default();
        own.resize(self.deref().len());
        own.copy_from_slice(self);
        JpegMemory { own, ..JpegMemory::default() }
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
    fn pinned_memory_is_made_again_only_when_a_batch_does_not_fit() {
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
        assert_eq!(memory.clone(), memory);
    }
}
