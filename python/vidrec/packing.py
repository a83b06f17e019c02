"""Values of options of a pack: how many frames of a video.

Examples
--------
>>> str(vidrec.Fps(29.97)), str(vidrec.Every(3))
('fps:29.97', 'every:3')
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Tuple, Union


@dataclass(frozen=True)
class Fps:
    """As many frames a second of presentation time: ``frames`` of :func:`vidrec.pack`.

    Parameters
    ----------
    rate : float, int or str
        Such as 8, 29.97 or ``"30000/1001"``.
    """

    rate: Union[float, str]

    def __str__(self) -> str:
        return f"fps:{_number(self.rate)}"


@dataclass(frozen=True)
class Every:
    """The first frame, and every one that is a multiple of ``step`` after it: ``frames`` of :func:`vidrec.pack`."""

    step: int

    def __str__(self) -> str:
        return f"every:{self.step}"


def _number(value: Union[float, str]) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


#: A number of frames, or those at a pace.
FrameChoice = Union[int, Literal["all", "keyframes"], Fps, Every, str]
#: Pixels of the shorter side, (height, width), ``"original"``, or ``"256:enlarge"``.
FrameSize = Union[int, Tuple[int, int], str]

__all__ = ["Every", "Fps", "FrameChoice", "FrameSize"]
