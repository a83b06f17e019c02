"""Making, proving and describing data sets."""

from __future__ import annotations

import json
import os
import warnings
from typing import TYPE_CHECKING, Any, Literal, Mapping, Optional, Sequence, Tuple, Union, overload

from . import _choice, _isolated, _pack_options, _storage, _vidrec
from ._choice import Clips
from ._progress import Progress, Shown, ShownTwice
from ._storage import Path, Size
from .dataset import Dataset, opened
from .errors import PackWarning, UsageError
from .results import DatasetInfo, FetchReport, PackEstimate, PackReport, PushReport, VerifyReport
from .words import AudioChannels, OnError, Rule, SegmentClock, Short

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._pack_arguments import PackArguments


def inspect(
    path: Union[Dataset, Path],
    *,
    storage_options: Optional[Mapping[str, Any]] = None,
    cache: Optional[Path] = None,
    cache_bytes: Optional[Size] = None,
    timeout: float = _storage.TIMEOUT,
) -> DatasetInfo:
    """Describe a data set.

    Parameters
    ----------
    path : Dataset or path
        The data set, or its path or location, as :func:`vidrec.open` takes it.
    storage_options, cache, cache_bytes, timeout
        How a remote data set is read, as for :func:`vidrec.open`; a :class:`vidrec.Dataset` has its own.

    Returns
    -------
    vidrec.results.DatasetInfo
        What ``dataset.json`` says: ``clips``, ``frames``, ``classes``, ``shards``, ``settings`` and so on.

    Examples
    --------
    >>> found = vidrec.inspect("train")
    >>> found.clips, found.classes, found.shards[0].frames
    (12, ('left', 'right'), 96)
    """
    return opened(path, _storage.given(storage_options, cache, cache_bytes, timeout=timeout)).meta


def verify(
    path: Union[Dataset, Path],
    *,
    deep: bool = False,
    progress: Progress = False,
    storage_options: Optional[Mapping[str, Any]] = None,
    cache: Optional[Path] = None,
    cache_bytes: Optional[Size] = None,
    timeout: float = _storage.TIMEOUT,
) -> VerifyReport:
    """Prove that a data set is whole: structure, ids, every checksum. Reads all of it once, and twice if ``deep``.

    Parameters
    ----------
    path : Dataset or path
        The data set as :func:`vidrec.open` gave it, or its path or location.
    deep : bool, default False
        Decode every frame as well.
    progress : bool or callable, default False
        True shows how much is done, the rate, and the time that is left: as a bar of tqdm, in a terminal or a notebook, if
        tqdm is installed, else as a line on standard error. A callable gets the frames done and their number, about ten
        times a second; an exception from it stops the work and is raised. So does Ctrl-C.
    storage_options, cache, cache_bytes, timeout
        How a remote data set is read, as for :func:`vidrec.open`; a :class:`vidrec.Dataset` has its own.

    Returns
    -------
    vidrec.results.VerifyReport
        ``ok``, ``clips``, ``frames``, ``notes``, and ``problems``: everything that is wrong.

    Raises
    ------
    Error
        Only if there is nothing to look at.

    Examples
    --------
    >>> vidrec.verify("train", deep=True).ok
    True
    >>> for problem in vidrec.verify("train").problems:
    ...     print(problem.file, problem.clip, problem.message)
    """
    storage = _storage.given(storage_options, cache, cache_bytes, timeout=timeout)
    where: Any = path
    if isinstance(path, Dataset):
        if path._recipe[0] != "open":
            raise UsageError("verify takes whole data sets, as vidrec.open gives them, not selections of clips")
        _, where, _, storage = path._recipe
    with Shown(progress, "frames") as show:
        told = _vidrec.verify(where, deep, storage, show)
    return VerifyReport.from_dict(json.loads(told))


