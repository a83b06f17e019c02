"""Packing on a Ray cluster, and clips as a Ray data set. Install it with ``pip install "vidrec[ray]"``.

:func:`pack` packs videos on all nodes into one data set, byte for byte what one machine gives. :func:`read` gives the
clips of a data set to Ray Data, for filtering, embedding and relabeling.
"""

from ._pack import pack
from ._read import read

__all__ = ["pack", "read"]
