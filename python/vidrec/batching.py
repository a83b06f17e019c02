"""How clips of different lengths share batches: the option ``batching`` of :class:`vidrec.Loader`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence, Tuple, Union

from ._values import Value


class _Batching(Value):
    """A value of the option ``batching``."""

    _option = "batching"
    _is_one_of_several = True


@dataclass(frozen=True, repr=False)
class Buckets(_Batching):
    """Clips of similar length form a batch together, for :class:`AllFrames`.

    A clip goes to the first bucket that holds it and is padded to that length. All clips of a batch come from one bucket;
    all ranks have the same number of batches, and the same shapes at the same time.

    Parameters
    ----------
    lengths : sequence of int
        Frames, ascending.

    Examples
    --------
    >>> vidrec.Buckets([8, 16, 32])
    Buckets(lengths=(8, 16, 32))
    """

    lengths: Sequence[int]


@dataclass(frozen=True, repr=False)
class FrameBudget(_Batching):
    """A batch has as many clips as fit, by their frames, instead of ``batch_size``.

    Parameters
    ----------
    frames : int
        Frames that a batch may hold, those included that pad.
    buckets : sequence of int, default ()
        As :class:`Buckets` takes them. Clips of any length need them.

    Examples
    --------
    >>> vidrec.FrameBudget(256, buckets=[8, 16, 32])
    FrameBudget(frames=256, buckets=(8, 16, 32))
    """

    frames: int
    buckets: Sequence[int] = ()


@dataclass(frozen=True, repr=False)
class TokenBudget(_Batching):
    """A batch has as many clips as fit, by their tokens, instead of ``batch_size``.

    Parameters
    ----------
    tokens : int
        Tokens that a batch may hold, those included that pad.
    patch : (int, int, int)
        Frames, rows and columns of a token.
    buckets : sequence of int, default ()
        As :class:`Buckets` takes them. Clips of any length need them.

    Examples
    --------
    >>> vidrec.TokenBudget(8192, patch=(2, 16, 16), buckets=[8, 16, 32])
    TokenBudget(tokens=8192, patch=(2, 16, 16), buckets=(8, 16, 32))
    """

    tokens: int
    patch: Tuple[int, int, int]
    buckets: Sequence[int] = ()


Batching = Union[Buckets, FrameBudget, TokenBudget]
"""What ``batching`` may be."""

__all__ = ["Batching", "Buckets", "FrameBudget", "TokenBudget"]