def fetch(
    location: str,
    output: Path,
    *,
    classes: Sequence[Union[str, int]] = (),
    clips: Optional[Clips] = None,
    overwrite: bool = False,
    progress: Progress = False,
    storage_options: Optional[Mapping[str, Any]] = None,
    timeout: float = _storage.TIMEOUT,
) -> FetchReport:
    """Copy a data set from object storage or a web server to a local folder.

    All files are the same, byte for byte, and are proven by their checksums. The copy appears when it is complete. After an
    interruption, the same call continues.

    Parameters
    ----------
    location : str
        Where the data set is, such as ``"s3://bucket/train"``.
    output : path
        Folder to make the copy in.
    classes, clips
        Only these clips, as for :meth:`vidrec.Dataset.subset`; they are written as :func:`vidrec.subset` does, and no
        others are read.
    overwrite : bool, default False
        Replace another data set that is already there, or bring an earlier copy up to date.
    progress : bool or callable, default False
        As for :func:`verify`, in bytes of the record files, or in clips if some are chosen.
    storage_options, timeout
        As for :func:`vidrec.open`.

    Returns
    -------
    vidrec.results.FetchReport
        ``output``, ``clips``, ``frames``, ``shards``, ``bytes``, ``kept_bytes`` (those that were there before, and were
        proven again) and ``remote``, as :meth:`vidrec.Dataset.remote_stats` gives it.

    Raises
    ------
    FormatError
        A file is not what ``dataset.json`` says.

    Examples
    --------
    >>> vidrec.fetch("s3://bucket/train", "copy", progress=True).clips  # doctest: +SKIP
    12
    """
    chosen = None
    if clips is not None or classes:
        chosen = _choice.chosen(classes, clips, (), None, None, 0)
    storage = _storage.given(storage_options, timeout=timeout)
    with Shown(progress, "clips" if chosen else "bytes") as show:
        told = _vidrec.fetch(location, output, chosen, overwrite, storage, show)
    return FetchReport.from_dict(json.loads(told))


def push(
    path: Path,
    location: str,
    *,
    overwrite: bool = False,
    only_publisher: bool = False,
    progress: Progress = False,
    storage_options: Optional[Mapping[str, Any]] = None,
    timeout: float = _storage.TIMEOUT,
) -> PushReport:
    """Copy a data set from a local folder to object storage.

    All files are the same, byte for byte, and are compared with their checksums as they are read. ``dataset.json`` comes
    last: the data set appears in one step, when it is complete. After an interruption, the same call continues.

    Parameters
    ----------
    path : path
        Folder of the data set.
    location : str
        Where to copy it to, such as ``"s3://bucket/train"``, ``"gs://…"`` or ``"az://…"``.
    overwrite : bool, default False
        Replace another data set that is already there, in one step. Then the files that only it had are removed.
    only_publisher : bool, default False
        Nobody else publishes at the same location at the same time. For stores that do not write objects on conditions
        (``If-None-Match``), by which vidrec otherwise keeps publishers apart.
    progress : bool or callable, default False
        As for :func:`verify`, in bytes.
    storage_options, timeout
        As for :func:`vidrec.open`.

    Returns
    -------
    vidrec.results.PushReport
        ``output``, ``clips``, ``frames``, ``shards``, ``bytes``, ``kept_bytes`` (those that were there before), ``found``
        (whether this data set was there already, so that nothing was to be done), ``removed`` (files of a replaced data
        set), ``notes`` (what could not be done after the data set was there) and ``remote``, as
        :meth:`vidrec.Dataset.remote_stats` gives it.

    Raises
    ------
    UsageError
        There is another data set, ``location`` cannot be written to, or the store knows no conditions.
    FormatError
        A file is not what ``dataset.json`` says. Nothing is published then.

    Examples
    --------
    >>> vidrec.push("train", "s3://bucket/train", progress=True).clips  # doctest: +SKIP
    12
    """
    storage = _storage.given(storage_options, timeout=timeout)
    with Shown(progress, "bytes") as show:
        told = _vidrec.push(path, location, overwrite, only_publisher, storage, show)
    return PushReport.from_dict(json.loads(told))


