"""Data sets for ``torch.utils.data.DataLoader``, and the normalization of frames on a GPU.

:class:`vidrec.Loader` needs no ``DataLoader``: it is one. :class:`IterableDataset` and :class:`MapDataset` are for code that
insists, or that has a sampler and a collate function of its own. :func:`normalize` is for batches of bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Sequence, Union

import torch
import torch.utils.data

from . import _samples
from ._storage import Path
from ._workers import share_cores
from .batch import Batch
from .colors import Normalize
from .dataset import Dataset
from .errors import UsageError
from .loader import Loader, _Iterator
from .mixing import Mix
from .words import Layout

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import SampleKeywords


def _shared(number: int) -> torch.Tensor:
    """A number that a ``DataLoader``'s workers see change."""
    value = torch.tensor(number)
    value.share_memory_()  # type: ignore[no-untyped-call, unused-ignore]
    return value


def normalize(
    frames: torch.Tensor,
    by: Optional[Normalize] = None,
    *,
    dtype: torch.dtype = torch.float32,
    layout: Layout = "BTCHW",
    memory_format: torch.memory_format = torch.preserve_format,
) -> torch.Tensor:
    """Normalize frames of bytes, on the device that they are on.

    The second half of a loader's work, for a loader with ``dtype="uint8"`` that feeds a GPU: batches take a quarter of the
    bytes of float32, in memory and on the bus. Two kernels make float32; further ones change type and
    memory format where that is wanted.

    What comes out is ``(level / 255 - mean) / std``, as from a loader with ``dtype="float32"``, but of whole levels: half a
    level, ``0.5 / (255 * std)``, from the loader's at most.

    Parameters
    ----------
    frames : torch.Tensor
        uint8, such as :attr:`vidrec.Batch.frames`.
    by : Normalize, optional
        Mean and standard deviation, such as :data:`vidrec.IMAGENET`. Default: ``level / 255``.
    dtype : torch.dtype, optional
        ``torch.float16``, ``torch.bfloat16`` or ``torch.float32``, the default.
    layout : {"BTCHW", "BCTHW", "BTHWC", "channels_last_3d"}, optional
        That of ``frames``, and of what comes out.
    memory_format : torch.memory_format, optional
        ``torch.channels_last_3d`` for a ``layout`` of BCTHW. Default: the one that ``frames`` has.

    Returns
    -------
    torch.Tensor

    Raises
    ------
    UsageError
        ``frames`` is not uint8 of five dimensions, or ``dtype`` is not one of these.

    Examples
    --------
    >>> import vidrec.torch
    >>> batch = next(iter(vidrec.Loader("train", batch_size=4, crop=64)))
    >>> vidrec.torch.normalize(batch.frames, vidrec.KINETICS).dtype
    torch.float32
    """
    if frames.dtype != torch.uint8 or frames.ndim != 5:
        found = f"{str(frames.dtype).replace('torch.', '')} of shape {tuple(frames.shape)}"
        raise UsageError(f"normalize: expected frames of uint8 and five dimensions, found {found}")
    if dtype not in (torch.float16, torch.bfloat16, torch.float32):
        raise UsageError(f"normalize: expected a dtype of float16, bfloat16 or float32, found {dtype}")
    if layout not in ("BTCHW", "BCTHW", "BTHWC", "channels_last_3d"):
        raise UsageError(f"normalize: expected a layout of BTCHW, BCTHW, BTHWC or channels_last_3d, found {layout!r}")
    place = 1 if layout == "channels_last_3d" else layout.index("C")
    shape = [frames.shape[place] if axis == place else 1 for axis in range(5)]
    if shape[place] not in (1, 3):
        raise UsageError(f"normalize: expected 1 or 3 channels, found {shape[place]} in layout {layout}")
    means, stds = (each[: shape[place]] for each in (by or Normalize(0.0, 1.0)).of_channels())
    factor = torch.tensor([1.0 / (255.0 * s) for s in stds], dtype=torch.float32, device=frames.device).view(shape)
    offset = torch.tensor([-m / s for m, s in zip(means, stds)], dtype=torch.float32, device=frames.device).view(shape)
    # Not addcmul, which takes no operands of different types on every device and in every version.
    made: torch.Tensor = torch.mul(frames, factor).add_(offset).to(dtype)
    return made if memory_format == torch.preserve_format else made.contiguous(memory_format=memory_format)


