"""Batches of frames that are not decoded."""

from __future__ import annotations

from typing import Any, Callable, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

# torch's or NumPy's, which is known only where the code runs.
Array = Any


class Recipe(NamedTuple):
    """What the loader's options make of resized frames."""

    shape: Tuple[int, ...]
    channels: str
    dtype: str
    layout: str
    channels_last_3d: bool
    cameras: int


class Jpegs:
    """The JPEGs of a batch, and how each becomes its picture: :attr:`Batch.jpegs`.

    It is a sequence of N whole JPEG files, as uint8 tensors or arrays of one dimension that are views of ``data``. They
    are in the order of their places; a frame that pads a clip, or is of a missing camera, has none.

    A picture is made of a decoded frame in this order: it is cut to its ``bounds``; of that, the part ``window`` is resized
    to the loader's ``size``, bilinear with half-pixel centers, and with a triangle as wide as the step where it gets smaller
    (``antialias=True`` in torchvision; in Pillow, ``resize(size, BILINEAR, box)``); it is mirrored if ``flip`` says so; and
    ``colors`` are applied to levels of 0 to 255. The loader's ``channels``, ``dtype`` and ``layout`` come
    last, with ``normalize``. :func:`vidrec.torch.finish` does all of it.

    Attributes
    ----------
    data : torch.Tensor or numpy.ndarray
        All JPEGs, one behind the other: uint8. With the loader's ``pin_memory``, in pinned memory.
    offsets : torch.Tensor or numpy.ndarray
        Where each begins, and where the last one ends: int64 of shape (N + 1,).
    places : torch.Tensor or numpy.ndarray
        Which frame of the batch each is: ``b * T + t`` for frame ``t`` of clip ``b``; with V cameras, ``(b * V + v) * T + t``.
        int64 of shape (N,).
    sizes : torch.Tensor or numpy.ndarray
        Width and height in pixels: int64 of shape (N, 2).
    bounds : torch.Tensor or numpy.ndarray
        Pixels that the picture may depend on: left, top, and the first column and row beyond. int64 of shape (N, 4).
    windows : torch.Tensor or numpy.ndarray
        The part of the frame that becomes the picture, in frame pixels: left, top, width, height. Inside of the bounds, and
        not always at whole pixels. float64 of shape (N, 4).
    flip : torch.Tensor or numpy.ndarray
        Whether left and right change places: bool of shape (N,).
    colors : torch.Tensor or numpy.ndarray
        What red, green and blue become: for each of them, factors of all three and what is added. The result is clamped to 0
        to 255. float32 of shape (N, 3, 4).
    normalize : torch.Tensor or numpy.ndarray
        Mean and standard deviation of each channel, for float types: float32 of shape (N, 2, 3).
    """

    __slots__ = ("_recipe", "bounds", "colors", "data", "flip", "normalize", "offsets", "places", "sizes", "windows")

    def __init__(
        self,
        data: Array,
        offsets: Array,
        places: Array,
        sizes: Array,
        bounds: Array,
        windows: Array,
        flip: Array,
        colors: Array,
        normalize: Array,
        recipe: Recipe,
    ) -> None:
        self.data, self.offsets, self.places, self.sizes = data, offsets, places, sizes
        self.bounds, self.windows, self.flip, self.colors, self.normalize = bounds, windows, flip, colors, normalize
        self._recipe = recipe

    @property
    def shape(self) -> Tuple[int, ...]:
        """Shape of the :attr:`Batch.frames` that are to be made."""
        return self._recipe.shape

    @property
    def lengths(self) -> Array:
        """Bytes of each: int64 of shape (N,)."""
        return self.offsets[1:] - self.offsets[:-1]

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, index: int) -> Array:
        if not -len(self) <= index < len(self):
            raise IndexError(f"there is no JPEG {index}, there are {len(self)}")
        index %= len(self)
        return self.data[int(self.offsets[index]) : int(self.offsets[index + 1])]

    def __iter__(self) -> Iterator[Array]:
        ends = self.offsets.tolist()
        return (self.data[start:end] for start, end in zip(ends, ends[1:]))

    def arrays(self) -> List[NDArray[np.uint8]]:
        """All of them as NumPy arrays, without a copy: for DALI, Pillow and OpenCV."""
        return [np.asarray(jpeg) for jpeg in self]

    def __repr__(self) -> str:
        return f"<vidrec.Jpegs: {len(self)} in {len(self.data):,} bytes, for frames of {self.shape}>"

    def __reduce__(self) -> Tuple[Any, ...]:
        where = (self.data, self.offsets, self.places, self.sizes)
        return Jpegs, (*where, self.bounds, self.windows, self.flip, self.colors, self.normalize, self._recipe)

    def pin_memory(self) -> Jpegs:
        """The same with ``data`` in pinned memory, copied where it is not; for torch."""
        return self._with(self.data.pin_memory())

    def _in(self, allocate: Callable[[Sequence[int], str], Array]) -> Jpegs:
        """The same in memory of this allocator of torch."""
        return self._with(allocate(self.data.shape, "uint8").copy_(self.data))

    def _with(self, data: Array) -> Jpegs:
        _, (_, *rest) = self.__reduce__()
        return Jpegs(data, *rest)


def of(data: Array, stored: Optional[Tuple[bytes, ...]], known: Any, recipe: Recipe) -> Optional[Jpegs]:
    """Those of a batch; ``known`` makes arrays or tensors of bytes and a dtype. None if the batch has pictures."""
    if stored is None:
        return None
    offsets, places, sizes, bounds, windows, flip, colors, normalize = stored
    integers = [known(values, np.int64) for values in (offsets, places, sizes, bounds)]
    return Jpegs(
        data,
        integers[0],
        integers[1],
        integers[2].reshape(-1, 2),
        integers[3].reshape(-1, 4),
        known(windows, np.float64).reshape(-1, 4),
        known(flip, np.bool_),
        known(colors, np.float32).reshape(-1, 3, 4),
        known(normalize, np.float32).reshape(-1, 2, 3),
        recipe,
    )
