"""What packing in parts gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Tuple

from ..words import PartState
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
class PartStatus(Result):
    """How far a part is."""

    part: int
    """Its number, from 0."""
    state: PartState
    """``done``; ``running``; ``failed``: the last attempt ended with an error; or ``missing``: nobody works on it."""
    videos: int
    """Number of its videos."""
    done: int
    """Videos that are done, as its attempt said last."""
    place: Optional[str] = None
    """Where its last attempt runs or ran: the machine's name and the process."""
    error: Optional[str] = None
    """Why its last attempt ended."""


@dataclass(frozen=True, repr=False)
class PlanStatus(Result):
    """How far a plan is: :func:`vidrec.plan_status`."""

    parts: int
    """Number of parts."""
    done: int
    """Parts that are done."""
    running: int
    """Parts that attempts work on."""
    failed: int
    """Parts of which the last attempt ended with an error."""
    missing: int
    """Parts that nobody works on."""
    videos: int
    """Number of videos."""
    videos_done: int
    """Videos that are done, in all parts."""
    videos_per_second: Optional[float]
    """Videos that one attempt packs in a second, by the parts that are done; None before the first."""
    seconds_left: Optional[float]
    """Seconds that are left, if as many attempts as now go on; None if none is at work, or none is done."""
    list: Tuple[PartStatus, ...]
    """Each part, in order."""