class IterableDataset(torch.utils.data.IterableDataset):  # type: ignore[type-arg]
    """The batches of a loader, shared out among a ``DataLoader``'s workers.

    Worker ``i`` of ``n`` makes batches ``i``, ``i + n``, ..., so the ``DataLoader`` gives exactly those of the loader, in
    its order, for any number of workers. Give the ``DataLoader`` ``batch_size=None``: these are batches already.

    Parameters
    ----------
    loader : vidrec.Loader

    Examples
    --------
    >>> import torch.utils.data
    >>> from vidrec.torch import IterableDataset
    >>> batches = IterableDataset(vidrec.Loader("train", batch_size=4, crop=64, shuffle=True, threads=1))
    >>> for epoch in range(2):
    ...     batches.set_epoch(epoch)
    ...     for batch in torch.utils.data.DataLoader(batches, batch_size=None, num_workers=2):
    ...         assert batch.frames.shape == (4, 8, 3, 64, 64)
    """

    def __init__(self, loader: Loader[Any]) -> None:
        super().__init__()
        self.loader = loader
        self._epoch: torch.Tensor = _shared(loader.epoch)

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch the next loop is. Without it, each loop is the same epoch again."""
        if epoch < 0:
            raise UsageError(f"there is no epoch {epoch}")
        self._epoch.fill_(epoch)

    def __len__(self) -> int:
        return self.loader._ready().batches_in(int(self._epoch))

    def __iter__(self) -> Iterator[Any]:
        worker: Any = torch.utils.data.get_worker_info()  # type: ignore[no-untyped-call, unused-ignore]
        first, step = (0, 1) if worker is None else (worker.id, worker.num_workers)
        return _Part(self.loader, int(self._epoch), first, step)


class _Part(Iterator[Any]):
    """One worker's batches, with the state that ``torchdata.StatefulDataLoader`` keeps for each worker."""

    def __init__(self, loader: Loader[Any], epoch: int, first: int, step: int) -> None:
        self._loader, self._epoch, self._first, self._step, self._taken = loader, epoch, first, step, 0
        self._batches: Any = None

    def __next__(self) -> Any:
        if self._batches is None:
            first = self._first + self._taken * self._step
            self._batches = _Iterator(self._loader, self._epoch, first, self._step)
        batch = next(self._batches)
        self._taken += 1
        return batch

    def state_dict(self) -> Dict[str, int]:
        return {"epoch": self._epoch, "taken": self._taken}

    def load_state_dict(self, state: Dict[str, int]) -> None:
        self._epoch, self._taken, self._batches = state["epoch"], state["taken"], None


class MapDataset(torch.utils.data.Dataset):  # type: ignore[type-arg]
    """The samples of a data set by their number, for a ``DataLoader`` with a sampler, a collate function and a batch size of
    your own.

    A ``DataLoader`` of torch 2 or later asks for the samples of a whole batch at once (``__getitems__``), and the loader's
    threads decode them together. What is drawn for a sample (frames, crop, flip, colors) depends on seed, epoch and the number
    of the sample alone: not on the worker, nor on what else is in the batch.

    A sample is a dict that ``default_collate`` takes: ``frames`` of shape (T, C, H, W), or of the loader's layout without the
    batch; ``label``, an int that is -1 without a class; and ``frame_mask`` of shape (T,). With cameras, frames have one more
    dimension in front, and there is ``camera_mask``; of a mix, there is the name of the ``source``. ``fields`` and ``tracks`` are dicts by
    name, in which a track has its mask beside it as ``NAME_mask``, texts their times as ``NAME_times``, and lists how many items they
    have as ``NAME_counts``. Samples differ in the length of lists, for which ``default_collate`` has no rule.

    Parameters
    ----------
    dataset : vidrec.Dataset, vidrec.Mix or path
    **options
        As :class:`vidrec.Loader` takes them, except those for batches and their order. Each worker of a ``DataLoader`` has its
        share of the cores as ``threads``, unless you say how many. With :class:`vidrec.AllFrames`, samples differ in length.

    Examples
    --------
    >>> from torch.utils.data import DataLoader
    >>> from vidrec.torch import MapDataset
    >>> samples = MapDataset("train", crop=vidrec.RandomResizedCrop(64), dtype="float32")
    >>> samples[7]["frames"].shape, samples[7]["label"]
    (torch.Size([8, 3, 64, 64]), 1)
    >>> for epoch in range(2):
    ...     samples.set_epoch(epoch)
    ...     for batch in DataLoader(samples, batch_size=4, shuffle=True):
    ...         assert batch["frames"].shape == (4, 8, 3, 64, 64)
    """

    def __init__(self, dataset: Union[Dataset, Mix, Path], **options: Unpack[SampleKeywords]) -> None:
        super().__init__()
        self._loader = _samples.loader_of(dataset, "torch", {**options})
        self._epoch: torch.Tensor = _shared(0)

    def set_epoch(self, epoch: int) -> None:
        """Say for which epoch to draw; workers see it, too. Without it, each pass draws the same."""
        if epoch < 0:
            raise UsageError(f"there is no epoch {epoch}")
        self._epoch.fill_(epoch)

    def __len__(self) -> int:
        return self._loader._ready().batches_in(0)

    def __getitem__(self, index: int) -> Dict[str, Any]:
        return self.__getitems__([index])[0]

    def __getitems__(self, indices: Sequence[int]) -> List[Dict[str, Any]]:
        """Samples by number, all decoded at once. A number below 0 counts from the end, as in a list."""
        share_cores(self._loader)
        return _samples.items(self._loader, int(self._epoch), indices)
