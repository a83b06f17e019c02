"""Options that a source of a mix, or a camera, has of its own instead of the loader's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence, Tuple, Union

from ._values import Value, check
from .colors import ColorJitter, Normalize
from .crops import CenterCrop, Crop
from .frames import Frames, Windows

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
    frames : Windows, int or sequence of int, optional
        The frames that it shows, by their offsets from the current one; the sample has frames at these offsets, and more for other
        cameras. Pictures of the others are zeros, which are not decoded, and :attr:`vidrec.Batch.frame_mask` is False for them.
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

    Of the frames of ``Windows([-5, 0])``, the wrist shows the current one:

    >>> vidrec.Camera(frames=[0])
    Camera(frames=Windows(offsets=(0,)))
    """

    frames: Union[Windows, int, Sequence[int], None] = None
    crop: Optional[CropGiven] = None
    flip: Optional[float] = None
    color: Optional[ColorJitter] = None
    normalize: Optional[Normalize] = None

    def __post_init__(self) -> None:
        self._keep("frames", whole_form(Windows, self.frames))
        super().__post_init__()


__all__ = ["Camera"]
