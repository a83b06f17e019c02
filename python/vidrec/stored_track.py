"""Values beside the frames of a clip, at a rate of their own."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, List, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from .results import TrackSchema
from .words import TrackTiming

# The types of numbers, little-endian as they are stored.
NUMBERS = {"f16": "<f2", "f32": "<f4", "f64": "<f8", "i16": "<i2", "i32": "<i4", "i64": "<i8"}
NUMBERS.update({"u8": "u1", "u16": "<u2", "bool": "?"})
# Those that may be infinite or not a number.
FLOATS = ("f16", "f32", "f64")


@dataclass(frozen=True, eq=False)
class Track:
    """A track of a clip: states or actions of a robot, captions, sound. ``clip.track("action")`` gives one.

    Times are in nanoseconds on the clip's clock, which is that of its frames.
    """

    name: str
    """Its name."""
    timing: TrackTiming
    """How its values lie in time."""
    values: Union[NDArray[Any], List[str], List[NDArray[Any]]]
    """Its values: an array of shape (values, ...), read-only, or a list of texts, or of an array of shape (items, ...) for each list."""
    times: NDArray[np.int64]
    """The time of each value, of a span its start: int64 of shape (values,)."""
    ends: Optional[NDArray[np.int64]]
    """The end of each span; None with other timings."""
    rate: Optional[Fraction]
    """Values per second with timing ``rate``; None with others."""

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        of_lists = is_lists(self.values)
        first: Any = self.values[0] if of_lists else self.values
        kind = "texts" if isinstance(first, list) else f"{'lists of ' * of_lists}{first.dtype} {list(first.shape[1:])}"
        return f"<vidrec.Track {self.name!r}: {len(self)} values, {kind}, {self.timing}>"


def is_lists(values: Any) -> bool:
    """Whether values are arrays of the items of lists."""
    return isinstance(values, list) and bool(values) and all(isinstance(value, np.ndarray) for value in values)


def split(items: NDArray[Any], lists: Sequence[int]) -> List[NDArray[Any]]:
    """An array for each list, of so many items each."""
    return np.split(items, np.cumsum(lists, dtype=np.int64)[:-1])[: len(lists)]


def of(schema: TrackSchema, told: Tuple[Any, ...]) -> Track:
    """A track of what the compiled module says of it."""
    count, numbers, texts, times, ends, rate, lists = told
    values: Any = texts
    if numbers is not None:
        items = np.frombuffer(numbers, NUMBERS[schema.type]).reshape(sum(lists) if schema.list else count, *schema.shape)
        values = split(items, lists) if schema.list else items
    return Track(
        name=schema.name,
        timing=schema.timing,
        values=values,
        times=np.frombuffer(times, np.int64),
        ends=None if ends is None else np.frombuffer(ends, np.int64),
        rate=None if rate is None else Fraction(*rate),
    )
