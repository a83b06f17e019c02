//! Who owns the samples of a batch, and for how long.
//!
//! The Python object [`Samples`] owns memory that vidrec allocated, and every NumPy array and tensor made from it refers to that
//! object. When the last of them is gone, the memory goes back to the loader, which fills it again. [`Foreign`] is the reverse: memory
//! of Python that vidrec fills.

use std::any::Any;
use std::ops::{Deref, DerefMut};
use std::sync::Mutex;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use vidrec::Dtype;

use crate::error::usage;
use crate::per_process::PerProcess;

/// Samples for NumPy and torch, without a copy.
#[pyclass(frozen, module = "vidrec._vidrec")]
pub struct Samples {
    /// The address of the samples in `held`. Only NumPy uses it as a pointer.
    address: usize,
    /// A lock that is never taken lets threads share what only one of them may own.
    _held: Mutex<PerProcess<Box<dyn Any + Send>>>,
    shape: Vec<usize>,
    dtype: Dtype,
}

impl Samples {
    /// `bytes` returns the memory of the samples in `held`.
    pub fn new<T: Send + 'static>(
        held: T,
        bytes: impl FnOnce(&mut T) -> &mut [u8],
        shape: Vec<usize>,
        dtype: Dtype,
    ) -> Self {
        let mut held = Box::new(held);
        let address = bytes(&mut held).as_mut_ptr().expose_provenance();
        Samples { address, _held: Mutex::new(PerProcess::new(held)), shape, dtype }
    }

    /// Bytes in one dimension.
    pub fn of_bytes<T: Send + 'static>(mut held: T, bytes: impl Fn(&mut T) -> &mut [u8]) -> Self {
        let length = bytes(&mut held).len();
        Samples::new(held, bytes, vec![length], Dtype::U8)
    }
}

#[pymethods]
impl Samples {
    /// NumPy's array interface, version 3. bfloat16, which NumPy lacks, is shown as the 16 bits that it is.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let kind = match self.dtype {
            Dtype::U8 => "|u1",
            Dtype::F16 => "=f2",
            Dtype::Bf16 => "=u2",
            Dtype::F32 => "=f4",
            other => return Err(usage(format!("there are no arrays of {other}"))),
        };
        let dict = PyDict::new(py);
        dict.set_item("version", 3)?;
        dict.set_item("typestr", kind)?;
        dict.set_item("shape", pyo3::types::PyTuple::new(py, &self.shape)?)?;
        dict.set_item("data", (self.address, false))?;
        Ok(dict)
    }
}

/// Writable memory of a Python object, for a loader to fill.
pub struct Foreign {
    start: *mut u8,
    length: usize,
    /// Keeps the memory alive.
    _owner: Py<PyAny>,
}

impl Foreign {
    /// # Safety
    ///
    /// `length` bytes at `address` belong to `owner`, stay where they are while it lives, and are not used by anything
    /// else until the batch that is made in them was taken.
    pub unsafe fn new(address: usize, length: usize, owner: Py<PyAny>) -> Self {
        Foreign { start: std::ptr::with_exposed_provenance_mut(address), length, _owner: owner }
    }
}

// SAFETY: the memory may be used from any thread, as `new` demands; a `Py` may go to another thread.
unsafe impl Send for Foreign {}
// SAFETY: as above; who shares it only reads.
unsafe impl Sync for Foreign {}

impl Deref for Foreign {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        if self.length == 0 {
            return &[];
        }
        // SAFETY: see `new`.
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }
}

impl DerefMut for Foreign {
    fn deref_mut(&mut self) -> &mut [u8] {
        if self.length == 0 {
            return &mut [];
        }
        // SAFETY: see `new`.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.length) }
    }
}

impl AsMut<[u8]> for Foreign {
    fn as_mut(&mut self) -> &mut [u8] {
        self
    }
}
