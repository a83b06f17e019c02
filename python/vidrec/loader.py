"""Batches for a training loop."""

from __future__ import annotations

import copy
import json
import os
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
    NoReturn,
    Optional,
    Sequence,
    Set,
    Tuple,
    Union,
    cast,
    overload,
)

import numpy as np
from numpy.typing import NDArray

from . import _display, _lightning, _memory, _options, _vidrec
from . import _device
from ._habits import explain_options, import_whole
from ._options import Arrays, Tensors
from ._ranks import distributed, process_group, ranks_of_last_loop
from ._storage import Path
from .batch import Batch, Share
from .dataset import Dataset, open
from .errors import Error, LoaderWarning, MapError, UsageError
from .mixing import Mix
from .monitor import Monitor
from .results import LoaderStats
from .stored_track import NUMBERS
from .words import Output

if TYPE_CHECKING:
    import torch  # type: ignore[import-not-found, unused-ignore]
    from typing_extensions import TypeVar, Unpack

    from ._device.feed import Feed

    # What a loop gets: batches, unless a function makes something else of them.
    B = TypeVar("B", default=Batch[torch.Tensor])
    # What a function makes of them.
    C = TypeVar("C")
else:
    from typing import TypeVar

    B = TypeVar("B")
    C = TypeVar("C")


