"""Options that a source of a mix, or a camera, has of its own instead of the loader's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Optional, Tuple, Union

from ._values import Value, check
from .colors import ColorJitter, Normalize
from .crops import CenterCrop, Crop
from .frames import Frames

FramesGiven = Union[int, Frames, None]
CropGiven = Union[int, Tuple[int, int], Crop]


def whole_form(short: Any, value: Any) -> Any:
    """A value, for which a number, a size or a text may be written instead: the first field of this class."""
    return value if value is None or isinstance(value, (Value, Mapping)) else short(value)


class Own(Value):
    """Options that a source or a camera has of its own."""

    crop: Optional[CropGiven]
    flip: Optional[float]
    color: Optional[ColorJitter]
    normalize: Optional[Normalize]

    def __post_init__(self) -> None:
        self._keep("crop", whole_form(CenterCrop, self.crop))
        super().__post_init__()

    def _check(self) -> None:
        check("cameras", {"names": ["camera"], "own": {"camera": self}})


@dataclass(frozen=True, repr=False)
class Camera(Own):
    """Options that a camera has of its own, for :class:`Cameras`. None stands for those of the source, or the loader.

    Parameters
    ----------
    crop : Crop or size, optional
        The part of a frame that becomes the picture. Pictures of all cameras have one size.
    flip : float, optional
        The probability that a clip is mirrored. 0 for a camera whose left and right mean something.
    color : ColorJitter, optional
        How much colors vary.
    normalize : Normalize, optional
        How levels become numbers.

    Examples
    --------
    >>> vidrec.Cameras(["front", "wrist"], own={"wrist": vidrec.Camera(flip=0.0)})
    Cameras(names=('front', 'wrist'), own={'wrist': Camera(flip=0.0)})
    """

    crop: Optional[CropGiven] = None
    flip: Optional[float] = None
    color: Optional[ColorJitter] = None
    normalize: Optional[Normalize] = None


__all__ = ["Camera"]
