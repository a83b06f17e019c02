"""How clips of different lengths share batches: the option ``batching`` of :class:`vidrec.Loader`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence, Tuple, Union

from ._values import U64, Value


class _Bucketed(Value):
    def _check_lengths(self, field: str, least: int) -> None:
        what = "lengths, ascending, of 1 or more"
        self._wholes(field, 1, what=what)
        lengths = getattr(self, field)
        if len(lengths) < least or any(a >= b for a, b in zip(lengths, lengths[1:])):
            self._refuse(field, what)


@dataclass(frozen=True, repr=False)
class Buckets(_Bucketed):
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

    def __post_init__(self) -> None:
        self._check_lengths("lengths", 1)


@dataclass(frozen=True, repr=False)
class FrameBudget(_Bucketed):
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

    def __post_init__(self) -> None:
        self._whole("frames", 1, U64)
        self._check_lengths("buckets", 0)


@dataclass(frozen=True, repr=False)
class TokenBudget(_Bucketed):
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

    def __post_init__(self) -> None:
        self._whole("tokens", 1, U64)
        self._wholes("patch", 1, 3, "frames, rows and columns of a token")
        self._check_lengths("buckets", 0)


Batching = Union[Buckets, FrameBudget, TokenBudget]
"""What ``batching`` may be."""

__all__ = ["Batching", "Buckets", "FrameBudget", "TokenBudget"]
