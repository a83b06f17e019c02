"""The order of samples: the option ``order`` of :class:`vidrec.Loader`.

``shuffle=True`` chooses one that suits the data set. The option may also be the numbers of samples, in the order in which
they are to come.

>>> from vidrec import Blocks
>>> loader = vidrec.Loader("train", batch_size=4, crop=64, order=Blocks(3, window=2))
>>> sorted(int(clip) for batch in loader for clip in batch.clips)
[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional, Sequence, Union

from numpy.typing import NDArray

from ._values import Value


class _Order(Value):
    """A value of the option ``order``."""

    _option = "order"
    _is_one_of_several = True


@dataclass(frozen=True, repr=False)
class Shuffled(_Order):
    """All samples in a new random order in each epoch: what ``shuffle=True`` is for a data set on this machine.

    Examples
    --------
    >>> vidrec.Shuffled()
    Shuffled()
    """

    _positional = 0


@dataclass(frozen=True, repr=False)
class Blocks(_Order):
    """A random order that reads runs of neighbors, for disks that are slow at random.

    The order of blocks is random, and so is that of the samples of the blocks that are mixed at a time.

    Parameters
    ----------
    block : int
        Samples that are read together.
    window : int
        Blocks that are mixed at a time.

    Examples
    --------
    >>> vidrec.Blocks(64, window=32)
    Blocks(block=64, window=32)
    """

    block: int
    window: int


@dataclass(frozen=True, repr=False)
class Homes(_Order):
    """Blocks in random order of which each rank reads mostly its own, for clusters whose nodes keep what they read.

    Parameters
    ----------
    block, window : int, optional
        As :class:`Blocks` takes them; give both or neither. Default: those of the library.
    homes : int, optional
        Among how many homes the blocks are shared. Default: one for each rank; a run that resumes keeps the number of the
        run that stopped. Give the number of nodes if the ranks of a node share a cache: rank ``r`` then reads home
        ``r * homes // world_size``, if ``homes`` divides ``world_size``.
    exchange : float, default 1.0
        The fraction of the blocks that may change homes for an epoch after the first, from 0 to 1. With 1, all are dealt
        again; with 0.1, nine tenths of what a home reads are what it read in the first epoch.

    Examples
    --------
    >>> vidrec.Homes(homes=4, exchange=0.1)
    Homes(homes=4, exchange=0.1)
    """

    _positional = 0

    block: Optional[int] = None
    window: Optional[int] = None
    homes: Optional[int] = None
    exchange: float = 1.0

    def _check(self) -> None:
        if (self.block is None) != (self.window is None):
            self._refuse("window", "both block and window, or neither")
        super()._check()


@dataclass(frozen=True, repr=False)
class Weighted(_Order):
    """Samples that are drawn by weight, with replacement.

    Parameters
    ----------
    weights : sequence of float
        One for each sample, 0 or more, at least one of them positive.

    Examples
    --------
    >>> vidrec.Weighted([1, 1, 0.5])
    Weighted(weights=(1, 1, 0.5))
    """

    weights: Union[Sequence[float], NDArray[Any]]


Order = Union[Shuffled, Blocks, Homes, Weighted]
"""What ``order`` may be, beside numbers of samples."""

__all__ = ["Blocks", "Homes", "Order", "Shuffled", "Weighted"]
