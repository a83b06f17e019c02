"""Packing the parts of a plan as tasks."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any, Callable, Dict, Mapping, Optional, Sequence, Union

import ray  # type: ignore[import-not-found, import-untyped, unused-ignore]

from .. import _parts, _storage, _vidrec
from .._program import Died
from .._progress import Progress, Shown
from .._storage import Path
from ..dataset import opened
from ..errors import Error, PackWarning, UsageError
from ..results import PackReport

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._recipe import RecipeOptions

    class RayArguments(RecipeOptions, total=False):
        isolate: bool
        scratch: Optional[Path]
        storage_options: Optional[Mapping[str, Any]]
        storage_timeout: float


# Seconds between two looks at which tasks have ended.
_LOOK = 1.0
# The most parts whose errors a message has.
_SHOWN = 10

Show = Optional[Callable[[int, int], object]]


def pack(
    inputs: Union[Path, Sequence[Path]],
    output: Path,
    *,
    num_cpus: int = 1,
    memory: Optional[int] = None,
    max_retries: int = 10,
    overwrite: bool = False,
    progress: Progress = False,
    **options: Unpack[RayArguments],
) -> PackReport:
    """Sample frames from videos and write them as a data set, on all nodes of a Ray cluster.

    All nodes must see the videos and the output under the same paths, on a shared file system or in object storage, and have
    the same version of vidrec. Each shard of the data set is packed by a task of its own. The data set is byte for byte that
    of :func:`vidrec.pack` on one machine, whatever happens on the way: a task that dies with its node is tried again. If this
    process dies, the same call continues; shards that are complete stay.

    Parameters
    ----------
    inputs, output
        As for :func:`vidrec.pack`.
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
        As for :func:`vidrec.verify`, in videos of the shards that are complete.
    **options
        All options of :func:`vidrec.pack` that determine the bytes, such as ``frames``, ``size`` or ``shards``, and
        ``isolate``, ``storage_options``, ``storage_timeout`` and ``scratch``. Each task packs in a folder
        of its own in ``scratch``, on its node. Ray hands ``storage_options`` to the tasks; no command line has them.

    Returns
    -------
    vidrec.results.PackReport
        The report of the whole pack, as from :func:`vidrec.pack`.

    Raises
    ------
    Error
        Parts of the plan, which are shards, ended with errors: the message has the first ten, by part. All other parts are
        packed, nothing is published, and the same call tries these parts again.

    Examples
    --------
    >>> vidrec.ray.pack("/shared/videos", "/shared/train", frames=vidrec.Fps(8), progress=True).clips  # doctest: +SKIP
    1200000
    """
    if num_cpus < 1:
        raise UsageError("num_cpus: a task needs at least one core")
    of_plan, of_part, of_storage = _parts.divided(options)
    of_part.update(threads=num_cpus, memory=memory)
    out = _storage.absolute(output)
    if not overwrite and _has_data_set(out, of_storage) and not _has_plan(out):
        raise UsageError(f"{out}: there is a data set already; pass overwrite=True to replace it")
    paths = [inputs] if isinstance(inputs, (str, os.PathLike)) else list(inputs)
    _parts.plan(paths, out, of_plan, of_storage)
    resources = {"num_cpus": num_cpus, "memory": memory, "max_retries": max_retries}
    with Shown(progress, "videos") as show:
        _pack_parts(out, of_part, of_storage, resources, show)
    report = _parts.publish(out, overwrite, of_storage)
    for note in report.notes:
        warnings.warn(note, PackWarning, stacklevel=2)
    return report


def _has_plan(out: str) -> bool:
    """Whether there is a plan. A data set beside it is its own: the call before this one was killed as it ended."""
    return os.path.exists(os.path.join(out, ".vidrec.pack", "plan.json"))


def _has_data_set(out: str, storage: Mapping[str, Any]) -> bool:
    """Whether there is a data set already."""
    if not _vidrec.is_remote(out):
        return os.path.exists(os.path.join(out, "dataset.json"))
    given = _storage.given(storage.get("storage_options"), timeout=storage.get("storage_timeout") or _storage.TIMEOUT)
    return _answers(lambda: opened(out, given))


def _answers(look: Callable[[], object]) -> bool:
    """Whether something is there. If the storage failed instead, the plan that is made next fails in the same way."""
    try:
        look()
    except Error:
        return False
    return True


def _pack_parts(
    folder: str, of_part: Dict[str, Any], of_storage: Dict[str, Any], resources: Dict[str, Any], show: Show
) -> None:
    """Pack all parts that are not done, as tasks."""
    status = _parts.status(folder, of_storage)
    done = status.videos_done

    def first(part: int) -> int:
        """The first video of a part."""
        return -(-part * status.videos // status.parts)

    task = ray.remote(_parts.pack_part).options(name="vidrec.pack_part", retry_exceptions=[Died], **resources)
    tasks = {task.remote(folder, part, of_part, of_storage): part for part in status.missing}
    errors: Dict[int, Exception] = {}
    try:
        while True:
            if show is not None:
                show(done, status.videos)
            if not tasks:
                break
            ended, _ = ray.wait(list(tasks), num_returns=len(tasks), timeout=_LOOK)
            for reference in ended:
                part = tasks.pop(reference)
                try:
                    ray.get(reference)
                    done += first(part + 1) - first(part)
                except ray.exceptions.RayError as error:
                    errors[part] = error
    finally:
        for reference in tasks:
            ray.cancel(reference)
    if errors:
        raise _of_parts(errors, status.parts)


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
