"""What edits and copies of data sets give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, Tuple

from ._result import Result


@dataclass(frozen=True, repr=False)
class EditReport(Result):
    """What an edit has written: :func:`vidrec.merge`, :func:`vidrec.split`, :func:`vidrec.subset` and so on."""

    output: str
    """Folder or location of the output."""
    clips: int
    """Number of clips written."""
    frames: int
    """Number of frames written."""
    bytes: int
    """Bytes of record and index files together."""
    shards: int
    """Number of shards written."""
    left_out: int
    """Clips of the inputs that are not in the output."""
    not_found: Tuple[str, ...]
    """Clips that changes name and the data set does not have, in the order of the changes."""
    notes: Tuple[str, ...]
    """What else is worth knowing: settings that differ, things that were not copied."""
    left_behind: Tuple[str, ...] = ()
    """What could not be cleaned up of a data set that was replaced. The new one is complete, and the next write in
    its folder cleans up. Empty as a rule."""


@dataclass(frozen=True, repr=False)
class TracksReport(Result):
    """What was added to clips, or removed: :func:`vidrec.add_tracks` and :func:`vidrec.remove_tracks`."""

    output: str
    """Folder of the data set."""
    clips: int
    """Number of clips in it."""
    tracks: Dict[str, int]
    """How many clips got each track."""
    attributes: Dict[str, int]
    """How many clips got each attribute."""
    removed: Tuple[str, ...]
    """Names of the tracks and attributes that were removed."""
    bytes: int
    """Size of the new files."""
    left_behind: Tuple[str, ...] = ()
    """What could not be cleaned up of what was replaced. The data set is complete, and the next write in its folder cleans
    up. Empty as a rule."""


@dataclass(frozen=True, repr=False)
class SkippedSample(Result):
    """What a conversion skipped."""

    source: str
    """The file and the sample."""
    error: str
    """Why it was skipped."""


@dataclass(frozen=True, repr=False)
class WriteReport(Result):
    """What was written: :meth:`vidrec.Writer.close` and the functions of ``vidrec.convert`` that write with one."""

    output: str
    """Folder or location of the output."""
    clips: int
    """Number of clips."""
    frames: int
    """Number of frames."""
    bytes: int
    """Bytes of record, index and track files together."""
    track_bytes: int
    """Bytes of the track files among them."""
    shards: int
    """Number of shards."""
    retiled: int
    """JPEGs that were rewritten with restart markers, with the same pixels."""
    not_retiled: int
    """JPEGs that stayed as they are with ``retile``, because tiles need 4:2:0 and 8 bits."""
    left_behind: Tuple[str, ...] = ()
    """What could not be cleaned up of a data set that was replaced. The new one is complete, and the next write in
    its folder cleans up. Empty as a rule."""
    skipped: Tuple[SkippedSample, ...] = ()
    """Of a conversion with ``salvage``: what was skipped, and why."""
    notes: Tuple[str, ...] = ()
    """Of a conversion: what else is worth knowing, such as files that were ignored."""


@dataclass(frozen=True, repr=False)
class ExportReport(Result):
    """What was exported: the functions of ``vidrec.convert`` whose names begin with ``to_``."""

    output: str
    """The folder."""
    clips: int
    """Number of clips."""
    frames: int
    """Number of frames."""
    files: int
    """Number of files."""
    bytes: int
    """Their total size in bytes."""


@dataclass(frozen=True, repr=False)
class RemoteStats(Result):
    """What was fetched of a remote data set so far: :meth:`vidrec.Dataset.remote_stats`."""

    requests: int
    """Requests that were sent, with retries."""
    fetched_bytes: int
    """Bytes that came back."""
    cached_bytes: int
    """Bytes that were read from the cache on local disk instead."""
    retries: int
    """Requests that were repeated, because one failed."""
    cache_failures: int
    """Failures to keep something, because the cache's disk is full or fails. What came was used all the same."""
    held_bytes: int
    """Bytes of objects that are in memory now, or on their way."""
    most_held_bytes: int
    """The most that these were so far."""
    network_wait_seconds: float
    """Seconds that readers waited for the network, over all threads."""


@dataclass(frozen=True, repr=False)
class FetchReport(Result):
    """What was fetched: :func:`vidrec.fetch`."""

    output: str
    """The folder of the copy."""
    clips: int
    """Number of clips."""
    frames: int
    """Number of frames."""
    shards: int
    """Number of shards."""
    bytes: int
    """Total size of the record files, indexes and list of failures in bytes."""
    kept_bytes: int
    """Bytes of them that were in the folder before, and were proven again."""
    remote: RemoteStats
    """What went over the network."""
    left_behind: Tuple[str, ...] = ()
    """What could not be cleaned up of a data set that was replaced. The new one is complete, and the next write in
    its folder cleans up. Empty as a rule."""


@dataclass(frozen=True, repr=False)
class PushReport(Result):
    """What was uploaded: :func:`vidrec.push`."""

    output: str
    """The location of the data set."""
    clips: int
    """Number of clips."""
    frames: int
    """Number of frames."""
    shards: int
    """Number of shards."""
    bytes: int
    """Total size of the record files, indexes and list of failures in bytes."""
    kept_bytes: int
    """Bytes of them that were there before."""
    found: bool
    """Whether this data set was there already, so that nothing was to be done."""
    removed: int
    """Files of a replaced data set that were removed."""
    notes: Tuple[str, ...]
    """What could not be done after the data set was there."""
    remote: RemoteStats
    """What went over the network."""
