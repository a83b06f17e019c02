"""The place of this process among those that train together."""

from __future__ import annotations

import os
import sys
import zlib
from typing import Any, Optional, Tuple

# A fork of a process that trains shares the connection to its store.
_PROCESS = os.getpid()


def process_group() -> Any:
    """``torch.distributed``, if it is initialized; without importing it."""
    dist = getattr(sys.modules.get("torch"), "distributed", None)
    return dist if dist is not None and dist.is_available() and dist.is_initialized() else None


def distributed() -> Tuple[int, int]:
    """Rank and world size of ``torch.distributed``, or of one process alone."""
    dist = process_group()
    return (dist.get_rank(), dist.get_world_size()) if dist else (0, 1)


def ranks_of_last_loop(loader: str, loop: int) -> Optional[int]:
    """How many ranks have begun the loop before this one, if that is known; counts that this rank begins loop ``loop``.

    The counts are in the store of ``torch.distributed``, so no rank waits for another.
    """
    dist = process_group()
    if dist is None or os.getpid() != _PROCESS:
        return None
    try:
        store = dist.distributed_c10d._get_default_store()
        counts = [f"vidrec/{zlib.crc32(loader.encode())}/{each}" for each in (loop, loop - 1)]
        store.add(counts[0], 1)
        return int(store.add(counts[1], 0)) if loop else None
    except (AttributeError, RuntimeError, ValueError):
        # A store of another kind, or the process that has it has ended.
        return None
