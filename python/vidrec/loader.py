"""Batches for a training loop."""

from __future__ import annotations

import json
import math
import operator
import os
import sys
import threading
import warnings
from collections import deque
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Deque,
    Dict,
    Generic,
    Iterator,
    Literal,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    Type,
    Union,
    cast,
)

import numpy as np
from numpy.typing import NDArray

from . import _display, _memory, _options, _vidrec
from . import jpegs as _jpegs
from ._storage import Path
from .batch import Batch
from .dataset import Dataset, open
from .errors import CollateError, Error, LoaderWarning, UsageError
from .mixing import Mix
from .monitor import Monitor
from .results import LoaderStats
from .tracks import TrackWindow
from .words import (
    CamerasCrop,
    Channels,
    Crop,
    Draws,
    Dtype,
    LastBatch,
    Layout,
    Missing,
    OnBadFrame,
    Order,
    Output,
    ShortClips,
    Temporal,
)

if TYPE_CHECKING:
    import torch  # type: ignore[import-not-found, unused-ignore]
    from typing_extensions import TypeVar

    # What a loop gets: batches, unless collate makes something else of them.
    B = TypeVar("B", default=Batch)
else:
    from typing import TypeVar

    B = TypeVar("B")

# An order by its word, in blocks, or as numbers of samples.
OrderGiven = Union[Order, Tuple[Literal["blocks", "homes"], int, int], Sequence[int], NDArray[np.integer[Any]]]


