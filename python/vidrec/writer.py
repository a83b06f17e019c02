"""Writing a data set clip by clip: arrays of frames, or JPEGs that are there already."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
import time
from fractions import Fraction
from types import TracebackType
from typing import Any, Dict, List, Literal, Mapping, Optional, Sequence, Tuple, Type, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _storage, _vidrec
from ._storage import Path, Size
from ._values import U32, whole
from .dataset import open as open_dataset
from .errors import Error, UsageError
from .results import TrackSchema, WriteReport
from .stored_track import FLOATS, NUMBERS, Track, is_lists

# The type of a track for each type of array; the numbers of some are stored as a larger one.
_STORED = {"int8": "i16", "uint32": "i64", "uint64": "i64", "uint8": "u8", "bool": "bool"}
_STORED.update({str(np.dtype(numbers)): kind for kind, numbers in NUMBERS.items()})

_NS = 1_000_000_000
_MAX_LABEL = 1 << 24
# Seconds from one try to append to the next, while another process writes.
_WAIT = 0.1

#: Values of a track: one for each frame, or a tuple of values and when they are.
TrackValues = Union[ArrayLike, Sequence[str], Track, Tuple[Any, Any]]


class Writer:
    """Writes a data set clip by clip.

    The data set appears when the ``with`` block ends, or with :meth:`close`. If the block ends with an exception, or the
    process dies, nothing appears, and a data set that was there before stays as it is.

    Frames are encoded on threads while the next clips are prepared. The files are the same for any number of threads.

    Several threads may call :meth:`add`. Clips stand in the order in which their calls begin, which threads that run freely do
    not repeat: for the same files each time, prepare clips on threads and add them in order, as in
    ``for clip in pool.map(simulate, seeds): writer.add(**clip)``. A writer belongs to the process that made it.

    Parameters
    ----------
    path : path
        Folder to make the data set in, or a location such as ``"s3://bucket/train"``.
    quality : int, default 90
        JPEG quality of frames that are arrays, from 1 to 100.
    classes : sequence of str, default ()
        Class names by label. Default: labels are plain numbers.
    nan : sequence of str, default ()
        Tracks whose numbers may be infinite or not a number. In other tracks such a number is an error.
    lists : sequence of str, default ()
        Tracks in which each value is a list of any number of items of one shape, such as the boxes of a frame: values are a list
        of arrays of shape (items, ...), one for each frame or time.
    retile : bool, default False
        Add restart markers to JPEGs that have none, so that a loader can decode crops alone. The pixels stay the same, bit
        for bit. Default: JPEGs are stored byte for byte.
    shard_size : int or str, default "256MB"
        A shard ends with the clip that brings its records to this size.
    if_exists : {"fail", "replace"}, default "fail"
        What to do if there is a data set already. It is replaced in one step, when the new one is complete.
    append : bool, default False
        Add the clips to the data set in the folder, in one step, as more shards; make it if there is none. Its own shards do not
        change, and readers that have it open go on. ``classes`` are those of the data set by default, and new ones follow
        them; tracks are as they are there. The same clips once more, such as after a crash, are not added again, and ``notes`` of
        the report says so. While another process adds clips, :meth:`close` waits, up to ``timeout``.
    settings : mapping, optional
        How the clips were made, for :attr:`vidrec.Dataset.meta`.
    threads : int, optional
        How many threads encode. Default: one for each core.
    scratch : path, optional
        With a location or ``append``: write the clips to a folder in this one first, which needs room for all of them. Default:
        the system's folder for temporary files.
    storage_options, timeout
        With a location: as for :func:`vidrec.open`.

    Raises
    ------
    UsageError
        There is a data set already, or an argument makes no sense.

    Examples
    --------
    >>> import numpy as np
    >>> frames = np.zeros((8, 72, 96, 3), np.uint8)
    >>> with vidrec.Writer("written", classes=["open", "close"], if_exists="replace") as writer:
    ...     writer.add(frames, label="close", source="a.mp4", times=np.arange(8) / 25)
    ...     writer.add([vidrec.open("train")[0].jpeg(0)], label=0, tracks={"force": [0.5]})
    >>> writer.report.clips, writer.report.frames
    (2, 9)
    >>> vidrec.open("written")[0].pts_seconds[:3]
    array([0.  , 0.04, 0.08])
    >>> with vidrec.Writer("written", append=True) as writer:
    ...     writer.add(frames, label="open")
    >>> writer.report.clips, len(vidrec.open("written"))
    (1, 3)
    """

    def __init__(
        self,
        path: Path,
        *,
        quality: int = 90,
        classes: Sequence[str] = (),
        nan: Sequence[str] = (),
        lists: Sequence[str] = (),
        retile: bool = False,
        shard_size: Size = "256MB",
        if_exists: Literal["fail", "replace"] = "fail",
        append: bool = False,
        settings: Optional[Mapping[str, Any]] = None,
        threads: Optional[int] = None,
        scratch: Optional[Path] = None,
        storage_options: Optional[Mapping[str, Any]] = None,
        timeout: float = _storage.TIMEOUT,
        _meta: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self._report: Optional[WriteReport] = None
        self._scratch: Optional[str] = None
        self._path = os.fspath(path)
        # Imports add to them.
        self._nan, self._lists = set(nan), set(lists)
        # The tracks of the data set that grows.
        self._tracks: Dict[str, TrackSchema] = {}
        self._grows = append and os.path.isfile(os.path.join(self._path, "dataset.json"))
        if self._grows:
            grows = open_dataset(self._path)
            if (grows.meta.draws or 1) > 1:
                raise UsageError(f"append: the data set has {grows.meta.draws} draws of each video, and a clip that is added is none")
            classes, self._tracks = classes or grows.classes, grows.tracks
            self._lists |= {name for name, old in grows.tracks.items() if old.list}
        self._labels = {name: label for label, name in enumerate(classes)}
        self._storage, self._timeout = _storage.given(storage_options, timeout=timeout), timeout
        if if_exists not in ("fail", "replace"):
            raise UsageError(f"if_exists: expected 'fail' or 'replace', found {if_exists!r}")
        if append and (if_exists == "replace" or _vidrec.is_remote(self._path)):
            raise UsageError("append needs a data set in a folder, and leaves what is there; it takes no if_exists='replace'")
        if any(isinstance(names, str) for names in (classes, nan, lists)) or len(self._labels) != len(classes):
            raise UsageError("classes, nan and lists: expected names in a list, each once")
        shard_bytes = _vidrec.parse_bytes(str(shard_size))
        if shard_bytes is None:
            raise UsageError(f"shard_size: expected a size such as '256MB', found {shard_size!r}")
        if threads is not None and whole(threads, 1, U32) is None:
            raise UsageError(f"threads: expected 1 or more, found {threads!r}")
        if whole(quality, 1, 100) is None:
            raise UsageError(f"quality: expected 1 to 100, found {quality!r}")
        self._replace = if_exists == "replace"
        folder = self._path
        if self._grows or _vidrec.is_remote(self._path):
            self._check_free()
            self._scratch = tempfile.mkdtemp(prefix="vidrec-writer-", dir=scratch)
            folder = os.path.join(self._scratch, "set")
        elif scratch is not None and not append:
            raise UsageError("scratch needs append, or an output in object storage, such as s3://bucket/train")
        meta = {"classes": list(classes), "settings": {**({"retiled": True} if retile else {}), **(settings or {})}, **(_meta or {})}
        storing = {"quality": quality, "retile": bool(retile), "shard_bytes": shard_bytes, "threads": threads or 0}
        self._is_new = not os.path.lexists(folder)
        try:
            self._inner = _vidrec.Writer(folder, as_json(meta), self._replace, storing)
        except BaseException:
            self._remove_scratch()
            raise

    def add(
        self,
        frames: Any,
        *,
        label: Union[int, str, None] = None,
        source: str = "",
        times: Optional[ArrayLike] = None,
        pts: Optional[Sequence[int]] = None,
        time_base: Union[Fraction, Tuple[int, int], None] = None,
        tracks: Optional[Mapping[str, TrackValues]] = None,
        fields: Optional[Mapping[str, Any]] = None,
        class_name: str = "",
        source_indices: Optional[Sequence[Optional[int]]] = None,
        is_short: bool = False,
    ) -> None:
        """Add a clip. A clip that is refused leaves no trace, and the next ones can be added.

        Parameters
        ----------
        frames : array or sequence of bytes
            RGB as uint8 of shape (T, H, W, 3), a NumPy array or a tensor of torch on the CPU; or the JPEGs of the frames, as
            bytes. Empty for a clip without frames, such as one of text alone.
        label : int or str, optional
            The label, or the name of one of ``classes``. Default: none.
        source : str, default ""
            Where the clip is from, such as the path of a video.
        times : array of float, optional
            The time of each frame in seconds, of shape (T,). Default: the frames are numbered from 0, a second apart.
        pts : sequence of int, optional
            The same in units of ``time_base``, instead of ``times``.
        time_base : Fraction or pair of int, optional
            Seconds in a unit of the stored times. Default: a nanosecond with ``times``, else a second.
        tracks : mapping, optional
            Values beside the frames, by name: an array of shape (T, ...) or T texts, one for each frame; a tuple
            ``(values, times)`` with the times of shape (N,), or starts and ends of shape (N, 2), in seconds as floats or in
            nanoseconds as integers, on the clock of the frames; a tuple ``(values, rate)`` with N values at a rate from 0 on,
            such as sound of type int16 at 48000; or a :class:`vidrec.Track`. A track has the same type, shape and timing in
            all clips that have it.
        fields : mapping, optional
            Everything else about the clip: its :attr:`vidrec.Clip.attributes`.
        class_name : str, default ""
            The name of the clip's class in a data set without ``classes``.
        source_indices : sequence of int, optional
            Ordinal of each frame among those of the source; None where unknown.
        is_short : bool, default False
            Whether the source had fewer frames than asked for, so that some are repeated.

        Raises
        ------
        UsageError
            Shapes, types or lengths do not fit, or the label is none of ``classes``.
        DecodeError
            A JPEG is none.
        """
        pictures, count = _pictures(frames)
        stored, base = _times(count, times, pts, time_base)
        indices = [None] * count if source_indices is None else list(source_indices)
        if len(indices) != count or not all(index is None or whole(index, 0, U32) is not None for index in indices):
            raise UsageError(f"source_indices: expected one for each of {count} frames, from 0 to {U32}, or None")
        number = self._label(label)
        known = list(self._labels)[number] if self._labels and number is not None else ""
        if known and class_name not in ("", known):
            raise UsageError(f"class_name: expected {known!r}, the class of label {number}, found {class_name!r}")
        clip = {
            "label": number,
            "source": str(source),
            "class": class_name or known,
            "attributes": dict(fields or {}),
            "width": 0,
            "height": 0,
            "time_base": base,
            "short": bool(is_short),
        }
        given = [new_track(name, value, name in self._nan, name in self._lists) for name, value in (tracks or {}).items()]
        self._check_tracks([json.loads(schema) for schema, *_ in given])
        self._inner.add(as_json(clip), list(zip(stored, indices)), pictures, given)

    def close(self) -> WriteReport:
        """Publish the data set. Does nothing if it is there already.

        Returns
        -------
        vidrec.results.WriteReport
            ``output``, ``clips``, ``frames``, ``bytes``, ``shards`` and so on.
        """
        if self._report is None:
            try:
                written, (retiled, not_retiled) = self._inner.finish()
                told = {**json.loads(written), "retiled": retiled, "not_retiled": not_retiled}
                if self._scratch is not None:
                    told = self._publish(os.path.join(self._scratch, "set"), told)
            except BaseException:
                self.abort()
                raise
            self._remove_scratch()
            self._report = WriteReport.from_dict({"output": self._path, **told})
        return self._report

    @property
    def report(self) -> WriteReport:
        """What was written, when the writer is closed."""
        if self._report is None:
            raise UsageError("the writer is not closed, so it has no report")
        return self._report

    def abort(self) -> None:
        """Drop everything that was written. Does nothing if the writer is closed."""
        self._inner.abort()
        self._remove_scratch()
        if self._is_new and self._report is None and self._scratch is None and os.path.isdir(self._path):
            with contextlib.suppress(OSError):
                os.rmdir(self._path)

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.abort()

    def __repr__(self) -> str:
        return f"<vidrec.Writer {self._path!r}{'' if self._report is None else ', closed'}>"

    def _label(self, label: Union[int, str, None]) -> Optional[int]:
        if label is None:
            return None
        known = len(self._labels)
        number = self._labels.get(label) if isinstance(label, str) else whole(label, 0, known - 1 if known else _MAX_LABEL)
        if number is None:
            expected = f"one of {known} classes, by name or number" if known else "0 to 16,777,216; for names, give classes"
            raise UsageError(f"label: expected {expected}, found {label!r}")
        return number

    def _publish(self, folder: str, told: Dict[str, Any]) -> Dict[str, Any]:
        """Put the data set of a scratch folder where it belongs. Returns the report with what that adds to it."""
        if not self._grows:
            pushed = json.loads(_vidrec.push(folder, self._path, self._replace, self._storage, None))
            return {**told, "left_behind": [*told.get("left_behind", ()), *pushed["notes"]]}
        until = time.monotonic() + self._timeout
        while True:
            try:
                added = json.loads(_vidrec.append(self._path, [open_dataset(folder)._inner], None, None))
                break
            except UsageError as e:
                if "another process is writing" not in str(e) or time.monotonic() > until:
                    raise
            time.sleep(_WAIT)
        nothing = {} if added["clips"] else dict.fromkeys(("clips", "frames", "bytes", "track_bytes", "shards"), 0)
        return {**told, **nothing, "notes": added["notes"]}

    def _check_tracks(self, schemas: Sequence[Mapping[str, Any]]) -> None:
        """Refuse a track that the data set which grows has in another way. Publishing would, after everything is written."""
        for new in schemas:
            old = self._tracks.get(new["name"])
            parts = [] if old is None else [("type", old.type), ("shape", list(old.shape)), ("timing", old.timing), ("list", old.list)]
            for part, value in parts:
                if new[part] != value:
                    raise UsageError(f"track {new['name']!r}: expected the {part} {value}, as in the data set, found {new[part]}")

    def _check_free(self) -> None:
        """Refuse to begin where there is a data set. Publishing checks it once more."""
        if self._replace or self._grows:
            return
        try:
            _vidrec.Dataset(self._path, "map", self._storage, None)
        except Error:
            return
        raise UsageError(f"{self._path}: there is a data set already: pass if_exists='replace' to replace it")

    def _remove_scratch(self) -> None:
        if self._scratch is not None:
            shutil.rmtree(self._scratch, ignore_errors=True)


def _pictures(frames: Any) -> Tuple[Any, int]:
    """Frames as the compiled module takes them, and their number."""
    if isinstance(frames, (bytes, bytearray, memoryview)):
        raise UsageError("frames: expected the JPEGs in a list, found one alone")
    if isinstance(frames, (list, tuple)) and all(isinstance(frame, (bytes, bytearray, memoryview)) for frame in frames):
        return [bytes(frame) for frame in frames], len(frames)
    try:
        pixels = np.asarray(frames)
    except (TypeError, ValueError, RuntimeError) as e:
        raise UsageError(f"frames: expected an array in the memory of this machine: {e}") from e
    if pixels.dtype != np.uint8 or pixels.ndim != 4 or pixels.shape[3] != 3:
        found = f"{pixels.dtype} of shape {pixels.shape}"
        raise UsageError(f"frames: expected uint8 of shape (T, H, W, 3), or JPEGs as bytes, found {found}")
    count, height, width, _ = pixels.shape
    if count and not height * width:
        raise UsageError(f"frames: expected pixels, found the shape {pixels.shape}")
    return ((pixels.tobytes(), width, height) if count else []), count


def _times(
    count: int,
    times: Optional[ArrayLike],
    pts: Optional[Sequence[int]],
    time_base: Union[Fraction, Tuple[int, int], None],
) -> Tuple[List[int], Tuple[int, int]]:
    """The time of each frame, and its unit in seconds."""
    if times is not None and pts is not None:
        raise UsageError("give only one of times and pts")
    base = (1, 1 if times is None else _NS)
    if isinstance(time_base, Fraction):
        base = (time_base.numerator, time_base.denominator)
    elif time_base is not None:
        base = (int(time_base[0]), int(time_base[1]))
    if min(base) < 1 or max(base) > U32:
        raise UsageError(f"time_base: expected a positive fraction of numbers of 32 bits, found {time_base!r}")
    if times is not None:
        seconds = np.asarray(times, np.float64)
        if seconds.shape != (count,) or not np.isfinite(seconds).all():
            raise UsageError(f"times: expected {count} numbers of seconds, found the shape {seconds.shape}")
        units = np.rint(seconds * base[1] / base[0])
        if (np.abs(units) >= 2.0**63).any():
            raise UsageError("times: a time does not fit into 64 bits")
        return units.astype(np.int64).tolist(), base
    stored = np.arange(count) if pts is None else np.asarray(pts)
    if stored.shape != (count,) or (count and (stored.dtype.kind not in "iu" or int(stored.max()) >= 2**63)):
        raise UsageError(f"pts: expected {count} whole numbers, found {stored.dtype} of shape {stored.shape}")
    return stored.tolist(), base


def new_track(name: str, given: TrackValues, nan: bool, is_list: bool) -> Tuple[Any, ...]:
    """A track as the compiled module takes it."""
    starts: Any = []
    ends: Any = []
    values: Any = given
    rate, first, timing = Fraction(1), 0, "frames"
    if isinstance(given, Track):
        values, timing = given.values, given.timing
        if timing == "rate" and given.rate is not None:
            rate, first = given.rate, int(given.times[0]) if len(given.times) else 0
        elif timing != "frames":
            starts, ends = given.times.tolist(), [] if given.ends is None else given.ends.tolist()
    elif isinstance(given, tuple) and len(given) == 2:
        values, when = given
        if isinstance(when, (int, float, str, Fraction)):
            rate, timing = Fraction(when).limit_denominator(1_000_000), "rate"
        else:
            ns = _nanoseconds(name, when)
            timing = "times" if ns.ndim == 1 else "spans"
            starts, ends = (ns.tolist(), []) if ns.ndim == 1 else (ns[:, 0].tolist(), ns[:, 1].tolist())
    texts: List[str] = []
    lists: List[int] = []
    is_list = is_list or is_lists(values) and isinstance(given, Track)
    if is_list:
        values, lists = _items(name, values)
    kind, numbers, shape = "utf-8", b"", []
    if isinstance(values, (list, tuple)) and all(isinstance(value, str) for value in values):
        texts = list(values)
    else:
        array = _numbers(name, values)
        kind, shape, numbers = _STORED[str(array.dtype)], list(array.shape[1:]), array.tobytes()
    schema = {"name": name, "type": kind, "shape": shape, "timing": timing, "nan": nan and kind in FLOATS, "list": is_list}
    return json.dumps(schema), (numbers, texts, lists), (starts, ends), (first, (rate.numerator, rate.denominator))


def _items(name: str, values: Any) -> Tuple[NDArray[Any], List[int]]:
    """The items of all lists, and how many each list has."""
    # A list of Python that is empty has neither type nor shape.
    arrays = [_numbers(name, value) for value in values if not (isinstance(value, (list, tuple)) and not value)]
    if not arrays:
        raise UsageError(f"track {name!r}: all lists are empty: expected an array of their type such as numpy.zeros((0, 4), 'float32')")
    for array in arrays:
        if (array.dtype, array.shape[1:]) != (arrays[0].dtype, arrays[0].shape[1:]):
            expected = f"{arrays[0].dtype} of shape {(-1, *arrays[0].shape[1:])}, as the first list"
            raise UsageError(f"track {name!r}: expected {expected}, found {array.dtype} of shape {array.shape}")
    return np.concatenate(arrays), [len(value) for value in values]


def _numbers(name: str, values: Any) -> NDArray[Any]:
    """Values as an array of a type that is stored."""
    try:
        array = np.asarray(values)
    except ValueError as e:
        raise UsageError(f"track {name!r}: if its values are lists of any length, name it in lists of the Writer: {e}") from e
    kind = _STORED.get(array.dtype.name)
    if kind is None or not array.ndim:
        expected = "an array of numbers, or a list of texts"
        raise UsageError(f"track {name!r}: expected {expected}, found {array.dtype} of shape {array.shape}")
    if array.dtype == np.uint64 and array.size and int(array.max()) >= 2**63:
        raise UsageError(f"track {name!r}: a number does not fit into 64 bits with a sign")
    return np.ascontiguousarray(array, NUMBERS[kind])


def _nanoseconds(name: str, when: Any) -> NDArray[np.int64]:
    times = np.asarray(when)
    if times.ndim not in (1, 2) or (times.ndim == 2 and times.shape[1] != 2) or times.dtype.kind not in "iuf":
        found = f"{times.dtype} of shape {times.shape}"
        raise UsageError(f"track {name!r}: expected times of shape (N,) or (N, 2), or a rate, found {found}")
    if times.dtype.kind == "f":
        if not (np.abs(times) < 2**33).all():
            raise UsageError(f"track {name!r}: a time is not a number of seconds within 250 years of 0")
        times = np.rint(times.astype(np.float64) * _NS)
    return times.astype(np.int64)


def as_json(value: Mapping[str, Any]) -> str:
    """JSON of a mapping, which may have values of NumPy."""
    return json.dumps(value, default=_plain)


def _plain(value: Any) -> Any:
    """A value of NumPy as JSON has it."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise UsageError(f"fields: {type(value).__name__} cannot be stored as JSON")


__all__ = ["TrackValues", "Writer"]
