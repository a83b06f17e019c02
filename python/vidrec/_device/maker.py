"""Uploads batches of JPEGs and runs the kernels that make their pictures."""

from __future__ import annotations

import math
import threading
from collections import deque
from contextlib import nullcontext
from typing import Any, Callable, Deque, Dict, List, NamedTuple, Optional, Tuple

import numpy as np
import torch
import warp

from ..errors import UsageError
from . import codes as _codes
from . import jpeg_cache as _jpeg_cache
from . import lines as _lines
from . import markers as _markers
from . import pictures as _pictures
from . import tables as _tables
from . import tiles as _tiles
from . import weights as _weights

# Types of Warp and of its kernels are not those of Python.
wp: Any = warp
codes: Any = _codes
jpeg_cache: Any = _jpeg_cache
lines: Any = _lines
markers: Any = _markers
pictures: Any = _pictures
tables: Any = _tables
tiles: Any = _tiles
weights: Any = _weights

# Threads of a block: a decoding thread has so many registers that larger blocks leave multiprocessors idle.
BLOCK = 64

# Warp's type of a value, and torch's type.
_VALUES: Dict[str, Tuple[Any, torch.dtype]] = {
    "uint8": (wp.uint8, torch.uint8),
    "float32": (wp.float32, torch.float32),
    "float16": (wp.float16, torch.float16),
    "bfloat16": (wp.uint16, torch.bfloat16),
}
# The parts of a plan, in the order of `Batch.plan`: types of their values, and how many make a row.
_PARTS: Tuple[Tuple[Any, Tuple[int, ...]], ...] = (
    (wp.int32, (16,)),
    (tables.Table, ()),
    (wp.int64, (3,)),
    (wp.int64, (3,)),
    (wp.int32, (10,)),
)


class _Plan(NamedTuple):
    """The parts of a plan on the device, as arrays of Warp."""

    frames: Any
    tables: Any
    taken: Any
    keep: Any
    headers: Any


