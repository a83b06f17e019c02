"""How much memory a loader takes: the options ``prefetch`` and ``decoded_cache`` of :class:`vidrec.Loader`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Optional

from ._storage import Path, Size
from ._values import Value


@dataclass(frozen=True, repr=False)
class Prefetch(Value):
    """How far ahead batches are made.

    Parameters
    ----------
    batches : int, default 4
        Batches that are made ahead.
    bytes : int or str, default "1GiB"
        Limit for the memory of those batches; one batch is always made. Between epochs the loader keeps this memory and
        that of one more batch.
    readahead : int, default 4
        Batches after those whose pages the system is asked to read.

    Examples
    --------
    >>> vidrec.Prefetch(8, bytes="4GiB")
    Prefetch(batches=8, bytes='4GiB')
    """

    _option = "prefetch"

    batches: int = 4
    bytes: Size = "1GiB"
    readahead: int = 4


@dataclass(frozen=True, repr=False)
class DecodedCache(Value):
    """Decoded frames are kept in memory that all processes of the machine share, so that each is decoded once.

    A frame takes 1.5 bytes a pixel. The batches are the same. Linux only.

    Parameters
    ----------
    size : int or str
        At most this much, such as ``"200GB"``.
    dir : path, optional
        The folder in memory. Default: ``/dev/shm``.

    Examples
    --------
    >>> vidrec.DecodedCache("200GB", dir="/mnt/planes")
    DecodedCache(size='200GB', dir='/mnt/planes')
    """

    _option = "decoded_cache"

    size: Size
    dir: Optional[Path] = None

    def __post_init__(self) -> None:
        # Another process may have another working folder.
        self._keep("dir", None if self.dir is None else os.path.abspath(os.fspath(self.dir)))
        super().__post_init__()


__all__ = ["DecodedCache", "Prefetch"]
