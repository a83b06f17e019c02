"""Values beside the frames of a clip, at a rate of their own."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, List, Optional, Tuple, Union

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
    values: Union[NDArray[Any], List[str]]
    """Its values: an array of shape (values, ...), read-only, or a list of texts."""
    times: NDArray[np.int64]
    """The time of each value, of a span its start: int64 of shape (values,)."""
    ends: Optional[NDArray[np.int64]]
    """The end of each span; None with other timings."""
    rate: Optional[Fraction]
    """Values per second with timing ``rate``; None with others."""

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        kind = "texts" if isinstance(self.values, list) else f"{self.values.dtype} {list(self.values.shape[1:])}"
        return f"<vidrec.Track {self.name!r}: {len(self)} values, {kind}, {self.timing}>"


def of(schema: TrackSchema, told: Tuple[Any, ...]) -> Track:
    """A track of what the compiled module says of it."""
    count, numbers, texts, times, ends, rate = told
    values: Union[NDArray[Any], List[str]] = texts
    if numbers is not None:
        values = np.frombuffer(numbers, NUMBERS[schema.type]).reshape(count, *schema.shape)
    return Track(
        name=schema.name,
        timing=schema.timing,
        values=values,
        times=np.frombuffer(times, np.int64),
        ends=None if ends is None else np.frombuffer(ends, np.int64),
        rate=None if rate is None else Fraction(*rate),
    )