# Not None, which means something for `short_side`.
_DEFAULT: Any = object()


@overload
def pack(
    inputs: Union[Path, Sequence[Path]],
    output: Path,
    *,
    dry_run: Literal[False] = False,
    **options: Unpack[PackArguments],
) -> PackReport: ...
@overload
def pack(
    inputs: Union[Path, Sequence[Path]],
    output: Path,
    *,
    dry_run: Literal[True],
    **options: Unpack[PackArguments],
) -> PackEstimate: ...
@overload
def pack(
    inputs: Union[Path, Sequence[Path]],
    output: Path,
    *,
    dry_run: bool,
    **options: Unpack[PackArguments],
) -> Union[PackReport, PackEstimate]: ...


def pack(
    inputs: Union[Path, Sequence[Path]],
    output: Path,
    *,
    frames: Optional[int] = None,
    sample: Optional[Rule] = None,
    stride: Optional[int] = None,
    short: Optional[Short] = None,
    draws: Optional[int] = None,
    seed: Optional[int] = None,
    fps: Union[str, float, None] = None,
    every: Optional[int] = None,
    all: bool = False,
    keyframes: bool = False,
    max_frames: Optional[int] = None,
    short_side: Optional[int] = _DEFAULT,
    size: Union[str, Tuple[int, int], None] = None,
    original: bool = False,
    enlarge: bool = False,
    quality: Optional[int] = None,
    target_quality: Optional[str] = None,
    effort: Optional[int] = None,
    optimize: bool = False,
    reduce_depth: bool = False,
    audio: Optional[int] = None,
    audio_channels: Optional[AudioChannels] = None,
    root: Optional[Path] = None,
    storage_options: Optional[Mapping[str, Any]] = None,
    storage_timeout: Optional[float] = None,
    scratch: Optional[Path] = None,
    only_publisher: bool = False,
    split: Optional[str] = None,
    classes: Optional[Path] = None,
    whole_files: bool = False,
    outside: bool = False,
    segment_clock: Optional[SegmentClock] = None,
    pass_through: bool = False,
    picture_fps: Union[str, float, None] = None,
    track: Union[str, Sequence[str], None] = None,
    shuffle_seed: Optional[int] = None,
    resume: bool = False,
    restart: bool = False,
    retry_failed: bool = False,
    commit_every: Optional[float] = None,
    on_error: Optional[OnError] = None,
    max_failures: Union[int, str, None] = None,
    timeout: Optional[float] = None,
    max_pixels: Optional[int] = None,
    max_duration: Optional[float] = None,
    no_isolate: bool = False,
    shards: Optional[int] = None,
    shard_size: Union[int, str, None] = None,
    parts: Optional[int] = None,
    jobs: Optional[int] = None,
    decode_all: bool = False,
    threads: Optional[int] = None,
    io_threads: Optional[int] = None,
    memory: Union[int, str, None] = None,
    mxnet: bool = False,
    overwrite: bool = False,
    force: bool = False,
    dry_run: bool = False,
    progress: Progress = False,
) -> Union[PackReport, PackEstimate]:
    """Sample frames from videos and write them as a data set.

    The options are those of the program ``vidrec pack``, by the same names and with the same defaults;
    ``vidrec pack --help`` explains some of them in more detail. The same inputs and options give the same bytes, whatever
    ``threads``, ``io_threads``, ``memory`` and ``no_isolate`` are.

    After a crash, a full disk, Ctrl-C or an exception from ``progress``, the same call with ``resume=True``
    continues the pack, and the result is byte for byte that of a pack that was not interrupted. At Ctrl-C vidrec
    finishes the videos in hand and then raises ``KeyboardInterrupt``.

    Parameters
    ----------
    inputs : path, or sequence of paths
        Folders (the class is the name of the first folder level), videos, data sets of LeRobot, or manifests (``.csv``
        or ``.tsv``).
    output : path
        Folder to make the data set in, or a location such as ``"s3://bucket/train"``. What an interrupted pack to a location
        left is resumed without ``resume``, unless ``restart``; ``retry_failed`` and ``mxnet`` need a folder.
    frames : int, default 8
        Frames of each video.
    sample : str, default "uniform"
        Which frames: ``"uniform"``, the centers of equal segments; ``"endpoints"``, first, last and evenly between;
        ``"random"``, one at random in each segment; ``"clip"``, in a row from the middle; ``"random-clip"``, in a row
        from anywhere.
    stride : int, default 1
        With ``sample="clip"`` or ``"random-clip"``: take every ``stride``-th frame.
    short : str, default "repeat-last"
        What to do with a video of too few frames: ``"repeat-last"``, ``"loop"``, ``"skip"`` or ``"error"``.
    draws : int, default 1
        With ``sample="random"`` or ``"random-clip"``: this many draws of each video, each a clip.
    seed : int, default 0
        For what is random in ``sample``.
    fps : str or float, optional
        Instead of ``frames``: this many frames a second, such as 8, 29.97 or ``"30000/1001"``. With this or one of the
        next three, clips differ in length.
    every : int, optional
        Instead of ``frames``: the first frame, and every one that is a multiple of this after it.
    all : bool, default False
        Instead of ``frames``: all frames.
    keyframes : bool, default False
        Instead of ``frames``: the key frames.
    max_frames : int, optional
        With ``fps``, ``every``, ``all`` or ``keyframes``: at most this many frames, spread evenly.
    short_side : int or None, default 256
        Pixels of the shorter side, to which larger videos are scaled; None keeps their size, as ``original`` does.
    size : str or (int, int), optional
        Instead: exactly this size, as ``"WIDTHxHEIGHT"`` or (height, width).
    original : bool, default False
        Instead: the size at which each video is shown.
    enlarge : bool, default False
        With ``short_side``: enlarge smaller videos too.
    quality : int, default 90
        JPEG quality, 1 to 100.
    target_quality : str, optional
        Instead: each frame gets the lowest quality at which it is this near to what was decoded and scaled, such as
        ``"psnr:40"`` (in dB) or ``"ssim:0.98"``, both of luma. Packing takes longer.
    effort : int, default 1
        Work that a JPEG is worth: 1 makes JPEGs about a fifth smaller at the same PSNR; 0 encodes with libjpeg-turbo, which
        takes up to a tenth less time.
    optimize : bool, default False
        Huffman tables for each JPEG: smaller, the same pixels, slower.
    reduce_depth : bool, default False
        Pack pictures of more than 12 bits a channel, such as depth maps, and keep the upper 8 of their bits. Otherwise
        such a video fails.
    audio : int, optional
        Also pack the sound of the videos, as the track ``audio`` of 16-bit integers, at this many samples a second.
    audio_channels : str, default "mono"
        With ``audio``: ``"mono"``, into which all channels are mixed, ``"stereo"``, or ``"source"``: as many as the first
        video with sound has, as they are; a video with another number then fails.
    root : path, optional
        Folder that the paths of manifests, and of the videos of a data set of LeRobot, are relative to, or a remote location
        such as ``"s3://bucket/videos"``.
        Default: the manifest's folder.
    storage_options : dict, optional
        For remote videos and a remote output: options of the storage, such as ``{"region": "eu-west-1"}``, by the names
        that pandas and polars use. They come before the environment and the files of each cloud's own tools.
    storage_timeout : float, default 60.0
        For them: seconds that a read or write may take, with all tries. Then the pack stops, and can be resumed.
    scratch : path, optional
        With a remote output: make the data set in a folder in this one first, which needs room for all of it; with
        ``parts``, for the parts that are packed at a time. Default: ``$TMPDIR``, or else
        ``$XDG_CACHE_HOME/vidrec`` or ``~/.cache/vidrec``.
    only_publisher : bool, default False
        With a remote output: as for :func:`push`.
    split : str, optional
        Take only clips of this split of a manifest.
    classes : path, optional
        File with all class names in their order.
    whole_files : bool, default False
        Take whole files, whatever start and end a manifest gives.
    outside : bool, default False
        Take also what lies outside the input folders: what links in them lead to, and absolute paths, paths with ``..`` and
        URLs of lists that were found in them. Set it if you trust whoever made the folders.
    segment_clock : str, default "player"
        What ``start`` and ``end`` of a manifest count from: ``"player"``, what a player shows, or ``"first-frame"``, the
        first frame of the video.
    pass_through : bool, default False
        Store the JPEGs of folders of frames as they are.
    picture_fps : str or float, optional
        How many frames of such a folder make a second, such as 8, 29.97 or ``"30000/1001"``.
    track : str or sequence of str, optional
        Tracks beside the frames, each ``"NAME=COLUMN,WORDS"``: a column of a manifest that names a file for each video
        (``.npy``, ``.npz``, ``.parquet``, ``.csv``, ``.tsv``, ``.json``) or holds a list, and words that say how the
        values lie in time, such as ``"action=action_file,rate=50"``. ``docs/tracks.md`` has them all.
    shuffle_seed : int, optional
        Store the clips in a shuffled order.
    resume : bool, default False
        Resume an interrupted pack of the same inputs and options; begin if there is none.
    restart : bool, default False
        Discard an interrupted pack and start over.
    retry_failed : bool, default False
        Pack again only what failed when the data set in ``output`` was packed with the same inputs and options.
    commit_every : float, default 10.0
        Write finished clips to the disk this often, in seconds; 0: after each video.
    on_error : str, default "skip"
        What to do with a video that cannot be read: ``"skip"`` it and list it, or ``"stop"``, which raises.
    max_failures : int or str, optional
        Raise when more videos than this fail: a number, or a share of all such as ``"1.5%"``. What is done can be
        resumed.
    timeout : float, default 600.0
        Longest time for one video, in seconds.
    max_pixels : int, default 2**28
        Most pixels that a picture of a video may have. A video with more fails.
    max_duration : float, optional
        Longest video, in seconds. A longer one fails.
    no_isolate : bool, default False
        Decode in this process. By default each thread has a process that decodes for it and can do nothing else, so a hostile
        video reaches nothing, and a codec that crashes or hangs costs one video.
    shards : int, optional
        Spread the clips over this many shards with the same number of videos each, in order. Default: one shard.
    shard_size : int or str, optional
        Instead: begin another shard where the clips of a video would make a record file longer than this many bytes, such
        as ``"1GiB"`` or ``"500MB"``.
    parts : int, optional
        Pack in this many parts of about the same cost, each with shards of its own: byte for byte what the machines of a
        cluster give that pack the parts of a plan (:func:`plan`).
    jobs : int, optional
        With ``parts``: how many to pack at a time, among which ``threads`` are divided. Default: 1.
    decode_all : bool, default False
        Decode every frame of a video, not only what the chosen ones need: finds all damage.
    threads : int, optional
        Videos that are decoded at a time. Default: one for each core.
    io_threads : int, default 1
        Threads that read the next files ahead, for disks and networks; 0 for none.
    memory : int or str, optional
        Bytes that all videos in work may take together, such as ``"2GiB"``. A video that needs more is decoded alone.
        Default: 480 MiB for each thread.
    mxnet : bool, default False
        Also write the folder ``mxnet`` in ``output``, with links to the record files and ``.idx`` and ``.lst`` files
        beside them.
    overwrite : bool, default False
        Replace a data set that is already there.
    force : bool, default False
        The program's name for ``overwrite``.
    dry_run : bool, default False
        Write nothing. Count the videos, list what is missing, and pack a few videos in memory to say how large the data
        set will be and how long the pack will take.
    progress : bool or callable, default False
        As for :func:`verify`, in videos. An exception from it leaves a pack that can be resumed. While a remote output is
        uploaded, True shows its bytes, and a callable gets the last number of videos again.

    Returns
    -------
    vidrec.results.PackReport
        ``clips``, ``frames``, ``failed``, ``failures``, ``warnings``, ``passed_over`` (ignored files of the input folders,
        which are neither videos nor frames), ``manifests`` (what their columns became), ``notes`` (columns that may be
        misspelled, videos without a label, sources that were kept apart), ``resumed_at`` (videos that were done already, of
        a resumed pack), ``unchanged`` (whether there was nothing to do: a resumed pack was finished, or no video was there
        to retry) and so on. With ``clips`` 0 no data set was made.
    vidrec.results.PackEstimate
        With ``dry_run``: ``videos``, ``labeled``, ``classes``, ``missing`` (files that are listed and not there), ``probed``
        (videos that were packed in memory), ``probe_failures``, and what the pack would give: ``clips``, ``frames``,
        ``failed``, ``bytes`` and ``seconds``; ``free_bytes`` are free where ``output`` would be.

    Raises
    ------
    UsageError
        No videos were found, there is a data set or an interrupted pack already, an argument makes no sense or excludes
        another one, or this build of vidrec cannot pack.

    Examples
    --------
    >>> vidrec.pack("videos", "packed", fps=8, short_side=64).clips  # doctest: +SKIP
    12
    >>> vidrec.pack("videos", "packed", dry_run=True).bytes  # doctest: +SKIP
    512345
    """
    _pack_options.check_build()
    options = _pack_options.given(
        root,
        classes,
        _pack_options.storage(storage_options, storage_timeout, scratch, only_publisher),
        {
            "frames": frames,
            "sample": sample,
            "stride": stride,
            "short": short,
            "draws": draws,
            "seed": seed,
            "fps": fps,
            "every": every,
            "max_frames": max_frames,
            "short_side": None if short_side is _DEFAULT else short_side,
            "size": size,
            "quality": quality,
            "target_quality": target_quality,
            "effort": effort,
            "split": split,
            "segment_clock": segment_clock,
            "picture_fps": picture_fps,
            "shuffle_seed": shuffle_seed,
            "track": track,
            "audio": audio,
            "audio_channels": audio_channels,
            "commit_every": commit_every,
            "on_error": on_error,
            "max_failures": max_failures,
            "timeout": timeout,
            "max_pixels": max_pixels,
            "max_duration": max_duration,
            "shards": shards,
            "shard_size": shard_size,
            "parts": parts,
            "jobs": jobs,
            "threads": threads,
            "io_threads": io_threads,
            "memory": memory,
        },
        {
            "all": all,
            "keyframes": keyframes,
            "original": original or short_side is None,
            "enlarge": enlarge,
            "optimize": optimize,
            "reduce_depth": reduce_depth,
            "whole_files": whole_files,
            "outside": outside,
            "pass_through": pass_through,
            "resume": resume,
            "restart": restart,
            "retry_failed": retry_failed,
            "decode_all": decode_all,
            "overwrite": overwrite or force,
        },
    )
    paths = [inputs] if isinstance(inputs, (str, os.PathLike)) else list(inputs)
    command = None if no_isolate else _isolated.command(options)
    with ShownTwice(progress, "videos") as show:
        report: Union[PackReport, PackEstimate]
        if dry_run:
            report = PackEstimate.from_dict(json.loads(_vidrec.estimate(paths, output, options, show[0], command)))
        else:
            report = PackReport.from_dict(json.loads(_vidrec.pack(paths, output, options, show, command, mxnet)))
    for note in report.notes:
        warnings.warn(note, PackWarning, stacklevel=2)
    return report
