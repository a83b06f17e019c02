"""Options that a source of a mix, or a camera, has of its own instead of the loader's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional, Tuple, Union

from ._values import Value, number
from .colors import ColorJitter, Normalize
from .crops import CenterCrop, Cover, Crop, MultiScaleCrop, RandomCrop, RandomResizedCrop, SmartResize, ThreeCrop
from .errors import UsageError
from .frames import AllFrames, Frames, Random, Run, Uniform, Views, Windows

FramesGiven = Union[int, Frames, None]
CropGiven = Union[int, Tuple[int, int], Crop]

FRAMES = (Uniform, Random, Run, Windows, Views, AllFrames)
CROPS = (CenterCrop, RandomCrop, RandomResizedCrop, MultiScaleCrop, ThreeCrop, Cover, SmartResize)


def one(
    option: str,
    value: Any,
    kinds: Tuple[Any, ...],
    short: Any = None,
    *,
    is_text: bool = False,
    is_optional: bool = True,
) -> Any:
    """A value of one of these classes; ``short`` makes one of the number, or text, that may be written instead."""
    if isinstance(value, kinds) or value is None and is_optional:
        return value
    known = [f"vidrec.{kind.__name__}(...)" for kind in kinds]
    listed = " or ".join([", ".join(known[:-1]), known[-1]] if len(known) > 1 else known)
    others = (bool, Value, dict) if is_text else (bool, Value, dict, str)
    if short is None or value is None or isinstance(value, others):
        raise refused(option, listed if short is None else f"a number or {listed}", value)
    try:
        return short(value)
    except UsageError as e:
        # What is written as a number is refused by the name of the option.
        expected = str(e).split(": expected ", 1)[-1].rsplit(", found ", 1)[0]
        raise refused(option, f"{expected}, or {listed}", value) from None


def probability(option: str, value: Any) -> float:
    """A probability, or an error that names the option."""
    found = number(value, 0.0, 1.0)
    if found is None:
        raise refused(option, "a probability from 0 to 1", value)
    return float(found)


def refused(option: str, expected: str, found: Any) -> UsageError:
    """The error about a loader's option."""
    return UsageError(f"loader option {option}: expected {expected}, found {found!r}")


class Own(Value):
    """What both have."""

    crop: Optional[CropGiven]
    flip: Optional[float]
    color: Optional[ColorJitter]
    normalize: Optional[Normalize]

    def _check_own(self, what: str) -> None:
        self._keep("crop", one(f"{what}: crop", self.crop, CROPS, CenterCrop))
        self._keep("flip", None if self.flip is None else probability(f"{what}: flip", self.flip))
        self._keep("color", one(f"{what}: color", self.color, (ColorJitter,)))
        self._keep("normalize", one(f"{what}: normalize", self.normalize, (Normalize,)))


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

    def __post_init__(self) -> None:
        self._check_own("cameras")


__all__ = ["Camera"]
