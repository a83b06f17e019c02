//! Private copies of JPEGs for C code, which reads some bytes twice and relies on reading the same. The bytes of a
//! mapped file do not guarantee that, because another process may change them.

use crate::markers::{SOS, headers};
use vidrec_format::error::{Error, Result};
use vidrec_format::{allocation, limits};

/// A JPEG in memory of this process. Nothing changes it while it is borrowed.
#[derive(Clone, Copy)]
pub(crate) struct PrivateJpeg<'a>(&'a [u8]);

impl<'a> PrivateJpeg<'a> {
    pub fn bytes(self) -> &'a [u8] {
        self.0
    }
}

impl<'a> From<&'a Vec<u8>> for PrivateJpeg<'a> {
    /// A vector owns its bytes, and is never a map.
    fn from(bytes: &'a Vec<u8>) -> Self {
        PrivateJpeg(bytes)
    }
}

/// Memory for copies of JPEGs, one at a time.
#[derive(Default)]
pub(crate) struct PrivateCopy(Vec<u8>);

/// The largest buffer that is kept if a smaller one would be enough.
const MOST_KEPT: usize = 8 << 20;

impl PrivateCopy {
    /// Returns a copy of all of `jpeg`.
    pub fn copy(&mut self, jpeg: &[u8]) -> Result<PrivateJpeg<'_>> {
        between_reads();
        if jpeg.len() as u64 > limits::MAX_RECORD_BYTES {
            let most = format!("at most {} bytes", limits::MAX_RECORD_BYTES);
            return Err(Error::limit("the JPEG is too long").expected(most).found(jpeg.len()));
        }
        self.0.clear();
        if self.0.capacity() > MOST_KEPT && jpeg.len() <= MOST_KEPT {
            self.0 = Vec::new();
        }
        allocation::reserve(&mut self.0, jpeg.len(), "a JPEG")?;
        self.0.extend_from_slice(jpeg);
        between_reads();
        Ok(PrivateJpeg(&self.0))
    }

    /// Returns a copy of everything before the entropy-coded data of the first scan, or of all of `jpeg` if it has
    /// no scan.
    pub fn copy_header(&mut self, jpeg: &[u8]) -> Result<PrivateJpeg<'_>> {
        let scan = headers(jpeg).find(|segment| segment.marker == SOS);
        self.copy(scan.and_then(|scan| jpeg.get(..scan.end)).unwrap_or(jpeg))
    }
}

#[cfg(test)]
use std::cell::RefCell;

#[cfg(test)]
type Change<'a> = Box<dyn FnMut() + 'a>;

#[cfg(test)]
thread_local! {
    static CHANGE: RefCell<Option<Change<'static>>> = const { RefCell::new(None) };
}

/// Does nothing, except in a test that asks for it.
#[inline(always)]
pub fn between_reads() {
    #[cfg(test)]
    CHANGE.with_borrow_mut(|change| change.iter_mut().for_each(|change| change()));
}

/// Runs `work`, and runs `change` whenever this thread calls [`between_reads`] meanwhile.
#[cfg(test)]
pub(crate) fn with_change<T>(change: impl FnMut() + 'static, work: impl FnOnce() -> T) -> T {
    struct Reset;
    impl Drop for Reset {
        fn drop(&mut self) {
            CHANGE.set(None);
        }
    }
    CHANGE.set(Some(Box::new(change)));
    let _reset = Reset;
    work()
}
