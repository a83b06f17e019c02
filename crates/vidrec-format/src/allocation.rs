//! Fallible allocation, for memory whose size depends on options or files.
//!
//! Small and fixed amounts are allocated as usual in Rust: the process aborts if there is no memory for them.
//! Therefore a large allocation fails if it would leave too little for them, and the error names the large
//! allocation.

use std::hint::black_box;

use crate::error::{Error, Result};
use crate::machine;

/// An allocation of this many bytes or more is large.
const LARGE: usize = 1 << 20;

/// Bytes that must be left for small allocations.
const LEFT: u64 = 16 << 20;

/// Whether `bytes` bytes of memory can be allocated now.
pub fn can_allocate(bytes: u64) -> bool {
    let mut room: Vec<u8> = Vec::new();
    let reserved = usize::try_from(bytes).is_ok_and(|bytes| room.try_reserve_exact(bytes).is_ok());
    // Otherwise the compiler may optimize away memory that nothing reads.
    black_box(&room);
    reserved
}

/// Whether there is enough left for small allocations, now that `bytes` bytes have been allocated. Where the system says
/// how much is left, nothing is allocated to find out, because other threads would be short of it meanwhile.
fn leaves_enough(bytes: usize) -> bool {
    bytes < LARGE || machine::address_space_left().map_or_else(|| can_allocate(LEFT), |left| left >= LEFT)
}

/// Reserves room for `more` more elements. The error names `what` if there is no memory for them.
pub fn reserve<T>(vec: &mut Vec<T>, more: usize, what: &str) -> Result<()> {
    if more <= vec.capacity() - vec.len() {
        return Ok(());
    }
    let bytes = vec.len().saturating_add(more).saturating_mul(size_of::<T>());
    vec.try_reserve(more).map_err(|_| Error::no_memory(what, bytes))?;
    if !leaves_enough(bytes) {
        vec.shrink_to_fit();
        return Err(Error::no_memory(what, bytes));
    }
    Ok(())
}

/// Resizes `vec` to `len` elements and sets new ones to `fill`. The error names `what` if there is no memory for them.
pub fn resize<T: Copy>(vec: &mut Vec<T>, len: usize, fill: T, what: &str) -> Result<()> {
    reserve(vec, len.saturating_sub(vec.len()), what)?;
    vec.resize(len, fill);
    Ok(())
}

/// An empty vector with room for `len` elements. The error names `what` if there is no memory for them.
pub fn with_capacity<T>(len: usize, what: &str) -> Result<Vec<T>> {
    let mut vec = Vec::new();
    let bytes = len.saturating_mul(size_of::<T>());
    let reserved = vec.try_reserve_exact(len).is_ok() && leaves_enough(bytes);
    if reserved { Ok(vec) } else { Err(Error::no_memory(what, bytes)) }
}

/// `len` zeros, in memory that the system clears when it is first used.
pub fn zeroed<T: bytemuck::Zeroable>(len: usize, what: &str) -> Result<Vec<T>> {
    try_zeroed(len).map_err(|bytes| Error::no_memory(what, bytes))
}

/// Like [`zeroed`]. If there is no memory, the error is the number of bytes that were needed.
pub fn try_zeroed<T: bytemuck::Zeroable>(len: usize) -> Result<Vec<T>, usize> {
    let bytes = len.saturating_mul(size_of::<T>());
    bytemuck::try_zeroed_vec(len).ok().filter(|_| leaves_enough(bytes)).ok_or(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn too_much_memory_is_an_error_that_says_how_much() {
        let most = isize::MAX as usize;
        let mut bytes = vec![1u8, 2];
        let e = resize(&mut bytes, most, 0, "a test").unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Resources);
        assert!(e.to_string().contains("no memory for a test") && e.to_string().contains(&most.to_string()), "{e}");
        assert_eq!(bytes, [1, 2]);
        assert_eq!(with_capacity::<u64>(most, "x").unwrap_err().kind(), ErrorKind::Resources);
        assert_eq!(zeroed::<f32>(most, "x").unwrap_err().kind(), ErrorKind::Resources);
        resize(&mut bytes, 4, 9, "a test").unwrap();
        assert_eq!(bytes, [1, 2, 9, 9]);
        resize(&mut bytes, 1, 9, "a test").unwrap();
        assert_eq!((bytes, zeroed::<u16>(2, "x").unwrap()), (vec![1], vec![0, 0]));
    }

    #[test]
    fn memory_that_is_there_is_told_from_memory_that_is_not() {
        assert!(can_allocate(1 << 20));
        assert!(!can_allocate(u64::MAX));
        assert!(!can_allocate(isize::MAX as u64));
    }
}
