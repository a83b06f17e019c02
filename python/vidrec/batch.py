"""What a loader gives."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple, Union

from . import _vidrec

# torch's or NumPy's, which is known only where the code runs.
Array = Any


class Batch:
    """Clips that are trained on together.

    It stays as it is for as long as you hold it, or any array or tensor made from it without a copy. Its memory is
    filled again only when all of those are gone. (With ``out=``, it is yours, and filled again when the next batch is
    asked for.)

    Attributes
    ----------
    frames : torch.Tensor or numpy.ndarray
        Pictures, in the shape of the loader's ``layout`` and of its ``dtype``.
    labels : torch.Tensor or numpy.ndarray
        Label of each clip, -1 for none: int64 of shape (B,).
    clips : torch.Tensor or numpy.ndarray
        Index of each clip in the data set: int64 of shape (B,).
    mask : torch.Tensor or numpy.ndarray
        False for a clip that only fills up the last batch and should not count: bool of shape (B,).
    epoch, number : int
        Which batch it is, counted from 0.
    """

    __slots__ = ("_inner", "_params", "clips", "epoch", "frames", "labels", "mask", "number")

    def __init__(
        self,
        frames: Array,
        labels: Array,
        clips: Array,
        mask: Array,
        params: Union[_vidrec.Batch, List[Dict[str, Any]]],
        epoch: int = 0,
        number: int = 0,
    ) -> None:
        self.frames, self.labels, self.clips, self.mask = frames, labels, clips, mask
        self.epoch, self.number = epoch, number
        self._inner: Optional[_vidrec.Batch] = None
        self._params: Optional[List[Dict[str, Any]]] = None
        if isinstance(params, list):
            self._params = params
        else:
            self._inner = params

    @property
    def params(self) -> List[Dict[str, Any]]:
        """What was drawn for each clip.

        A dict each: ``sample``, ``view``, ``frames`` (those that were taken), ``window`` (left, top, width and height of
        the part of a frame that became the picture; None if the clip's frames differ in size), ``flip``, ``color``,
        ``instead_of`` (index of the clip that could not be read, or None).
        """
        if self._params is None:
            assert self._inner is not None
            self._params = self._inner.params
        return self._params

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        shape, dtype = tuple(self.frames.shape), str(self.frames.dtype).replace("torch.", "")
        return f"<vidrec.Batch {self.number} of epoch {self.epoch}: {dtype} {shape}>"

    def __reduce__(self) -> Tuple[Any, ...]:
        return Batch, (self.frames, self.labels, self.clips, self.mask, self.params, self.epoch, self.number)

    def to(self, *args: Any, **kwargs: Any) -> Batch:
        """The batch with each tensor's ``to(...)``, for torch: ``batch.to("cuda", non_blocking=True)``.

        A dtype is for ``frames`` alone.
        """
        import torch

        frames = self.frames.to(*args, **kwargs)
        rest = {k: v for k, v in kwargs.items() if k in ("non_blocking", "copy")}
        if frames.device == self.labels.device and not any(isinstance(a, (str, torch.device)) for a in args):
            labels, clips, mask = self.labels, self.clips, self.mask
        else:
            labels, clips, mask = (t.to(frames.device, **rest) for t in (self.labels, self.clips, self.mask))
        return self._with(frames, labels, clips, mask)

    def pin_memory(self) -> Batch:
        """The batch in pinned memory, copied where it is not; for torch. ``DataLoader(pin_memory=True)`` calls it."""
        return self._with(*(t.pin_memory() for t in (self.frames, self.labels, self.clips, self.mask)))

    def _with(self, frames: Array, labels: Array, clips: Array, mask: Array) -> Batch:
        params: Union[_vidrec.Batch, List[Dict[str, Any]], None] = self._inner if self._params is None else self._params
        assert params is not None
        return Batch(frames, labels, clips, mask, params, self.epoch, self.number)
