"""The workers of torch's ``DataLoader``."""

from __future__ import annotations

import os
from typing import Any

import torch.utils.data

from .loader import Loader


def share_cores(loader: Loader[Any]) -> None:
    """Give a loader in a worker of a ``DataLoader`` its share of the cores, unless it was told how many threads to have."""
    worker: Any = torch.utils.data.get_worker_info()  # type: ignore[no-untyped-call, unused-ignore]
    asked: Any = loader._asked
    if worker is not None and asked.threads is None:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        asked.threads = max(1, cores // worker.num_workers)