class Loader(Generic[B]):
    """Gives the batches of a data set, epoch after epoch, decoded ahead by threads of its own.

    A batch is a pure function of data set, options, epoch and number, for any number of threads. Each ``for`` loop is
    the next epoch, unless :meth:`set_epoch` says which.

    Parameters
    ----------
    dataset : Dataset, Mix or path
        What to load.
    batch_size : int, default 16
        Clips in a batch, of this rank.
    frames : int or "all", optional
        Frames to take from each clip. ``"all"`` takes all of them, whatever their number: each batch is as long as its
        longest clip on any rank, or as its bucket, and :attr:`Batch.frame_mask` is False where a clip is padded. If not
        given, all are taken, and every clip must have the same number.
    max_frames : int, optional
        Most frames of a clip, with ``frames="all"``; a longer one is sampled down.
    short : {"repeat", "pad", "skip", "error"}, default "repeat"
        What happens to a clip with fewer frames than a sample needs: frames come more than once; zeros fill it up; the
        clip is in no epoch; or the loader is not made. ``frame_mask`` is False for repeated and padded frames.
        :meth:`stats` counts these clips, and a warning names them once.
    fps : float, int or str, optional
        Frames per second of presentation time, whatever rate is stored: ``temporal`` then chooses among the frames that
        are on the screen at each tick. A rate above the stored one is an error.
    temporal : str, default "uniform"
        How they are chosen: ``"uniform"``, spread evenly; ``"random-segments"``, one at random in each of as many
        segments (TSN); ``"clip"`` and ``"clip-center"``, a run at random or in the middle; ``"views"``, ``views`` runs
        of each clip, and ``"dense"``, every run: each is a sample of its own.
    stride : int, default 1
        Frames from one to the next in a run.
    views : int, default 10
        Runs of each clip with ``temporal="views"``.
    hop : int, default 1
        Frames from the start of one run to that of the next with ``temporal="dense"``.
    buckets : sequence of int, default ()
        Lengths, ascending, with ``frames="all"``: a clip goes to the first that holds it and is padded to that length.
        All clips of a batch come from one bucket; all ranks have the same number of batches, and the same shapes at the
        same time.
    sizes : sequence of (int, int), default ()
        Heights and widths, instead of ``size``: a clip goes to the one that is nearest in shape. With ``crop="cover"``
        nothing is distorted.
    batch_frames : int, optional
        Frames that a batch may hold, instead of ``batch_size``; each bucket has as many clips as fit.
    batch_tokens, patch : int and (int, int, int), optional
        The same in tokens, where each ``patch`` of frames, rows and columns is one.
    fields : sequence of str, default ()
        Attributes that come with each batch as :attr:`Batch.fields`; ``"video.codec"`` is ``codec`` in ``video``. All
        clips are looked at once for their types.
    tracks : dict, optional
        Tracks that come with each batch as :attr:`Batch.tracks`: by name, what :func:`vidrec.track` says of each. A
        remote data set's track files are all opened once.
    cameras : sequence of str, default ()
        Cameras whose clips of the same episode are one sample: frames are (B, V, T, C, H, W), V of them in this order.
        They are drawn among those of the first; of the others come those whose times are nearest. Everything else that a
        batch has is of the first.
    camera_attribute, episode_attribute : str
        The attributes of clips that name their camera and their episode. Default ``"camera"`` and ``"episode"``.
    missing_cameras : {"error", "mask"}, default "error"
        What happens to an episode without one of the cameras: an error names both, or the pictures are zeros and
        :attr:`Batch.camera_mask` is False.
    cameras_crop : {"same", "own"}, default "same"
        Whether crop, flip and colors are drawn for all cameras together, or for each.
    collate : callable, optional
        Called with each batch; what it returns is what the loop gets.
    allow_empty : bool, default False
        Whether an epoch may have no batch; otherwise that is an error.
    size : int or (int, int), default 224
        Height and width of the pictures.
    resize_short : int or (int, int), optional
        Length to which the shorter side is resized first, or a range from which it is drawn for each clip.
    crop : str, default "center"
        Part of the frame, drawn once a clip: ``"center"``, ``"random"``, ``"random-resized"`` (as torchvision's),
        ``"multi-scale"`` and ``"multi-scale-fixed"`` (TSN), ``"cover"`` and ``"cover-random"`` (the largest part in the
        shape of the picture, in the middle or at random), ``"three"`` (left, middle and right, each a sample).
    scale, ratio : (float, float)
        Area as a fraction of the frame's, and width over height, for ``"random-resized"``. Default 0.08 to 1, and 3/4
        to 4/3.
    flip : float, default 0
        Probability that a clip is mirrored.
    color : float or dict, optional
        How much colors vary from clip to clip: strength of ``brightness``, ``contrast`` and ``saturation``, and
        probability of ``grayscale``.
    channels : {"rgb", "gray", "ycbcr"}, default "rgb"
        What the channels are.
    dtype : {"uint8", "float16", "bfloat16", "float32"} or a dtype of torch or NumPy, default "uint8"
        Type of a sample. The float types are ``(x / 255 - mean) / std``.
    mean, std : float or sequence of float
        For each channel, as fractions of full: divide levels by 255. Default 0 and 1.
    layout : {"BTCHW", "BCTHW", "BTHWC"}, default "BTCHW"
        Order of dimensions.
    channels_last_3d : bool, default False
        With ``layout="BCTHW"``: lay the samples out in memory as ``torch.channels_last_3d``.
    reducing_gap : float, optional
        How much larger than the picture a frame is decoded at least, where that is faster. Default 1.125; infinity turns
        it off.
    shuffle : bool, default False
        A new order in each epoch. A mix is always shuffled. For a local data set an exact shuffle, ``order="shuffled"``. For a remote one blocks of
        8 MiB, of which 64 are mixed at a time, and each rank has its own: ``order="homes"``. A warning says how well
        that mixes.
    order : str, tuple or sequence of int, optional
        Instead: ``"sequential"``, ``"shuffled"``, ``("blocks", block, window)`` for disks that are slow at random,
        ``"homes"`` or ``("homes", block, window)`` for clusters whose nodes keep what they read, or the samples
        themselves in the order in which they are to come.
    weights : sequence of float, optional
        Instead: a weight for each sample, by which they are drawn, with replacement.
    homes : int, optional
        With ``order="homes"``: among how many homes the blocks are shared. Default: one for each rank; a run that resumes
        keeps the number of the run that stopped. Give the number of nodes if the ranks of a node share a cache: rank ``r``
        then reads home ``r * homes // world_size``, if ``homes`` divides ``world_size``.
    exchange : float, default 1.0
        With ``order="homes"``: the fraction of the blocks that may change homes for an epoch after the first, from 0 to 1.
        With 1, all are dealt again; with 0.1, nine tenths of what a home reads are what it read in the first epoch.
    draws : {"rotate", "all"}, default "rotate"
        If several draws of each video were packed: one per epoch, in turn; or all, each a sample of its own.
    seed : int, default 0
        Seed of everything random.
    rank, world_size : int, optional
        Number of this process among those that train together, and how many there are. Default: those of
        ``torch.distributed`` if it is initialized, else 0 and 1.
    last : {"pad", "drop", "wrap"}, default "pad"
        What happens to clips that do not fill a batch on every rank. ``"pad"``: the batch is filled with other clips
        whose ``mask`` is False; ``"drop"``: this epoch skips them; ``"wrap"``: the batch is filled from the start of the
        epoch.
    threads : int, optional
        Threads that decode. Default: as many as there are cores, up to 8.
    check_crc : bool, default True
        Whether every frame's checksum is compared.
    on_bad_frame : {"error", "substitute"}, default "error"
        What happens to a clip that cannot be read: its batch raises an exception (the next batch still comes), or
        another clip replaces it, which :attr:`Batch.params` and :meth:`stats` say.
    prefetch : int, default 4
        Batches that are made ahead.
    prefetch_bytes : int, default 1 GiB
        Limit for the memory of those batches; one batch is always made. Between epochs the loader keeps this memory and
        that of one more batch.
    readahead : int, default 4
        Batches after those whose pages the system is asked to read.
    decoded_cache : int or str, optional
        Keep decoded frames in memory that all processes of the machine share, at most this much, such as ``"200GB"``, so
        that frames are decoded once and not once an epoch. A frame takes 1.5 bytes a pixel. The batches are the same.
        Linux only. Default: frames are decoded each time.
    decoded_cache_dir : path, optional
        The folder in memory for that. Default: ``/dev/shm``.
    pin_memory : bool, default False
        Decode straight into torch's pinned memory, for copies with ``non_blocking=True``. If torch finds no accelerator,
        it warns, and memory is not pinned.
    out : tensor or list of tensors, optional
        Your own memory, torch's or NumPy's, into which batches are decoded in turn. A batch's memory is filled again
        when you ask for the next batch; all but one are filled ahead.
    output : {"torch", "numpy", "jpeg"}, optional
        Whether batches hold tensors or arrays. Default: torch if it is installed. With ``"jpeg"`` frames are not decoded:
        batches have :attr:`Batch.jpegs` instead of ``frames``, for a decoder on a GPU, and :func:`vidrec.torch.finish`
        makes of decoded frames what ``size``, ``crop``, ``dtype`` and all others ask for. ``pin_memory`` then copies the
        JPEGs once.

    Raises
    ------
    UsageError
        An option that makes no sense.

    Examples
    --------
    >>> loader = vidrec.Loader("train", batch_size=4, size=64, dtype="float32", mean=0.45, std=0.225, shuffle=True)
    >>> len(loader)
    3
    >>> for epoch in range(2):
    ...     loader.set_epoch(epoch)
    ...     for batch in loader:
    ...         assert tuple(batch.frames.shape) == (4, 8, 3, 64, 64)

    A run that stopped resumes exactly, also with another number of ranks:

    >>> batches = iter(loader)
    >>> batch = next(batches)
    >>> state = loader.state_dict()
    >>> resumed = vidrec.Loader("train", batch_size=4, size=64, dtype="float32", mean=0.45, std=0.225, shuffle=True)
    >>> resumed.load_state_dict(state)
    >>> bool((next(iter(resumed)).frames == next(batches).frames).all())
    True
    """

    def __init__(
        self,
        dataset: Union[Dataset, Mix, Path],
        batch_size: int = 16,
        *,
        frames: Union[int, Literal["all"], None] = None,
        max_frames: Optional[int] = None,
        short: ShortClips = "repeat",
        fps: Union[float, str, None] = None,
        temporal: Temporal = "uniform",
        stride: int = 1,
        views: int = 10,
        hop: int = 1,
        buckets: Sequence[int] = (),
        sizes: Sequence[Tuple[int, int]] = (),
        batch_frames: Optional[int] = None,
        batch_tokens: Optional[int] = None,
        patch: Optional[Tuple[int, int, int]] = None,
        fields: Sequence[str] = (),
        tracks: Optional[Mapping[str, TrackWindow]] = None,
        cameras: Sequence[str] = (),
        camera_attribute: str = "camera",
        episode_attribute: str = "episode",
        missing_cameras: Missing = "error",
        cameras_crop: CamerasCrop = "same",
        collate: Optional[Callable[[Batch], B]] = None,
        allow_empty: bool = False,
        size: Union[int, Tuple[int, int]] = 224,
        resize_short: Union[int, Tuple[int, int], None] = None,
        crop: Crop = "center",
        scale: Tuple[float, float] = (0.08, 1.0),
        ratio: Tuple[float, float] = (3 / 4, 4 / 3),
        flip: float = 0.0,
        color: Union[float, Dict[str, float], None] = None,
        channels: Channels = "rgb",
        dtype: Union[Dtype, torch.dtype, np.dtype[Any], Type[np.generic]] = "uint8",
        mean: Union[float, Sequence[float], NDArray[Any]] = 0.0,
        std: Union[float, Sequence[float], NDArray[Any]] = 1.0,
        layout: Layout = "BTCHW",
        channels_last_3d: bool = False,
        reducing_gap: Optional[float] = None,
        shuffle: bool = False,
        order: Optional[OrderGiven] = None,
        weights: Union[Sequence[float], NDArray[Any], None] = None,
        homes: Optional[int] = None,
        exchange: float = 1.0,
        draws: Draws = "rotate",
        seed: int = 0,
        rank: Optional[int] = None,
        world_size: Optional[int] = None,
        last: LastBatch = "pad",
        threads: Optional[int] = None,
        check_crc: bool = True,
        on_bad_frame: OnBadFrame = "error",
        prefetch: int = 4,
        prefetch_bytes: int = 1 << 30,
        readahead: int = 4,
        decoded_cache: Union[int, str, None] = None,
        decoded_cache_dir: Optional[Path] = None,
        pin_memory: bool = False,
        out: Any = None,
        output: Optional[Output] = None,
    ) -> None:
        if not isinstance(dataset, (Dataset, Mix)):
            dataset = open(dataset)
        if channels_last_3d and layout != "BCTHW":
            raise UsageError('loader option channels_last_3d: expected layout="BCTHW"')
        if (rank is None) != (world_size is None):
            raise UsageError("give both of the loader options rank and world_size, or neither")
        if output not in (None, "torch", "numpy", "jpeg"):
            raise UsageError(f"loader option output: expected 'torch', 'numpy' or 'jpeg', found {output!r}")
        if output == "jpeg" and decoded_cache is not None:
            raise UsageError("loader option decoded_cache: output='jpeg' decodes nothing; choose one of them")
        if output == "jpeg" and out is not None:
            raise UsageError("loader option out: batches of JPEGs differ in size; pin_memory has them in pinned memory")
        if pin_memory and out is not None:
            raise UsageError("loader option pin_memory: it cannot be combined with out; pin the memory of out yourself")
        if pin_memory and output == "numpy":
            raise UsageError("loader option pin_memory: it needs output='torch'")
        if cameras and out is not None:
            raise UsageError("loader option out: it cannot be combined with cameras")
        self.dataset = dataset
        """The data set, or the mix."""
        self.batch_size = batch_size
        """Clips in a batch."""
        height, width = _options.pair("size", size)
        self._options: Dict[str, Any] = {
            "batch_size": batch_size,
            **_options.frames(frames, max_frames),
            "short": short,
            "fps": None if fps is None else _options.rate(fps),
            "temporal": temporal,
            "stride": stride,
            "views": views,
            "hop": hop,
            "buckets": [operator.index(length) for length in buckets],
            "sizes": [_options.pair("sizes", size)[::-1] for size in sizes],
            **_options.budget(batch_frames, batch_tokens, patch),
            "fields": _options.names("fields", fields),
            "tracks": _options.tracks(tracks),
            "cameras": _options.names("cameras", cameras),
            "camera_attribute": camera_attribute,
            "episode_attribute": episode_attribute,
            "missing_cameras": missing_cameras,
            "cameras_crop": cameras_crop,
            "allow_empty": allow_empty,
            "size": (width, height),
            "resize_short": None if resize_short is None else _options.pair("resize_short", resize_short),
            "crop": crop,
            "scale": _options.pair("scale", scale, float),
            "ratio": _options.pair("ratio", ratio, float),
            "flip": flip,
            "color": _options.color(color),
            "channels": channels,
            "dtype": _options.dtype(dtype),
            "layout": "BTHWC" if channels_last_3d else layout,
            "mean": _options.channels("mean", mean),
            "std": _options.channels("std", std),
            "reducing_gap": reducing_gap,
            **_options.order(order, shuffle, weights, homes, exchange, isinstance(dataset, Mix)),
            "draws": draws,
            "seed": seed,
            "last": last,
            "threads": threads,
            "check_crc": check_crc,
            "on_bad_frame": on_bad_frame,
            "prefetch": prefetch,
            "prefetch_bytes": prefetch_bytes,
            "readahead": readahead,
            **_options.decoded_cache(decoded_cache, decoded_cache_dir),
        }
        self._ranks = None if rank is None else (rank, world_size)
        self._channels_last_3d, self._output = channels_last_3d, output
        self._pin_memory, self._out = pin_memory, _memory.listed(out)
        self._collate = collate
        self._next_epoch = 0
        # The epoch of the running loop, and its batches so far.
        self._place: Optional[Tuple[int, int]] = None
        # Of which loop.
        self._under_way: Optional[object] = None
        # Where another run stopped, for as long as this one is in the same epoch.
        self._resumed: Optional[str] = None
        # The homes of that run, once its epoch is done.
        self._homes: Optional[int] = None
        # The engine, and what it is for: process, rank, world size, state, homes.
        self._engine: Optional[_vidrec.Engine] = None
        self._made_for: Any = None
        engine = self._ready()
        if out is not None and engine.shapes_differ():
            raise UsageError("loader option out: batches differ in shape")
        for text in engine.warnings():
            warnings.warn(text, LoaderWarning, stacklevel=2)

    def _ready(self) -> _vidrec.Engine:
        """The engine for this process and its place among others."""
        rank, world_size = self._ranks or distributed()
        wanted = (os.getpid(), rank, world_size, self._resumed, self._homes)
        if self._engine is None or self._made_for != wanted:
            options = dict(self._options, rank=rank, world_size=world_size)
            if options["homes"] is None:
                options["homes"] = self._homes
            try:
                self._engine = _vidrec.Engine(self.dataset._inner, options, self._resumed)
            except TypeError as e:
                if not isinstance(e.__cause__, OverflowError):
                    raise
                name = str(e).rsplit(".", 1)[-1]
                raise UsageError(f"loader option {name}: {options.get(name)} is out of range") from None
            self._made_for = wanted
        return self._engine

    def __getstate__(self) -> Dict[str, Any]:
        if self._out is not None:
            raise TypeError("a loader with out= cannot be sent to another process, which does not share that memory")
        # A worker that was spawned has no process group of its own, and belongs to the rank of its parent. Without one here
        # either, whoever gets the loader may have one, and asks then.
        ranks = self._ranks or (distributed() if _process_group() else None)
        return dict(self.__dict__, _engine=None, _made_for=None, _under_way=None, _ranks=ranks)

    def __len__(self) -> int:
        """Batches of a whole epoch on this rank; a loop that resumes in the middle of one has fewer."""
        return self._ready().batches_per_epoch()

    def __iter__(self) -> Iterator[B]:
        return _Iterator(self)

    def __repr__(self) -> str:
        return f"<vidrec.Loader of {self.dataset!r}: {len(self)} batches of {self.shape}>"

    def _repr_html_(self) -> str:
        rows = [("data set", repr(self.dataset)), ("batches", f"{len(self):,}"), ("shape", self.shape)]
        return _display.page("vidrec.Loader", [*rows, ("next epoch", self.epoch)])

    @property
    def epoch(self) -> int:
        """The epoch of the running loop, or the next one if no loop is running."""
        return self._place[0] if self._place else self._next_epoch

    @property
    def shape(self) -> Tuple[int, ...]:
        """Shape of :attr:`Batch.frames`; if batches differ in shape, that of the largest."""
        return self._shown(self._ready().shape())

    def _shown(self, stored: Sequence[int]) -> Tuple[int, ...]:
        """A shape as it is stored, in the form that was asked for."""
        shape = [stored[i] for i in (0, 4, 1, 2, 3)] if self._channels_last_3d else stored
        cameras = len(self._options["cameras"])
        return (shape[0] // cameras, cameras, *shape[1:]) if cameras else tuple(shape)

    @property
    def sampler(self) -> Loader[B]:
        """The loader itself, for those who say the epoch to a ``DataLoader`` by ``loader.sampler.set_epoch``: Lightning."""
        return self

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch the next loop is, counted from 0.

        Parameters
        ----------
        epoch : int
            Of an epoch in which :meth:`load_state_dict` put the loader, the rest comes; any other comes whole.
        """
        if epoch < 0:
            raise UsageError(f"there is no epoch {epoch}")
        self._next_epoch, self._place = epoch, None

    def state_dict(self) -> Dict[str, Any]:
        """Where this run stands: after the batch that the loop had last. The same on every rank.

        Returns
        -------
        dict
            A few numbers and strings, to be saved with the model.
        """
        epoch, batches = self._place or (self._next_epoch, 0)
        state: Dict[str, Any] = json.loads(self._ready().state(epoch, batches))
        return state

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        """Resume another run: the next loop is the rest of its epoch.

        Parameters
        ----------
        state : dict
            From :meth:`state_dict` of a loader of the same data set, seed and order. Batch size, rank and world size may
            be others. With ``order="homes"`` and without ``homes``, the number of homes stays that of the state.

        Raises
        ------
        UsageError
            It is of another data set, seed, or length of epoch.
        """
        before = self._resumed, self._homes, self._next_epoch, self._place
        self._resumed, self._homes = json.dumps(state), None
        try:
            self._next_epoch, self._place = self._ready().first_epoch(), None
        except Error:
            self._resumed, self._homes, self._next_epoch, self._place = before
            raise

    def batch(self, epoch: int, number: int) -> B:
        """One batch, made now. A running loop is not affected.

        Parameters
        ----------
        epoch, number : int
            Which, counted from 0.
        """
        engine = self._ready()
        made = _Made(self, _torch(self._output))
        inner = engine.batch_jpegs(epoch, number) if self._output == "jpeg" else engine.batch(epoch, number)
        return made.collated(made.batch(inner, epoch, number))

    def monitor(self, path: Path, *, every: float = 1.0) -> Monitor:
        """Write what the loader does to a file or named pipe, for another process to read.

        It writes a line of JSON each time, in a thread of its own, and never waits for the reader. It ends with the
        loader, or when you close what is returned. ``vidrec monitor PATH`` shows it in a terminal.

        Parameters
        ----------
        path : str or path-like
            Lines are appended. If a pipe is full or nobody reads it, lines are dropped.
        every : float, default 1
            Seconds from line to line.

        Returns
        -------
        Monitor
            ``stats()`` in each line, and ``time``, ``epoch``, ``prefetch``, ``frames_per_second``, and the shares of the time
            that the training loop waited for a batch, ``waiting``, and the loader for room, ``loader_waiting``.
        """
        return Monitor(self._told, os.fspath(path), every)

    def _told(self) -> Dict[str, Any]:
        """What a line of a monitor says of it."""
        return {"epoch": self.epoch, **self.stats().to_dict(), "prefetch": self._options["prefetch"]}

    def stats(self) -> LoaderStats:
        """Counters since the loader was made or resumed.

        Returns
        -------
        vidrec.results.LoaderStats
            Counts of ``batches``, ``frames``, ``bytes``, ``tiles_decoded``, ``tiles_skipped``, ``substituted_clips``;
            ``short_clips``, and ``skipped_clips`` of them;
            batches that are ``ready`` now, and ``mean_ready`` when one was asked for; and ``consumer_wait_seconds`` and
            ``producer_wait_seconds``. A consumer that waits much is starved. For a remote data set also ``remote``, as
            :meth:`vidrec.Dataset.remote_stats` gives it. With ``decoded_cache`` also what that did. For a mix also ``sources``: for each one ``samples`` that all
            ranks together have used since the run began (it follows from the place in the stream, whoever asks), and
            how many ``epochs`` of the source these are.
        """
        engine = self._ready()
        told: Dict[str, Any] = json.loads(engine.stats())
        if isinstance(self.dataset, Mix):
            sources = engine.sources(*(self._place or (self._next_epoch, 0)))
            told["sources"] = {name: {"samples": samples, "epochs": rounds} for name, samples, rounds in sources}
        return LoaderStats.from_dict(told)


class _Made(Generic[B]):
    """What the compiled module gives, as arrays or tensors in the shape that was asked for."""

    def __init__(self, loader: Loader[B], torch: Any) -> None:
        self._channels_last_3d, self._torch, self._collate = loader._channels_last_3d, torch, loader._collate
        self._cameras = len(loader._options["cameras"])
        self._names = loader.dataset.names if isinstance(loader.dataset, Mix) else []
        self._options, self._shape = loader._options, loader._shown

    def jpegs(self, inner: _vidrec.Batch) -> Optional[_jpegs.Jpegs]:
        """JPEGs without a copy, if the batch is of these."""
        stored = inner.jpegs
        if stored is None:
            return None
        options, layout = self._options, "BCTHW" if self._channels_last_3d else self._options["layout"]
        form = (options["channels"], options["dtype"], layout, self._channels_last_3d, self._cameras)
        recipe = _jpegs.Recipe(self._shape(inner.shape), *form, options["mean"], options["std"])
        samples: Any = inner.samples
        data = np.asarray(samples) if self._torch is None else self._torch.from_dlpack(samples)
        return _jpegs.of(data, stored, self._known, recipe)

    def frames(self, samples: Any) -> Any:
        """Samples without a copy."""
        return self.shown(np.asarray(samples) if self._torch is None else self._torch.from_dlpack(samples))

    def shown(self, stored: Any) -> Any:
        """A tensor as it is stored, with its dimensions in the order that was asked for."""
        if not self._channels_last_3d:
            return stored
        axes = (0, 4, 1, 2, 3)
        return stored.transpose(axes) if isinstance(stored, np.ndarray) else stored.permute(axes)

    def batch(self, inner: _vidrec.Batch, epoch: int, number: int, frames: Any = None) -> Batch:
        """A batch; ``frames`` where they are not among the samples."""
        labels, clips = self._known(inner.labels, np.int64), self._known(inner.clips, np.int64)
        mask = self._known(inner.mask, np.bool_)
        per_frame = (len(labels), -1)
        frame_mask = self._known(inner.frame_mask, np.bool_).reshape(per_frame)
        times = self._known(inner.times, np.float64).reshape(per_frame)
        fields = {name: self._field(kind, values) for name, kind, values in inner.fields}
        jpegs = self.jpegs(inner)
        if jpegs is None:
            frames = self.frames(inner.samples) if frames is None else frames
            frames = frames.reshape((len(labels), self._cameras, *frames.shape[1:])) if self._cameras else frames
        camera_mask = None
        if self._cameras:
            camera_mask = self._known(inner.camera_mask, np.bool_).reshape(per_frame)
        source_ids = self._known(inner.source_ids, np.int64) if self._names else None
        tracks, track_masks, track_times = self._tracks(inner)
        known = (epoch, number, frame_mask, times, fields, None, source_ids, self._names)
        return Batch(frames, labels, clips, mask, inner, *known, tracks, track_masks, camera_mask, track_times, jpegs)

    def _field(self, kind: str, values: Any) -> Any:
        if kind == "json":
            return [None if text is None else json.loads(text) for text in values]
        return values if kind == "text" else self._known(values, kind)

    def _tracks(self, inner: _vidrec.Batch) -> Tuple[Dict[str, Any], Dict[str, Any], Dict[str, Any]]:
        """The values of tracks, which of them there are, and the times of texts, by name."""
        values, masks, times = {}, {}, {}
        for name, kind, shape, mask_shape, stored, mask, spans in inner.tracks:
            values[name] = stored if kind == "text" else self._array(stored, kind).reshape(shape)
            masks[name] = self._array(mask, np.bool_).reshape(mask_shape)
            if kind == "text":
                times[name] = spans
        return values, masks, times

    def _array(self, memory: bytearray, dtype: Any) -> Any:
        array = np.frombuffer(memory, dtype)
        return array if self._torch is None else self._torch.from_numpy(array)

    def collated(self, batch: Batch) -> B:
        """What the loop gets of a batch."""
        if self._collate is None:
            # Then it is what loops get.
            return cast(B, batch)
        try:
            return self._collate(batch)
        except Exception as e:
            clips = ", ".join(str(int(clip)) for clip in batch.clips)
            place = f"batch {batch.number} of epoch {batch.epoch} (clips {clips})"
            raise CollateError(f"collate failed for {place}: {type(e).__name__}: {e}") from e

    def _known(self, values: bytes, dtype: Any) -> Any:
        return self._array(bytearray(values), dtype)


class _Iterator(Generic[B]):
    """The batches of one epoch (by default the loader's next), or every ``step``-th of them.

    Several threads may take them in turn: each batch comes once.
    """

    def __init__(self, loader: Loader[B], epoch: Optional[int] = None, first: int = 0, step: int = 1) -> None:
        self._loader, self._number, self._step = loader, first, step
        self._made = _Made(loader, _torch(loader._output))
        self._last: Any = None
        # Tensors that are being filled, in order.
        self._given: Deque[Any] = deque()
        # If several loops run, the loader describes the one that began last. A reference to this iterator would keep it.
        self._token = object()
        self._allocate = _memory.pinned_allocator() if loader._pin_memory else None
        self._are_jpegs = loader._output == "jpeg"
        if loader._out is not None:
            _memory.check_apart(loader._out, loader.shape, loader._options["dtype"], loader._channels_last_3d)
        self._process = os.getpid()
        # A batch is taken and numbered under it. A signal's handler may ask for a batch while one is waited for.
        self._lock = threading.RLock()
        self._wanted_epoch = epoch
        self._begun = False

    def _begin(self) -> None:
        """Start to make batches: not before one is asked for, for some only look whether a loader can be iterated."""
        loader = self._loader
        self._epoch = self._wanted_epoch = loader._next_epoch if self._wanted_epoch is None else self._wanted_epoch
        loader._next_epoch, loader._place, loader._under_way = self._epoch + 1, (self._epoch, 0), self._token
        self._engine = engine = loader._ready()
        self._into: Optional[_vidrec.BatchesInto] = None
        self._batches: Union[_vidrec.Batches, _vidrec.JpegBatches]
        if self._are_jpegs:
            self._batches = engine.iter_jpegs(self._epoch, self._number, self._step)
        elif loader._out is None and self._allocate is None:
            self._batches = engine.iter(self._epoch, self._number, self._step)
        else:
            self._into = engine.iter_into(self._epoch, self._number, self._step)
            self._provide_all()
        self._begun = True

    def _provide_all(self) -> None:
        loader = self._loader
        if loader._out is not None:
            for tensor in loader._out:
                self._provide(tensor)
        else:
            options = loader._options
            depth = min(options["prefetch"], options["prefetch_bytes"] // max(1, self._engine.batch_bytes()))
            for _ in range(max(1, depth)):
                self._provide_pinned()

    def __iter__(self) -> Iterator[B]:
        return self

    def __next__(self) -> B:
        # Before the lock: in a forked process it may be held for ever, by a thread that is not there.
        if self._process != os.getpid():
            raise UsageError("this process was forked after the loader began its batches, so it cannot take them")
        with self._lock:
            if not self._begun:
                self._begin()
            return self._take()

    def _take(self) -> B:
        frames = None
        try:
            if self._into is None:
                inner = self._batches.next()
            else:
                frames, inner = self._next_into(self._into)
        except Error:
            # The batch could not be made; the next one still comes.
            self._advance()
            raise
        if inner is None:
            self._finish()
            raise StopIteration
        batch = self._made.batch(inner, self._epoch, self._number, frames)
        if batch._jpegs is not None and self._allocate is not None:
            batch._jpegs = batch._jpegs._in(self._allocate)
        self._advance()
        return self._made.collated(batch)

    def _next_into(self, into: _vidrec.BatchesInto) -> Tuple[Any, Optional[_vidrec.Batch]]:
        if self._allocate is not None:
            self._last = None
        elif self._last is not None:
            self._provide(self._last)
            self._last = None
        try:
            found = into.next()
        except Error:
            tensor = self._given.popleft()
            self._provide_pinned() if self._allocate is not None else self._provide(tensor)
            raise
        if found is None:
            return None, None
        self._last = self._given.popleft()
        if self._allocate is not None:
            self._provide_pinned()
            # A batch that is smaller than the largest is at the start of its memory.
            shape = found[1].shape
            stored = self._last if list(self._last.shape) == shape else self._last.view(-1)[: math.prod(shape)].view(shape)
            return self._made.shown(stored), found[1]
        return self._last, found[1]

    def _provide(self, tensor: Any) -> None:
        loader = self._loader
        address, length = _memory.region(tensor, loader.shape, loader._options["dtype"], loader._channels_last_3d)
        assert self._into is not None
        self._given.append(tensor)
        self._into.provide(address, length, tensor)

    def _provide_pinned(self) -> None:
        assert self._into is not None and self._allocate is not None
        tensor = self._allocate(self._engine.shape(), self._loader._options["dtype"])
        self._given.append(tensor)
        self._into.provide(tensor.data_ptr(), tensor.numel() * tensor.element_size(), tensor)

    def _advance(self) -> None:
        self._number += self._step
        loader = self._loader
        if loader._place is not None and loader._under_way is self._token:
            loader._place = (self._epoch, min(self._number, self._engine.batches_in(self._epoch)))

    def _finish(self) -> None:
        loader = self._loader
        if loader._place is not None and loader._under_way is self._token:
            loader._place = None
            # What is left of the state's epoch is done: from here on all epochs are whole.
            if loader._resumed is not None:
                loader._homes, loader._resumed = json.loads(loader._resumed).get("homes"), None
        self._last = None
        self._given.clear()


def _process_group() -> Any:
    """``torch.distributed``, if it is initialized; without importing it."""
    dist = getattr(sys.modules.get("torch"), "distributed", None)
    return dist if dist is not None and dist.is_available() and dist.is_initialized() else None


def distributed() -> Tuple[int, int]:
    """Rank and world size of ``torch.distributed``, or of one process alone."""
    dist = _process_group()
    return (dist.get_rank(), dist.get_world_size()) if dist else (0, 1)


def _torch(output: Optional[str]) -> Any:
    """The module, if batches are to be made of tensors."""
    if output == "numpy":
        return None
    try:
        import torch
    except ImportError:
        if output == "torch":
            raise
        return None
    return torch
