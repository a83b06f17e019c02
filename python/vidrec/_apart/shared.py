"""What the two processes share: memory for batches, which has no name by which it could stay behind, and what is known of them."""

from __future__ import annotations

import mmap
import os
from typing import Any, List

import numpy as np

from .. import _vidrec
from ..errors import Error


class SentBatch:
    """Stands for a ``_vidrec.Batch`` of the other process. ``number`` says which it is."""

    def __init__(self, batch: _vidrec.Batch, number: int) -> None:
        self.number, self.facts, self.params = number, batch.facts, batch.params
        # None where the samples are in a slot.
        self.samples: Any = None if batch.samples is None else np.asarray(batch.samples)
        self.plan, others = batch.plan, batch.others
        self.others = None if others is None else (others[0], np.asarray(others[1]))
        self._sources: Any
        try:
            self._sources = batch.sources
        except Error as e:
            self._sources = e

    @property
    def sources(self) -> List[str]:
        if isinstance(self._sources, Error):
            raise self._sources
        found: List[str] = self._sources
        return found


class Slot:
    """Memory for a batch. The file is closed with ``close``; the map lives as long as the slot and its arrays."""

    def __init__(self, number: int, file: int, length: int) -> None:
        self.number, self.file = number, file
        self._map = mmap.mmap(file, length)
        # A fork would see what later batches write there.
        self._map.madvise(mmap.MADV_DONTFORK)

    @classmethod
    def new(cls, number: int, length: int) -> Slot:
        file = os.memfd_create("vidrec-batch")
        os.ftruncate(file, length)
        return cls(number, file, length)

    def close(self) -> None:
        """Closes the file, once the other process has it."""
        os.close(self.file)

    def bytes(self) -> Any:
        """All of it as a new array, which keeps the map."""
        return np.frombuffer(self._map, np.uint8)
