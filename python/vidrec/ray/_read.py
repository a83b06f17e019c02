"""The clips of a data set as rows of Ray Data."""

from __future__ import annotations

import functools
import json
from typing import Any, Iterator, List, Literal, Mapping, Optional, Union

import pyarrow  # type: ignore[import-not-found, import-untyped, unused-ignore]
import ray.data  # type: ignore[import-not-found, import-untyped, unused-ignore]
from ray.data import Datasource, ReadTask  # type: ignore[import-not-found, import-untyped, unused-ignore]
from ray.data.block import BlockMetadata  # type: ignore[import-not-found, import-untyped, unused-ignore]
from ray.data.extensions import (  # type: ignore[import-not-found, import-untyped, unused-ignore]
    ArrowTensorArray,
    ArrowVariableShapedTensorArray,
)

from .. import _storage
from .._storage import Path, Size
from ..dataset import Clip, Dataset, opened
from ..errors import UsageError

# A block ends before the clip that would make it larger than this, in bytes of frames.
_BLOCK = 64 << 20
_FACTS = [
    ("clip", pyarrow.int64()),
    ("source", pyarrow.string()),
    ("label", pyarrow.int64()),
    ("class", pyarrow.string()),
    ("attributes", pyarrow.string()),
]


def read(
    dataset: Union[Dataset, Path],
    *,
    frames: Optional[Literal["jpeg", "rgb"]] = "jpeg",
    storage_options: Optional[Mapping[str, Any]] = None,
    cache: Optional[Path] = None,
    cache_bytes: Optional[Size] = None,
    timeout: float = _storage.TIMEOUT,
    **options: Any,
) -> ray.data.Dataset:
    """The clips of a data set, one a row, in order.

    Ray reads stretches of clips that are stored together, on any node that sees the data set under the same path.

    Parameters
    ----------
    dataset : Dataset or path
        The data set, a selection of its clips, or its path or location, as :func:`vidrec.open` takes it.
    frames : {"jpeg", "rgb", None}, default "jpeg"
        What column ``frames`` has: ``"jpeg"``, a list of JPEGs, byte for byte as they are stored; ``"rgb"``, the decoded
        frames, uint8 (T, H, W, 3); None: there is no such column, and no frame is read.
    storage_options, cache, cache_bytes, timeout
        How a remote data set is read, as for :func:`vidrec.open`; a :class:`vidrec.Dataset` has its own.
    **options
        Those of ``ray.data.read_datasource``, such as ``override_num_blocks``, ``concurrency`` or ``num_cpus``.

    Returns
    -------
    ray.data.Dataset
        With columns ``clip`` (its number in ``dataset``), ``source``, ``label`` (null for none), ``class`` (null for none),
        ``attributes`` (an object as JSON) and ``frames``. Rows that go out as a table with ``clip`` or ``source`` are what
        ``vidrec subset`` reads with ``--list`` and ``--changes``.

    Examples
    --------
    >>> clips = vidrec.ray.read("train", frames="rgb")  # doctest: +SKIP
    >>> bright = clips.filter(lambda row: row["frames"].mean() > 20)  # doctest: +SKIP
    >>> bright.select_columns(["clip"]).to_pandas().to_csv("bright.csv", index=False)  # doctest: +SKIP
    """
    if frames not in ("jpeg", "rgb", None):
        raise UsageError(f'frames: expected "jpeg", "rgb" or None, found {frames!r}')
    source = opened(dataset, _storage.given(storage_options, cache, cache_bytes, timeout=timeout))
    rows: ray.data.Dataset = ray.data.read_datasource(_Clips(source, frames), **options)
    return rows


class _Clips(Datasource):  # type: ignore[misc, unused-ignore]
    """Divides a data set into stretches of clips."""

    def __init__(self, dataset: Dataset, frames: Optional[str]) -> None:
        super().__init__()  # type: ignore[no-untyped-call, unused-ignore]
        self._dataset, self._frames = dataset, frames

    def get_name(self) -> str:
        return "vidrec"

    def estimate_inmemory_data_size(self) -> Optional[int]:
        if len(self._dataset) == 0:
            return 0
        return len(self._dataset) * _bytes_of(self._dataset[0], self._frames)

    def get_read_tasks(
        self, parallelism: int, per_task_row_limit: Optional[int] = None, data_context: Any = None
    ) -> List[ReadTask]:
        clips = len(self._dataset)
        tasks = max(1, min(parallelism, clips))
        ends = [clips * task // tasks for task in range(tasks + 1)]
        return [self._task(first, end, per_task_row_limit) for first, end in zip(ends, ends[1:])]

    def _task(self, first: int, end: int, row_limit: Optional[int]) -> ReadTask:
        read = functools.partial(_blocks, self._dataset, self._frames, first, end)
        each = self.estimate_inmemory_data_size()
        size = None if each is None else each * (end - first) // max(1, len(self._dataset))
        metadata = BlockMetadata(num_rows=end - first, size_bytes=size, exec_stats=None, input_files=None)
        return ReadTask(read, metadata, per_task_row_limit=row_limit)


def _bytes_of(clip: Clip, frames: Optional[str]) -> int:
    """About what a row takes in memory."""
    facts = 256
    if frames is None:
        return facts
    if frames == "jpeg":
        return facts + len(clip) * len(clip.jpeg(0))
    width, height = clip.size or (640, 480)
    return facts + len(clip) * width * height * 3


def _blocks(dataset: Dataset, frames: Optional[str], first: int, end: int) -> Iterator[pyarrow.Table]:
    """The rows of a stretch of clips."""
    clips: List[Clip] = []
    size = 0
    for index in range(first, end):
        clip = dataset[index]
        more = _bytes_of(clip, frames)
        if clips and size + more > _BLOCK:
            yield _block(clips, frames)
            clips, size = [], 0
        clips.append(clip)
        size += more
    if clips or first == end:
        yield _block(clips, frames)


def _block(clips: List[Clip], frames: Optional[str]) -> pyarrow.Table:
    rows = [
        [clip.index for clip in clips],
        [clip.source for clip in clips],
        [clip.label for clip in clips],
        [clip.class_name for clip in clips],
        [json.dumps(clip.attributes) for clip in clips],
    ]
    columns = [pyarrow.array(values, kind) for values, (_, kind) in zip(rows, _FACTS)]
    names = [name for name, _ in _FACTS]
    if frames == "jpeg":
        jpegs = [[clip.jpeg(t) for t in range(len(clip))] for clip in clips]
        columns.append(pyarrow.array(jpegs, pyarrow.list_(pyarrow.binary())))
    elif frames == "rgb":
        columns.append(_tensors([clip.frames() for clip in clips]))
    return pyarrow.table(columns, names=[*names, "frames"] if frames else names)


def _tensors(arrays: List[Any]) -> Any:
    """A column of arrays, which may differ in shape."""
    if len({array.shape for array in arrays}) == 1:
        return ArrowTensorArray.from_numpy(arrays)
    return ArrowVariableShapedTensorArray.from_numpy(arrays)
