"""What a report gives: all figures of its page."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, Optional, Tuple

from ..words import FindingKind
from ._result import Result
from .datasets import TrackStats


@dataclass(frozen=True, repr=False)
class Fingerprint(Result):
    """What identifies a data set: those with the same clips in the same order, packed to the same bytes, have the same."""

    clips: int
    """Number of clips."""
    digest: str
    """SHA-256, in hexadecimal, of the digests of the record files."""


@dataclass(frozen=True, repr=False)
class ClassStats(Result):
    """One class."""

    label: Optional[int]
    """Its label; None for clips that have none."""
    class_name: str = field(metadata={"key": "class"})
    """Its name; empty if it has none."""
    clips: int
    """Number of clips."""
    frames: int
    """Number of frames."""


@dataclass(frozen=True, repr=False)
class Bin(Result):
    """A bin of a :class:`Distribution`: of a word, or of numbers."""

    clips: int
    """The number of clips."""
    word: Optional[str] = None
    """The word; None of numbers."""
    start: Optional[float] = field(default=None, metadata={"key": "from"})
    """The smallest value; None of words."""
    below: Optional[float] = None
    """The smallest value above the bin; equal to ``start`` if the bin is of one value."""


@dataclass(frozen=True, repr=False)
class Summary(Result):
    """What some numbers are."""

    min: float
    """The smallest."""
    median: float
    """The lower of the two in the middle."""
    mean: float
    """The mean."""
    max: float
    """The largest."""


@dataclass(frozen=True, repr=False)
class Distribution(Result):
    """How the clips of a data set are spread over the values of something."""

    title: str
    """What is counted, such as ``Frames per clip``."""
    unit: str
    """The unit of the values; empty for words and plain numbers; ``year`` for years."""
    bins: Tuple[Bin, ...]
    """Bins of numbers, in order; or of words, the most frequent first."""
    summary: Optional[Summary]
    """What the values are; None if they are words, and if no clip has a number."""
    without: int
    """The number of clips that have no value."""


@dataclass(frozen=True, repr=False)
class Stats(Result):
    """Statistics of a data set, as ``vidrec inspect --stats`` prints them."""

    clips: int
    """Number of clips."""
    frames: int
    """Number of frames."""
    shards: int
    """Number of shards."""
    classes: Tuple[ClassStats, ...]
    """Clips and frames of each class, in order of label. Clips without a label come first."""
    distributions: Tuple[Distribution, ...]
    """How the clips are spread over lengths, sizes, formats and attributes: numbers first, then words."""
    most_frames: int
    """Frames of the longest clip; 0 if there are no clips."""
    seconds: float
    """The sum of the seconds from the first to the last frame of each clip, by their presentation times. Clips whose times do not
    advance, such as clips of one frame, add nothing."""
    smallest_frame_bytes: Optional[int]
    """Bytes of the smallest JPEG; None if there are no frames."""
    largest_frame_bytes: Optional[int]
    """Bytes of the largest JPEG; None if there are no frames."""
    short_clips: int
    """Clips whose video had too few frames, so that some frames are repeated."""
    repeated_frames: int
    """Frames that repeat an earlier frame of their clip."""
    epoch_bytes: int
    """JPEG bytes that an epoch over all frames of all clips reads."""
    epoch_rgb_bytes: int
    """Bytes of all frames decoded to RGB with one byte per channel, for the frames whose size is known."""
    tracks: Optional[Dict[str, TrackStats]] = None
    """Statistics of tracks, by name; None without ``--tracks``."""
    pictures: Optional[TrackStats] = None
    """Statistics of red, green and blue; None without ``--pictures``."""


@dataclass(frozen=True, repr=False)
class Shown(Result):
    """What a page shows."""

    clips: int
    """Number of clips."""
    of_clips: int
    """Number of clips of all data sets."""
    height: int
    """Height of their frames in pixels, at most."""
    frames: int
    """Frames of each clip, at most."""
    quality: int
    """JPEG quality."""


@dataclass(frozen=True, repr=False)
class Checked(Result):
    """What was checked."""

    clips: int
    """Number of clips: all, or those that the page shows."""
    of_clips: int
    """Number of clips of all data sets."""
    frames: int
    """Number of their frames that were decoded."""


@dataclass(frozen=True, repr=False)
class SetFigures(Result):
    """A data set of a report."""

    name: str
    """What the page calls it."""
    bytes: int
    """Bytes of its record files."""
    fingerprint: Fingerprint
    """What identifies it."""
    tool: str
    """The program that wrote it."""
    ffmpeg: Optional[str]
    """Versions of FFmpeg's libraries; None if no video was decoded."""
    settings: Dict[str, Any]
    """The options that determined the bytes, by name."""
    draws: int
    """The number of consecutive clips that are draws of one video."""
    stats: Stats
    """What ``vidrec inspect --stats`` says, with distributions in bins that all data sets share."""


@dataclass(frozen=True, repr=False)
class Report(Result):
    """All figures of a page: :func:`vidrec.report`."""

    title: str
    """Title of the page."""
    page_bytes: int
    """Bytes of the page; 0 if none was written."""
    shown: Optional[Shown]
    """What the page shows; None if none was written."""
    sets: Tuple[SetFigures, ...]
    """The data sets, in the order in which they were given."""
    checked: Optional[Checked]
    """What was checked; None if nothing was."""
    findings: Optional[Dict[FindingKind, int]]
    """The number of findings of each kind among the clips that were checked; None if none was."""
    notes: Tuple[str, ...]
    """What a reader has to know: which clips are shown, at which size, and whether they were checked."""
