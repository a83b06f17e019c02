"""What loaders say of their work and of their batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, Optional, Tuple

from ..words import ColorStep
from ._result import Result
from .writes import RemoteStats


@dataclass(frozen=True, repr=False)
class SourceUse(Result):
    """How much a run has used of a source of a mix."""

    samples: int
    """Samples of it that all ranks together have used since the run began."""
    epochs: float
    """How many epochs of the source these are, with a fraction."""


@dataclass(frozen=True, repr=False)
class DecodedStats(Result):
    """What a cache of decoded frames did: :attr:`LoaderStats.decoded_cache`.

    All counts are of this loader, but for ``taken_bytes``. Hits, misses and other frames add up to the frames.
    """

    limit_bytes: int
    """The most bytes that it takes."""
    taken_bytes: int
    """Bytes that are taken: by all processes, with what says where frames are."""
    hits: int
    """Frames that were there, so that nothing of them was read."""
    misses: int
    """Frames that were not there."""
    other_frames: int
    """Frames that are never kept, because they are not 4:2:0."""
    kept_bytes: int
    """Bytes that this loader has added."""
    refused: int
    """Frames that were decoded and not kept, for want of room."""
    failure: Optional[str] = None
    """Why the cache keeps nothing more, or is no longer used; None if all is well."""


@dataclass(frozen=True, repr=False)
class LoaderStats(Result):
    """Counters since a loader was made or resumed: :meth:`vidrec.Loader.stats`.

    A consumer that waits much is starved: more threads, smaller pictures or a faster disk help. A producer that waits
    much is not the bottleneck.
    """

    batches: int
    """Batches that were made, without failed ones."""
    frames: int
    """Frames that were decoded, or given as JPEGs, or came decoded from ``decoded_cache``."""
    bytes: int
    """Bytes of these JPEGs."""
    tiles_decoded: int
    """Tiles of those JPEGs that were decoded."""
    tiles_skipped: int
    """Tiles of those JPEGs that were not decoded, because they lie outside the crop."""
    device_declined: int
    """Frames that the processor made with ``device``, because the device cannot: their JPEGs have no tiles, or are damaged."""
    device_kept_bytes: int
    """Bytes of JPEGs that the device keeps: see ``device_cache``."""
    substituted_clips: int
    """Clips that could not be read and were replaced, with ``on_bad_frame="substitute"``."""
    short_clips: int
    """Clips of the data set with fewer frames than a sample needs."""
    skipped_clips: int
    """Those of them that are in no epoch."""
    samples_left_out: int
    """Samples that are in no batch of an epoch, because fewer of them remain than there are ranks; in a mix, whose epochs
    have different samples, the most in any epoch so far."""
    ready: int
    """Batches that are ready now."""
    consumer_wait_seconds: float
    """Seconds that training loops waited for a batch."""
    producer_wait_seconds: float
    """Seconds that the loader waited because enough batches were ready."""
    remote: Optional[RemoteStats] = None
    """What was fetched, if the data set is remote: by everybody who reads this open data set."""
    decoded_cache: Optional[DecodedStats] = None
    """What the cache of decoded frames did, if there is one."""
    sources: Optional[Dict[str, SourceUse]] = None
    """Of a mix: how much of each source was used, by name. It follows from the place in the stream, whoever asks."""


@dataclass(frozen=True, repr=False)
class DrawnColor(Result):
    """What happened to the colors of a clip."""

    brightness: float
    """Factor of brightness."""
    contrast: float
    """Factor of contrast."""
    saturation: float
    """Factor of saturation."""
    order: Tuple[ColorStep, ColorStep, ColorStep]
    """The order in which the three were applied."""
    grayscale: bool
    """Whether the clip was then made gray."""


@dataclass(frozen=True, repr=False)
class DrawnSample(Result):
    """What was drawn for a clip of a batch: :attr:`vidrec.Batch.params`."""

    sample: int
    """The sample: the number of the clip, or of one of its views."""
    view: int
    """Number of the view of the clip; 0 where a clip has one view."""
    frames: Tuple[int, ...]
    """Frames of the clip that were taken."""
    window: Optional[Tuple[float, float, float, float]]
    """Left, top, width and height, in pixels, of the part of a frame that became the picture; None if frames differ in size."""
    matrix: Optional[Tuple[Tuple[float, float, float], Tuple[float, float, float], Tuple[float, float, float]]]
    """The matrix, 3x3, that takes a place (x, y, 1) in a stored frame to its place in the picture: crop, resize and flip. Places are in
    pixels from the top left corner; the center of the first pixel is at (0.5, 0.5). None if frames differ in size."""
    flip: bool
    """Whether left and right changed places."""
    color: DrawnColor
    """What happened to the colors."""
    instead_of: Optional[int]
    """Number of the clip that this one replaces because it could not be read; None if it replaces none."""
