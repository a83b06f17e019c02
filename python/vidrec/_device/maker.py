"""Uploads batches of JPEGs and runs the kernels that make their pictures."""

from __future__ import annotations

import math
from contextlib import nullcontext
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import numpy as np
import torch
import warp

from . import pictures as _pictures
from . import tiles as _tiles

# Types of Warp and of its kernels are not those of Python.
wp: Any = warp
pictures: Any = _pictures
tiles: Any = _tiles

# Warp's type of a value, the kernel that makes it, and torch's type.
_KERNELS: Dict[str, Tuple[Any, Any, torch.dtype]] = {
    "uint8": (wp.uint8, pictures.make_bytes, torch.uint8),
    "float32": (wp.float32, pictures.make_floats, torch.float32),
    "float16": (wp.float16, pictures.make_halves, torch.float16),
    "bfloat16": (wp.uint16, pictures.make_bfloats, torch.bfloat16),
}
# `TilePlan::FRAME` of the loader.
_FRAME = 12
# Parts of an upload begin at multiples of so many bytes.
_ALIGNMENT = 64


class Work(NamedTuple):
    """Pictures that a device makes."""

    frames: torch.Tensor
    # Whether the device declined a frame: one number each, in memory of the host.
    declined: torch.Tensor
    # What tells that all is done; None on a processor.
    done: Any


class Maker:
    """Makes the pictures of batches on one device, in the order in which they are given."""

    def __init__(self, device: torch.device, dtype: str, layout: str) -> None:
        wp.config.quiet = True
        wp.init()
        self._device, self._layout = device, layout
        self._value, self._kernel, self._dtype = _KERNELS[dtype]
        self._on = wp.get_device(str(device))
        self._is_gpu = device.type == "cuda"
        self._stream: Any = torch.cuda.Stream(device) if self._is_gpu else None
        # Planes are used in turn by all batches: the stream runs one after another.
        self._planes = torch.empty(0, dtype=torch.uint8, device=device)
        self._order = torch.tensor(tiles.ZIGZAG, dtype=torch.int32).to(device)

    def start(self, data: torch.Tensor, plan: Any, shape: List[int]) -> Work:
        """Starts to make the pictures of a batch with this plan: of ``shape``, in the order of the loader's memory."""
        parts, samples = plan
        with self._streaming():
            jpegs, *rest = self._uploaded([data.numpy(), *(np.frombuffer(part, np.uint8) for part in parts)])
            frames = torch.zeros(shape, dtype=self._dtype, device=self._device)
            count = len(parts[1]) // (4 * _FRAME)
            declined = torch.zeros(count, dtype=torch.int32, device=self._device)
            if count:
                self._launch(jpegs, rest, parts[1], samples, frames, declined)
            return self._handed_over(frames, declined)

    def _launch(
        self, jpegs: Any, rest: List[Any], numbers: bytes, samples: int, frames: torch.Tensor, declined: torch.Tensor
    ) -> None:
        if len(self._planes) < samples:
            self._planes = torch.empty(samples, dtype=torch.uint8, device=self._device)
        of_frames = np.frombuffer(numbers, np.int32).reshape(-1, _FRAME)
        planes = self._array(self._planes, wp.uint8)
        found, table, codings, heads, weights, conversions = rest
        table = self._array(table, wp.int32, of_frames.shape)
        arrays = (self._array(found, wp.int32), table, self._array(codings, wp.uint16), self._array(self._order, wp.int32))
        self._run(
            tiles.decode,
            (len(of_frames), int(of_frames[:, 1].max())),
            [self._array(jpegs, wp.uint8), *arrays, planes, self._array(declined, wp.int32)],
        )
        sides = dict(zip(self._layout, frames.shape))
        strides = dict(zip(self._layout, frames.stride()))
        resampling = (self._array(heads, wp.int32), self._array(weights, wp.int16), self._array(conversions, wp.float32))
        where = pictures.Strides(*(strides[letter] for letter in "BTCHW"))
        self._run(
            self._kernel,
            (len(of_frames), sides["H"], sides["W"]),
            [planes, table, *resampling, sides["W"], sides["C"], sides["T"], where, self._array(frames, self._value)],
        )

    def finish(self, work: Work) -> Optional[torch.Tensor]:
        """The pictures for torch's current stream; None if the device declined a frame."""
        if work.done is not None:
            # As a rule, this batch was made while the last one was used.
            work.done.synchronize()
            current: Any = torch.cuda.current_stream(self._device)
            work.frames.record_stream(current)
        return None if bool(work.declined.any()) else work.frames

    def upload(self, frames: torch.Tensor) -> torch.Tensor:
        """Pictures that a processor made."""
        there: torch.Tensor = frames.to(self._device)
        return there

    def _uploaded(self, parts: List[Any]) -> List[torch.Tensor]:
        """The bytes of all parts on the device, by one copy."""
        starts = [0]
        for part in parts:
            starts.append(-(-(starts[-1] + len(part)) // _ALIGNMENT) * _ALIGNMENT)
        host = torch.empty(starts[-1], dtype=torch.uint8, pin_memory=self._is_gpu)
        for start, part in zip(starts, parts):
            host.numpy()[start : start + len(part)] = part
        there = host.to(self._device, non_blocking=True)
        return [there[start : start + len(part)] for start, part in zip(starts, parts)]

    def _handed_over(self, frames: torch.Tensor, declined: torch.Tensor) -> Work:
        if self._stream is None:
            return Work(frames, declined, None)
        known = torch.empty(declined.shape, dtype=declined.dtype, pin_memory=True)
        known.copy_(declined, non_blocking=True)
        done = torch.cuda.Event()
        done.record(self._stream)
        return Work(frames, known, done)

    def _streaming(self) -> Any:
        return nullcontext() if self._stream is None else torch.cuda.stream(self._stream)

    def _run(self, kernel: Any, dim: Tuple[int, ...], inputs: List[Any]) -> None:
        stream = None if self._stream is None else wp.stream_from_torch(self._stream)
        wp.launch(kernel, dim=dim, inputs=inputs, device=self._on, stream=stream)

    def _array(self, tensor: torch.Tensor, dtype: Any, shape: Optional[Tuple[int, ...]] = None) -> Any:
        """The memory of a tensor as Warp's array, which the caller keeps alive until the kernel runs."""
        size = tensor.numel() * tensor.element_size() // wp.types.type_size_in_bytes(dtype)
        return wp.array(ptr=tensor.data_ptr(), dtype=dtype, shape=shape or (size,), device=self._on)
