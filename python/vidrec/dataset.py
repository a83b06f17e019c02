"""Data sets and clips."""

from __future__ import annotations

import json
import operator
import os
from fractions import Fraction
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple, Union, overload

import numpy as np
from numpy.typing import NDArray

from . import _vidrec
from .errors import UsageError

Path = Union[str, "os.PathLike[str]"]


def open(path: Path, *, io: str = "map") -> Dataset:
    """Open a data set.

    It takes the same time whatever the number of clips: clips and frames are checked when they are used.

    Parameters
    ----------
    path : str or path-like
        The data set's folder, a ``.rec``, a ``.vidx`` or a ``dataset.json``.
    io : {"map", "read", "read-uncached"}, default "map"
        How files are read: mapped; by positional reads, for network file systems and files that somebody may cut
        while they are open (of a mapped file that is an error on Linux, unless ``faulthandler`` was enabled after the
        first data set was opened); or by such reads that leave the page cache to others.

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
    """
    return Dataset._opened(os.path.abspath(os.fspath(path)), os.fspath(path), io)


class Dataset(Sequence["Clip"]):
    """Clips, in order. Made by :func:`open`.

    Cheap to copy, to slice and to send to another process: it goes by its path. Slices, :meth:`select`,
    :meth:`filter`, :meth:`split` and :meth:`concat` share the files and copy no pictures.

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
    def _opened(cls, path: str, shown: str, io: str) -> Dataset:
        # Errors name the path as it was given; another process may have another working folder.
        return cls._make(_vidrec.Dataset(shown, io), ("open", path, io))

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
            raise IndexError(f"there is no clip {place}, the data set has {len(self)}")
        return Clip(self, place % len(self))

    def __iter__(self) -> Iterator[Clip]:
        return (Clip(self, i) for i in range(len(self)))

    def __add__(self, other: Dataset) -> Dataset:
        return Dataset.concat([self, other])

    def __repr__(self) -> str:
        what = f"{self._recipe[1]!r}" if self._recipe[0] == "open" else self._recipe[0]
        return f"<vidrec.Dataset {what}: {len(self)} clips>"

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
    def fingerprint(self) -> str:
        """SHA-256 that tells apart data sets of other clips or in another order."""
        return self._inner.fingerprint()

    @property
    def meta(self) -> Dict[str, Any]:
        """What ``dataset.json`` has: shards with sizes and digests, class names, and the settings of packing."""
        found: Dict[str, Any] = json.loads(self._inner.describe())
        return found

    def select(self, indices: Iterable[int]) -> Dataset:
        """The data set of clips ``indices``, in that order; the same may come more than once.

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

    def split(self, *fractions: float, seed: int = 0, by: Optional[Callable[[Clip], Any]] = None) -> List[Dataset]:
        """Split at random into several data sets; what is left makes the last.

        Parameters
        ----------
        *fractions : float
            Share of each part, in all less than 1 (or 1, and then the last part is left out).
        seed : int, default 0
            The same seed gives the same parts.
        by : callable, optional
            Clips of which ``by(clip)`` is equal stay together, such as those cut from one video. Shares then are of
            such groups. Default: several draws that were packed of one video stay together.

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
        total = float(np.sum(fractions))
        if not fractions or min(fractions) < 0 or total > 1 + 1e-9:
            raise UsageError(f"split takes fractions that add up to at most 1, not {fractions}")
        groups: Dict[Any, List[int]] = {}
        draws = self._inner.draws()
        for i in range(len(self)):
            groups.setdefault(i // draws if by is None else by(self[i]), []).append(i)
        members = list(groups.values())
        order = np.random.Generator(np.random.PCG64(seed)).permutation(len(members))
        ends = [round(float(end) * len(members)) for end in np.cumsum(fractions)]
        if total < 1 - 1e-9:
            ends.append(len(members))
        parts = (order[start:end] for start, end in zip([0, *ends], ends))
        return [self.select(sorted(i for group in part for i in members[group])) for part in parts]

    @staticmethod
    def concat(parts: Sequence[Dataset]) -> Dataset:
        """The clips of several data sets, one after another. They must have the same class names.

        Parameters
        ----------
        parts : sequence of Dataset
        """
        inner = _vidrec.Dataset.concat([part._inner for part in parts])
        return Dataset._make(inner, ("concat", *(part._recipe for part in parts)))


def _rebuild(recipe: Tuple[Any, ...]) -> Dataset:
    """A data set from how it was made."""
    kind, *rest = recipe
    if kind == "open":
        path, io = rest
        return Dataset._opened(path, path, io)
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
        return self.dataset._inner.frames_of(self.index)

    def __repr__(self) -> str:
        return f"<vidrec.Clip {self.index}: {self.source!r}, label {self.label}, {len(self)} frames>"

    @property
    def label(self) -> Optional[int]:
        """Label, or None."""
        return self._told[0]

    @property
    def class_name(self) -> Optional[str]:
        """Name of its class, or None."""
        return self._told[1] or None

    @property
    def source(self) -> str:
        """Path of the video, relative to the folder that was packed."""
        return self._told[2]

    @property
    def attributes(self) -> Dict[str, Any]:
        """What else is known of it: further columns of the manifest, and what the packer noted."""
        found: Dict[str, Any] = json.loads(self._told[3] or "{}")
        return found

    @property
    def size(self) -> Optional[Tuple[int, int]]:
        """Width and height of every frame in pixels; None when they differ."""
        width, height = self._told[4]
        return (width, height) if width and height else None

    @property
    def time_base(self) -> Fraction:
        """Unit of :attr:`pts` in seconds."""
        return Fraction(*self._told[5])

    @property
    def is_short(self) -> bool:
        """Whether the video had fewer frames than asked for, so that some stand more than once."""
        return self._told[6]

    @property
    def pts(self) -> NDArray[np.int64]:
        """Presentation time of each frame in units of :attr:`time_base`: int64 of shape (frames,)."""
        return np.array(self.dataset._inner.times(self.index)[0], np.int64)

    @property
    def pts_seconds(self) -> NDArray[np.float64]:
        """Presentation time of each frame in seconds: float64 of shape (frames,)."""
        numerator, denominator = self._told[5]
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

    def jpeg(self, t: int) -> bytes:
        """The JPEG of frame ``t``, byte for byte as it is stored."""
        return self.dataset._inner.jpeg(self.index, self._frame(t))

    def _frame(self, t: int) -> int:
        place, frames = operator.index(t), len(self)
        if not -frames <= place < frames:
            raise IndexError(f"there is no frame {place}, clip {self.index} has {frames}")
        return place % frames
