"""The arguments of a pack, as types: those of :func:`vidrec.pack`, and those that plans and their parts take of them."""

from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence, Tuple, TypedDict, Union

from ._progress import Progress
from ._storage import Path
from .words import AudioChannels, OnError, Rule, SegmentClock, Short


class OfStorage(TypedDict, total=False):
    """How remote videos, plans and outputs are reached."""

    storage_options: Optional[Mapping[str, Any]]
    storage_timeout: Optional[float]


class OfPlan(TypedDict, total=False):
    """What determines what a video becomes, or whether a pack fails."""

    frames: Optional[int]
    sample: Optional[Rule]
    stride: Optional[int]
    short: Optional[Short]
    draws: Optional[int]
    seed: Optional[int]
    fps: Union[str, float, None]
    every: Optional[int]
    all: bool
    keyframes: bool
    max_frames: Optional[int]
    short_side: Optional[int]
    size: Union[str, Tuple[int, int], None]
    original: bool
    enlarge: bool
    quality: Optional[int]
    target_quality: Optional[str]
    effort: Optional[int]
    optimize: bool
    reduce_depth: bool
    audio: Optional[int]
    audio_channels: Optional[AudioChannels]
    root: Optional[Path]
    split: Optional[str]
    classes: Optional[Path]
    whole_files: bool
    outside: bool
    segment_clock: Optional[SegmentClock]
    pass_through: bool
    picture_fps: Union[str, float, None]
    track: Union[str, Sequence[str], None]
    shuffle_seed: Optional[int]
    on_error: Optional[OnError]
    max_failures: Union[int, str, None]
    timeout: Optional[float]
    max_pixels: Optional[int]
    max_duration: Optional[float]
    shard_size: Union[int, str, None]
    decode_all: bool


class OfPart(TypedDict, total=False):
    """What each machine chooses for itself, beside threads and memory."""

    io_threads: Optional[int]
    commit_every: Optional[float]
    no_isolate: bool
    scratch: Optional[Path]


class PlanArguments(OfPlan, OfStorage, total=False):
    """Those of :func:`vidrec.plan`."""


class RayArguments(OfPlan, OfPart, OfStorage, total=False):
    """Those of ``vidrec.ray.pack``."""


class PackArguments(OfPlan, OfPart, OfStorage, total=False):
    """Those of :func:`vidrec.pack`, but ``dry_run``."""

    threads: Optional[int]
    memory: Union[int, str, None]
    only_publisher: bool
    resume: bool
    restart: bool
    retry_failed: bool
    shards: Optional[int]
    parts: Optional[int]
    jobs: Optional[int]
    mxnet: bool
    overwrite: bool
    force: bool
    progress: Progress
