"""vidrec feeds video training loops from data sets that were packed once.

>>> import vidrec
>>> ds = vidrec.open("train")
>>> loader = vidrec.Loader(ds, batch_size=4, size=64, crop="random-resized", flip=0.5, shuffle=True)
>>> for batch in loader:
...     batch.frames, batch.labels  # torch tensors if torch is installed, else NumPy arrays
...     break
(...)

:func:`open` gives a :class:`Dataset` of :class:`Clip`; :class:`Loader` gives :class:`Batch` after batch. :func:`pack`
makes a data set from videos, or :func:`plan`, :func:`pack_part` and :func:`publish` on many machines; :func:`verify` proves it, :func:`inspect` describes it, :func:`fetch` makes a local copy of a
remote one; :func:`merge`, :func:`split`,
:func:`subset`, :func:`reshard`, :func:`append` and :func:`relabel` write data sets out of data sets. ``vidrec.torch`` has
what ``torch.utils.data.DataLoader`` takes.
"""

from ._vidrec import __version__
from .batch import Batch
from .dataset import Clip, Dataset, open
from .edit import append, merge, relabel, reshard, split, subset
from .errors import (
    CollateError,
    DecodeError,
    Error,
    FileError,
    FormatError,
    InternalError,
    Interrupted,
    LimitError,
    LoaderWarning,
    PackWarning,
    UsageError,
)
from .loader import Loader
from .parts import pack_part, plan, plan_status, publish
from .tools import fetch, inspect, pack, verify

__all__ = [
    "Batch",
    "Clip",
    "CollateError",
    "Dataset",
    "DecodeError",
    "Error",
    "FileError",
    "FormatError",
    "InternalError",
    "Interrupted",
    "LimitError",
    "Loader",
    "LoaderWarning",
    "PackWarning",
    "UsageError",
    "__version__",
    "append",
    "fetch",
    "inspect",
    "merge",
    "open",
    "pack",
    "pack_part",
    "plan",
    "plan_status",
    "publish",
    "relabel",
    "reshard",
    "split",
    "subset",
    "verify",
]
