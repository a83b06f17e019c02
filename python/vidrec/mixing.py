"""Mixes of data sets."""

from __future__ import annotations

import json
import math
import operator
from dataclasses import dataclass, field, replace
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from . import _vidrec
from ._options import OWN, own_options
from ._storage import Path
from ._values import check
from .colors import ColorJitter, Normalize
from .dataset import Dataset, opened
from .errors import UsageError
from .frames import Uniform
from .own_options import CropGiven, FramesGiven, Own, whole_form
from .tracks import TrackWindow


@dataclass(frozen=True, repr=False)
class Source(Own):
    """A data set and its weight in a :func:`mix`, with options of the loader that it has of its own.

    None stands for the loader's option of the same name. If sources have different numbers of frames, a batch has as many as
    its longest sample, the others end in zeros, and ``batch.frame_mask`` is False there. If they have pictures of different
    sizes, each batch has pictures of one size.

    Parameters
    ----------
    data : Dataset or path
        The data set.
    weight : float
        Its weight, in any unit.
    frames : int or Frames, optional
        The frames of a sample.
    crop : Crop or size, optional
        The part of a frame that becomes the picture, and the size of the picture.
    flip : float, optional
        The probability that a clip is mirrored.
    color : ColorJitter, optional
        How much colors vary.
    normalize : Normalize, optional
        How levels become numbers.
    tracks : mapping of str to TrackWindow, optional
        Tracks of the loader that come otherwise, such as actions normalized by the statistics of this source. Their values
        have the same shape and type in all sources.

    Examples
    --------
    >>> pictures = vidrec.Source("train", 0.3, frames=1, crop=vidrec.RandomResizedCrop(64))
    >>> both = vidrec.mix({"clips": ("train", 0.7), "pictures": pictures}, samples_per_epoch=20, window=10)
    >>> batch = next(iter(vidrec.Loader(both, batch_size=10, frames=4, crop=64)))
    >>> sorted(batch.frame_mask.sum(1).tolist())
    [1, 1, 1, 4, 4, 4, 4, 4, 4, 4]
    """

    _positional = 2

    data: Union[Dataset, Path]
    weight: float
    frames: FramesGiven = None
    crop: Optional[CropGiven] = None
    flip: Optional[float] = None
    color: Optional[ColorJitter] = None
    normalize: Optional[Normalize] = None
    tracks: Optional[Mapping[str, TrackWindow]] = field(default=None, hash=False)

    def __post_init__(self) -> None:
        self._keep("frames", whole_form(Uniform, self.frames))
        super().__post_init__()

    def _check(self) -> None:
        for name in OWN:
            if getattr(self, name) is not None:
                check(name, getattr(self, name))


def mix(
    sources: Mapping[str, Union[Source, Tuple[Union[Dataset, Path], float]]],
    *,
    samples_per_epoch: Optional[int] = None,
    window: int = 1000,
    schedule: Sequence[Tuple[int, Mapping[str, float]]] = (),
) -> Mix:
    """Mix several data sets, each with a weight, for a :class:`Loader`.

    They may differ in classes and sizes, and be anywhere. Classes are joined by name, as :func:`merge` does;
    :func:`subset` writes a data set with other labels. Any ``window`` samples in a row have each source as often as
    its weight says, rounded down or up. The clips of a source are shuffled, those of a remote one in blocks, and each
    comes once before any comes again. Everything is a function of the place in the stream, so that a run resumes exactly
    on any number of ranks.

    Parameters
    ----------
    sources : mapping
        A data set or path and a weight, in any unit, for each name: ``{"kinetics": (ds, 0.7), "ssv2": (other, 0.3)}``. A
        :class:`Source` also has options of the loader that are its own.
    samples_per_epoch : int, optional
        Samples in an epoch. Default: as many as all sources have.
    window : int, default 1000
        Samples in a window. If the samples of all ranks in a batch divide it, each rank finds the same sources at the same
        places of the same batches, over and over.
    schedule : sequence of (int, mapping), default ()
        Weights of all sources from some samples on: ``[(100_000, {"kinetics": 0.5, "ssv2": 0.5})]``. Samples are counted
        over all ranks and epochs from 0, not batches, so that a run may go on with other batches. One from 0 on replaces
        the weights of ``sources``.

    Returns
    -------
    Mix

    Raises
    ------
    UsageError
        A weight is negative or not a number, or none is positive; a source has no clips; the schedule has an unknown name,
        lacks one, or its steps do not increase.

    Examples
    --------
    >>> train = vidrec.open("train")
    >>> both = vidrec.mix({"left": (train[:6], 0.7), "right": (train[6:], 0.3)}, samples_per_epoch=20, window=10)
    >>> loader = vidrec.Loader(both, batch_size=10, crop=64)
    >>> for batch in loader:
    ...     assert batch.source_names.count("left") == 7
    >>> loader.stats().sources["right"].samples
    6
    """
    return Mix._make(sources, samples_per_epoch, window, schedule)


