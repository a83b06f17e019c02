"""Memory of others that a loader fills: pinned tensors, and the tensors and arrays of ``output=``."""

from __future__ import annotations

import math
import warnings
from typing import Any, Callable, List, Optional, Sequence, Tuple

import numpy as np

from .errors import UsageError


def is_tensor(value: Any) -> bool:
    """Whether it is torch's, without importing torch."""
    return type(value).__module__.split(".")[0] == "torch" or hasattr(value, "data_ptr")


def tensor(array: Any, dtype: str) -> Any:
    """The samples of an array as a tensor. NumPy has no bfloat16, and has its bits as uint16."""
    import torch

    return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16) if dtype == "bfloat16" else torch.from_numpy(array)


def region(value: Any, shape: Sequence[int], dtype: str, channels_last_3d: bool) -> Tuple[int, int]:
    """Address and length in bytes of a tensor or array, if a batch can be written there."""
    if is_tensor(value):
        found, kind = tuple(value.shape), str(value.dtype).replace("torch.", "")
        stored = _stored(value, channels_last_3d)
        plain = value.device.type == "cpu" and stored.is_contiguous()
        address, length = value.data_ptr(), value.numel() * value.element_size()
    else:
        found, kind = value.shape, value.dtype.name
        # NumPy has no bfloat16.
        dtype = "uint16" if dtype == "bfloat16" else dtype
        stored = _stored(value, channels_last_3d)
        plain = value.flags.writeable and stored.flags.c_contiguous
        address, length = value.ctypes.data, value.nbytes
    if found != tuple(shape) or kind != dtype:
        raise UsageError(f"loader option output: expected {dtype} of shape {tuple(shape)}, found {kind} of shape {tuple(found)}")
    if not plain:
        how = "channels_last_3d" if channels_last_3d else "contiguous"
        raise UsageError(f"loader option output: expected writable CPU memory, {how}")
    return address, length


def _stored(value: Any, channels_last_3d: bool) -> Any:
    """A tensor or array with its dimensions in the order of its memory."""
    n = value.ndim
    if not channels_last_3d or n < 5:
        return value
    axes = (*range(n - 4), n - 3, n - 2, n - 1, n - 4)
    return value.permute(axes) if is_tensor(value) else value.transpose(axes)


def start(value: Any, shape: Sequence[int], channels_last_3d: bool = False) -> Any:
    """The start of memory in a shape, as it is stored: a batch that is smaller than the largest is there."""
    return _stored(value, channels_last_3d).reshape(-1)[: math.prod(shape)].reshape(tuple(shape))


def check_apart(tensors: Sequence[Any], shape: Sequence[int], dtype: str, channels_last_3d: bool) -> None:
    """Refuse tensors that share memory: one would be filled while the other is in use."""
    regions = sorted(region(tensor, shape, dtype, channels_last_3d) for tensor in tensors)
    for (address, length), (following, _) in zip(regions, regions[1:]):
        if following < address + length:
            raise UsageError("loader option output: the tensors share memory")


def listed(given: Any) -> List[Any]:
    """One tensor or array as a list of it."""
    tensors = list(given) if isinstance(given, (list, tuple)) else [given]
    if not tensors or not all(is_tensor(each) or isinstance(each, np.ndarray) for each in tensors):
        raise UsageError(
            f"loader option output: expected 'torch', 'numpy', 'jpeg', or tensors or arrays to fill, found {given!r:.100}"
        )
    return tensors


def pinned_allocator() -> Optional[Callable[[Sequence[int], str], Any]]:
    """What makes pinned tensors; None, with a warning as torch gives it, where there is no accelerator.

    Each batch gets a tensor from torch's own allocator of pinned memory, which keeps what is freed, and knows which
    copies to a device are still under way. A buffer that vidrec used again by itself could be overwritten under such a
    copy.
    """
    try:
        import torch
    except ImportError:
        raise UsageError("loader option pin_memory: it needs torch") from None
    accelerator = getattr(torch, "accelerator", None)
    if not (accelerator.is_available() if accelerator is not None else torch.cuda.is_available()):
        warnings.warn("pin_memory: no accelerator was found, so memory is not pinned", stacklevel=4)
        return None
    return lambda shape, dtype: torch.empty(tuple(shape), dtype=getattr(torch, dtype), pin_memory=True)
