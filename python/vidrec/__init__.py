"""vidrec feeds video training loops from data sets that were packed once.

>>> import vidrec
>>> ds = vidrec.open("train")
>>> loader = vidrec.Loader(ds, batch_size=4, crop=vidrec.RandomResizedCrop(64), flip=0.5, shuffle=True)
>>> for batch in loader:
...     batch.frames, batch.labels  # torch tensors if torch is installed, else NumPy arrays
...     break
(...)

:func:`open` gives a :class:`Dataset` of :class:`Clip`, :func:`mix` a :class:`Mix` of several; :class:`Loader` gives
:class:`Batch` after batch. Its options take numbers and words, and values
that say more: which frames (:class:`Uniform`, :class:`Run`, ...), which part of them (:class:`CenterCrop`,
:class:`RandomResizedCrop`, ...), in which order (:class:`Blocks`, ...). :func:`pack` makes a data set from
videos, by options or by a :func:`recipe`, or :func:`plan`, :func:`pack_part` and
:func:`publish` on many machines. :func:`verify` proves it, :func:`inspect` describes it, :func:`check` finds clips that a
person should look at, :func:`report` writes a page to look at them, :func:`fetch` makes a local copy of a remote one, and
:func:`push` a remote copy of a local one. :func:`merge`, :func:`split` and :func:`subset` write data sets out of data sets,
and :class:`Writer` writes one clip by clip. :func:`remove` takes clips out of one; :func:`add_tracks` and :func:`remove_tracks`
change what clips have beside their frames. ``vidrec.convert`` has the formats of other Python projects. What they return is
in ``vidrec.results``, and the words that options
take are in ``vidrec.words``. ``vidrec.torch`` has what ``torch.utils.data.DataLoader`` takes, and what makes
pictures of frames that a GPU decoded; ``vidrec.vlm`` makes patches and metadata for video-language models, and
``vidrec.grain`` has what Grain takes.
"""

from . import convert, results, words
from ._recipe import RecipeOptions
from ._vidrec import __version__
from .additions import add_tracks, remove_tracks
from .batch import Batch
from .batching import Buckets, FrameBudget, TokenBudget
from .cameras import Cameras
from .checks import check
from .colors import CLIP, IMAGENET, KINETICS, ColorJitter, Normalize
from .crops import CenterCrop, Cover, MultiScaleCrop, RandomCrop, RandomResizedCrop, SmartResize, ThreeCrop
from .dataset import Clip, Dataset, open
from .edit import merge, remove, split, subset
from .errors import (
    DecodeError,
    Error,
    FileError,
    FormatError,
    InternalError,
    Interrupted,
    LimitError,
    LoaderWarning,
    MapError,
    PackWarning,
    UsageError,
)
from .frames import AllFrames, Random, Run, Uniform, Views, Windows
from .loader import Loader
from .memory import DecodedCache, Prefetch
from .mixing import Mix, Source, mix
from .orders import Blocks, Homes, Shuffled, Weighted
from .own_options import Camera
from .packing import Every, Fps
from .parts import pack_part, plan, plan_status, publish
from .reports import report
from .stored_track import Track
from .tools import fetch, inspect, pack, push, recipe, verify
from .tracks import TrackNormalize, TrackWindow, track
from .writer import Writer

__all__ = [
    "AllFrames",
    "Batch",
    "Blocks",
    "Buckets",
    "CLIP",
    "Camera",
    "Cameras",
    "CenterCrop",
    "Clip",
    "ColorJitter",
    "Cover",
    "Dataset",
    "DecodeError",
    "DecodedCache",
    "Error",
    "Every",
    "FileError",
    "FormatError",
    "Fps",
    "FrameBudget",
    "Homes",
    "IMAGENET",
    "InternalError",
    "Interrupted",
    "KINETICS",
    "LimitError",
    "Loader",
    "LoaderWarning",
    "MapError",
    "Mix",
    "MultiScaleCrop",
    "Normalize",
    "PackWarning",
    "Prefetch",
    "Random",
    "RandomCrop",
    "RandomResizedCrop",
    "RecipeOptions",
    "Run",
    "Shuffled",
    "SmartResize",
    "Source",
    "ThreeCrop",
    "TokenBudget",
    "Track",
    "TrackNormalize",
    "TrackWindow",
    "Uniform",
    "UsageError",
    "Views",
    "Weighted",
    "Windows",
    "Writer",
    "__version__",
    "add_tracks",
    "check",
    "convert",
    "fetch",
    "inspect",
    "merge",
    "mix",
    "open",
    "pack",
    "pack_part",
    "plan",
    "plan_status",
    "publish",
    "push",
    "recipe",
    "remove",
    "remove_tracks",
    "report",
    "results",
    "split",
    "subset",
    "track",
    "verify",
    "words",
]
