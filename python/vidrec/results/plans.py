"""What packing in parts gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Tuple

from ._result import Result


@dataclass(frozen=True, repr=False)
class WrittenPlan(Result):
    """A plan that was written: :func:`vidrec.plan`."""

    videos: int
    """Number of videos and segments of videos."""
    files: int
    """Number of files and folders that they are in."""
    parts: int
    """Number of parts, each of which becomes a shard: at most that of the videos."""
    part_videos: Tuple[int, int]
    """Videos of the smallest and of the largest part."""
    bytes: int
    """Bytes of all these files that could be looked at."""
    missing: int
    """Videos that could not be looked at. Each fails if it is still missing when its part is packed."""


@dataclass(frozen=True, repr=False)
class PlanStatus(Result):
    """How far a plan is: :func:`vidrec.plan_status`."""

    parts: int
    """Number of parts."""
    done: int
    """Parts that are done."""
    missing: Tuple[int, ...]
    """The parts that are not done, in order. Attempts may be working on them."""
    videos: int
    """Number of videos."""
    videos_done: int
    """Videos of the parts that are done."""
    videos_per_second: Optional[float]
    """Videos that one attempt packs in a second, by the parts that are done; None before the first."""
