"""Tracks and attributes for clips that are packed already."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, Iterable, Iterator, Mapping, Optional, Sequence, Sized

from . import _vidrec
from ._storage import Path
from .errors import UsageError
from .results import TracksReport
from .writer import TrackValues, as_json, new_track

_END = object()


def add_tracks(
    path: Path,
    tracks: Optional[Mapping[str, Iterable[Optional[TrackValues]]]] = None,
    *,
    fields: Optional[Iterable[Optional[Mapping[str, Any]]]] = None,
    replace: bool = False,
    nan: Sequence[str] = (),
    lists: Sequence[str] = (),
) -> TracksReport:
    """Add tracks and attributes to the clips of a data set, as one more file, in one step.

    No frame is read or written. The data set is as before until all values are there, also if this is interrupted. No other
    process can write to it meanwhile; it can be read, such as by the model that makes the values.

    Parameters
    ----------
    path : path
        Folder of the data set.
    tracks : mapping, optional
        For each name, the values of all clips in order: a sequence, or an iterator that makes them one after the other, so
        that they need not fit into memory. Each is what :meth:`vidrec.Writer.add` takes for a track, or None for a clip
        without the track.
    fields : sequence or iterator, optional
        A mapping of attributes for each clip, or None. A value of None removes an attribute.
    replace : bool, default False
        Replace tracks of the same names, and attributes of clips that get another value. Default: that is an error.
    nan : sequence of str, default ()
        Tracks whose numbers may be infinite or not a number.
    lists : sequence of str, default ()
        Tracks each of whose values is a list of items, as for :class:`vidrec.Writer`.

    Returns
    -------
    vidrec.results.TracksReport
        ``output``, ``clips``, ``tracks`` and ``attributes`` (how many clips got each), ``removed`` and ``bytes``.

    Raises
    ------
    UsageError
        The data set has such a track or attribute, values do not fit the clips, or another process writes.

    Examples
    --------
    >>> vidrec.subset("train", "small", clips=range(3), overwrite=True).clips
    3
    >>> small = vidrec.open("small")
    >>> vidrec.add_tracks("small", {"mean": (clip.frames().mean(axis=(1, 2)) for clip in small)}).tracks
    {'mean': 3}
    >>> vidrec.open("small")[0].track("mean").values.shape == (len(small[0]), 3)
    True
    """
    adder = _vidrec.TrackAdder(os.fspath(path), bool(replace))
    try:
        all_values: Dict[str, Iterable[Any]] = {f"track {name!r}": values for name, values in (tracks or {}).items()}
        if fields is not None:
            all_values["fields"] = fields
        for name, values in all_values.items():
            if isinstance(values, Sized) and len(values) != len(adder):
                raise UsageError(f"{name}: expected one item for each of {len(adder)} clips, found {len(values)}")
        iterators = {name: iter(values) for name, values in all_values.items()}
        missing = set(tracks or ())
        for clip in range(len(adder)):
            items = {name: _next(name, items, clip) for name, items in iterators.items()}
            given = {name: items[f"track {name!r}"] for name in tracks or () if items[f"track {name!r}"] is not None}
            missing -= given.keys()
            new = [new_track(name, value, name in nan, name in lists) for name, value in given.items()]
            adder.add(new, as_json(items.get("fields") or {}))
        for name, values in iterators.items():
            if next(values, _END) is not _END:
                raise UsageError(f"{name}: there are more items than the {len(adder)} clips")
        if missing:
            raise UsageError(f"track {min(missing)!r}: no clip has values")
        return TracksReport.from_dict(json.loads(adder.finish()))
    finally:
        adder.abort()


def _next(name: str, items: Iterator[Any], clip: int) -> Any:
    item = next(items, _END)
    if item is _END:
        raise UsageError(f"{name}: there is no item for clip {clip}; a clip without values has None")
    return item


def remove_tracks(path: Path, tracks: Sequence[str] = (), *, fields: Sequence[str] = ()) -> TracksReport:
    """Remove tracks and attributes from the clips of a data set, in one step.

    What was packed stays in its file and is hidden; a file of which nothing is left is removed.

    Parameters
    ----------
    path : path
        Folder of the data set.
    tracks, fields : sequence of str
        Names of tracks and of attributes.

    Returns
    -------
    vidrec.results.TracksReport
        ``removed`` has the names.

    Raises
    ------
    UsageError
        The data set has no such track, or no clip has such an attribute.

    Examples
    --------
    >>> set = vidrec.subset("train", "other", clips=[0], overwrite=True)
    >>> vidrec.add_tracks("other", fields=[{"caption": "a cat"}]).attributes
    {'caption': 1}
    >>> vidrec.remove_tracks("other", fields=["caption"]).removed
    ('caption',)
    """
    if isinstance(tracks, str) or isinstance(fields, str):
        raise UsageError("tracks and fields: expected names in a list")
    return TracksReport.from_dict(json.loads(_vidrec.remove_tracks(os.fspath(path), list(tracks), list(fields))))


__all__ = ["add_tracks", "remove_tracks"]
