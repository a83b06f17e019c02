"""Making, proving and describing data sets."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, Optional, Sequence, Tuple, Union

from . import _isolated, _vidrec
from ._progress import Progress, Shown
from .dataset import Path, open
from .errors import UsageError

def inspect(path: Path) -> Dict[str, Any]:
    """Describe a data set.

    Parameters
    ----------
    path : str or path-like
        As :func:`vidrec.open` takes it.

    Returns
    -------
    dict
        ``clips``, ``frames``, ``classes``, ``shards`` (files, counts, bytes, SHA-256), ``settings`` and
        ``tool``.

    Examples
    --------
    >>> found = vidrec.inspect("train")
    >>> found["clips"], found["classes"]
    (12, ['left', 'right'])
    """
    return open(path).meta


def verify(path: Path, *, deep: bool = False, progress: Progress = False) -> Dict[str, Any]:
    """Prove that a data set is whole: structure, ids, every checksum. Reads all of it once, and twice if ``deep``.

    Parameters
    ----------
    path : str or path-like
        As :func:`vidrec.open` takes it.
    deep : bool, default False
        Decode every frame as well.
    progress : bool or callable, default False
        True shows a bar (with tqdm, if it is installed). A callable gets the frames done and their number, about ten
        times a second; an exception from it stops the work and is raised. So does Ctrl-C.

    Returns
    -------
    dict
        ``ok``, ``clips``, ``frames`` and ``problems``, a list of everything that is wrong: ``kind``, ``file``,
        ``clip``, ``frame``, ``offset`` and ``message`` each.

    Raises
    ------
    Error
        Only if there is nothing to look at.

    Examples
    --------
    >>> vidrec.verify("train", deep=True)["ok"]
    True
    """
    with Shown(progress, "frames") as show:
        told = _vidrec.verify(path, deep, show)
    report: Dict[str, Any] = json.loads(told)
    return report


# Not None, which means something for `short_side`.
_DEFAULT: Any = object()


def pack(
    inputs: Union[Path, Sequence[Path]],
    output: Path,
    *,
    frames: Optional[int] = None,
    sample: Optional[str] = None,
    short: Optional[str] = None,
    short_side: Optional[int] = _DEFAULT,
    size: Optional[Tuple[int, int]] = None,
    quality: Optional[int] = None,
    pace: Optional[str] = None,
    max_frames: Optional[int] = None,
    draws: Optional[int] = None,
    optimize: bool = False,
    decode_all: bool = False,
    pass_through: bool = False,
    reduce_depth: bool = False,
    picture_rate: Union[str, float, None] = None,
    segment_clock: Optional[str] = None,
    root: Optional[Path] = None,
    split: Optional[str] = None,
    classes: Optional[Path] = None,
    whole_files: bool = False,
    shuffle_seed: Optional[int] = None,
    seed: Optional[int] = None,
    threads: Optional[int] = None,
    io_threads: Optional[int] = None,
    memory: Optional[int] = None,
    shards: Optional[int] = None,
    shard_size: Optional[int] = None,
    on_error: Optional[str] = None,
    max_failures: Union[int, str, None] = None,
    overwrite: bool = False,
    resume: bool = False,
    restart: bool = False,
    retry_failed: bool = False,
    commit_every: Optional[float] = None,
    timeout: Optional[float] = None,
    max_pixels: Optional[int] = None,
    max_duration: Optional[float] = None,
    isolate: bool = False,
    progress: Progress = False,
) -> Dict[str, Any]:
    """Sample frames from videos and write them as a data set.

    The same inputs and options give the same bytes, whatever ``threads``, ``io_threads``, ``memory`` and
    ``isolate`` are.

    After a crash, a full disk, Ctrl-C or an exception from ``progress``, the same call with ``resume=True``
    continues the pack, and the result is byte for byte that of a pack that was not interrupted. At Ctrl-C vidrec
    finishes the videos in hand and then raises ``KeyboardInterrupt``.

    Parameters
    ----------
    inputs : path, or sequence of paths
        Folders (the class is the name of the first folder level), videos, or manifests (``.csv`` or ``.tsv``).
    output : path
        Folder to make the data set in.
    frames : int, default 8
        Frames of each video.
    sample : str, default "uniform"
        Which: ``"uniform"``, ``"endpoints"``, ``"random"``, ``"clip"`` or ``"clip:STRIDE"``, ``"random-clip"`` or
        ``"random-clip:STRIDE"``; see ``vidrec pack --help``.
    short : {"repeat-last", "loop", "skip", "error"}, default "repeat-last"
        What to do with a video of fewer frames.
    short_side : int or None, default 256
        Pixels of the shorter side, to which larger videos are scaled; None keeps their size.
    size : (int, int), optional
        Instead: exactly this height and width.
    quality : int, default 90
        JPEG quality, 1 to 100.
    pace : str, optional
        Instead of ``frames`` and ``sample``: ``"fps:RATE"``, ``"every:K"``, ``"all"`` or ``"keyframes"``; clips
        then differ in length.
    max_frames : int, optional
        With ``pace``: at most this many frames, spread evenly.
    draws : int, default 1
        Independent draws of each video by a random ``sample``, each a clip.
    optimize : bool, default False
        Huffman tables for each JPEG: smaller, the same pixels, slower.
    decode_all : bool, default False
        Decode every frame of a video, not only what the chosen ones need: finds all damage.
    pass_through : bool, default False
        Store the JPEGs of folders of pictures as they are.
    reduce_depth : bool, default False
        Pack pictures of more than 12 bits a channel, such as depth maps, and keep the upper 8 of their bits. Otherwise
        such a video fails.
    picture_rate : str or float, optional
        Pictures of such a folder that make a second, such as 8, 29.97 or ``"30000/1001"``.
    segment_clock : {"player", "first-frame"}, default "player"
        What ``start`` and ``end`` of a manifest count from: what a player shows, or the first frame of the video.
        See ``vidrec pack --help``.
    root : path, optional
        Folder that the paths of manifests are relative to. Default: the manifest's folder.
    split : str, optional
        Take only clips of this split of a manifest.
    classes : path, optional
        File with all class names in their order.
    whole_files : bool, default False
        Take whole files, whatever start and end a manifest gives.
    shuffle_seed : int, optional
        Store the clips in a shuffled order.
    seed : int, default 0
        For what is random in ``sample``.
    threads : int, optional
        Videos that are decoded at a time. Default: one for each core.
    io_threads : int, default 1
        Threads that read the next files ahead, for disks and networks; 0 for none.
    memory : int, optional
        Bytes that all videos in work may take together. A video that needs more is decoded alone. Default: 480 MiB for
        each thread.
    shards : int, optional
        Spread the clips over this many shards with the same number of videos each, in order. Default: one shard.
    shard_size : int, optional
        Instead: begin another shard where the clips of a video would make a record file longer than this many bytes.
    on_error : {"skip", "stop"}, default "skip"
        What to do with a video that cannot be read: skip it and list it, or raise.
    max_failures : int or str, optional
        Raise when more videos than this fail: a number, or a share of all such as ``"1.5%"``. What is done can be
        resumed.
    overwrite : bool, default False
        Replace a data set that is already there.
    resume : bool, default False
        Resume an interrupted pack of the same inputs and options; begin if there is none.
    restart : bool, default False
        Discard an interrupted pack and start over.
    retry_failed : bool, default False
        Pack again only what failed when the data set in ``output`` was packed with the same inputs and options.
    commit_every : float, default 10
        Bring what is done to the disk after this many seconds, again and again; 0: after each video.
    timeout : float, default 600
        Longest time for one video, in seconds.
    max_pixels : int, default 2**28
        Most pixels that a picture of a video may have. A video with more fails.
    max_duration : float, optional
        Longest video, in seconds. A longer one fails.
    isolate : bool, default False
        Decode in separate processes: a codec that crashes or hangs costs one video and not this process.
    progress : bool or callable, default False
        As for :func:`verify`, in videos. An exception from it leaves a pack that can be resumed.

    Returns
    -------
    dict
        ``clips``, ``frames``, ``failed``, ``failures`` (``source``, ``stage`` and ``error`` each), ``warnings``,
        ``passed_over`` (ignored files of the input folders, which are neither videos nor frames: ``kind``,
        ``files`` and an ``example`` each), ``manifests`` (what their columns became), ``notes`` (columns that may be
        misspelled, videos without a label, sources that were kept apart), ``resumed_at`` (videos that were done
        already, of a resumed pack) and so on. With ``clips`` 0 no data set was made.

    Raises
    ------
    UsageError
        No videos were found, there is a data set or an interrupted pack already, an argument makes no sense, or
        this build of vidrec cannot pack.
    """
    if not _vidrec.HAS_PACK:
        raise UsageError(
            "this build of vidrec cannot pack: it was built without FFmpeg. Released wheels can; from a checkout, "
            'pip install ./python --config-settings=build-args="--features pack" makes one that can'
        )
    # The library reads the words, and has the defaults for what is None.
    options = {
        "root": root,
        "split": split,
        "classes": classes,
        "whole_files": whole_files,
        "shuffle_seed": shuffle_seed,
        "frames": frames,
        "sample": sample,
        "short": short,
        "seed": seed,
        "draws": draws,
        "pace": pace,
        "max_frames": max_frames,
        "picture_rate": None if picture_rate is None else str(picture_rate),
        "segment_clock": segment_clock,
        "decode": "all" if decode_all else None,
        "size": _frame_size(size, short_side),
        "quality": quality,
        "optimize": optimize,
        "pass_through": pass_through,
        "reduce_depth": reduce_depth,
        "timeout": timeout,
        "max_pixels": max_pixels,
        "max_duration": max_duration,
        "threads": threads,
        "io_threads": io_threads,
        "memory": memory,
        "sharding": _sharding(shards, shard_size),
        "overwrite": overwrite,
        "interrupted": _interrupted(resume, restart),
        "retry_failed": retry_failed,
        "on_error": on_error,
        "max_failures": None if max_failures is None else str(max_failures),
        "commit_every": commit_every,
    }
    paths = [inputs] if isinstance(inputs, (str, os.PathLike)) else list(inputs)
    with Shown(progress, "videos") as show:
        told = _vidrec.pack(paths, output, options, show, _isolated.command(options) if isolate else None)
    report: Dict[str, Any] = json.loads(told)
    return report


def _frame_size(size: Optional[Tuple[int, int]], short_side: Optional[int]) -> Optional[str]:
    if size is not None:
        height, width = size
        return f"{width}x{height}"
    if short_side is _DEFAULT:
        return None
    return "original" if short_side is None else f"short-side:{short_side}"


def _sharding(shards: Optional[int], shard_size: Optional[int]) -> Optional[str]:
    if shards is not None and shard_size is not None:
        raise UsageError("of shards and shard_size only one can be given")
    if shard_size is not None:
        return f"bytes:{shard_size}"
    return None if shards is None else f"count:{shards}"


def _interrupted(resume: bool, restart: bool) -> Optional[str]:
    if resume and restart:
        raise UsageError("of resume and restart only one can be given")
    return "resume" if resume else "restart" if restart else None
