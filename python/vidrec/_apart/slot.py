"""Memory that two processes share, and that has no name by which it could stay behind."""

from __future__ import annotations

import mmap
import os
from typing import Any

import numpy as np


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