class Mix:
    """Data sets with weights, for a :class:`Loader`. Made by :func:`mix`.

    ``len`` is the number of clips of all sources.
    """

    names: List[str]
    """The names of the sources, in order: ``batch.source_ids`` counts them."""
    sources: Dict[str, Dataset]
    """The data set of each source."""
    _inner: _vidrec.Mix
    _recipe: Tuple[Any, ...]

    def __init__(self) -> None:
        raise TypeError("vidrec.mix makes mixes")

    @classmethod
    def _make(cls, sources: Any, samples_per_epoch: Any, window: Any, schedule: Any) -> Mix:
        self = object.__new__(cls)
        given = {name: _source(name, source) for name, source in sources.items()}
        self.names, self.sources = list(given), {name: source.data for name, source in given.items()}
        steps = [(_count("schedule", step, 0), _weights(given)) for step, given in schedule]
        samples = None if samples_per_epoch is None else _count("samples_per_epoch", samples_per_epoch, 1)
        window = min(_count("window", window, 1), 2**32 - 1)
        options = {"samples_per_epoch": samples, "window": window, "schedule": steps, "own": own_options(given)}
        named = [(name, source.data._inner, source.weight) for name, source in given.items()]
        self._inner = _vidrec.Mix(named, json.dumps(options))
        self._recipe = (given, samples, window, _steps(steps))
        return self

    def __reduce__(self) -> Tuple[Any, ...]:
        return Mix._make, self._recipe

    def __len__(self) -> int:
        return len(self._inner)

    def __repr__(self) -> str:
        return f"<vidrec.Mix of {', '.join(self.names)}: {len(self)} clips>"

    @property
    def classes(self) -> List[str]:
        """Class names by label; empty if labels have no names."""
        return self._inner.classes()

    def place(self, clip: int) -> Tuple[str, int]:
        """The source of a clip, and its index in it.

        Parameters
        ----------
        clip : int
            As ``batch.clips`` has it: counted through all sources, one after another.
        """
        found = self._inner.place(clip) if clip >= 0 else None
        if found is None:
            raise IndexError(f"there is no clip {clip}: the mix has {len(self)}")
        return self.names[found[0]], found[1]


def _source(name: str, given: Any) -> Any:
    """A source with its data set open."""
    if isinstance(given, (tuple, list)) and len(given) == 2:
        given = Source(*given)
    if not isinstance(given, Source):
        raise UsageError(f"mix: source {name!r}: expected a data set and a weight, or vidrec.Source(...), found {given!r}")
    return replace(given, data=opened(given.data), weight=_weight(name, given.weight))


def _weight(name: str, value: Any) -> float:
    try:
        weight = float(value)
    except (TypeError, ValueError):
        weight = math.nan
    if not math.isfinite(weight):
        raise UsageError(f"mix: the weight of {name!r}: expected a finite number, found {value!r}")
    return weight


def _weights(given: Mapping[str, float]) -> List[Tuple[str, float]]:
    return [(name, _weight(name, weight)) for name, weight in given.items()]


def _steps(steps: List[Tuple[int, List[Tuple[str, float]]]]) -> List[Tuple[int, Dict[str, float]]]:
    """The schedule in the form in which it is given."""
    return [(step, dict(weights)) for step, weights in steps]


def _count(option: str, value: Any, least: int) -> int:
    number = operator.index(value)
    if not least <= number < 2**64:
        raise UsageError(f"mix: {option}: expected {least} or more, found {number}")
    return number
