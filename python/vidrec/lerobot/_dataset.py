"""The registration of the reader, and LeRobot's data set for releases without a registry."""

from __future__ import annotations

import json
from pathlib import Path as LocalPath
from typing import Any, Callable, Dict, List, Optional, Union

import lerobot.datasets.lerobot_dataset as original  # type: ignore[import-not-found, unused-ignore]

from .. import _vidrec
from .._storage import Path
from ._meta import localize_root, location_of
from ._reader import DatasetReader

try:
    from lerobot.datasets.storage import register_dataset_reader  # type: ignore[import-not-found, unused-ignore]
except ImportError:
    register_dataset_reader = None


class LeRobotDataset(original.LeRobotDataset):  # type: ignore[misc, name-defined, unused-ignore]
    """LeRobot's data set, whose frames and values come from a data set that vidrec packed.

    Where LeRobot has a registry of readers, its own class is the same. Any other data set is read as by that.

    Parameters
    ----------
    repo_id, root, episodes, image_transforms, delta_timestamps, …
        As LeRobot's class takes them. ``root`` may also be a location such as ``"s3://bucket/robot"``.

    Examples
    --------
    >>> from vidrec.lerobot import LeRobotDataset
    >>> dataset = LeRobotDataset("me/robot", root="packed", delta_timestamps={"action": [0, 0.1]})  # doctest: +SKIP
    >>> dataset[7]["action_is_pad"]  # doctest: +SKIP
    tensor([False, False])
    """

    def __init__(
        self,
        repo_id: str,
        root: Optional[Path] = None,
        episodes: Optional[List[int]] = None,
        *args: Any,
        episode_filter: Optional[Callable[[Dict[str, Any]], bool]] = None,
        image_transforms: Optional[Callable[[Any], Any]] = None,
        delta_timestamps: Optional[Dict[str, List[float]]] = None,
        tolerance_s: float = 1e-4,
        revision: Optional[str] = None,
        return_uint8: bool = False,
        depth_output_unit: str = "mm",
        token: Union[str, bool, None] = None,
        **more: Any,
    ) -> None:
        given: Dict[str, Any] = dict(image_transforms=image_transforms, delta_timestamps=delta_timestamps, tolerance_s=tolerance_s)
        given.update(revision=revision, return_uint8=return_uint8, depth_output_unit=depth_output_unit, token=token)
        location = None if root is None else location_of(root)
        folder = None if location is None else LocalPath(location)
        if location is not None and _vidrec.is_remote(location) and register_dataset_reader is None:
            folder = localize_root(repo_id, location, revision, token)
        if register_dataset_reader is not None or args or folder is None or not _is_packed(folder):
            super().__init__(repo_id, root, episodes, *args, episode_filter=episode_filter, **given, **more)
            return
        original.torch.utils.data.Dataset.__init__(self)
        self.repo_id, self.delta_timestamps, self.tolerance_s = repo_id, delta_timestamps, tolerance_s
        self.meta = original.LeRobotDatasetMetadata(repo_id, folder, revision)
        self.root, self.revision, self.image_transforms = self.meta.root, self.meta.revision, image_transforms
        self._return_uint8, self._depth_output_unit = return_uint8, depth_output_unit
        self.meta.rescale_depth_stats(depth_output_unit)
        if episode_filter is not None:
            episodes = self.meta.filter_episodes(episode_filter, candidates=episodes)
        self.reader = DatasetReader(meta=self.meta, root=location, episodes=episodes, **given)
        self.episodes, self.writer, self._is_finalized = self.reader.episodes, None, False

    @property
    def absolute_to_relative_idx(self) -> Optional[Dict[int, int]]:
        """Positions among the frames of the chosen episodes, by the numbers of all; None if all are chosen."""
        found: Optional[Dict[int, int]] = self.reader.absolute_to_relative_idx if self._is_read_here() else super().absolute_to_relative_idx
        return found

    def __getitem__(self, idx: Any) -> Any:
        if not self._is_read_here():
            return super().__getitem__(idx)
        return [self[i] for i in range(*idx.indices(len(self)))] if isinstance(idx, slice) else self.reader.get_item(idx)

    def __getitems__(self, indices: List[int]) -> List[Dict[str, Any]]:
        """The items of a batch, all decoded at once."""
        return self.reader.get_items(list(indices)) if self._is_read_here() else [self[index] for index in indices]

    def _is_read_here(self) -> bool:
        return isinstance(self.reader, DatasetReader)


def _is_packed(root: LocalPath) -> bool:
    try:
        return bool(json.loads((root / "meta" / "info.json").read_text(encoding="utf-8"))["storage_format"] == "vidrec")
    except (OSError, ValueError, KeyError, TypeError):
        return False


def register() -> None:
    """Tell LeRobot of the reader, which importing :mod:`vidrec.lerobot` does.

    A release without a registry makes :class:`LeRobotDataset` in ``lerobot-train`` from then on.
    """
    if register_dataset_reader is not None:
        register_dataset_reader("vidrec", "vidrec.lerobot")
    else:
        from lerobot.datasets import factory  # type: ignore[import-not-found, unused-ignore]

        factory.LeRobotDataset = LeRobotDataset
