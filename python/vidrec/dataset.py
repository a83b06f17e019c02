"""Data sets and clips."""

from __future__ import annotations

import json
import operator
import os
import warnings
from fractions import Fraction
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union, overload

import numpy as np
from numpy.typing import NDArray

from . import _choice, _display, _pictures, _storage, _vidrec
from . import stored_track as _track
from ._choice import Clips
from ._storage import Path, Size
from ._values import U32, whole
from .errors import Error, UsageError
from .results import DatasetInfo, RemoteStats, TrackSchema, TrackStats
from .words import Io

# Clips that a page of a data set shows.
_CLIPS_SHOWN = 6


def open(
    path: Path,
    *,
    clips: Optional[int] = None,
    io: Io = "map",
    storage_options: Optional[Mapping[str, Any]] = None,
    cache: Optional[Path] = None,
    cache_bytes: Optional[Size] = None,
    memory_bytes: Size = _storage.MEMORY_BYTES,
    timeout: float = _storage.TIMEOUT,
) -> Dataset:
    """Open a data set, on this machine or in object storage.

    It takes the same time whatever the number of clips: clips and frames are checked when they are used.

    Parameters
    ----------
    path : str or path-like
        The data set's folder, a ``.rec``, a ``.vidx`` or a ``dataset.json``; or a location as text: ``"s3://bucket/train"``,
        ``"gs://..."``, ``"az://..."``, ``"hf://datasets/OWNER/NAME"`` on the Hugging Face Hub, or ``"https://..."`` for a web
        server that serves ranges.
    clips : int, optional
        Only so many clips, from the first on. With the number that a data set had before clips were appended, it is the data set as
        it was: with the same class names, the same order of samples, and the states of loaders. Default: all.
    io : {"map", "read"}, default "map"
        How local files are read: mapped; or by positional reads, for network file systems and files that somebody may cut
        while they are open (of a mapped file that is an error on Linux, unless ``faulthandler`` was enabled after the
        first data set was opened).
    storage_options : mapping, optional
        For remote data sets: options of the storage by the names that pandas and polars use, such as ``region``,
        ``endpoint``, ``access_key_id`` or ``skip_signature``. They come before the environment and the files of each
        cloud's own tools.
    cache : path, optional
        Folder on local disk that keeps what was read of remote data sets, shared by all processes of this machine.
        Default: nothing is kept on disk.
    cache_bytes : int or str, optional
        The most bytes that the cache may hold, such as ``"200GB"``. Default: what is free on its disk, less a tenth of
        the disk.
    memory_bytes : int or str, default "2GiB"
        The most bytes of remote objects in memory: those that were used last, and in up to three eighths of it those that
        a loader needs next. Two batches always fit.
    timeout : float, default 60.0
        How long a remote read may take in seconds, with all tries, before it is an error.

    Returns
    -------
    Dataset

    Raises
    ------
    FileError
        Something is missing or cannot be read.
    FormatError
        A file is cut, or is not what it should be.

    Examples
    --------
    >>> ds = vidrec.open("train")
    >>> len(ds), ds.classes
    (12, ['left', 'right'])
    >>> len(vidrec.open("train", clips=6))
    6
    >>> public = {"skip_signature": True, "region": "eu-west-1"}
    >>> ds = vidrec.open("s3://bucket/train", storage_options=public, cache="/scratch/vidrec")  # doctest: +SKIP
    """
    storage = _storage.given(storage_options, cache, cache_bytes, memory_bytes, timeout)
    first = None if clips is None else whole(clips, 1, 2**64)
    if clips is not None and first is None:
        raise UsageError(f"open: expected clips of 1 or more, found {clips!r}")
    return Dataset._opened(_storage.absolute(path), os.fspath(path), io, storage, first)


