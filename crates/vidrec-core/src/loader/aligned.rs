//! Memory that begins with a cache line, so that no vector in it lies across two.

use std::alloc::{Layout, handle_alloc_error};
use std::fmt;
use std::ops::{Deref, DerefMut};

use bytemuck::Zeroable;

use vidrec_format::allocation;

/// Bytes of a cache line, and of the largest vector.
const LINE: usize = 64;

/// A slice-like buffer whose first element is aligned to a cache line of 64 bytes.
#[derive(Default)]
pub struct Aligned<T> {
    /// The allocation, with one cache line to spare for the alignment.
    room: Vec<T>,
    start: usize,
    len: usize,
}

impl<T: Zeroable> Aligned<T> {
    /// Sets the length to `len`. The contents are unspecified. Aborts the process if there is no memory, because
    /// the rows of a picture are small.
    pub(crate) fn resize(&mut self, len: usize) {
        if self.try_resize(len).is_err() {
            handle_alloc_error(Layout::array::<T>(len).unwrap_or(Layout::new::<T>()));
        }
    }

    /// Sets the length to `len`, as [`resize`](Self::resize) does. If there is no memory, the buffer becomes empty
    /// and the error is the number of bytes that it needed.
    pub(crate) fn try_resize(&mut self, len: usize) -> Result<(), usize> {
        let room = len + LINE / size_of::<T>();
        if self.room.len() < room {
            // The old contents are no longer needed. Freeing them first leaves more memory for the new ones.
            *self = Aligned { room: Vec::new(), start: 0, len: 0 };
            // The buffer is not filled here. The system provides zeroed pages when all threads first write to
            // them.
            self.room = allocation::try_zeroed(room)?;
        }
        // If there is no such offset, the buffer starts at the beginning. Alignment only makes it faster.
        let start = self.room.as_ptr().align_offset(LINE);
        (self.start, self.len) = (if start + len <= self.room.len() { start } else { 0 }, len);
        Ok(())
    }
}

impl<T> Deref for Aligned<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        &self.room[self.start..self.start + self.len]
    }
}

impl<T> DerefMut for Aligned<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.room[self.start..self.start + self.len]
    }
}

impl<T: Copy + Zeroable> Clone for Aligned<T> {
    fn clone(&self) -> Self {
        let mut copy = Aligned { room: Vec::new(), start: 0, len: 0 };
        copy.resize(self.len);
        copy.copy_from_slice(self);
        copy
    }
}

impl<T: PartialEq> PartialEq for Aligned<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: fmt::Debug> fmt::Debug for Aligned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
