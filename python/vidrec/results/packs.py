"""What packing gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Tuple

from ..words import Stage
from ._result import Result


@dataclass(frozen=True, repr=False)
class Failure(Result):
    """A video that was skipped."""

    item: int
    """Its place among the inputs, from 0."""
    source: str
    """Path relative to the input folder."""
    stage: Stage
    """Where in the work it failed."""
    error: str
    """What is wrong, with FFmpeg's own words where they are from FFmpeg."""


@dataclass(frozen=True, repr=False)
class VideoWarning(Result):
    """A video that was packed although something was wrong with it."""

    source: str
    """Path relative to the input folder."""
    message: str
    """What is wrong."""


@dataclass(frozen=True, repr=False)
class IgnoredFiles(Result):
    """Ignored files of one kind in the input folders: neither videos nor frames."""

    kind: str
    """The ending with its dot, in lower case, such as ``.srt``; ``special file``, such as a pipe; or ``other``."""
    files: int
    """How many there are."""
    example: str
    """The first of them: its path relative to the input folder."""


@dataclass(frozen=True, repr=False)
class ManifestColumns(Result):
    """What the columns of a manifest became."""

    manifest: str
    """The manifest."""
    path: Tuple[str, ...]
    """Columns of paths, or of names that lead to a path."""
    label: Tuple[str, ...]
    """Columns of labels. Empty: no clip of this manifest has a label."""
    start: Tuple[str, ...]
    """Columns of times at which segments begin."""
    end: Tuple[str, ...]
    """Columns of times at which segments end."""
    split: Tuple[str, ...]
    """Columns of splits."""
    attributes: Tuple[str, ...]
    """Columns that are only kept, as attributes of the clips. At most the first 4096 of them."""
    tracks: Tuple[str, ...] = ()
    """Columns of tracks, or of their times."""


@dataclass(frozen=True, repr=False)
class PackReport(Result):
    """What a pack has done: :func:`vidrec.pack`, :func:`vidrec.pack_part`, :func:`vidrec.publish`, ``vidrec.ray.pack``.

    With ``clips`` 0 no data set was made.
    """

    clips: int
    """Clips written."""
    labeled: int
    """Of these, how many have a label or labels."""
    frames: int
    """Frames written."""
    failed: int
    """Videos skipped."""
    short: int
    """Clips of which the video had fewer frames than asked for."""
    repeated_frames: int
    """Frames that stand for one that is missing: the repeated ones of short clips."""
    damaged_frames: int
    """Frames that decoded with damage; they are stored only where a video has no others."""
    corrupt_packets: int
    """Packets that their containers mark as damaged."""
    decode_errors: int
    """Packets or frames that decoders refused, and reads that broke off."""
    logged_errors: int
    """Errors that FFmpeg logged of videos that were packed."""
    failed_checksums: int
    """Parts of containers whose checksum is wrong."""
    size_changes: int
    """Times that videos changed to another picture size on the way."""
    guessed_times: int
    """Frames whose time is not the one that the file gives their packet: there is none, or it is that of decoding, or of two
    packets."""
    unordered_times: int
    """Frames whose time in the file is not after that of the frame that the decoder returned before."""
    cut_off: int
    """Videos of which clearly less decodes than their containers claim."""
    decoded_whole: int
    """Segments for each of which a whole video was decoded. A note says of each such video why."""
    thinned: int
    """Videos with more frames than ``max_frames``, of which only some were taken."""
    without_audio: int
    """Videos without sound, where it was asked for."""
    audio_errors: int
    """Packets of sound that were damaged or refused, and errors that FFmpeg logged of them."""
    audio_gaps: int
    """Gaps in the sound of videos that were filled with silence, and videos in which an overlap was cut."""
    measured_frames: int
    """Frames that this run compared with what was encoded: those of one video in 32."""
    bytes: int
    """Bytes of all files of the shards: records, indexes and tracks."""
    track_bytes: int
    """Bytes of the track files among them."""
    seconds: float
    """Time taken by the clock."""
    failures: Tuple[Failure, ...]
    """The videos skipped, in order."""
    warnings: Tuple[VideoWarning, ...]
    """Videos that were packed although something was wrong with them, in order."""
    passed_over: Tuple[IgnoredFiles, ...]
    """Ignored files in the input folders, by kind."""
    manifests: Tuple[ManifestColumns, ...]
    """What the columns of each manifest became."""
    notes: Tuple[str, ...]
    """What else is worth knowing: columns that may be misspelled, videos without a label, sources that were kept apart."""
    failures_file: Optional[str] = None
    """Name of the file in the output folder that lists the failures; None if there are none."""
    shortage: Optional[str] = None
    """What the machine ran out of, and how many videos were packed at a time because of that. It costs only time."""
    resumed_at: Optional[int] = None
    """Of a resumed pack: videos that were done already."""
    psnr: Optional[float] = None
    """Mean PSNR of the luma of the ``measured_frames`` in dB."""
    unchanged: Optional[bool] = None
    """Whether there was nothing to do: the pack was finished. None from ``vidrec.ray.pack``."""
    left_behind: Tuple[str, ...] = ()
    """What could not be cleaned up of a data set that was replaced. The new one is complete, and the next write in
    its folder cleans up. Empty as a rule."""


@dataclass(frozen=True, repr=False)
class PackEstimate(Result):
    """What a pack would give: :func:`vidrec.pack` with ``dry_run=True``."""

    videos: int
    """Videos, folders of frames and segments to be packed."""
    labeled: int
    """Of these, how many have a label or labels."""
    classes: int
    """Classes that have a name."""
    passed_over: Tuple[IgnoredFiles, ...]
    """Ignored files in the input folders, by kind."""
    manifests: Tuple[ManifestColumns, ...]
    """What the columns of each manifest became."""
    notes: Tuple[str, ...]
    """What else is worth knowing of the inputs, as in :attr:`PackReport.notes`."""
    missing: Tuple[str, ...]
    """Files that are listed and not there."""
    probed: int
    """Videos that were packed in memory to learn the rest from."""
    probe_failures: Tuple[Failure, ...]
    """Those of them that cannot be packed."""
    failed: int
    """Videos that will fail: those missing, and of the others the share that failed of the probed ones."""
    clips: int
    """Clips that will be stored."""
    frames: int
    """Frames that will be stored."""
    bytes: int
    """Bytes of record and index files together."""
    jpeg_bytes: int
    """Mean length of a JPEG in bytes; 0 if there is none."""
    psnr: Optional[float]
    """Mean PSNR of luma in dB over the JPEGs of the probed videos, against the pictures after scaling. None if no JPEG was
    made."""
    seconds: float
    """Time that it will take by the clock."""
    free_bytes: int
    """Bytes free where it is to be stored."""
