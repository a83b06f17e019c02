"""What LeRobot needs to read a data set that vidrec packed: its folder ``meta``, which says so."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path as LocalPath
from typing import Any, Collection, Dict, List, Mapping, Tuple

from ..dataset import Dataset

# Files and folders of LeRobot's metadata.
_COPIED = ("stats.json", "tasks.parquet", "episodes")


def write_meta(
    source: LocalPath, folder: LocalPath, frames: int, cameras: Mapping[str, str], kept: Collection[str], dataset: Dataset
) -> bool:
    """Write ``meta`` to a folder, if the data set has all ``frames`` of each camera.

    ``cameras`` has the names of cameras by feature, and ``kept`` the other features that the data set has. Returns whether it
    was written.
    """
    info: Dict[str, Any] = json.loads((source / "meta" / "info.json").read_text(encoding="utf-8"))
    sizes = _sizes(dataset)
    if sorted(sizes) != sorted(cameras.values()) or any(found != frames for _, found in sizes.values()):
        return False
    features = {}
    for key, feature in info["features"].items():
        if key in cameras:
            height, width = sizes[cameras[key]][0]
            features[key] = {**feature, "shape": [height, width, 3], "names": ["height", "width", "channels"]}
        elif key in kept:
            features[key] = feature
    meta = folder / "meta"
    shutil.rmtree(meta, ignore_errors=True)
    meta.mkdir(parents=True)
    for name in _COPIED:
        if (source / "meta" / name).is_dir():
            shutil.copytree(source / "meta" / name, meta / name)
        elif (source / "meta" / name).exists():
            shutil.copyfile(source / "meta" / name, meta / name)
    # It comes last: without it, LeRobot reads nothing.
    text = json.dumps({**info, "storage_format": "vidrec", "features": features}, indent=4)
    (meta / ".info.json").write_text(text, encoding="utf-8")
    os.replace(meta / ".info.json", meta / "info.json")
    return True


def _sizes(dataset: Dataset) -> Dict[str, Tuple[Tuple[int, int], int]]:
    """Height and width of the frames of each camera, and how many there are; no camera whose frames differ in size."""
    found: Dict[str, List[Any]] = {}
    for clip in dataset:
        size = None if clip.size is None else (clip.size[1], clip.size[0])
        of_camera = found.setdefault(str(clip.attributes.get("camera")), [size, 0])
        of_camera[0] = size if of_camera[0] == size else None
        of_camera[1] += len(clip)
    return {camera: (size, frames) for camera, (size, frames) in found.items() if size is not None}
