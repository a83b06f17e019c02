//! Who owns the samples of a batch, and for how long.
//!
//! Samples that vidrec allocated are owned by [`Owned`], behind an `Arc`. The Python object [`Samples`], every NumPy array
//! made from it and every DLPack tensor hold one count each. The memory goes back to the loader, which fills it anew, when
//! the last count is gone, and not before. [`Foreign`] is the other way round: memory of Python that vidrec fills.

use std::any::Any;
use std::ffi::{CStr, c_void};
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use vidrec::Dtype;

use crate::error::usage;
use crate::per_process::PerProcess;

/// Memory that vidrec allocated.
pub struct Owned {
    start: *mut u8,
    /// It is kept so that only the holders of `start` reach the samples.
    _held: PerProcess<Box<dyn Any + Send>>,
}

// SAFETY: `start` points into `_held`, which may go to other threads, and this module never reads or writes through it.
unsafe impl Send for Owned {}
// SAFETY: as above; a shared reference gives no more than the address.
unsafe impl Sync for Owned {}

/// Samples for NumPy and torch, without a copy.
#[pyclass(frozen, module = "vidrec._vidrec")]
pub struct Samples {
    owned: Arc<Owned>,
    shape: Vec<i64>,
    dtype: Dtype,
}

impl Samples {
    /// `bytes` returns the memory of the samples in `held`.
    pub fn new<T: Send + 'static>(
        held: T,
        bytes: impl FnOnce(&mut T) -> &mut [u8],
        shape: Vec<i64>,
        dtype: Dtype,
    ) -> Self {
        let mut held = Box::new(held);
        let start = bytes(&mut held).as_mut_ptr();
        Samples { owned: Arc::new(Owned { start, _held: PerProcess::new(held) }), shape, dtype }
    }

    /// Bytes in one dimension.
    pub fn of_bytes<T: Send + 'static>(mut held: T, bytes: impl Fn(&mut T) -> &mut [u8]) -> Self {
        let length = bytes(&mut held).len() as i64;
        Samples::new(held, bytes, vec![length], Dtype::U8)
    }
}

#[pymethods]
impl Samples {
    #[getter]
    fn shape(&self) -> Vec<i64> {
        self.shape.clone()
    }

    /// NumPy's array interface, version 3. bfloat16, which NumPy lacks, is shown as the 16 bits that it is.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let kind = match self.dtype {
            Dtype::U8 => "|u1",
            Dtype::F16 => "=f2",
            Dtype::Bf16 => "=u2",
            Dtype::F32 => "=f4",
            other => return Err(unknown(other)),
        };
        let native = if cfg!(target_endian = "little") { "<" } else { ">" };
        let dict = PyDict::new(py);
        dict.set_item("version", 3)?;
        dict.set_item("typestr", kind.replace('=', native))?;
        dict.set_item("shape", pyo3::types::PyTuple::new(py, &self.shape)?)?;
        dict.set_item("data", (self.owned.start.addr(), false))?;
        Ok(dict)
    }

    fn __dlpack_device__(&self) -> (i32, i32) {
        (CPU, 0)
    }

    /// The samples as a DLPack capsule of the first, unversioned kind, which every reader takes.
    #[pyo3(signature = (**_options))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        _options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let tensor = Box::into_raw(Box::new(Exported::new(self)?));
        // SAFETY: the name lives for ever, the pointer until whoever owns the tensor calls its deleter: the consumer
        // that renames the capsule, or else `discard`. `tensor` is the first field of `Exported`.
        unsafe {
            let capsule = pyo3::ffi::PyCapsule_New(tensor.cast(), NAME.as_ptr(), Some(discard));
            if capsule.is_null() {
                drop(Box::from_raw(tensor));
            }
            Ok(Bound::from_owned_ptr_or_err(py, capsule)?.cast_into_unchecked())
        }
    }
}

const NAME: &CStr = c"dltensor";

/// `kDLCPU` of `dlpack.h`.
const CPU: i32 = 1;

/// `DLTensor` of `dlpack.h` (0.8) with its `DLDevice` and `DLDataType`.
#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device_type: i32,
    device_id: i32,
    ndim: i32,
    /// 1 unsigned integer, 2 IEEE float, 4 bfloat.
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

/// That the library has a type of value that this package does not know.
fn unknown(dtype: Dtype) -> PyErr {
    usage(format!("there are no arrays of {dtype}"))
}

/// `DLManagedTensor` of `dlpack.h`, and what it points to.
#[repr(C)]
struct Exported {
    tensor: Tensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Exported)>,
    shape: Vec<i64>,
    _owned: Arc<Owned>,
}

impl Exported {
    fn new(samples: &Samples) -> PyResult<Self> {
        let (code, bits) = match samples.dtype {
            Dtype::U8 => (1, 8),
            Dtype::F16 => (2, 16),
            Dtype::Bf16 => (4, 16),
            Dtype::F32 => (2, 32),
            other => return Err(unknown(other)),
        };
        let mut shape = samples.shape.clone();
        let tensor = Tensor {
            data: samples.owned.start.cast(),
            device_type: CPU,
            device_id: 0,
            ndim: shape.len() as i32,
            code,
            bits,
            lanes: 1,
            shape: shape.as_mut_ptr(),
            // Row-major.
            strides: std::ptr::null_mut(),
            byte_offset: 0,
        };
        let (context, owned) = (std::ptr::null_mut(), samples.owned.clone());
        Ok(Exported { tensor, context, deleter: Some(delete), shape, _owned: owned })
    }
}

/// The consumer of a tensor calls this when it is done with it, from any thread and without the interpreter's lock.
unsafe extern "C" fn delete(tensor: *mut Exported) {
    if !tensor.is_null() {
        // SAFETY: it came from `Box::into_raw` in `__dlpack__`, and the protocol has it deleted once.
        drop(unsafe { Box::from_raw(tensor) });
    }
}

/// Python calls this when a capsule goes. A capsule that was consumed has another name by then.
unsafe extern "C" fn discard(capsule: *mut pyo3::ffi::PyObject) {
    // SAFETY: `capsule` is a live capsule, and if it still has our name, it has our pointer and was not consumed.
    unsafe {
        if pyo3::ffi::PyCapsule_IsValid(capsule, NAME.as_ptr()) == 1 {
            delete(pyo3::ffi::PyCapsule_GetPointer(capsule, NAME.as_ptr()).cast());
        }
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

// SAFETY: the memory may be written from any thread, as `new` demands; a `Py` may go to another thread.
unsafe impl Send for Foreign {}

impl AsMut<[u8]> for Foreign {
    fn as_mut(&mut self) -> &mut [u8] {
        if self.length == 0 {
            return &mut [];
        }
        // SAFETY: see `new`.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.length) }
    }
}
