"""The reader of LeRobot's items: frames from tiles, values from tracks."""

from __future__ import annotations

import json
import os
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
import torch
from lerobot.datasets import depth_utils, feature_utils  # type: ignore[import-not-found, unused-ignore]
from numpy.typing import NDArray

from .. import _vidrec
from .._storage import Path
from .._workers import share_cores
from ..batch import Batch
from ..cameras import Cameras
from ..convert._lerobot import _features, _OF_ROWS, _Track
from ..crops import CenterCrop
from ..dataset import open
from ..errors import FormatError
from ..frames import Windows
from ..loader import Loader
from ..tracks import TrackWindow, track
from ._meta import location_of, storage_of

try:
    from lerobot.datasets.dataset_reader import BaseDatasetReader as _Base  # type: ignore[import-not-found, unused-ignore]
except ImportError:
    _Base = object

_Integers = NDArray[np.int64]


class _Group(NamedTuple):
    """Cameras that a loader makes together."""

    keys: List[str]
    loader: Loader[Any]
    # The place of each frame of an item among those of the loader.
    order: List[int]


class DatasetReader(_Base):  # type: ignore[misc, valid-type, unused-ignore]
    """The items of a data set of LeRobot that vidrec packed: the same keys, types and shapes as from LeRobot's own reader.

    LeRobot makes it, with these arguments: see ``BaseDatasetReader`` there. A batch is one call of vidrec, whose threads
    decode all its frames; each worker of a ``DataLoader`` has its share of the cores.

    Parameters
    ----------
    meta : LeRobotDatasetMetadata
    root : path, optional
        Where the packed data set is. Default: ``meta.root``, or the repository on the Hugging Face Hub.
    episodes : sequence of int, optional
        Only these episodes. Default: all.
    delta_timestamps : dict, optional
        Times in seconds around the frame of an item, by feature.
    image_transforms : callable, optional
        Called with the frames of each camera of an item, except depth.
    tolerance_s : float, default 1e-4
        How far ``delta_timestamps`` may be from multiples of a frame.
    return_uint8 : bool, default False
        Frames of videos as uint8. Default: float32 from 0 to 1.
    depth_output_unit : {"mm", "m"}, default "mm"
        The unit of depth.
    revision, token
        Of the Hugging Face Hub.
    """

    def __init__(
        self,
        meta: Any,
        root: Optional[Path] = None,
        episodes: Optional[Sequence[int]] = None,
        delta_timestamps: Optional[Dict[str, List[float]]] = None,
        image_transforms: Optional[Callable[[Any], Any]] = None,
        tolerance_s: float = 1e-4,
        revision: Optional[str] = None,
        return_uint8: bool = False,
        depth_output_unit: str = "mm",
        token: Union[str, bool, None] = None,
        **_: Any,
    ) -> None:
        self.meta, self._uint8, self._unit = meta, return_uint8, depth_output_unit
        self.set_image_transforms(image_transforms)
        self._starts = _column(meta, "dataset_from_index")
        self._ends = _column(meta, "dataset_to_index")
        self.episodes: Optional[List[int]] = None
        self._rows: Optional[_Integers] = None
        if episodes is not None:
            self.episodes = [episode for episode in episodes if 0 <= episode < meta.total_episodes]
            if not self.episodes:
                raise ValueError("None of the requested episodes are in the dataset.")
            chosen = sorted(set(self.episodes))
            self._rows = np.concatenate([np.arange(self._starts[e], self._ends[e]) for e in chosen])
        self._deltas: Dict[str, List[int]] = {}
        if delta_timestamps is not None:
            feature_utils.check_delta_timestamps(delta_timestamps, meta.fps, tolerance_s)
            self._deltas = feature_utils.get_delta_indices(delta_timestamps, meta.fps)
        cameras, tracks = _features(meta.features)
        self._names = {camera.key: camera.name for camera in cameras}
        self._tracks: Dict[str, _Track] = {each.key: each for each in tracks}
        folder: Path = meta.root if root is None else root
        if root is None and not os.path.exists(os.path.join(folder, "dataset.json")):
            folder = f"hf://datasets/{meta.repo_id}"
        location = location_of(folder)
        options = storage_of(token) if _vidrec.is_remote(location) else None
        self._dataset = open(location, storage_options=options)
        self._tasks = [] if meta.tasks is None else list(meta.tasks.index)
        self._task_of: Optional[_Integers] = None
        if "task_index" in self._dataset.tracks:
            self._tracks["task_index"] = _Track("task_index", "i64", (), {})
        else:
            numbers = {task: number for number, task in enumerate(self._tasks)}
            self._task_of = np.array([numbers[tasks[0]] for tasks in meta.episodes["tasks"]], np.int64)
        self._groups = self._grouped()
        if len(self._groups[0].loader) != meta.total_frames:
            raise FormatError(
                f"{location}: expected {meta.total_frames} frames of each camera, as meta/info.json says, found"
                f" {len(self._groups[0].loader)}; pack the data set again with vidrec.convert.from_lerobot"
            )

    def _grouped(self) -> List[_Group]:
        """Cameras of the same size, type and window share a loader. The first one also reads the values."""
        alike: Dict[Tuple[Any, ...], List[str]] = {}
        for key in self._names:
            height, width = self.meta.features[key]["shape"][:2]
            is_bytes = self._uint8 and key in self.meta.video_keys
            alike.setdefault((height, width, is_bytes, tuple(self._deltas.get(key, (0,)))), []).append(key)
        groups: List[_Group] = []
        for (height, width, is_bytes, deltas), keys in alike.items():
            offsets = sorted(set(deltas))
            loader = Loader(
                self._dataset,
                1,
                frames=Windows(offsets, pad="edge"),
                crop=CenterCrop((height, width)),
                dtype="uint8" if is_bytes else "float32",
                cameras=Cameras([self._names[key] for key in keys]),
                fields=() if groups else ("episode",),
                tracks=None if groups else {key: self._window(each) for key, each in self._tracks.items()},
                rank=(0, 1),
                output="torch",
            )
            order = [offsets.index(delta) for delta in deltas]
            groups.append(_Group(keys, loader, order))
        return groups

    def _window(self, each: _Track) -> TrackWindow:
        """The values of a feature in an item."""
        if each.kind in ("utf-8", "language"):
            return track(window=(0.0, 0.0))
        return track(times=[delta / self.meta.fps for delta in self._deltas.get(each.key, (0,))])

    @property
    def num_frames(self) -> int:
        """Frames of the chosen episodes."""
        return int(self.meta.total_frames) if self._rows is None else len(self._rows)

    @property
    def num_episodes(self) -> int:
        """Chosen episodes."""
        return int(self.meta.total_episodes) if self.episodes is None else len(self.episodes)

    @property
    def absolute_to_relative_idx(self) -> Optional[Dict[int, int]]:
        """Positions among the frames of the chosen episodes, by the numbers of all; None if all are chosen."""
        return None if self._rows is None else {int(row): i for i, row in enumerate(self._rows)}

    def __len__(self) -> int:
        return self.num_frames

    def set_image_transforms(self, image_transforms: Optional[Callable[[Any], Any]]) -> None:
        """Replace the transforms of frames."""
        if image_transforms is not None and not callable(image_transforms):
            raise TypeError("image_transforms must be callable or None.")
        self._image_transforms = image_transforms

    def clear_image_transforms(self) -> None:
        """Remove the transforms of frames."""
        self._image_transforms = None

    def get_item(self, idx: int) -> Dict[str, Any]:
        """The item of a frame, counted among those of the chosen episodes."""
        return self.get_items([idx])[0]

    def get_items(self, indices: Sequence[int]) -> List[Dict[str, Any]]:
        """The items of a batch."""
        if not len(indices):
            return []
        rows = np.array([self._row(int(index)) for index in indices], np.int64)
        episodes = np.searchsorted(self._ends, rows, side="right")
        columns: Dict[str, Any] = {}
        for number, group in enumerate(self._groups):
            share_cores(group.loader)
            batch = group.loader._batch_at(0, rows.tolist())
            if number == 0:
                self._prove(batch, episodes)
                columns.update(self._values(batch, rows, episodes))
            for view, key in enumerate(group.keys):
                columns[key] = self._frames(batch.frames[:, view], group, key)
        items = [dict(zip(columns, values)) for values in zip(*columns.values())]
        for item in items:
            item["task"] = self._tasks[int(item["task_index"])]
            if self._image_transforms is not None:
                item.update({key: self._image_transforms(item[key]) for key in self._names})
        return items

    def _row(self, index: int) -> int:
        """The number of a frame among those of all episodes."""
        count = self.num_frames
        if not -count <= index < count:
            raise IndexError(f"Index {index} is out of range for a dataset of {count} frames.")
        return index % count if self._rows is None else int(self._rows[index])

    def _prove(self, batch: Batch[Any], episodes: _Integers) -> None:
        """An error if the clips are not those of the episodes that ``meta`` names."""
        found = np.asarray(batch.fields["episode"])
        if not np.array_equal(found, episodes):
            wrong = int(np.flatnonzero(found != episodes)[0])
            raise FormatError(
                f"the packed data set and meta/ do not belong together: expected episode {episodes[wrong]}, found {found[wrong]};"
                " pack the data set again with vidrec.convert.from_lerobot"
            )

    def _frames(self, frames: Any, group: _Group, key: str) -> Any:
        """The frames of a camera: (B, T, C, H, W), or without T where LeRobot has none."""
        if group.order != list(range(frames.shape[1])):
            frames = frames[:, group.order]
        is_squeezed = key not in self._deltas or key in self.meta.video_keys
        return frames[:, 0] if is_squeezed and frames.shape[1] == 1 else frames

    def _values(self, batch: Batch[Any], rows: _Integers, episodes: _Integers) -> Dict[str, Any]:
        """Everything else of the items, by feature."""
        starts, ends = self._starts[episodes], self._ends[episodes]
        columns: Dict[str, Any] = {}
        for key, deltas in self._deltas.items():
            at = rows[:, None] + np.array(deltas)
            columns[f"{key}_is_pad"] = torch.from_numpy((at < starts[:, None]) | (at >= ends[:, None]))
        for key, each in self._tracks.items():
            columns[key] = self._track(batch, each, rows - starts)
        for key in _OF_ROWS:
            if key in columns or key not in self.meta.features:
                continue
            at, first, episode = rows, starts, episodes
            if key in self._deltas:
                at = np.clip(rows[:, None] + np.array(self._deltas[key]), starts[:, None], ends[:, None] - 1)
                first, episode = starts[:, None], np.broadcast_to(episodes[:, None], at.shape)
            columns[key] = torch.from_numpy(self._of_rows(key, at, at - first, episode).copy())
        return columns

    def _of_rows(self, key: str, rows: _Integers, frames: _Integers, episodes: _Integers) -> NDArray[Any]:
        """A column that follows from the number of a row."""
        if key == "timestamp":
            times: NDArray[Any] = (frames / self.meta.fps).astype(np.float32)
            return times
        if key == "task_index":
            assert self._task_of is not None
            tasks: _Integers = self._task_of[episodes]
            return tasks
        columns: Dict[str, NDArray[Any]] = {"index": rows, "frame_index": frames, "episode_index": episodes}
        return columns[key]

    def _track(self, batch: Batch[Any], each: _Track, frames: _Integers) -> Any:
        """The values of a feature."""
        values = batch.tracks[each.key]
        if each.kind in ("utf-8", "language"):
            times = [frame / self.meta.fps + 0.5 / self.meta.fps for frame in frames]
            texts = [_text_at(t, found, spans) for t, found, spans in zip(times, values, batch.track_times[each.key])]
            return [json.loads(text) for text in texts] if each.kind == "language" else texts
        if each.kind in ("video", "image"):
            values = self._depth(values[:, :, None], each)
        elif each.kind == "bool":
            values = values.to(torch.bool)
        else:
            # As LeRobot makes tensors of rows.
            values = values.to(torch.float32 if values.dtype.is_floating_point else torch.int64)
        is_squeezed = each.key not in self._deltas or (each.kind == "video" and values.shape[1] == 1)
        return values[:, 0] if is_squeezed else values

    def _depth(self, numbers: Any, each: _Track) -> Any:
        """Depth in the unit that was asked for: (B, T, 1, H, W)."""
        if each.kind == "video":
            return depth_utils.dequantize_depth(numbers.to(torch.int32), **each.meaning, output_unit=self._unit)
        stored = each.meaning.get("unit")
        factor = 1.0 if stored in (None, self._unit) else 1000.0 if stored == "m" else 0.001
        return numbers.to(torch.float32) * factor


def _column(meta: Any, name: str) -> _Integers:
    """A column of the episodes."""
    found: _Integers = np.asarray(meta.episodes.data.column(name).to_numpy(), np.int64)
    return found


def _text_at(t: float, texts: Sequence[str], spans: Sequence[Tuple[float, float]]) -> str:
    """The text whose span began last before a time in seconds."""
    begun = [text for text, (start, _) in zip(texts, spans) if start < t]
    if not begun:
        raise FormatError(f"a track of texts has none at {t:.3f} s")
    return begun[-1]