def opened(dataset: Union[Dataset, Path], storage: Optional[Dict[str, Any]] = None) -> Dataset:
    """A data set as it is, or the one at a path."""
    if isinstance(dataset, Dataset):
        return dataset
    return Dataset._opened(_storage.absolute(dataset), os.fspath(dataset), "map", storage or _storage.given())


class Dataset(Sequence["Clip"]):
    """Clips, in order. Made by :func:`open`.

    Cheap to copy, to slice and to send to another process, which opens it by its path, with the same options. Slices, :meth:`select`,
    :meth:`filter`, :meth:`subset`, :meth:`split` and :meth:`concat` share the files and copy no
    pictures.

    Examples
    --------
    >>> ds = vidrec.open("train")
    >>> ds[0].source
    'left/0.mp4'
    >>> train, held_out = ds.split(0.75, seed=1)
    >>> len(train), len(held_out)
    (9, 3)
    >>> len(ds[2:5]), len(ds.filter(lambda clip: clip.label == 1))
    (3, 6)
    """

    _inner: _vidrec.Dataset
    _recipe: Tuple[Any, ...]

    def __init__(self) -> None:
        raise TypeError("vidrec.open makes data sets")

    @classmethod
    def _make(cls, inner: _vidrec.Dataset, recipe: Tuple[Any, ...]) -> Dataset:
        self = object.__new__(cls)
        self._inner, self._recipe = inner, recipe
        return self

    @classmethod
    def _opened(cls, path: str, shown: str, io: str, storage: Dict[str, Any], clips: Optional[int] = None) -> Dataset:
        # Another process must not read another commit.
        if _vidrec.is_remote(path):
            path = shown = _vidrec.pinned(path, storage)
        # Errors name the path as it was given; another process may have another working folder.
        recipe = ("open", path, io, storage) if clips is None else ("first", path, io, storage, clips)
        return cls._make(_vidrec.Dataset(shown, io, storage, clips), recipe)

    def __reduce__(self) -> Tuple[Any, ...]:
        return _rebuild, (self._recipe,)

    def __len__(self) -> int:
        return len(self._inner)

    @overload
    def __getitem__(self, index: int) -> Clip: ...
    @overload
    def __getitem__(self, index: slice) -> Dataset: ...

    def __getitem__(self, index: Union[int, slice]) -> Union[Clip, Dataset]:
        """Clip ``index``, or the data set of some clips."""
        if isinstance(index, slice):
            return self.select(range(*index.indices(len(self))))
        place = operator.index(index)
        if not -len(self) <= place < len(self):
            raise IndexError(f"there is no clip {place}: the data set has {len(self)}")
        return Clip(self, place % len(self))

    def __iter__(self) -> Iterator[Clip]:
        return (Clip(self, i) for i in range(len(self)))

    def __add__(self, other: Dataset) -> Dataset:
        return Dataset.concat([self, other])

    def __repr__(self) -> str:
        what = f"{self._recipe[1]!r}" if self._recipe[0] == "open" else self._recipe[0]
        return f"<vidrec.Dataset {what}: {len(self)} clips>"

    def _repr_html_(self) -> str:
        """A table, and the first frame of some clips."""
        rows: List[Tuple[str, Any]] = [("clips", f"{len(self):,}"), ("frames", f"{self.frame_count:,}")]
        classes, tracks = self.classes, self.tracks
        if classes:
            rows.append(("classes", f"{len(classes):,}: {_display.some(classes, 8)}"))
        if tracks:
            rows.append(("tracks", ", ".join(f"{name} ({t.type} {list(t.shape)})" for name, t in tracks.items())))
        clips = (self[i] for i in _pictures.evenly(len(self), _CLIPS_SHOWN))
        return _display.page(repr(self), rows, (clip._figure(clip._caption(), 1, _display.HEIGHT) for clip in clips))

    @property
    def classes(self) -> List[str]:
        """Class names by label; empty when labels are plain integers or absent."""
        return self._inner.classes()

    @property
    def frame_count(self) -> int:
        """Number of frames of all clips."""
        return self._inner.frame_count()

    @property
    def labels(self) -> NDArray[np.int64]:
        """The label of every clip, -1 for none: int64 of shape (clips,). Reads the entry of every clip."""
        return np.frombuffer(self._inner.labels(), np.int64)

    @property
    def tracks(self) -> Dict[str, TrackSchema]:
        """The tracks that clips can have, by name: ``type``, ``shape`` of a value and ``timing`` of each."""
        schemas = map(TrackSchema.from_dict, json.loads(self._inner.tracks()))
        return {schema.name: schema for schema in schemas}

    def track_stats(self, tracks: Optional[Sequence[str]] = None) -> Dict[str, TrackStats]:
        """Statistics of the numbers of tracks, by name: for normalization. Reads these tracks of all clips.

        They are the same for any number of threads. Quantiles are stored numbers: of all, or of 262,144 that are spread evenly over a
        data set that has more. Numbers that are infinite or not a number are counted and
        left out, and so are clips without the track.

        Parameters
        ----------
        tracks : sequence of str, optional
            The names. Default: all tracks of numbers.

        Returns
        -------
        dict of vidrec.results.TrackStats
            With ``mean``, ``std``, ``min``, ``max``, ``q01``, ``q10``, ``q50``, ``q90`` and ``q99``: one for each number of a
            value. ``normalize("mean_std")`` of one is what :func:`track` takes.

        Raises
        ------
        UsageError
            There is no such track, or it has texts.
        """
        if isinstance(tracks, str):
            raise UsageError(f"track_stats takes names in a list, found {tracks!r}")
        told = json.loads(self._inner.track_stats(None if tracks is None else list(tracks)))
        return {name: TrackStats.from_dict(stats) for name, stats in told.items()}

    def picture_stats(self, frames: int = 4) -> TrackStats:
        """Statistics of red, green and blue, as fractions of full, to normalize pictures by.

        Parameters
        ----------
        frames : int, default 4
            How many frames of each clip count, at most, spread evenly over it. All of their pixels do.

        Returns
        -------
        vidrec.results.TrackStats
            Three numbers of each, the same for any number of threads.

        Examples
        --------
        >>> stats = vidrec.open("train").picture_stats()
        >>> loader = vidrec.Loader("train", dtype="float32", normalize=vidrec.Normalize(stats.mean, stats.std))
        """
        count = whole(frames, 1, U32)
        if count is None:
            raise UsageError(f"picture_stats: expected frames of 1 or more, found {frames!r}")
        return TrackStats.from_dict(json.loads(self._inner.picture_stats(count)))

    @property
    def fingerprint(self) -> str:
        """SHA-256 that tells apart data sets of other clips or in another order."""
        return self._inner.fingerprint()

    @property
    def meta(self) -> DatasetInfo:
        """What ``dataset.json`` has: shards with sizes and digests, class names, and the settings of packing."""
        return DatasetInfo.from_dict(json.loads(self._inner.describe()))

    def remote_stats(self) -> Optional[RemoteStats]:
        """What was fetched so far of a remote data set, by everybody in this process who reads it or a part of it.

        Returns
        -------
        vidrec.results.RemoteStats or None
            ``requests``, ``fetched_bytes``, ``cached_bytes`` (read from the cache instead), ``retries``,
            ``network_wait_seconds`` and so on.
            None for a local data set.
        """
        told = self._inner.remote_stats()
        return None if told is None else RemoteStats.from_dict(json.loads(told))

    def select(self, indices: Iterable[int]) -> Dataset:
        """The data set of clips ``indices``, in that order; the same may come more than once.

        The first clips, such as ``select(range(6))`` or ``ds[:6]``, resume the state of a loader that was saved when the data set
        had no others.

        Parameters
        ----------
        indices : iterable of int
            From 0 to ``len(self) - 1``.
        """
        wanted = np.asarray(list(indices) if not isinstance(indices, np.ndarray) else indices)
        if wanted.dtype == bool:
            raise UsageError("select takes the numbers of clips; for a mask, pass numpy.flatnonzero(mask)")
        if wanted.size == 0:
            wanted = np.zeros(0, np.int64)
        if wanted.ndim != 1 or wanted.dtype.kind not in "iu":
            raise UsageError("select takes the numbers of clips, in one dimension")
        if wanted.size and wanted.min() < 0:
            raise UsageError(f"there is no clip {wanted.min()}")
        chosen = wanted.astype(np.uint64)
        # As an array, which pickles as 8 bytes a clip.
        return Dataset._make(self._inner.select(chosen.tolist()), ("select", self._recipe, chosen))

    def filter(self, keep: Callable[[Clip], bool]) -> Dataset:
        """The data set of the clips for which ``keep(clip)`` is true.

        Parameters
        ----------
        keep : callable
            Called with every :class:`Clip`, in order.
        """
        return self.select([clip.index for clip in self if keep(clip)])

    def subset(
        self,
        *,
        classes: Sequence[Union[str, int]] = (),
        clips: Optional[Clips] = None,
        exclude: Clips = (),
        where: Optional[Mapping[str, Any]] = None,
        sample: Optional[int] = None,
        seed: int = 0,
    ) -> Dataset:
        """The data set of the clips that fit everything that is given, in this order; as ``vidrec subset`` writes it.

        Parameters
        ----------
        classes : sequence of str or int, default ()
            Clips of any of these classes, by name, or by number where labels have no names. Empty: any.
        clips : iterable of int or str, optional
            These clips, by number or by source; a source stands for all its clips.
        exclude : iterable of int or str, default ()
            Not these clips. Of several draws of a video, one stands for all.
        where : mapping, optional
            Clips whose attributes have all these values, such as ``{"split": "train", "video.codec": "h264"}``.
        sample : int, optional
            This many of all that fit, drawn at random.
        seed : int, default 0
            Seed for ``sample``.

        Returns
        -------
        Dataset
            Sources that are named and not in the data set cause a warning.

        Examples
        --------
        >>> left = vidrec.open("train").subset(classes=["left"], exclude=["left/0.mp4"])
        >>> len(left), len(left.subset(sample=3, seed=1))
        (5, 3)
        """
        chosen = _choice.chosen(classes, clips, exclude, where, sample, seed)
        found, missing = self._inner.subset(chosen)
        _warn(missing, 3)
        return self.select(np.array(found, np.int64))

    def split(
        self,
        *fractions: float,
        seed: int = 0,
        stratify: bool = True,
        keep_sources: bool = True,
        by: Optional[Callable[[Clip], Any]] = None,
    ) -> List[Dataset]:
        """Split at random into several data sets; what is left makes the last.

        The same seed and options give the same parts as ``vidrec split`` and :func:`vidrec.split`. Draws that were packed
        of one video always stay together.

        Parameters
        ----------
        *fractions : float
            Share of each part, in all less than 1 (or 1, and then no part is left).
        seed : int, default 0
            Seed of the draw.
        stratify : bool, default True
            Split each class by itself, so that every part has its share of each class.
        keep_sources : bool, default True
            Keep clips of one source, such as segments of a long video, in the same part.
        by : callable, optional
            Instead of ``keep_sources``: clips for which ``by(clip)`` is equal stay together. Shares then are of such
            groups, each of the class of its first clip.

        Returns
        -------
        list of Dataset
            Each in the order of this data set.

        Examples
        --------
        >>> train, val, test = vidrec.open("train").split(0.5, 0.25, seed=3)
        >>> len(train), len(val), len(test)
        (6, 3, 3)
        """
        if not fractions:
            raise UsageError("split takes the share of each part")
        rest = 1 - float(np.sum(fractions))
        shares = [*fractions, rest] if rest > 1e-6 else fractions
        groups = None
        if by is not None:
            numbers: Dict[Any, int] = {}
            groups = [numbers.setdefault(by(clip), len(numbers)) for clip in self]
        named = [(str(i), share) for i, share in enumerate(shares)]
        parts = self._inner.split(_choice.by_ratio(named, seed, stratify, keep_sources, groups))
        return [self.select(np.array(clips, np.int64)) for clips in parts]

    @staticmethod
    def concat(parts: Sequence[Dataset]) -> Dataset:
        """The clips of several data sets, one after another. They must have the same class names.

        Parameters
        ----------
        parts : sequence of Dataset
        """
        inner = _vidrec.Dataset.concat([part._inner for part in parts])
        return Dataset._make(inner, ("concat", *(part._recipe for part in parts)))


