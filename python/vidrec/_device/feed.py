"""The frames of a loader's batches, made on its device."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple, Optional, Tuple

import numpy as np
import torch

from .. import _vidrec
from .._memory import tensor
from ..errors import LoaderWarning, UsageError
from .maker import Maker, Work

# Types of torch do not name all of it.
_torch: Any = torch

_DECLINED = (
    "loader option device: the processor makes many of the frames, because their JPEGs have no tiles;"
    " 'vidrec import --retile' adds tiles, and the pixels stay the same"
)


class Started(NamedTuple):
    """A batch that a device makes."""

    inner: _vidrec.Batch
    work: Work


class Feed:
    """Makes the frames of the batches of one engine. The JPEGs that it keeps are those of this engine."""

    def __init__(self, engine: _vidrec.Engine, device: torch.device, dtype: str, layout: str, room: int) -> None:
        self._engine, self._maker, self._has_warned = engine, Maker(device, dtype, layout, room), False
        self._dtype = dtype
        engine.serve_device(room, self._maker.allocator())

    def start(self, inner: _vidrec.Batch) -> Started:
        """Starts to make the frames of a batch."""
        others: Optional[Tuple[Any, Any]] = None
        shape = inner.facts["shape"]
        if inner.others is not None:
            clips, made = inner.others
            others = np.frombuffer(clips, np.int64).tolist(), tensor(np.asarray(made), self._dtype)
            self._warn(len(others[0]), shape[0])
        try:
            work = self._maker.start(inner.samples, inner.plan, others, shape)
        except _torch.cuda.OutOfMemoryError as e:
            text = "the device has no memory for the next batches: make batches or device_cache smaller"
            raise UsageError(f"{text} ({e})") from e
        self._engine.device_has(inner)
        return Started(inner, work)

    def finish(self, started: Started, epoch: int, number: int) -> Tuple[_vidrec.Batch, torch.Tensor]:
        """A batch and its frames, once they are made."""
        frames = self._maker.finish(started.work)
        if frames is not None:
            return started.inner, frames
        # The processor decodes it, or says what is wrong with it.
        inner = self._engine.batch("declined", epoch, number)
        return inner, self._maker.upload(tensor(np.asarray(inner.samples), self._dtype))

    def _warn(self, clips: int, of: int) -> None:
        if clips * 10 >= of and not self._has_warned:
            self._has_warned = True
            warnings.warn(_DECLINED, LoaderWarning, stacklevel=6)
