"""What is known of a batch that another process made."""

from __future__ import annotations

import pickle
from typing import Any, Dict, Tuple

import numpy as np

from .. import _vidrec
from ..errors import Error

# What a loop may never ask for.
_SELDOM = ("params", "sources")
_ALWAYS = (
    "shape",
    "labels",
    "clips",
    "source_ids",
    "mask",
    "clips_on_all_ranks",
    "frame_mask",
    "camera_mask",
    "times",
    "fields",
    "tracks",
)


def told(batch: _vidrec.Batch, number: int) -> Dict[str, Any]:
    """All that ``batch`` says of itself, and JPEGs or what the processor made for a device. ``number`` says which it is."""
    facts: Dict[str, Any] = {name: getattr(batch, name) for name in _ALWAYS}
    facts["number_told"], facts["seldom"] = number, {name: pickle.dumps(_said(batch, name)) for name in _SELDOM}
    if batch.samples is not None:
        facts["samples"] = np.asarray(batch.samples)
    if batch.plan is not None:
        packed, *known = batch.plan
        facts["plan"] = np.asarray(packed), *known
    if batch.others is not None:
        clips, made = batch.others
        facts["others"] = clips, np.asarray(made)
    return facts


def _said(batch: _vidrec.Batch, name: str) -> Any:
    try:
        return getattr(batch, name)
    except Error as e:
        return e


class Facts:
    """Stands for a ``_vidrec.Batch`` of the other process."""

    samples: Any = None
    plan: Any = None
    others: Any = None
    number_told: int
    seldom: Dict[str, bytes]

    def __init__(self, told: Dict[str, Any], dtype: str) -> None:
        self.__dict__.update(told)
        if self.samples is not None:
            self.samples = Samples(self.samples, dtype if self.plan is None else "uint8")
        if self.others is not None:
            self.others = self.others[0], Samples(self.others[1], dtype)

    def __getattr__(self, name: str) -> Any:
        if name not in _SELDOM:
            raise AttributeError(name)
        value = pickle.loads(self.seldom[name])
        if isinstance(value, Error):
            raise value
        return value


class Samples:
    """An array for NumPy and torch. NumPy has no bfloat16, whose values are then of its type ``uint16``."""

    def __init__(self, array: Any, dtype: str) -> None:
        self._array, self._dtype = array, dtype

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self._array

    def __dlpack__(self, **options: Any) -> Any:
        import torch

        array = self._array.view(np.int16) if self._dtype == "bfloat16" else self._array
        return torch.from_numpy(array).view(getattr(torch, self._dtype)).__dlpack__(**options)

    def __dlpack_device__(self) -> Tuple[int, int]:
        return 1, 0