def _warn(missing: Sequence[str], depth: int) -> None:
    if missing:
        shown = ", ".join(missing[:10]) + (" and more" if len(missing) > 10 else "")
        warnings.warn(f"not in the data set: {shown}", stacklevel=depth)


def _rebuild(recipe: Tuple[Any, ...]) -> Dataset:
    """A data set from how it was made."""
    kind, *rest = recipe
    if kind == "first":
        path, io, storage, clips = rest
        return Dataset._opened(path, path, io, storage, clips)
    if kind == "open":
        # Those that earlier versions pickled have no storage.
        given: Tuple[Any, ...] = (*rest, _storage.given())
        path, io, storage = given[:3]
        return Dataset._opened(path, path, io, storage)
    if kind == "select":
        whole, chosen = rest
        return _rebuild(whole).select(chosen)
    return Dataset.concat([_rebuild(part) for part in rest])


class Clip:
    """One clip. Its frames are read when they are asked for, and their checksums compared.

    Examples
    --------
    >>> clip = vidrec.open("train")[7]
    >>> clip.label, clip.class_name, clip.source, len(clip), clip.size
    (1, 'right', 'right/7.mp4', 8, (96, 72))
    >>> clip.frames().shape, clip.frames().dtype
    ((8, 72, 96, 3), dtype('uint8'))
    >>> clip.jpeg(0)[:2]
    b'\\xff\\xd8'
    """

    __slots__ = ("_told", "dataset", "index")

    def __init__(self, dataset: Dataset, index: int) -> None:
        self.dataset = dataset
        """The data set that it is of."""
        self.index = index
        """Its ordinal there, counted from 0."""
        self._told = dataset._inner.clip(index)

    def __reduce__(self) -> Tuple[Any, ...]:
        return Clip, (self.dataset, self.index)

    def __len__(self) -> int:
        return self._told[0]

    def __repr__(self) -> str:
        return f"<vidrec.Clip {self.index}: {self.source!r}, label {self.label}, {len(self)} frames>"

    def _repr_html_(self) -> str:
        return self._page(_display.FRAMES, _display.HEIGHT)

    def show(self, *, frames: int = 8, height: int = 128) -> None:
        """Show its frames side by side: as a picture in a notebook, in colored letters in a terminal.

        Parameters
        ----------
        frames : int, default 8
            At most so many of them, evenly spread.
        height : int, default 128
            About how high a frame is, in pixels; it is made smaller by a whole number, and never larger.
        """
        _display.show(self._page(frames, height), [(self._caption(), self._strip(frames, height))])

    def _page(self, frames: int, height: int) -> str:
        """A table, and some frames side by side."""
        seconds = self.pts_seconds
        rows: List[Tuple[str, Any]] = [
            ("source", self.source),
            ("label", "none" if self.label is None else f"{self.label} {self.class_name or ''}"),
            ("frames", f"{len(self)}, {seconds[0]:.2f} s to {seconds[-1]:.2f} s" if len(seconds) else "0"),
        ]
        if self.size is not None:
            rows.append(("size", f"{self.size[0]} x {self.size[1]}"))
        rows += [(name, value) for name, value in self.attributes.items() if name != "video"]
        rows += [("tracks", ", ".join(self.track_names))] * bool(self.track_names)
        return _display.page(f"clip {self.index}", rows, [self._figure("", frames, height)])

    def _figure(self, name: str, frames: int, height: int) -> str:
        try:
            return _display.figure(self._strip(frames, height), name)
        except Error as e:
            # A damaged clip is not the end of a page.
            return _display.no_figure(name, e)

    def _strip(self, frames: int, height: int) -> _pictures.Picture:
        """Some of its frames side by side."""
        return _pictures.strip(_pictures.reduced(self.frames(_pictures.evenly(len(self), frames)), height))

    def _caption(self) -> str:
        label = self.class_name or ("no label" if self.label is None else self.label)
        return f"{self.index} · {label} · {self.source}"

    @property
    def label(self) -> Optional[int]:
        """Label, or None."""
        return self._told[1]

    @property
    def class_name(self) -> Optional[str]:
        """Name of its class, or None."""
        return self._told[2] or None

    @property
    def source(self) -> str:
        """Path of the video, relative to the folder that was packed."""
        return self._told[3]

    @property
    def attributes(self) -> Dict[str, Any]:
        """Everything else about it: further columns of the manifest, and what the packer noted."""
        found: Dict[str, Any] = json.loads(self._told[4] or "{}")
        return found

    @property
    def size(self) -> Optional[Tuple[int, int]]:
        """Width and height of every frame in pixels; None when they differ."""
        width, height = self._told[5]
        return (width, height) if width and height else None

    @property
    def time_base(self) -> Fraction:
        """Unit of :attr:`pts` in seconds."""
        return Fraction(*self._told[6])

    @property
    def is_short(self) -> bool:
        """Whether the video had fewer frames than asked for, so that some are repeated."""
        return self._told[7]

    @property
    def pts(self) -> NDArray[np.int64]:
        """Presentation time of each frame in units of :attr:`time_base`: int64 of shape (frames,)."""
        return np.array(self.dataset._inner.times(self.index)[0], np.int64)

    @property
    def pts_seconds(self) -> NDArray[np.float64]:
        """Presentation time of each frame in seconds: float64 of shape (frames,)."""
        numerator, denominator = self._told[6]
        return self.pts * numerator / denominator

    @property
    def source_indices(self) -> List[Optional[int]]:
        """Ordinal of each frame among those that decode from the video; None where unknown."""
        return self.dataset._inner.times(self.index)[1]

    def frames(self, indices: Optional[Iterable[int]] = None) -> NDArray[np.uint8]:
        """The frames in RGB.

        Parameters
        ----------
        indices : iterable of int, optional
            Which of them; all, if not given.

        Returns
        -------
        numpy.ndarray
            uint8 of shape (T, H, W, 3), writable.

        Raises
        ------
        FormatError
            A frame's bytes are not those that were packed.
        """
        wanted = range(len(self)) if indices is None else indices
        return np.asarray(self.dataset._inner.frames(self.index, [self._frame(t) for t in wanted]))

    @property
    def track_names(self) -> List[str]:
        """The names of the tracks that it has."""
        return self.dataset._inner.tracks_of(self.index)

    def track(self, name: str) -> Optional[_track.Track]:
        """The values beside its frames that have this name; None if the clip has none.

        Raises
        ------
        FormatError
            The track's bytes are not those that were written.
        """
        told = self.dataset._inner.track(self.index, name)
        return None if told is None else _track.of(TrackSchema.from_dict(json.loads(told[0])), told[1])

    def jpeg(self, t: int) -> bytes:
        """The JPEG of frame ``t``, byte for byte as it is stored."""
        return self.dataset._inner.jpeg(self.index, self._frame(t))

    def _frame(self, t: int) -> int:
        place, frames = operator.index(t), len(self)
        if not -frames <= place < frames:
            raise IndexError(f"there is no frame {place}: clip {self.index} has {frames}")
        return place % frames
