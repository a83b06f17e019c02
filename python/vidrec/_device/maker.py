"""Uploads batches of JPEGs and runs the kernels that make their pictures."""

from __future__ import annotations

import threading
from contextlib import nullcontext
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import numpy as np
import torch
import warp

from ..errors import UsageError
from . import kept as _kept
from . import pictures as _pictures
from . import tiles as _tiles

# Types of Warp and of its kernels are not those of Python.
wp: Any = warp
kept: Any = _kept
pictures: Any = _pictures
tiles: Any = _tiles

# Warp's type of a value, and torch's type.
_VALUES: Dict[str, Tuple[Any, torch.dtype]] = {
    "uint8": (wp.uint8, torch.uint8),
    "float32": (wp.float32, torch.float32),
    "float16": (wp.float16, torch.float16),
    "bfloat16": (wp.uint16, torch.bfloat16),
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
    """Makes the pictures of batches on one device, in the order in which they are given.

    It keeps up to ``room`` bytes of JPEGs in the device's memory.
    """

    def __init__(self, device: torch.device, dtype: str, layout: str, room: int) -> None:
        # What Warp tells goes to standard output, which is the user's.
        wp.config.log_level = max(wp.config.log_level, wp.LOG_WARNING)
        self._device, self._layout = device, layout
        self._value, self._dtype = _VALUES[dtype]
        self._is_gpu = device.type == "cuda"
        self._on, self._stream = _begun(device)
        # Planes are used in turn by all batches: the stream runs one after another.
        self._planes = torch.empty(0, dtype=torch.uint8, device=device)
        self._order = torch.tensor(tiles.ZIGZAG, dtype=torch.int32).to(device)
        self._kept = self._room(room)
        self._lock = threading.Lock()

    def start(self, data: torch.Tensor, plan: Any, others: Any, shape: List[int]) -> Work:
        """Starts to make the pictures of a batch with this plan: of ``shape``, in the order of the loader's memory.

        ``others`` are the numbers of clips and their pictures, which a processor made.
        """
        parts, samples, length = plan
        with self._lock, self._streaming():
            *rest, jpegs = self._uploaded([*(np.frombuffer(part, np.uint8) for part in parts), data.numpy()], length)
            frames = torch.zeros(shape, dtype=self._dtype, device=self._device)
            count = len(parts[1]) // (4 * _FRAME)
            declined = torch.zeros(count, dtype=torch.int32, device=self._device)
            if count:
                *rest, take, keep = rest
                self._move(kept.take, take, jpegs)
                self._launch(jpegs, rest, parts[1], samples, frames, declined)
                self._move(kept.keep, keep, jpegs)
            if others is not None:
                clips, made = others
                frames[torch.tensor(clips, device=self._device)] = made.to(self._device)
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
            pictures.make,
            (len(of_frames), sides["H"], sides["W"]),
            [planes, table, *resampling, sides["W"], sides["C"], sides["T"], where, self._array(frames, self._value)],
        )

    def _move(self, kernel: Any, ways: torch.Tensor, jpegs: torch.Tensor) -> None:
        """Copies JPEGs between a batch and those that are kept."""
        count = len(ways) // 24
        if count:
            of_batch, of_ways = self._array(jpegs, wp.uint8), self._array(ways, wp.int64, (count, 3))
            all_kept = self._array(self._kept, wp.uint8, self._kept.shape)
            there = [all_kept, of_ways, of_batch] if kernel is kept.take else [of_batch, of_ways, all_kept]
            self._run(kernel, (count, int(kept.THREADS)), there)

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

    def _uploaded(self, parts: List[Any], length: int) -> List[torch.Tensor]:
        """The bytes of all parts on the device, by one copy; there, the last part has ``length`` bytes."""
        starts = [0]
        for part in parts[:-1]:
            starts.append(-(-(starts[-1] + len(part)) // _ALIGNMENT) * _ALIGNMENT)
        host = torch.empty(starts[-1] + len(parts[-1]), dtype=torch.uint8, pin_memory=self._is_gpu)
        for start, part in zip(starts, parts):
            host.numpy()[start : start + len(part)] = part
        there = torch.empty(starts[-1] + length, dtype=torch.uint8, device=self._device)
        there[: len(host)].copy_(host, non_blocking=True)
        lengths = [len(part) for part in parts[:-1]] + [length]
        return [there[start : start + length] for start, length in zip(starts, lengths)]

    def _handed_over(self, frames: torch.Tensor, declined: torch.Tensor) -> Work:
        if self._stream is None:
            return Work(frames, declined, None)
        known = torch.empty(declined.shape, dtype=declined.dtype, pin_memory=True)
        known.copy_(declined, non_blocking=True)
        done = torch.cuda.Event()
        done.record(self._stream)
        return Work(frames, known, done)

    def _room(self, room: int) -> torch.Tensor:
        """Memory for JPEGs that are kept, in rows."""
        rows = (room // int(kept.ROW), int(kept.ROW))
        try:
            return torch.empty(rows, dtype=torch.uint8, device=self._device)
        except (RuntimeError, MemoryError) as e:
            text = f"loader option device_cache: {self._device} has no room for {room} bytes; give less ({e})"
            raise UsageError(text) from None

    def _streaming(self) -> Any:
        return nullcontext() if self._stream is None else torch.cuda.stream(self._stream)

    def _run(self, kernel: Any, dim: Tuple[int, ...], inputs: List[Any]) -> None:
        stream = None if self._stream is None else wp.stream_from_torch(self._stream)
        wp.launch(kernel, dim=dim, inputs=inputs, device=self._on, stream=stream)

    def _array(self, tensor: torch.Tensor, dtype: Any, shape: Optional[Tuple[int, ...]] = None) -> Any:
        """The memory of a tensor as Warp's array, which the caller keeps alive until the kernel runs."""
        size = tensor.numel() * tensor.element_size() // wp.types.type_size_in_bytes(dtype)
        return wp.array(ptr=tensor.data_ptr(), dtype=dtype, shape=shape or (size,), device=self._on)


def _begun(device: torch.device) -> Tuple[Any, Any]:
    """Warp's device, and a stream of its own on a GPU."""
    try:
        wp.init()
        stream: Any = torch.cuda.Stream(device) if device.type == "cuda" else None
        return wp.get_device(str(device)), stream
    except (RuntimeError, ValueError, AssertionError) as e:
        # A driver that is too old, a GPU that is in use by itself, or a fork after CUDA began: the cause says which.
        raise UsageError(f"loader option device: {device} cannot be used: {e}") from e
