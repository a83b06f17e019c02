"""What a data set is."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Dict, Optional, Tuple

from .. import _vidrec
from ..tracks import TrackNormalize
from ..words import TrackScaling, TrackTiming, TrackType
from ._result import Result


@dataclass(frozen=True, repr=False)
class TrackFile(Result):
    """The track file of a shard."""

    file: str
    """Its name, in the folder of the data set."""
    bytes: int
    """Its length in bytes."""
    sha256: str
    """Its SHA-256 in lower-case hexadecimal digits."""


@dataclass(frozen=True, repr=False)
class Shard(Result):
    """A shard of a data set."""

    record_file: str
    """Name of the record file, in the folder of the data set."""
    index_file: str
    """Name of the index file, in the same folder."""
    clips: int
    """Number of clips."""
    frames: int
    """Number of frames."""
    bytes: int
    """Length of the record file in bytes."""
    sha256: str
    """SHA-256 of the record file in lower-case hexadecimal digits."""
    index_crc32: Optional[int] = None
    """CRC-32 of the index. None in data sets of earlier versions."""
    track_file: Optional[TrackFile] = None
    """The track file; None if the shard has none."""
    added: Optional[Dict[str, Any]] = None
    """What its clips got or lost after they were packed, as ``dataset.json`` has it; None if that is nothing."""


@dataclass(frozen=True, repr=False)
class DatasetInfo(Result):
    """What ``dataset.json`` says, but for its list of failures: :func:`vidrec.inspect` and :attr:`vidrec.Dataset.meta`."""

    format: str
    """Always ``vidrec``."""
    format_version: int
    """Major version of the format."""
    clips: int
    """Number of clips in all shards."""
    frames: int
    """Number of frames in all shards."""
    bytes: int
    """Total size of all record files in bytes."""
    classes: Tuple[str, ...]
    """Class names by label."""
    shards: Tuple[Shard, ...]
    """The shards in order. The numbers of clips continue from one shard to the next."""
    tool: str
    """The program that wrote the data set."""
    settings: Dict[str, Any]
    """The options that determined the bytes, by name."""
    packed_from: Optional[Dict[str, Any]] = None
    """``inputs``, and if they were given ``root``, ``classes`` and ``outside``; None if more than a pack made the data set."""
    ffmpeg: Optional[str] = None
    """Versions of FFmpeg's libraries; None if no video was decoded."""
    draws: Optional[int] = None
    """The number of consecutive clips that are draws of one video; None stands for 1."""
    added_files: Tuple[Dict[str, Any], ...] = ()
    """The track files that were added after the shards were written, as ``dataset.json`` has them."""


@dataclass(frozen=True, repr=False)
class TrackSchema(Result):
    """What all values of a track have in common: :attr:`vidrec.Dataset.tracks`."""

    name: str
    """Its name."""
    type: TrackType
    """The type of its values."""
    shape: Tuple[int, ...]
    """The shape of one value, or of an item of lists; empty if that is one number or one text."""
    timing: TrackTiming
    """How its values lie in time."""
    nan: bool = False
    """Whether numbers may be infinite or not a number."""
    list: bool = False
    """Whether each value is a list of items."""


@dataclass(frozen=True, repr=False)
class TrackStats(Result):
    """Statistics of the numbers of a track, one for each number of a value, in row-major order; 0 where there are none."""

    shape: Tuple[int, ...]
    """The shape of a value; empty if a value is one number."""
    clips: int
    """Number of clips that have the track."""
    clips_without: int
    """Number of clips that do not have it."""
    count: Tuple[int, ...]
    """Number of finite numbers."""
    not_finite: Tuple[int, ...]
    """Number of numbers that are infinite or not a number. They are left out of everything else."""
    mean: Tuple[float, ...]
    """The mean."""
    std: Tuple[float, ...]
    """The standard deviation of all numbers (NumPy's ``std``)."""
    min: Tuple[float, ...]
    """The smallest number."""
    max: Tuple[float, ...]
    """The largest number."""
    q01: Tuple[float, ...]
    """The 1st percentile: the smallest number that at least 1 % of the numbers do not exceed (NumPy's ``inverted_cdf``)."""
    q10: Tuple[float, ...]
    """The 10th percentile."""
    q50: Tuple[float, ...]
    """The median."""
    q90: Tuple[float, ...]
    """The 90th percentile."""
    q99: Tuple[float, ...]
    """The 99th percentile."""

    def normalize(self, scaling: TrackScaling = "mean_std") -> TrackNormalize:
        """The normalization by these statistics, for :func:`vidrec.track`. Its ``undo`` is the inverse.

        Parameters
        ----------
        scaling : {"mean_std", "min_max", "quantiles"}, default "mean_std"
            What becomes 0 and 1: the mean, and the mean plus a standard deviation; or what becomes -1 and 1: the smallest and
            the largest number, or the 1st and the 99th percentile. Where these are equal, the scale is 1.

        Returns
        -------
        TrackNormalize
        """
        return TrackNormalize(**json.loads(_vidrec.track_normalize(self.to_json(), scaling)))


@dataclass(frozen=True, repr=False)
class Problem(Result):
    """Something that is wrong with a data set."""

    kind: str
    """Identifier of the broken rule, such as ``jpeg-crc``, from ``format-spec/vidrec-v1.md``."""
    file: str
    """The file at fault."""
    clip: Optional[int]
    """Number of the clip in its shard."""
    frame: Optional[int]
    """Number of the frame in its clip."""
    offset: Optional[int]
    """Byte offset in the file."""
    message: str
    """What is wrong, in words."""


@dataclass(frozen=True, repr=False)
class VerifyReport(Result):
    """Whether a data set is whole: :func:`vidrec.verify`."""

    ok: bool
    """Whether there are no problems."""
    clips: int
    """Number of clips in the shards that could be opened."""
    frames: int
    """Number of frames in the shards that could be opened."""
    problems: Tuple[Problem, ...]
    """Everything that is wrong, in order of location."""
    notes: Tuple[str, ...]
    """Notes that are not problems: what an interrupted pack or another writer left in the folder."""