class Loader(Generic[B]):
    """Gives the batches of a data set, epoch after epoch, decoded ahead by threads of its own.

    A batch is a pure function of data set, options, epoch and number, for any number of threads. Each ``for`` loop is
    the next epoch, unless :meth:`set_epoch` says which. Printed, a loader is how it was made.

    Parameters
    ----------
    dataset : Dataset, Mix or path
        What to load.
    batch_size : int, default 16
        Clips in a batch, of this rank.
    frames : int, Uniform, Random, Run, Windows, Views or AllFrames, optional
        Which frames of each clip. A number is :class:`Uniform`. Default: all, and every clip must have the same number.
    crop : int, (int, int), CenterCrop, RandomCrop, RandomResizedCrop, MultiScaleCrop, ThreeCrop, Cover or SmartResize, default 224
        Which part of a frame becomes the picture, and how large that is. A side, or height and width, is :class:`CenterCrop`.
    reducing_gap : float, default 1.125
        How much larger than the picture a frame is decoded at least, where that is faster; infinity turns that off.
    flip : float, default 0.0
        Probability that a clip is mirrored.
    color : ColorJitter, optional
        How much colors vary from clip to clip.
    channels : {"rgb", "gray", "ycbcr"}, default "rgb"
        What the channels are.
    dtype : {"uint8", "float16", "bfloat16", "float32"} or a dtype of torch or NumPy, default "uint8"
        Type of a sample. The float types are ``x / 255``, unless ``normalize`` says otherwise.
    normalize : Normalize, optional
        Mean and standard deviation of the float types, such as :data:`vidrec.IMAGENET`.
    layout : {"BTCHW", "BCTHW", "BTHWC", "channels_last_3d"}, default "BTCHW"
        Order of dimensions. The last is BCTHW, in memory as ``torch.channels_last_3d``.
    shuffle : bool, default False
        A new order in each epoch: :class:`Shuffled` for a local data set; for a remote one :class:`Homes` in blocks of 8 MiB,
        of which 64 are mixed at a time, and a warning says how well that mixes. A mix is always shuffled.
    order : Shuffled, Blocks, Homes, Weighted or sequence of int, optional
        Instead: this order, or the numbers of the samples in the order in which they are to come. Default: the data set's.
    seed : int, default 0
        Seed of everything random.
    rank : (int, int), optional
        Number of this process among those that train together, and how many there are. Default: those of
        ``torch.distributed`` if it is initialized, else (0, 1).
    last : {"keep", "drop", "wrap", "pad"}, default "keep"
        What happens to clips that do not fill a batch on every rank. ``"keep"``: the last batches are smaller, and all ranks
        have the same number of them; ``"drop"``: this epoch skips these clips; ``"wrap"``: clips from the start of the epoch
        fill the batch; ``"pad"``: other clips fill it, whose ``mask`` is False.
    batching : Buckets, FrameBudget or TokenBudget, optional
        How clips of different lengths share batches.
    cameras : Cameras, optional
        Cameras whose clips of the same episode are one sample.
    fields : sequence of str, default ()
        Attributes that come as :attr:`Batch.fields`; ``"video.codec"`` is ``codec`` in ``video``. All clips are looked at once.
    tracks : dict, optional
        Tracks that come as :attr:`Batch.tracks`: by name, what :func:`vidrec.track` says of each.
    on_bad_frame : {"error", "substitute"}, default "error"
        What happens to a clip that cannot be read: its batch raises an exception (the next batch still comes), or
        another clip replaces it, which :attr:`Batch.params` and :meth:`stats` say.
    output : {"torch", "numpy"}, tensor, array or a list of them, optional
        Whether batches hold tensors or arrays. Default: torch if it is installed. Batches are decoded into
        tensors or arrays of your own in turn; each is filled again when you ask for the next batch.
    pin_memory : bool, default False
        Decode straight into torch's pinned memory, for copies with ``non_blocking=True``. If torch finds no accelerator,
        it warns, and memory is not pinned.
    device : str or torch.device, optional
        Where frames are made: ``"cuda"`` or ``"cuda:1"`` for a GPU, which decodes, crops and normalizes instead of the
        threads, and on which :attr:`Batch.frames` are then. They are the same, bit for bit. ``"cpu"`` runs the same code on a
        processor, slowly, for tests. Needs ``pip install 'vidrec[gpu]'``. Default: the threads make frames in the host's memory.
    device_cache : int or str, optional
        Keep JPEGs in the device's memory, at most this much, such as ``"20GB"``: later epochs do not read them again.
        The batches are the same. Each frame also takes about a kilobyte of the host's memory. Default: none.
    threads : int, optional
        Threads that decode. Default: as many as there are cores, up to 8.
    prefetch : int or Prefetch, default 4
        Batches that are made ahead.
    decoded_cache : int, str or DecodedCache, optional
        Keep decoded frames in memory that all processes of the machine share, at most this much, such as ``"200GB"``.
    process : bool, default False
        Make batches in a process of their own, whose threads do not slow down those of the training loop. It decodes into
        memory that both share. Batches are the same. Memory that is pinned, or your own, takes a copy. Needs Linux.

    Raises
    ------
    UsageError
        An option that makes no sense.

    Examples
    --------
    >>> from vidrec import IMAGENET, RandomResizedCrop
    >>> train = dict(batch_size=4, crop=RandomResizedCrop(64), dtype="float32", normalize=IMAGENET, shuffle=True)
    >>> loader = vidrec.Loader("train", **train)
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
    >>> resumed = vidrec.Loader("train", **train)
    >>> resumed.load_state_dict(state)
    >>> bool((next(iter(resumed)).frames == next(batches).frames).all())
    True

    It says how it was made:

    >>> vidrec.Loader("train", 8, frames=4, crop=64)
    vidrec.Loader('train', batch_size=8, frames=Uniform(count=4), crop=CenterCrop(size=64))
    """

    @overload
    def __init__(
        self: Loader[Batch[torch.Tensor]],
        dataset: Union[Dataset, Mix, Path],
        batch_size: int = 16,
        *,
        output: Union[Literal["torch"], Tensors, None] = None,
        **options: Unpack[_options.LoaderKeywords],
    ) -> None: ...
    @overload
    def __init__(
        self: Loader[Batch[NDArray[Any]]],
        dataset: Union[Dataset, Mix, Path],
        batch_size: int = 16,
        *,
        output: Union[Literal["numpy"], Arrays],
        **options: Unpack[_options.LoaderKeywords],
    ) -> None: ...
    @overload
    def __init__(
        self: Loader[Batch[Any]],
        dataset: Union[Dataset, Mix, Path],
        batch_size: int = 16,
        *,
        output: Optional[Output],
        **options: Unpack[_options.LoaderKeywords],
    ) -> None: ...
    @explain_options(_options.DEFAULTS)
    def __init__(self, dataset: Union[Dataset, Mix, Path], batch_size: int = 16, **options: Any) -> None:
        self._asked = asked = _options.Options(batch_size=batch_size, **options)
        self._written = repr(dataset if isinstance(dataset, (Dataset, Mix)) else os.fspath(dataset))
        self.dataset = dataset if isinstance(dataset, (Dataset, Mix)) else open(dataset)
        """The data set, or the mix."""
        self.batch_size = asked.batch_size
        """Clips in a batch."""
        self._ranks = asked.rank
        self._cameras = 0 if asked.cameras is None else len(asked.cameras.names)
        self._channels_last_3d = asked.layout == "channels_last_3d"
        self._out = asked.memory()
        self._output: Optional[str] = None if self._out is not None else cast(Optional[str], asked.output)
        self._pin_memory = asked.pin_memory
        self._device = None if asked.device is None else _device.chosen(asked.device)
        # What makes frames on it, for the engine.
        self._feed: Optional[Feed] = None
        # What is made of a batch, one after another.
        self._functions: Tuple[Callable[[Any], Any], ...] = ()
        self._next_epoch = 0
        # The epoch of the running loop, and its batches so far.
        self._place: Optional[Tuple[int, int]] = None
        # Of which loop.
        self._under_way: Optional[object] = None
        # Where another run stopped, or the epoch after that: this one keeps its order.
        self._resumed: Optional[str] = None
        # The epoch in the middle of which the state was asked for last.
        self._saved_in: Optional[int] = None
        # Loops that began.
        self._loops = 0
        # The engine, and what it is for: process, rank, world size, state.
        self._engine: Optional[_vidrec.Engine] = None
        self._made_for: Any = None
        self._warned: Set[str] = set()
        engine = self._ready()
        # Here rather than in the loop, which takes long enough to begin.
        _torch(self._output)
        self._warn(engine)

    def _warn(self, engine: _vidrec.Engine) -> None:
        """Warn of what the engine says and an earlier one did not."""
        for text in engine.warnings():
            if text not in self._warned:
                self._warned.add(text)
                warnings.warn(text, LoaderWarning, stacklevel=4)

    def map(self, function: Callable[[B], C]) -> Loader[C]:
        """A loader that gives ``function(batch)`` for each batch of this one.

        The two share threads and options, and each has its own loops and its own place in an epoch.

        Parameters
        ----------
        function : callable
            Called with each batch, in the thread that asks for it; what it returns is what the loop gets.

        Returns
        -------
        Loader

        Raises
        ------
        MapError
            In the loop, where the function fails: it names the batch and its clips. The next batch still comes.

        Examples
        --------
        >>> pairs = vidrec.Loader("train", batch_size=4, crop=64).map(lambda batch: (batch.frames, batch.sources))
        >>> frames, sources = next(iter(pairs))
        >>> sources
        ['left/0.mp4', 'left/1.mp4', 'left/2.mp4', 'left/3.mp4']
        """
        mapped: Any = copy.copy(self)
        mapped._functions = (*self._functions, function)
        # It has no loop yet.
        mapped._place = mapped._under_way = None
        return cast("Loader[C]", mapped)

    def _ready(self) -> _vidrec.Engine:
        """The engine for this process and its place among others."""
        rank, world_size = self._ranks or distributed()
        wanted = (os.getpid(), rank, world_size, self._resumed)
        if self._engine is None or self._made_for != wanted:
            options = _options.to_json(self._asked, isinstance(self.dataset, Mix), rank, world_size)
            self._engine = engine = self._started(options)
            self._feed = None if self._device is None else self._fed(engine, self._device)
            self._made_for = wanted
        return self._engine

    def _started(self, options: str) -> _vidrec.Engine:
        """An engine whose threads are in this process, or one with the same methods that has a process of its own."""
        if not self._asked.process:
            return _vidrec.Engine(self.dataset._inner, options, self._resumed)
        from ._apart.engine import Engine

        return cast(_vidrec.Engine, Engine(self.dataset, options, self._resumed, self._asked.depth))

    def _fed(self, engine: _vidrec.Engine, device: Any) -> Feed:
        from ._device.feed import Feed

        asked = self._asked
        layout = "BTHWC" if self._channels_last_3d else asked.layout
        return Feed(engine, device, str(asked.dtype), layout, asked.device_room())

    def __getstate__(self) -> Dict[str, Any]:
        if self._out is not None:
            raise TypeError("a loader with memory of your own as output cannot be sent to another process")
        # A worker that was spawned has no process group of its own, and belongs to the rank of its parent. Without one here
        # either, whoever gets the loader may have one, and asks then.
        ranks = self._ranks or (distributed() if process_group() else None)
        return dict(self.__dict__, _engine=None, _feed=None, _made_for=None, _under_way=None, _ranks=ranks)

    def __copy__(self) -> Loader[B]:
        other: Loader[B] = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    def __len__(self) -> int:
        """Batches of a whole epoch on this rank; a loop that resumes in the middle of one has fewer."""
        return self._ready().batches_per_epoch

    def __iter__(self) -> Iterator[B]:
        return _Iterator(self)

    def __repr__(self) -> str:
        maps = "".join(f".map({getattr(each, '__qualname__', repr(each))})" for each in self._functions)
        took = "" if self._ranks or not process_group() else f"  # rank={distributed()}, of torch.distributed"
        return f"vidrec.Loader({self._written}, {self._asked}){maps}{took}"

    def _repr_html_(self) -> str:
        rows = [("data set", repr(self.dataset)), ("batches", f"{len(self):,}"), ("shape", self.shape)]
        return _display.page("vidrec.Loader", [*rows, ("options", self._asked), ("next epoch", self.epoch)])

    @property
    def epoch(self) -> int:
        """The epoch of the running loop, or the next one if no loop is running."""
        return self._place[0] if self._place else self._next_epoch

    @property
    def shape(self) -> Tuple[int, ...]:
        """Shape of :attr:`Batch.frames`; if batches differ in shape, that of the largest."""
        return self._shown(self._ready().shape)

    def _shown(self, stored: Sequence[int]) -> Tuple[int, ...]:
        """A shape as it is stored, in the form that was asked for."""
        shape = [stored[i] for i in (0, 4, 1, 2, 3)] if self._channels_last_3d else stored
        cameras = self._cameras
        return (shape[0] // cameras, cameras, *shape[1:]) if cameras else tuple(shape)

    @property
    def sampler(self) -> Loader[B]:
        """The loader itself, for those who say the epoch to a ``DataLoader`` by ``loader.sampler.set_epoch``: Lightning."""
        return self

    # For those who look for the sampler of a DataLoader there.
    batch_sampler = sampler

    if not TYPE_CHECKING:

        def __getitem__(self, index: Any) -> NoReturn:
            raise UsageError(
                "a vidrec.Loader needs no DataLoader around it: iterate it. Code that requires a DataLoader takes"
                " DataLoader(vidrec.torch.IterableDataset(loader), batch_size=None)"
            )

        @property
        def prefetch_factor(self) -> NoReturn:
            """An error, for ``accelerate.skip_first_batches``: only that asks."""
            raise UsageError(
                "a vidrec.Loader resumes from its own state: in place of accelerate.skip_first_batches, call"
                " loader.load_state_dict(state); for the Trainer of transformers, use vidrec.transformers.TrainerLoader(loader)"
            )

    @property
    def batches_done(self) -> int:
        """Batches of this epoch that came already, also before the run resumed: ``tqdm(loader, initial=loader.batches_done)``."""
        epoch, number = self._place or (self._next_epoch, 0)
        engine = self._ready()
        is_rest = self._resumed is not None and epoch == engine.first_epoch
        return number + (max(0, len(self) - engine.batches_in(epoch)) if is_rest else 0)

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
            The place in the epoch, and the options that say what is in the batches: to be saved with the model.
        """
        epoch, batches = self._place or (self._next_epoch, 0)
        self._saved_in = epoch if 0 < batches < self._ready().batches_in(epoch) else None
        state: Dict[str, Any] = json.loads(self._ready().state(epoch, batches))
        return state

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        """Resume another run: the next loop is the rest of its epoch.

        Parameters
        ----------
        state : dict
            From :meth:`state_dict` of a loader of the same data set, seed and options. Batch size, rank, threads, prefetch and
            caches may be others. An order that was chosen for the run, by ``shuffle`` or :class:`Homes` without ``homes``,
            stays that of the state. A :class:`Mix` may have other weights, of which a :class:`LoaderWarning` tells, and more
            sources: both from there on.

        Raises
        ------
        UsageError
            It is of another data set, seed or length of epoch, or of a run with other options: the error names them.
        """
        before = self._resumed, self._next_epoch, self._place
        self._resumed = json.dumps(state)
        try:
            engine = self._ready()
        except Error:
            self._resumed, self._next_epoch, self._place = before
            raise
        self._next_epoch, self._place = engine.first_epoch, None
        self._warn(engine)

    def batch(self, epoch: int, number: int) -> B:
        """One batch, made now. A running loop is not affected.

        Parameters
        ----------
        epoch, number : int
            Which, counted from 0.
        """
        engine = self._ready()
        made = _Made(self, _torch(self._output))
        if self._feed is not None:
            inner, frames = self._feed.finish(self._feed.start(engine.batch("jpegs", epoch, number)), epoch, number)
            return made.mapped(made.batch(inner, epoch, number, made.shown(frames)))
        return made.mapped(made.batch(engine.batch("pictures", epoch, number), epoch, number))

    def _batch_at(self, epoch: int, positions: Sequence[int]) -> Batch[Any]:
        """The samples at some positions of an epoch as one batch, made now; its number is 0."""
        engine = self._ready()
        return _Made(self, _torch(self._output)).batch(engine.batch_at(epoch, positions), epoch, 0)

    def monitor(self, path: Path, *, every: float = 1.0) -> Monitor:
        """Write what the loader does to a file or named pipe, for another process to read.

        It writes a line of JSON each time, in a thread of its own, and never waits for the reader. It ends with the
        loader, or when you close what is returned. ``tail -F`` and ``jq`` show it in a terminal.

        Parameters
        ----------
        path : str or path-like
            Lines are appended. If a pipe is full or nobody reads it, lines are dropped. In a folder, each rank has a file
            of its own, ``rank-00003.jsonl``.
        every : float, default 1
            Seconds from line to line.

        Returns
        -------
        Monitor
            ``stats()`` in each line, and ``time``, ``rank``, ``epoch``, ``prefetch``, ``frames_per_second``, and the shares of the time
            that the training loop waited for a batch, ``waiting``, and the loader for room, ``loader_waiting``.
        """
        return Monitor(self._told, os.fspath(path), every)

    def _told(self) -> Dict[str, Any]:
        """What a line of a monitor says of it."""
        stats = self.stats().to_dict()
        return {"rank": self._made_for[1], "epoch": self.epoch, **stats, "prefetch": self._asked.ahead()[0]}

    def stats(self) -> LoaderStats:
        """Counters since the loader was made or resumed.

        Returns
        -------
        vidrec.results.LoaderStats
            Counts of ``batches``, ``frames``, ``bytes``, ``tiles_decoded``, ``tiles_skipped``, ``substituted_clips``;
            ``short_clips``, and ``skipped_clips`` of them; ``samples_left_out``;
            batches that are ``ready`` now; and ``consumer_wait_seconds`` and
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
    """What the compiled module gives, as arrays or tensors in the shape that was asked for, of a loader that is ready."""

    def __init__(self, loader: Loader[B], torch: Any) -> None:
        self._channels_last_3d, self._torch, self._functions = loader._channels_last_3d, torch, loader._functions
        self._world_size: int = loader._made_for[2]
        self._cameras = loader._cameras
        self._names = loader.dataset.names if isinstance(loader.dataset, Mix) else []
        self._asked, self._shape = loader._asked, loader._shown

    def shape(self, inner: _vidrec.Batch) -> Tuple[int, ...]:
        """The shape of the frames of a batch, in the form that was asked for."""
        return self._shape(inner.facts["shape"])

    def shown(self, stored: Any) -> Any:
        """A tensor as it is stored, with its dimensions in the order that was asked for."""
        if not self._channels_last_3d:
            return stored
        axes = (0, 4, 1, 2, 3)
        return stored.transpose(axes) if isinstance(stored, np.ndarray) else stored.permute(axes)

    def batch(self, inner: _vidrec.Batch, epoch: int, number: int, frames: Any = None) -> Batch[Any]:
        """A batch; ``frames`` where they are not among the samples."""
        facts = inner.facts
        labels, clips = self._known(facts["labels"], np.int64), self._known(facts["clips"], np.int64)
        mask = self._known(facts["mask"], np.bool_)
        per_frame = (len(labels), -1)
        times = self._known(facts["times"], np.float64).reshape(per_frame)
        fields = {name: self._field(kind, values) for name, kind, values in facts["fields"]}
        if frames is None:
            # Without a copy.
            stored = np.asarray(inner.samples)
            frames = self.shown(stored if self._torch is None else _memory.tensor(stored, str(self._asked.dtype)))
        camera_mask = None
        per_picture = (len(labels), self._cameras, -1) if self._cameras else per_frame
        frame_mask = self._known(facts["frame_mask"], np.bool_).reshape(per_picture)
        if self._cameras:
            if frames.ndim == 5:
                frames = frames.reshape((len(labels), self._cameras, *frames.shape[1:]))
            camera_mask = self._known(facts["camera_mask"], np.bool_).reshape(per_frame)
        source_ids = self._known(facts["source_ids"], np.int64) if self._names else None
        # What part of the step of all ranks it is.
        share = Share(facts["clips_on_all_ranks"], self._world_size, all_real=b"\0" not in facts["mask"])
        known = (share, frame_mask, times, epoch, number, fields, None, source_ids, self._names)
        tracks, track_masks, *of_tracks = self._tracks(facts["tracks"])
        return Batch(frames, labels, clips, mask, inner, *known, tracks, track_masks, camera_mask, *of_tracks)

    def _field(self, kind: str, values: Any) -> Any:
        if kind == "json":
            return [None if text is None else json.loads(text) for text in values]
        return values if kind == "text" else self._known(values, kind)

    def _tracks(self, told: Sequence[Dict[str, Any]]) -> Tuple[Dict[str, Any], ...]:
        """The values of tracks, which of them there are, the times of texts, and how many numbers values and items lists have, by name."""
        values, masks, times, dims, counts = {}, {}, {}, {}, {}
        for track in told:
            name, kind = track["name"], NUMBERS.get(track["kind"])
            values[name] = track["values"] if kind is None else self._known(track["values"], kind).reshape(track["shape"])
            masks[name] = self._known(track["mask"], np.bool_).reshape(track["mask_shape"])
            if kind is None or track["times"]:
                times[name] = track["times"]
            if track["dims"]:
                dims[name] = self._known(track["dims"], np.int64)
            if track["counts"]:
                counts[name] = self._known(track["counts"][0], np.int64).reshape(track["counts"][1])
        return values, masks, times, dims, counts

    def _known(self, values: bytes, dtype: Any) -> Any:
        array = np.frombuffer(bytearray(values), dtype)
        if self._torch is None:
            return array
        # torch has uint16 since 2.3.
        is_unknown = array.dtype == np.uint16 and not hasattr(self._torch, "uint16")
        return self._torch.from_numpy(array.astype(np.int32) if is_unknown else array)

    def mapped(self, batch: Batch[Any]) -> B:
        """What the loop gets of a batch."""
        made: Any = batch
        try:
            for function in self._functions:
                made = function(made)
        except Exception as e:
            clips = ", ".join(str(int(clip)) for clip in batch.clips)
            place = f"batch {batch.number} of epoch {batch.epoch} (clips {clips})"
            raise MapError(f"map failed for {place}: {type(e).__name__}: {e}") from e
        return cast(B, made)


class _Iterator(Generic[B]):
    """The batches of one epoch (by default the loader's next), or every ``step``-th of them.

    Several threads may take them in turn: each batch comes once.
    """

    def __init__(self, loader: Loader[B], epoch: Optional[int] = None, first: int = 0, step: int = 1) -> None:
        self._loader, self._number, self._step = loader, first, step
        self._torch = _torch(loader._output)
        self._last: Any = None
        # Tensors that are being filled, in order.
        self._given: Deque[Any] = deque()
        # If several loops run, the loader describes the one that began last. A reference to this iterator would keep it.
        self._token = object()
        self._allocate = _memory.pinned_allocator() if loader._pin_memory else None
        if loader._out is not None:
            _memory.check_apart(loader._out, loader.shape, str(loader._asked.dtype), loader._channels_last_3d)
        self._process = os.getpid()
        # A batch is taken and numbered under it. A signal's handler may ask for a batch while one is waited for.
        self._lock = threading.RLock()
        self._wanted_epoch = epoch
        self._begun = False

    def _begin(self) -> None:
        """Start to make batches: not before one is asked for, for some only look whether a loader can be iterated."""
        loader = self._loader
        if self._wanted_epoch is None:
            _lightning.load_forgotten_state()
            self._warn_of_loop_before()
        self._epoch = self._wanted_epoch = loader._next_epoch if self._wanted_epoch is None else self._wanted_epoch
        loader._next_epoch, loader._place, loader._under_way = self._epoch + 1, (self._epoch, 0), self._token
        self._engine = engine = loader._ready()
        for text in engine.warnings(self._epoch):
            warnings.warn(text, LoaderWarning, stacklevel=3)
        self._made = _Made(loader, self._torch)
        self._into: Optional[_vidrec.Batches] = None
        # What makes frames on a device, and the batches that it makes.
        self._feed = loader._feed
        self._started: Deque[Any] = deque()
        if self._feed is not None:
            self._batches = engine.iter("jpegs", self._epoch, self._number, self._step)
        elif loader._out is None and self._allocate is None:
            self._batches = engine.iter("pictures", self._epoch, self._number, self._step)
        else:
            self._into = engine.iter("into", self._epoch, self._number, self._step)
            self._provide_all()
        self._begun = True

    def _warn_of_loop_before(self) -> None:
        """Warn where the loop before this one was not what its state or its ranks make of it."""
        loader = self._loader
        if loader._place is not None and loader._place[0] == loader._saved_in:
            left, next_epoch = loader._saved_in, loader._next_epoch
            warnings.warn(
                f"the loop before this one ended in the middle of epoch {left}, and its state was saved: this loop is epoch {next_epoch},"
                f" but a run that resumes from that state begins with the rest of epoch {left}; call set_epoch before each loop,"
                " and end resumed loops after as many batches",
                LoaderWarning,
                stacklevel=4,
            )
        if loader._ranks is None:
            rank, world_size = distributed()
            # Without the path, which may be another one on another machine.
            found = ranks_of_last_loop(f"{len(loader.dataset)} clips, {loader._asked}", loader._loops)
            loader._loops += 1
            if found is not None and found < world_size:
                warnings.warn(
                    f"the loop before this one has begun on {found} of {world_size} ranks so far: the loader took rank={(rank, world_size)}"
                    " of torch.distributed, and gives this rank its share of the data only; iterate it on all ranks and add up what they"
                    " count, or give rank=(0, 1) to a loader that one rank alone iterates",
                    LoaderWarning,
                    stacklevel=4,
                )

    def _provide_all(self) -> None:
        loader = self._loader
        if loader._out is not None:
            for tensor in loader._out:
                self._provide(tensor)
        else:
            for _ in range(loader._asked.depth(self._engine.batch_bytes)):
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
        if self._feed is not None:
            return self._take_from_device(self._feed)
        frames = None
        try:
            if self._into is None:
                inner = self._batches.next()
            else:
                frames, inner = self._next_into(self._into)
        except Error:
            # The batch could not be made; the next one still comes, unless nobody is left to make it.
            if not getattr(self._engine, "is_lost", False):
                self._advance()
            raise
        if inner is None:
            self._finish()
            raise StopIteration
        batch = self._made.batch(inner, self._epoch, self._number, frames)
        self._advance()
        return self._made.mapped(batch)

    def _take_from_device(self, feed: Feed) -> B:
        """The next batch. The one after it is started first, so that the device makes it while this one is used."""
        batches = self._batches
        while not self._started or (len(self._started) < 2 and self._started[0] is not None and batches.is_ready()):
            try:
                inner = batches.next()
                self._started.append(None if inner is None else feed.start(inner))
            except Error as e:
                self._started.append(e)
        started = self._started.popleft()
        if started is None:
            self._finish()
            raise StopIteration
        if isinstance(started, Error):
            if not getattr(self._engine, "is_lost", False):
                self._advance()
            raise started
        try:
            inner, frames = feed.finish(started, self._epoch, self._number)
            batch = self._made.batch(inner, self._epoch, self._number, self._made.shown(frames))
        finally:
            self._advance()
        return self._made.mapped(batch)

    def _next_into(self, into: _vidrec.Batches) -> Tuple[Any, Optional[_vidrec.Batch]]:
        if self._allocate is not None:
            self._last = None
        elif self._last is not None:
            self._provide(self._last)
            self._last = None
        try:
            inner = into.next()
        except Error:
            tensor = self._given.popleft()
            self._provide_pinned() if self._allocate is not None else self._provide(tensor)
            raise
        if inner is None:
            return None, None
        self._last = self._given.popleft()
        if self._allocate is not None:
            self._provide_pinned()
            return self._made.shown(_memory.start(self._last, inner.facts["shape"])), inner
        if tuple(self._last.shape) == tuple(self._made.shape(inner)):
            return self._last, inner
        return self._made.shown(_memory.start(self._last, inner.facts["shape"], self._loader._channels_last_3d)), inner

    def _provide(self, tensor: Any) -> None:
        loader = self._loader
        address, length = _memory.region(tensor, loader.shape, str(loader._asked.dtype), loader._channels_last_3d)
        assert self._into is not None
        self._given.append(tensor)
        self._into.provide(address, length, tensor)

    def _provide_pinned(self) -> None:
        assert self._into is not None and self._allocate is not None
        tensor = self._allocate(self._engine.shape, str(self._loader._asked.dtype))
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
                loader._resumed = self._engine.state(self._epoch + 1, 0)
        self._last = None
        self._given.clear()
        self._started.clear()


def _torch(output: Optional[str]) -> Any:
    """The module, if batches are to be made of tensors."""
    if output == "numpy":
        return None
    try:
        return import_whole("torch")
    except ImportError:
        if output == "torch":
            raise
        return None
