"""What a check gives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Dict, Optional, Tuple

from ..words import FindingKind
from ._result import Result


@dataclass(frozen=True, repr=False)
class FoundClip(Result):
    """A clip that a finding is about."""

    set: int
    """Which data set, counted from 0 in the order in which they were given."""
    clip: int
    """The number of the clip in its data set."""
    source: str
    """Its source."""
    class_name: Optional[str] = field(metadata={"key": "class"})
    """Its class, or its label as text; None without a label."""


@dataclass(frozen=True, repr=False)
class FailedVideo(Result):
    """A video that was not packed."""

    set: int
    """Which data set, counted from 0 in the order in which they were given."""
    source: str
    """Its source."""


@dataclass(frozen=True, repr=False)
class Finding(Result):
    """Something that a person should look at."""

    kind: FindingKind
    """What it is."""
    clips: Tuple[FoundClip, ...]
    """The clips that it is about: one; of duplicates, leaks and conflicts all of the group; of failures none."""
    videos: Tuple[FailedVideo, ...]
    """Of failures: the videos that failed with the same message. Otherwise empty."""
    frames: Tuple[int, ...]
    """The frames of the clip that it is about, counted from 0; empty if it is about the whole clip."""
    value: Optional[float]
    """What was measured, in the unit that the text names."""
    text: str
    """The finding in a sentence, without the name of the clip."""


@dataclass(frozen=True, repr=False)
class CheckedSet(Result):
    """A data set that was checked."""

    location: str
    """The folder or location of its first record file."""
    clips: int
    """Number of its clips."""
    frames: int
    """Number of its frames."""
    found_clips: int
    """Number of its clips that are in findings."""
    failed_videos: int
    """Number of its videos that were not packed, as far as its ``dataset.json`` lists them."""


@dataclass(frozen=True, repr=False)
class CheckReport(Result):
    """What a check found: :func:`vidrec.check`."""

    sets: Tuple[CheckedSet, ...]
    """What was checked, in the order in which the data sets were given."""
    clips: int
    """Number of clips that were looked at, in all data sets."""
    frames: int
    """Number of frames that were decoded; 0 if no kind of finding needs them."""
    counts: Dict[FindingKind, int]
    """The number of findings of each kind that was looked for."""
    findings: Tuple[Finding, ...]
    """The findings, by kind, and within a kind in order of the clips."""
