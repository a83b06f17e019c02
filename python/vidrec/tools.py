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


def pack(
    inputs: Union[Path, Sequence[Path]],
    output: Path,
    *,
    frames: int = 8,
    sample: str = "uniform",
    short: str = "repeat-last",
    short_side: Optional[int] = 256,
    size: Optional[Tuple[int, int]] = None,
    quality: int = 90,
    pace: Optional[str] = None,
    max_frames: Optional[int] = None,
    draws: int = 1,
    optimize: bool = False,
    decode_all: bool = False,
    pass_through: bool = False,
    picture_rate: Union[str, float, None] = None,
    segment_clock: str = "player",
    root: Optional[Path] = None,
    split: Optional[str] = None,
    classes: Optional[Path] = None,
    whole_files: bool = False,
    shuffle_seed: Optional[int] = None,
    seed: int = 0,
    threads: Optional[int] = None,
    on_error: str = "skip",
    overwrite: bool = False,
    timeout: float = 600.0,
    isolate: bool = False,
    progress: Progress = False,
) -> Dict[str, Any]:
    """Sample frames from videos and write them as a data set.

    Parameters
    ----------
    inputs : path, or sequence of paths
        Folders (the class is the name of the first folder level), videos, or manifests (``.csv`` or ``.tsv``).
    output : path
        Folder to make the data set in.
    frames : int, default 8
        Frames of each video.
    sample : str, default "uniform"
        Which: ``"uniform"``, ``"endpoints"``, ``"random"``, ``"clip"`` or ``"clip:STRIDE"``, as ``vidrec pack --help``
        tells.
    short : {"repeat-last", "loop", "skip", "error"}, default "repeat-last"
        What to do with a video of fewer frames.
    short_side : int or None, default 256
        Pixels of the shorter side, to which larger videos are scaled; None keeps their size.
    size : (int, int), optional
        Instead: exactly this height and width.
    quality : int, default 90
        JPEG quality, 1 to 100.
    pace : str, optional
        Instead of ``frames`` and ``sample``: ``"fps:RATE"``, ``"every:K"``, ``"all"`` or ``"keyframes"``; clips then
        differ in length.
    max_frames : int, optional
        With ``pace``: of more frames, so many are taken, evenly spread.
    draws : int, default 1
        Independent draws of each video by a random ``sample``, each a clip.
    optimize : bool, default False
        Huffman tables for each JPEG: smaller, the same pixels, slower.
    decode_all : bool, default False
        Decode every frame of a video, not only what the chosen ones need: finds all damage.
    pass_through : bool, default False
        Store the JPEGs of folders of pictures as they are.
    picture_rate : str or float, optional
        Pictures of such a folder that make a second, such as 8, 29.97 or ``"30000/1001"``.
    segment_clock : {"player", "first-frame"}, default "player"
        What ``start`` and ``end`` of a manifest count from: what a player shows, or the first frame of the video.
        ``vidrec pack --help`` tells more.
    root : path, optional
        Where the paths of manifests begin. Default: the manifest's folder.
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
    on_error : {"skip", "stop"}, default "skip"
        What to do with a video that vidrec cannot read: skip it and list it; or raise.
    overwrite : bool, default False
        Replace a data set that is already there.
    timeout : float, default 600
        Longest time for one video, in seconds.
    isolate : bool, default False
        Decode in processes of their own: a codec that crashes or hangs costs one video and not this process.
    progress : bool or callable, default False
        As for :func:`verify`, in videos.

    Returns
    -------
    dict
        ``clips``, ``frames``, ``failed``, ``failures`` (``source``, ``stage`` and ``error`` each), ``warnings``,
        ``passed_over`` (files of the input folders that are neither videos nor frames: ``kind``, ``files`` and an
        ``example`` each) and so on. With ``clips`` 0 there is no data set.

    Raises
    ------
    UsageError
        No videos were found, there is a data set already, or this build of vidrec cannot pack.
    """
    if not _vidrec.HAS_PACK:
        raise UsageError(
            "this build of vidrec cannot pack: it was made without FFmpeg. Released wheels can; from a checkout, "
            'pip install ./python --config-settings=build-args="--features pack" makes one that can'
        )
    if on_error not in ("skip", "stop"):
        raise UsageError(f"on_error: expected 'skip' or 'stop', found {on_error!r}")
    options = {
        "frames": frames,
        "sample": sample,
        "pace": pace,
        "max_frames": max_frames,
        "draws": draws,
        "optimize": optimize,
        "decode_all": decode_all,
        "pass_through": pass_through,
        "picture_rate": None if picture_rate is None else str(picture_rate),
        "segment_clock": segment_clock,
        "root": root,
        "split": split,
        "classes": classes,
        "whole_files": whole_files,
        "shuffle_seed": shuffle_seed,
        "short": short,
        "short_side": short_side,
        "size": None if size is None else (size[1], size[0]),
        "quality": quality,
        "seed": seed,
        "threads": threads,
        "stop_on_error": on_error == "stop",
        "overwrite": overwrite,
        "timeout": timeout,
    }
    paths = [inputs] if isinstance(inputs, (str, os.PathLike)) else list(inputs)
    with Shown(progress, "videos") as show:
        told = _vidrec.pack(paths, output, options, show, _isolated.command(options) if isolate else None)
    report: Dict[str, Any] = json.loads(told)
    return report
