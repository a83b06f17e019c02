"""Packing in parts, on any number of machines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, Union

from . import _isolated, _pack_options, _storage, _vidrec
from ._progress import Progress, Shown
from ._storage import Path
from .results import PackReport, PlanStatus, WrittenPlan

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._recipe import RecipeOptions


def plan(
    inputs: Union[Path, Sequence[Path]],
    output: Path,
    *,
    storage_options: Optional[Mapping[str, Any]] = None,
    storage_timeout: float = _storage.TIMEOUT,
    **options: Unpack[RecipeOptions],
) -> WrittenPlan:
    """Divide a pack into parts that any number of machines can pack.

    Each part becomes a shard. The plan fixes everything that determines the bytes: order, labels, classes, options, size and
    time of each video, the versions of vidrec and FFmpeg, and where parts begin. So :func:`publish` gives the same data set
    wherever, in whatever order and with however many attempts :func:`pack_part` packed the parts: that of :func:`pack` with
    the same inputs and options.

    Parameters
    ----------
    inputs : path, or sequence of paths
        As for :func:`pack`.
    output : path
        The folder to make the data set in, or a location such as ``"s3://bucket/train"``. Until it is published, plan and
        parts are in its folder ``.vidrec.pack``. All machines need to see it, and the videos, under the same paths. Where
        the same plan is there already, nothing changes.
    storage_options, storage_timeout
        As for :func:`pack`. They are not kept in the plan: each machine has its own.
    **options
        As for :func:`pack`: ``frames``, ``size``, ``shards`` and so on. ``shards`` is the number of parts, of which there
        are never more than videos. A part is what a crash or a preemption can cost.

    Returns
    -------
    vidrec.results.WrittenPlan
        ``videos``, ``parts``, ``part_videos`` (of the smallest and of the largest part), ``bytes`` of all videos, and
        ``missing``: videos that could not be looked at. Each fails if it is still missing when its part is packed.

    Raises
    ------
    UsageError
        No videos were found, another plan is there, or an argument makes no sense or excludes another one.

    Examples
    --------
    >>> planned = vidrec.plan("videos", "train", shards=100, frames=16)  # doctest: +SKIP
    >>> for part in range(planned.parts):  # on any machine, in any order
    ...     vidrec.pack_part("train", part)  # doctest: +SKIP
    >>> vidrec.publish("train").clips  # doctest: +SKIP
    12
    """
    _pack_options.check_build()
    given = _pack_options.given(options, storage_options=storage_options, storage_timeout=storage_timeout)
    told = _vidrec.write_plan(_pack_options.listed(inputs), output, given)
    return WrittenPlan.from_dict(json.loads(told))


def pack_part(
    plan: Path,
    part: int,
    *,
    threads: Optional[int] = None,
    memory: Union[int, str, None] = None,
    isolate: bool = True,
    scratch: Optional[Path] = None,
    storage_options: Optional[Mapping[str, Any]] = None,
    storage_timeout: float = _storage.TIMEOUT,
    progress: Progress = False,
) -> PackReport:
    """Pack a part of a plan, or return the report of the attempt that has done so.

    An attempt that was interrupted or killed leaves nothing: the next one packs the part from its beginning. Several attempts
    at once do no harm: all give the same bytes.

    Parameters
    ----------
    plan : path
        The folder with the plan, or its location.
    part : int
        The number of the part, from 0.
    threads, memory, isolate
        As for :func:`pack`.
    scratch : path, optional
        For a plan in object storage: a folder of this machine to pack in, with room for the part. Default: ``$TMPDIR``, or
        else ``$XDG_CACHE_HOME/vidrec`` or ``~/.cache/vidrec``.
    storage_options, storage_timeout
        For a plan or videos in object storage: as for :func:`pack`.
    progress : bool or callable, default False
        As for :func:`pack`.

    Returns
    -------
    vidrec.results.PackReport
        As :func:`pack` returns it. ``unchanged`` says that the part was done already.

    Raises
    ------
    UsageError
        There is no such plan or part, a video has changed since, or the plan was made by another version of vidrec or
        FFmpeg.

    Examples
    --------
    >>> vidrec.pack_part("train", int(os.environ["SLURM_ARRAY_TASK_ID"])).clips  # doctest: +SKIP
    3
    """
    _pack_options.check_build()
    given = _pack_options.given(
        {},
        threads=threads,
        memory=memory,
        storage_options=storage_options,
        storage_timeout=storage_timeout,
        scratch=scratch,
    )
    with Shown(progress, "videos") as show:
        told = _vidrec.pack_part(plan, part, given, _isolated.command(), isolate, show)
    return PackReport.from_dict(json.loads(told))


def plan_status(
    plan: Path,
    *,
    storage_options: Optional[Mapping[str, Any]] = None,
    storage_timeout: float = _storage.TIMEOUT,
) -> PlanStatus:
    """Say how far the parts of a plan are.

    Parameters
    ----------
    plan : path
        The folder with the plan, or its location.
    storage_options, storage_timeout
        For a plan in object storage: as for :func:`pack`.

    Returns
    -------
    vidrec.results.PlanStatus
        ``parts``, of which ``done`` are done; ``missing``, the others, on which attempts may be working; ``videos``,
        ``videos_done`` and ``videos_per_second`` of one attempt.

    Examples
    --------
    >>> status = vidrec.plan_status("train")  # doctest: +SKIP
    >>> status.missing  # doctest: +SKIP
    (3, 7)
    """
    _pack_options.check_build()
    storage = _storage.given(storage_options, timeout=storage_timeout)
    return PlanStatus.from_dict(json.loads(_vidrec.plan_status(plan, storage)))


def publish(
    plan: Path,
    *,
    allow_missing: bool = False,
    read_all: bool = False,
    overwrite: bool = False,
    storage_options: Optional[Mapping[str, Any]] = None,
    storage_timeout: float = _storage.TIMEOUT,
    progress: Progress = False,
) -> PackReport:
    """Make a data set of the parts of a plan: check their receipts and files, then write ``dataset.json`` as the last file.

    The plan is removed, unless parts are missing.

    Parameters
    ----------
    plan : path
        The folder with the plan, or its location.
    allow_missing : bool, default False
        Publish without the parts that are not done, and list their videos among those that were skipped.
    read_all : bool, default False
        Read all files, and check everything that :func:`verify` checks. Otherwise vidrec checks the length of each file, both
        its ends and the small sections of its index.
    overwrite : bool, default False
        Replace a data set that is already there.
    storage_options, storage_timeout
        For a plan in object storage: as for :func:`pack`.
    progress : bool or callable, default False
        As for :func:`verify`, in shards.

    Returns
    -------
    vidrec.results.PackReport
        The reports of all parts together, as :func:`pack` returns one.

    Raises
    ------
    UsageError
        Parts are not done, there is a data set already, or a receipt is of another plan.
    FormatError
        A file is not what its receipt says.

    Examples
    --------
    >>> vidrec.publish("train").failed  # doctest: +SKIP
    0
    """
    _pack_options.check_build()
    how = (allow_missing, read_all, overwrite)
    storage = _storage.given(storage_options, timeout=storage_timeout)
    with Shown(progress, "shards") as show:
        told = _vidrec.publish(plan, how, storage, show)
    return PackReport.from_dict(json.loads(told))
