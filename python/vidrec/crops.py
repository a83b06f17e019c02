"""Which part of a frame becomes the picture, and how large the picture is: the option ``crop`` of :class:`vidrec.Loader`.

A size, such as ``crop=224`` or ``crop=(224, 320)``, is :class:`CenterCrop`. What is drawn is drawn once a clip, so all of
its frames have the same.

>>> from vidrec import RandomResizedCrop
>>> loader = vidrec.Loader("train", batch_size=4, crop=RandomResizedCrop(64), flip=0.5, shuffle=True)
>>> loader.shape
(4, 8, 3, 64, 64)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Sequence, Tuple, Union

from ._values import Value

Size = Union[int, Tuple[int, int]]
"""A side, or height and width, in pixels."""
Resize = Union[int, Tuple[int, int], None]
"""Length of the shorter side, or a range."""


class _Crop(Value):
    """A value of the option ``crop``."""

    _option = "crop"
    _is_one_of_several = True


@dataclass(frozen=True, repr=False)
class _Resized(_Crop):
    """A crop of frames that may be resized first."""

    size: Size
    resize: Resize = None


@dataclass(frozen=True, repr=False)
class CenterCrop(_Resized):
    """The middle of the frame. A smaller frame is enlarged until it covers the picture.

    Parameters
    ----------
    size : int or (int, int)
        Side of the pictures, or height and width.
    resize : int or (int, int), optional
        Length to which the shorter side of the frame is resized first, or a range from which it is drawn for each clip.
        Default: the frame as it is.

    Examples
    --------
    >>> vidrec.CenterCrop(224, resize=256)
    CenterCrop(size=224, resize=256)
    """


@dataclass(frozen=True, repr=False)
class RandomCrop(_Resized):
    """A part of the frame at a random place.

    Parameters
    ----------
    size, resize
        As :class:`CenterCrop` takes them.

    Examples
    --------
    >>> vidrec.RandomCrop(224, resize=(256, 320))
    RandomCrop(size=224, resize=(256, 320))
    """


@dataclass(frozen=True, repr=False)
class RandomResizedCrop(_Crop):
    """A random part of the frame, of random area and shape, resized to the picture: as torchvision's.

    Parameters
    ----------
    size : int or (int, int)
        Side of the pictures, or height and width.
    scale : (float, float), default (0.08, 1.0)
        Least and greatest area, as a fraction of the frame's.
    ratio : (float, float), default (3 / 4, 4 / 3)
        Least and greatest width over height.

    Examples
    --------
    >>> vidrec.RandomResizedCrop(224, scale=(0.5, 1))
    RandomResizedCrop(size=224, scale=(0.5, 1))
    """

    size: Size
    scale: Tuple[float, float] = (0.08, 1.0)
    ratio: Tuple[float, float] = (3 / 4, 4 / 3)


@dataclass(frozen=True, repr=False)
class MultiScaleCrop(_Crop):
    """A part whose sides are 1, 7/8, 3/4 or 0.66 of the frame's shorter side, resized to the picture (TSN).

    Parameters
    ----------
    size : int or (int, int)
        Side of the pictures, or height and width.
    fixed : bool, default False
        Whether the part is at one of 13 fixed places, rather than at any.

    Examples
    --------
    >>> vidrec.MultiScaleCrop(224, fixed=True)
    MultiScaleCrop(size=224, fixed=True)
    """

    size: Size
    fixed: bool = False


@dataclass(frozen=True, repr=False)
class ThreeCrop(_Resized):
    """Left, middle and right of the frame, or top, middle and bottom: each is a sample of its own, for testing.

    Parameters
    ----------
    size, resize
        As :class:`CenterCrop` takes them.

    Examples
    --------
    >>> vidrec.ThreeCrop(256, resize=256)
    ThreeCrop(size=256, resize=256)
    """


@dataclass(frozen=True, repr=False)
class Cover(_Crop):
    """The largest part of the frame in the shape of the picture, resized without distortion.

    Parameters
    ----------
    size : int or (int, int), optional
        Side of the pictures, or height and width.
    sizes : sequence of (int, int), optional
        Instead: several heights and widths. A clip goes to the one that is nearest in shape, and all clips of a batch have
        the same.
    random : bool, default False
        Whether the part is at a random place, rather than in the middle.

    Examples
    --------
    >>> vidrec.Cover(sizes=[(192, 256), (256, 192)])
    Cover(sizes=((192, 256), (256, 192)))
    """

    size: Optional[Size] = None
    sizes: Optional[Sequence[Tuple[int, int]]] = None
    random: bool = False


@dataclass(frozen=True, repr=False)
class SmartResize(_Crop):
    """The whole frame in about its own shape and size, as Qwen2-VL and Qwen2.5-VL take it: ``smart_resize`` of transformers.

    Both sides become multiples of ``factor``, and the number of pixels is kept within bounds. All clips of a batch have the
    same size, that of each by itself: with :class:`TokenBudget`, as many as fit.

    Parameters
    ----------
    factor : int, default 28
        What both sides are multiples of: the side of a patch, times the patches side by side that become one token.
    min_pixels, max_pixels : int, default 128 * 28 * 28 and 768 * 28 * 28
        Least and greatest number of pixels of a picture.
    total_pixels : int, optional
        Greatest number of pixels of all pictures of a sample, where two frames count as one: 128,000 tokens of a model are
        ``int(128000 * 28 * 28 * 0.9)``. It lowers ``max_pixels``, but not below 1.05 times ``min_pixels``. Default: no limit.
    per_video : bool, default False
        Whether ``min_pixels`` is of all pictures of a sample together, as in Qwen3-VL, rather than of each.

    Examples
    --------
    >>> vidrec.SmartResize(28, max_pixels=256 * 28 * 28)
    SmartResize(max_pixels=200704)
    """

    factor: int = 28
    min_pixels: int = 128 * 28 * 28
    max_pixels: int = 768 * 28 * 28
    total_pixels: Optional[int] = None
    per_video: bool = False

    @classmethod
    def qwen3_vl(cls, *, shortest_edge: int = 4096, longest_edge: int = 25165824, max_video_tokens: int = 768) -> SmartResize:
        """The rule of Qwen3-VL: that of ``Qwen3VLVideoProcessor`` of transformers with ``cap_pixels_per_frame=True``.

        Parameters
        ----------
        shortest_edge, longest_edge : int, default 4096 and 25165824
            The ``size`` of the processor: least and greatest number of pixels of all pictures of a sample together.
        max_video_tokens : int, default 768
            Most tokens of a picture, of 32 by 32 pixels each.

        Examples
        --------
        >>> vidrec.SmartResize.qwen3_vl()
        SmartResize(factor=32, min_pixels=4096, max_pixels=786432, total_pixels=12582912, per_video=True)
        """
        return cls(
            32,
            min_pixels=shortest_edge,
            max_pixels=max_video_tokens * 32 * 32,
            total_pixels=longest_edge // 2,
            per_video=True,
        )


Crop = Union[CenterCrop, RandomCrop, RandomResizedCrop, MultiScaleCrop, ThreeCrop, Cover, SmartResize]
"""What ``crop`` may be, beside a size."""

__all__ = ["CenterCrop", "Cover", "Crop", "MultiScaleCrop", "RandomCrop", "RandomResizedCrop", "SmartResize", "ThreeCrop"]
