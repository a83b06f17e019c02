"""Packing the parts of a plan as tasks."""

from __future__ import annotations

import os
import warnings
from typing import Any, Callable, Dict, Optional, Sequence, Union

import ray  # type: ignore[import-not-found, import-untyped, unused-ignore]

from .. import _parts, _storage
from .._program import Died
from .._progress import Progress, Shown
from .._storage import Path
from ..errors import Error, PackWarning, UsageError

# Seconds between two looks at which tasks have ended.
_LOOK = 1.0
# The most parts whose errors a message has.
_SHOWN = 10

Show = Optional[Callable[[int, int], object]]


def pack(
    inputs: Union[Path, Sequence[Path]],
    output: Path,
    *,
    parts: int,
    plan: Optional[Path] = None,
    num_cpus: int = 1,
    memory: Optional[int] = None,
    max_retries: int = 10,
    overwrite: bool = False,
    progress: Progress = False,
    **options: Any,
) -> Dict[str, Any]:
    """Sample frames from videos and write them as a data set, on all nodes of a Ray cluster.

    All nodes must see the videos and the plan's folder under the same paths, and have the same version of vidrec. The work
    is divided into parts, one task each. The data set is byte for byte that of ``vidrec pack --parts N`` on one machine,
    whatever happens on the way: a task that dies with its node is tried again, and resumes what it had done. If this
    process dies, the same call continues; parts that are done stay done.

    Parameters
    ----------
    inputs, output
        As for :func:`vidrec.pack`.
    parts : int
        Number of parts, of about the same cost. Parts of about 5 minutes suit most clusters.
    plan : path, optional
        Folder of the plan, in which the parts are packed. Default: ``output``, where nothing is copied to publish.
    num_cpus : int, default 1
        Cores that a task reserves, and threads that it decodes with.
    memory : int, optional
        Bytes that a task reserves, and that its videos in work may take together. Default: it reserves none, and vidrec
        decides.
    max_retries : int, default 10
        How often a task whose process or node died is tried again; -1: without end. Errors are not tried again in the
        same call.
    overwrite : bool, default False
        Replace a data set that is already in ``output``.
    progress : bool or callable, default False
        As for :func:`vidrec.verify`, in videos of the parts that are done.
    **options
        All options of :func:`vidrec.pack` that determine the bytes, such as ``fps`` or ``short_side``, and ``io_threads``,
        ``commit_every`` and ``isolate``.

    Returns
    -------
    dict
        The report of the whole pack, as from :func:`vidrec.pack`.

    Raises
    ------
    Error
        Parts ended with errors: the message has the first ten, by part. All other parts are packed, nothing is published,
        and the same call tries these parts again.

    Examples
    --------
    >>> vidrec.ray.pack("/shared/videos", "/shared/train", parts=500, fps=8, progress=True)["clips"]  # doctest: +SKIP
    1200000
    """
    if num_cpus < 1:
        raise UsageError("num_cpus: a task takes at least one core")
    of_plan, of_part = _parts.divided(options)
    of_part.update(threads=num_cpus, memory=memory)
    out = _storage.absolute(output)
    folder = out if plan is None else _storage.absolute(plan)
    may_replace = overwrite or _is_published_plan(folder, out)
    if not may_replace and os.path.exists(os.path.join(out, "dataset.json")):
        raise UsageError(f"{out}: there is a data set already; pass overwrite=True to replace it")
    paths = [inputs] if isinstance(inputs, (str, os.PathLike)) else list(inputs)
    _parts.plan(paths, folder, parts, of_plan)
    with Shown(progress, "videos") as show:
        _pack_parts(folder, of_part, {"num_cpus": num_cpus, "memory": memory, "max_retries": max_retries}, show)
    report = _parts.publish(folder, None if folder == out else out, may_replace)
    for note in report.get("notes", ()):
        warnings.warn(note, PackWarning, stacklevel=2)
    return report


def _is_published_plan(folder: str, out: str) -> bool:
    """Whether the data set in ``out`` is that of the plan there: publishing once more gives the same."""
    return folder == out and os.path.exists(os.path.join(folder, "plan.json"))


def _pack_parts(folder: str, of_part: Dict[str, Any], resources: Dict[str, Any], show: Show) -> None:
    """Pack all parts that are not done, as tasks."""
    status = _parts.status(folder)
    done, videos = 0, {part["part"]: part["videos"] for part in status["list"]}
    # Parts that seem to be running, too: those of a driver that died. Two attempts at once do no harm.
    todo = [part["part"] for part in status["list"] if part["state"] != "done"]
    done = sum(videos.values()) - sum(videos[part] for part in todo)
    task = ray.remote(_parts.pack_part).options(name="vidrec.pack_part", retry_exceptions=[Died], **resources)
    tasks = {task.remote(folder, part, of_part): part for part in todo}
    errors: Dict[int, Exception] = {}
    try:
        while True:
            if show is not None:
                show(done, status["videos"])
            if not tasks:
                break
            ended, _ = ray.wait(list(tasks), num_returns=len(tasks), timeout=_LOOK)
            for reference in ended:
                part = tasks.pop(reference)
                try:
                    ray.get(reference)
                    done += videos[part]
                except ray.exceptions.RayError as error:
                    errors[part] = error
    finally:
        for reference in tasks:
            ray.cancel(reference)
    if errors:
        raise _of_parts(errors, len(videos))


def _of_parts(errors: Dict[int, Exception], parts: int) -> Error:
    """One error for those of all parts."""
    lines = [f"  part {part}: {_why(error)}" for part, error in sorted(errors.items())[:_SHOWN]]
    if len(errors) > _SHOWN:
        lines.append(f"  and {len(errors) - _SHOWN} more")
    text = f"{len(errors)} of {parts} parts ended with errors; the same call tries them again"
    return Error("\n".join([text, *lines]))


def _why(error: Exception) -> str:
    """What a task's error says, without the traceback of its worker."""
    cause = getattr(error, "cause", None)
    return str(cause if cause is not None else error).strip()