class _Sizes(NamedTuple):
    """What kernels read and write: `PlanSizes` of the loader."""

    samples: int
    lines: int
    longest_line: int
    bytes: int
    tiles: int
    most_tiles: int
    weights: int


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
        # All batches use this memory in turn: the stream runs one after another.
        self._scratch: Dict[str, Tuple[torch.Tensor, Any]] = {}
        # The parts of plans with room for so many rows, which are always in the same place, and the order of pictures.
        self._plans: Dict[int, _Plan] = {}
        self._strides: Dict[Tuple[int, ...], Any] = {}
        # Memory of the loader that copies to the device may still read.
        self._copied: Deque[Tuple[Any, Any]] = deque()
        # Recorded launches, and the inputs that are packed for each.
        self._launches: Dict[str, Tuple[Any, List[Any]]] = {}
        self._dims: Dict[str, Tuple[int, ...]] = {}
        self._warp_stream = None if self._stream is None else wp.stream_from_torch(self._stream)
        with self._streaming():
            # Of this stream, so that nothing else gets it while a kernel runs.
            self._room = self._made_room(room)
        self._kept = self._array(self._room, wp.uint8, self._room.shape[1:])
        self._lock = threading.Lock()

    def __del__(self) -> None:
        # The loader gets its memory back.
        for done, _ in getattr(self, "_copied", ()):
            done.synchronize()

    def allocator(self) -> Optional[Callable[[int], Tuple[int, int, Any]]]:
        """What makes memory of so many bytes that a GPU copies from without help; None where there is no GPU."""

        def pinned(length: int) -> Tuple[int, int, Any]:
            memory = torch.empty(length, dtype=torch.uint8, pin_memory=True)
            return memory.data_ptr(), length, memory

        return pinned if self._is_gpu else None

    def start(self, data: Any, plan: Any, others: Any, shape: List[int]) -> Work:
        """Starts to make the pictures of a batch of JPEGs with this plan: of ``shape``, in the order of the loader's memory.

        ``others`` are the numbers of clips and their pictures, which a processor made.
        """
        rows, counts, sizes = plan[0], plan[1], _Sizes(*plan[2])
        with self._lock, self._streaming():
            count, sides = counts[0], dict(zip(self._layout, shape))
            # Pictures of padding are zeros.
            new = torch.empty if count == sides["B"] * sides["T"] else torch.zeros
            frames = new(shape, dtype=self._dtype, device=self._device)
            declines = self._zeros("declines", count)
            declined = self._scratch["declines"][0].view(torch.int32)[:count]
            if count:
                jpegs = self._copy(data, sizes.bytes)
                self._launch(self._parts(rows), counts, jpegs, sizes, frames, declines)
            if others is not None:
                clips, made = others
                frames[torch.tensor(clips, device=self._device)] = made.to(self._device)
            return self._handed_over(frames, declined)

    def _launch(self, plan: _Plan, counts: List[int], jpegs: Any, sizes: _Sizes, frames: torch.Tensor, declines: Any) -> None:
        """Runs the kernels for a plan."""
        count, kinds, taken, keep, headers = counts
        sides = dict(zip(self._layout, frames.shape))
        side, strips = max(sides["W"], sides["H"]), -(-sides["H"] // int(lines.STRIP))
        parts = self._room_for("counts", wp.int32, count * int(markers.PARTS))
        groups = self._zeros("groups", count * int(markers.PARTS) // int(markers.GROUP))
        marks = self._room_for("marks", wp.int32, 2 * sizes.tiles)
        codings = self._room_for("codings", wp.uint16, headers * int(codes.CODING))
        spans = self._room_for("spans", wp.int32, kinds * 8 * side)
        resampling = self._room_for("weights", wp.int16, sizes.weights)
        planes = self._room_for("planes", wp.uint8, sizes.samples)
        blended = self._room_for("lines", wp.int16, sizes.lines)
        looks = [plan.frames, plan.tables, spans, resampling]
        self._run(jpeg_cache.take, (taken, int(jpeg_cache.THREADS)), [self._kept, plan.taken, jpegs])
        self._run(weights.weigh, (kinds, 4, side), [plan.tables, sides["W"], sides["H"], side, spans, resampling])
        self._run(codes.build, (headers, 6, 1 << int(codes.INDEX_BITS)), [jpegs, plan.headers, codings])
        self._run(markers.count, (count, int(markers.PARTS)), [jpegs, plan.frames, parts, groups])
        self._run(markers.find, (count, int(markers.PARTS)), [jpegs, plan.frames, parts, groups, marks, declines])
        coded = [jpegs, plan.frames, plan.tables, marks, codings]
        self._run(tiles.decode, (count, sizes.most_tiles), [*coded, planes, declines])
        self._run(lines.blend, (count, strips, sizes.longest_line), [planes, *looks, sides["H"], side, blended])
        where = [sides["W"], sides["H"], side, sides["C"], sides["T"], self._steps(frames)]
        inputs = [planes, blended, *looks, *where, self._array(frames, self._value)]
        self._run(pictures.make, (count, strips, sides["W"]), inputs)
        self._run(jpeg_cache.keep, (keep, int(jpeg_cache.THREADS)), [jpegs, plan.keep, self._kept])

    def _steps(self, frames: torch.Tensor) -> Any:
        """How far it is from one number of pictures to the next along each side."""
        strides = dict(zip(self._layout, frames.stride()))
        steps = tuple(strides[each] for each in "BTCHW")
        if steps not in self._strides:
            self._strides[steps] = pictures.Strides(*steps)
        return self._strides[steps]

    def _room_for(self, name: str, dtype: Any, size: int) -> Any:
        """Memory for at least so many values."""
        known = self._scratch.get(name)
        if known is None or known[1].shape[0] < size:
            bytes_of_value = wp.types.type_size_in_bytes(dtype)
            tensor = torch.empty(max(size, 1) * bytes_of_value, dtype=torch.uint8, device=self._device)
            known = self._scratch[name] = tensor, self._array(tensor, dtype)
        return known[1]

    def _zeros(self, name: str, size: int) -> Any:
        """Memory for at least so many integers, which are zeros."""
        zeros = self._room_for(name, wp.int32, size)
        self._scratch[name][0].zero_()
        return zeros

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

    def _copy(self, data: Any, length: int) -> Any:
        """Copies a plan and its JPEGs to the device, where they have ``length`` bytes with those that it keeps."""
        known = self._scratch.get("jpegs")
        # Kernels read four bytes at a time.
        jpegs = self._room_for("jpegs", wp.uint8, length + 3)
        if known is not self._scratch["jpegs"]:
            self._plans.clear()
        host = torch.from_numpy(np.asarray(data))
        self._scratch["jpegs"][0][: len(host)].copy_(host, non_blocking=True)
        if self._stream is not None:
            while self._copied and self._copied[0][0].query():
                self._copied.popleft()
            done = torch.cuda.Event()
            done.record(self._stream)
            self._copied.append((done, data))
        return jpegs

    def _parts(self, rows: int) -> _Plan:
        """The parts of a plan, which precede the JPEGs."""
        if rows not in self._plans:
            jpegs, begin, parts = self._scratch["jpegs"][0], 0, []
            for dtype, row in _PARTS:
                end = begin + rows * wp.types.type_size_in_bytes(dtype) * math.prod(row)
                parts.append(self._array(jpegs[begin:end], dtype, row))
                begin = end
            self._plans[rows] = _Plan(*parts)
        return self._plans[rows]

    def _handed_over(self, frames: torch.Tensor, declined: torch.Tensor) -> Work:
        if self._stream is None:
            # The next batch uses the same memory before this one is finished.
            return Work(frames, declined.clone(), None)
        known = torch.empty(declined.shape, dtype=declined.dtype, pin_memory=True)
        known.copy_(declined, non_blocking=True)
        # Who waits for it sleeps, and leaves the core to others.
        done = torch.cuda.Event(blocking=True)
        done.record(self._stream)
        return Work(frames, known, done)

    def _made_room(self, room: int) -> torch.Tensor:
        """Memory for JPEGs that are kept, in rows."""
        rows = (room // int(jpeg_cache.ROW), int(jpeg_cache.ROW))
        try:
            return torch.empty(rows, dtype=torch.uint8, device=self._device)
        except (RuntimeError, MemoryError) as e:
            text = f"loader option device_cache: {self._device} has no room for {room} bytes; give less ({e})"
            raise UsageError(text) from None

    def _streaming(self) -> Any:
        return nullcontext() if self._stream is None else torch.cuda.stream(self._stream)

    def _run(self, kernel: Any, dim: Tuple[int, ...], inputs: List[Any]) -> None:
        """Launches a kernel. What is packed for a launch is kept, because packing takes longer than a launch."""
        if 0 in dim:
            return
        known = self._launches.get(kernel.key)
        if known is None:
            options = dict(device=self._on, block_dim=BLOCK if self._is_gpu else None, record_cmd=True)
            known = self._launches[kernel.key] = wp.launch(kernel, dim=dim, inputs=inputs, **options), inputs
        launch, packed = known
        if self._dims.get(kernel.key) != dim:
            self._dims[kernel.key] = dim
            launch.set_dim(dim)
        for i, value in enumerate(inputs):
            if value is not packed[i] and not (isinstance(value, int) and value == packed[i]):
                launch.set_param_at_index(i, value)
                packed[i] = value
        launch.launch(stream=self._warp_stream)

    def _array(self, tensor: torch.Tensor, dtype: Any, row: Tuple[int, ...] = ()) -> Any:
        """The memory of a tensor as Warp's array of rows, which the caller keeps alive until the kernel runs."""
        size = tensor.numel() * tensor.element_size() // wp.types.type_size_in_bytes(dtype)
        shape = (size // math.prod(row), *row)
        return wp.array(ptr=tensor.data_ptr(), dtype=dtype, shape=shape, device=self._on)


def _begun(device: torch.device) -> Tuple[Any, Any]:
    """Warp's device, and a stream of its own on a GPU."""
    try:
        wp.init()
        stream: Any = torch.cuda.Stream(device) if device.type == "cuda" else None
        return wp.get_device(str(device)), stream
    except (RuntimeError, ValueError, AssertionError) as e:
        # A driver that is too old, a GPU that is in use by itself, or a fork after CUDA began: the cause says which.
        raise UsageError(f"loader option device: {device} cannot be used: {e}") from e
