"""Data sets of LeRobot, versions 2 and 3: videos or pictures of episodes, and Parquet files beside them.

Source: huggingface/lerobot, ``src/lerobot/datasets/{dataset_metadata,dataset_writer,dataset_reader,utils,language}.py``.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
import warnings
from pathlib import Path as LocalPath
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from .. import _storage, _vidrec, tools
from .._storage import Path
from ..dataset import open as open_dataset
from ..errors import FormatError, Interrupted, PackWarning, UsageError
from ..results import PackReport
from ..stored_track import FLOATS
from ._lerobot_meta import write_meta

_CAMERA = "observation.images."
# Columns that every data set has, and that say which episode, frame and task a row belongs to.
_OF_ROWS = ("timestamp", "frame_index", "episode_index", "index", "task_index")
# The type of a track for each type of values.
_TYPES = {
    **{"float16": "f16", "float32": "f32", "float64": "f64", "int8": "i16", "int16": "i16", "int32": "i32", "int64": "i64"},
    **{"uint8": "u8", "uint16": "u16", "uint32": "i64", "uint64": "i64", "bool": "bool", "string": "utf-8"},
    "language": "language",
}
_ERRORS = (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError)


def from_lerobot(
    path: Path,
    output: Path,
    *,
    episodes: Optional[Sequence[int]] = None,
    first_episode: int = 0,
    root: Optional[Path] = None,
    scratch: Optional[Path] = None,
    **options: Any,
) -> PackReport:
    """Pack a data set of LeRobot: a clip for each camera of each episode. Needs pyarrow: ``pip install vidrec[lerobot]``.

    The clips of an episode have the same attribute ``episode``, and their camera as attribute ``camera``, by which
    :class:`vidrec.Cameras` puts them together. The task is the attribute ``task``; if an episode has several, they are
    ``tasks`` by number, and the track ``task_index`` has the number for each frame. All other features are tracks with a value
    for each frame. Depth, in videos or PNG files, is a track of numbers; the attribute ``depth`` says what they mean.

    A clip has exactly the frames and rows of its episode, or it is listed as failed.

    With ``frames="all"``, the output of a whole data set of version 3 is a data set of LeRobot, too: its folder ``meta``
    is beside ``dataset.json``, and :mod:`vidrec.lerobot` lets LeRobot's own classes read it.

    Parameters
    ----------
    path : path
        The folder of the data set, or ``"hf://datasets/OWNER/NAME"`` on the Hugging Face Hub: then ``huggingface_hub``
        downloads its values, and its videos are read where they are.
    output : path
        Where the data set goes, as for :func:`vidrec.pack`.
    episodes : sequence of int, optional
        Only these episodes. Default: all.
    first_episode : int, default 0
        Added to the numbers of the episodes, so that several data sets can be merged.
    root : path, optional
        Where the videos are, if not in ``path``, such as ``"s3://bucket/robot"``.
    scratch : path, optional
        Folder for the values and pictures of all episodes, which are removed when the pack is done; and as for
        :func:`vidrec.pack`. Default: the folder of a local output, or the system's folder for temporary files.
    **options
        As for :func:`vidrec.pack`: ``frames``, ``size``, ``quality`` and so on.

    Returns
    -------
    vidrec.results.PackReport

    Raises
    ------
    UsageError
        pyarrow is missing, or the data set is of another version or has no cameras.
    FormatError
        A file of the data set is damaged.

    Examples
    --------
    >>> vidrec.convert.from_lerobot("robot", "packed", frames="all", size="original").clips  # doctest: +SKIP
    100
    """
    local = not _vidrec.is_remote(output)
    if scratch is not None and not local:
        options["scratch"] = scratch
    if local:
        # Of the same name each time, so that an interrupted pack can be resumed.
        where = LocalPath(output).absolute()
        work = LocalPath(scratch or where.parent).absolute() / f".{where.name}.lerobot"
    else:
        work = LocalPath(tempfile.mkdtemp(prefix="vidrec-lerobot-", dir=scratch))
    keep = False
    try:
        robot = _robot(path, work, root)
        how = _manifest(robot, work, episodes, first_episode)
        report = tools.pack(how.pop("inputs"), output, **how, **options)
        assert isinstance(report, PackReport)
        if robot.is_current and options.get("frames") == "all" and episodes is None and first_episode == 0 and not report.failed:
            robot.write_meta(output, work, local, options)
        return report
    except (Interrupted, KeyboardInterrupt):
        keep = local
        raise
    finally:
        if not keep:
            shutil.rmtree(work, ignore_errors=True)


def lerobot_manifest(
    path: Path,
    folder: Path,
    *,
    episodes: Optional[Sequence[int]] = None,
    first_episode: int = 0,
    root: Optional[Path] = None,
) -> Dict[str, Any]:
    """Write the manifest of a data set of LeRobot, to pack it on many machines.

    Parameters
    ----------
    path, episodes, first_episode, root
        As for :func:`from_lerobot`.
    folder : path
        Folder for the manifest, and for the values and pictures of all episodes. All machines must be able to read it.

    Returns
    -------
    dict
        ``inputs`` and options of :func:`vidrec.plan`, or of :func:`vidrec.pack`.

    Examples
    --------
    >>> how = vidrec.convert.lerobot_manifest("robot", "/shared/robot")  # doctest: +SKIP
    >>> vidrec.plan(how.pop("inputs"), "/shared/plan", frames="all", **how).parts  # doctest: +SKIP
    16
    """
    work = LocalPath(folder).absolute()
    return _manifest(_robot(path, work, root), work, episodes, first_episode)


def _robot(path: Path, work: LocalPath, root: Optional[Path]) -> _Robot:
    """The data set, whose values and pictures go to a folder."""
    try:
        import pyarrow.parquet as parquet  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError as e:
        raise UsageError("data sets of LeRobot need pyarrow, which is not installed: pip install vidrec[lerobot]") from e
    location = os.fspath(path)
    work.mkdir(parents=True, exist_ok=True)
    source = _downloaded(location, work) if _vidrec.is_remote(location) else LocalPath(location)
    return _Robot(source, os.fspath(root) if root is not None else location, work, parquet)


def _manifest(robot: _Robot, work: LocalPath, episodes: Optional[Sequence[int]], first_episode: int) -> Dict[str, Any]:
    """Write the manifest. Returns the options of a pack."""
    with open(work / "episodes.jsonl", "w", encoding="utf-8") as out:
        out.writelines(json.dumps(row) + "\n" for row in robot.rows(episodes, first_episode))
    how: Dict[str, Any] = {"inputs": work / "episodes.jsonl", "root": robot.root, "track": robot.specs or None}
    if any(camera.in_rows for camera in robot.cameras):
        how["picture_fps"] = int(robot.fps) if robot.fps.is_integer() else robot.fps
    return how


def _downloaded(location: str, work: LocalPath) -> LocalPath:
    """A copy of all but the videos of a data set on the Hub."""
    found = re.fullmatch(r"hf://datasets/([^/@]+/[^/@]+)(?:@([^/]+))?/?", location)
    if found is None:
        raise UsageError(f"{location}: copy its folders meta and data to this machine, and pass root={location!r}")
    try:
        from huggingface_hub import snapshot_download  # type: ignore[import-not-found, unused-ignore]
    except ImportError as e:
        raise UsageError(f"{location} needs huggingface_hub, which is not installed: pip install huggingface_hub") from e
    kept = {"allow_patterns": ["meta/*", "data/*"], "local_dir": work / "hub"}
    return LocalPath(snapshot_download(found[1], repo_type="dataset", revision=found[2], **kept))


class _Camera(NamedTuple):
    key: str
    name: str
    # Whether its pictures are in the files of values, and not in videos.
    in_rows: bool


class _Track(NamedTuple):
    key: str
    # A type of track, "language", or for depth "video" or "image".
    kind: str
    shape: Tuple[int, ...]
    # What numbers of depth mean.
    meaning: Dict[str, Any]


class _Episode(NamedTuple):
    number: int
    length: int
    tasks: List[str]
    # The numbers of the chunk and the file with its rows.
    data: Tuple[int, int]
    # By video: the same for its file, and the time of its first frame there; None in a file of its own.
    places: Dict[str, Tuple[int, int, Optional[float]]]


class _Robot:
    """A data set of LeRobot."""

    def __init__(self, folder: LocalPath, root: str, work: LocalPath, parquet: Any) -> None:
        self._folder, self.root, self._work, self._parquet = folder, root, work, parquet
        file = folder / "meta" / "info.json"
        try:
            info = json.loads(file.read_text(encoding="utf-8"))
            self._major = str(info["codebase_version"]).lstrip("v").split(".")[0]
            if self._major not in ("2", "3"):
                found = info["codebase_version"]
                raise UsageError(f"{file}: expected version 2 or 3 of LeRobot's format, found {found}; convert it with LeRobot")
            self.fps, self._data, self._video = float(info["fps"]), str(info["data_path"]), info.get("video_path")
            self._chunk = int(info["chunks_size"]) if self._major == "2" else 1
            splits = {name: ends.split(":") for name, ends in info.get("splits", {}).items()}
            self._splits = {name: range(int(first), int(end)) for name, (first, end) in splits.items()}
            self.cameras, self._tracks = _features(info["features"])
            if not self.cameras:
                raise UsageError(f'{file}: the data set has no cameras: expected a feature of type "video" or "image"')
            in_videos = [camera.key for camera in self.cameras if not camera.in_rows]
            in_videos += [track.key for track in self._tracks if track.kind == "video"]
            self._episodes = list(self._older() if self._major == "2" else self._listed(in_videos))
            count = int(info["total_episodes"])
            if [episode.number for episode in self._episodes] != list(range(count)) or self._chunk < 1:
                raise ValueError(f"expected episodes 0 to {count - 1} in order, found {len(self._episodes)} others")
            self._tasks: Dict[str, int] = {}
            if any(len(episode.tasks) > 1 for episode in self._episodes):
                self._tasks = self._read_tasks()
                self._tracks.append(_Track("task_index", "i64", (), {}))
        except _ERRORS as e:
            if isinstance(e, UsageError):
                raise
            raise FormatError(f"{file.parent}: this does not describe a data set of LeRobot: {type(e).__name__}: {e}") from e
        self._in_rows = [camera.key for camera in self.cameras if camera.in_rows]
        self._in_rows += [track.key for track in self._tracks if track.kind == "image"]

    @property
    def is_current(self) -> bool:
        """Whether LeRobot itself reads such a data set, of version 3."""
        return self._major == "3"

    def write_meta(self, output: Path, work: LocalPath, local: bool, options: Mapping[str, Any]) -> None:
        """Write what LeRobot needs to read the packed data set, beside it."""
        storage = {"storage_options": options.get("storage_options"), "timeout": options.get("storage_timeout", _storage.TIMEOUT)}
        cameras = {camera.key: camera.name for camera in self.cameras}
        kept = {track.key for track in self._tracks} | set(_OF_ROWS)
        folder = LocalPath(output) if local else work / "packed"
        dataset = open_dataset(output, **storage)
        frames = sum(episode.length for episode in self._episodes)
        if write_meta(self._folder, folder, frames, cameras, kept, dataset) and not local:
            _vidrec.push_meta(folder, output, _storage.given(**storage))

    @property
    def specs(self) -> List[str]:
        """The tracks, as a pack takes them. Each value belongs to a frame of the episode."""
        return [_spec(number, track) for number, track in enumerate(self._tracks)]

    def rows(self, only: Optional[Sequence[int]], first: int) -> Iterator[Dict[str, Any]]:
        """The rows of a manifest, whose values and pictures go to files."""
        open_file: Tuple[str, Any] = ("", None)
        for number in range(len(self._episodes)) if only is None else only:
            if not 0 <= number < len(self._episodes):
                raise UsageError(f"episodes: there is no episode {number}; the data set has {len(self._episodes)}")
            episode, cells, fault = self._episodes[number], {}, None
            try:
                if self._tracks or self._in_rows:
                    file = _below(self._data, "", *episode.data)
                    if open_file[0] != file:
                        keys = [track.key for track in self._tracks if track.kind != "video"] + self._in_rows
                        columns = [*dict.fromkeys(("episode_index", "frame_index", *keys))]
                        open_file = (file, self._parquet.read_table(self._folder / file, columns=columns, partitioning=None))
                    self._made: List[LocalPath] = []
                    cells = self._cells(episode, open_file[1])
                    # They are as old as what they are made of, so that a pack can be resumed that was interrupted.
                    stamp = os.stat(self._folder / file).st_mtime_ns
                    for made in [*self._made, *{made.parent for made in self._made}]:
                        os.utime(made, ns=(stamp, stamp))
            except _ERRORS as e:
                fault = f"episode {number}: {e}"
            for camera in self.cameras:
                yield self._row(episode, camera, cells, fault, first)

    def _row(
        self, episode: _Episode, camera: _Camera, cells: Mapping[str, Any], fault: Optional[str], first: int
    ) -> Dict[str, Any]:
        frames: Any = {"count": episode.length, "fps": self.fps, "start": 0.0}
        path = self._pictures(camera.key, episode).as_posix()
        if not camera.in_rows:
            try:
                path, frames["start"] = self._place(episode, camera.key)
            except _ERRORS as e:
                fault = fault or f"episode {episode.number}, {camera.key}: {e}"
        # A text instead of the frames is a fault, which the pack lists.
        row = {"path": path, "episode_frames": frames if fault is None else fault, **cells}
        row.update({"episode": first + episode.number, "camera": camera.name})
        depth = {track.key: track.meaning for track in self._tracks if track.kind in ("video", "image")}
        row.update({"depth": depth} if depth else {})
        row.update({"task": task for task in episode.tasks} if len(episode.tasks) == 1 else {})
        if len(episode.tasks) > 1:
            row["tasks"] = {str(self._tasks[task]): task for task in episode.tasks if task in self._tasks}
        split = [name for name, numbers in self._splits.items() if episode.number in numbers]
        return {**row, **({"split": split[0]} if split else {})}

    def _cells(self, episode: _Episode, table: Any) -> Dict[str, Any]:
        """What the row of a clip has for its tracks. Numbers go to one file, texts and pictures to others."""
        found = np.flatnonzero(table["episode_index"].to_numpy() == episode.number)
        rows = table.slice(int(found[0]) if len(found) else 0, len(found))
        in_order = [*rows["frame_index"].to_pylist()] == [*range(episode.length)]
        if not in_order or not np.array_equal(found, found[:1] + np.arange(len(found))):
            raise ValueError(f"expected {episode.length} rows in order, one for each frame, found {len(found)}")
        cells: Dict[str, Any] = {}
        arrays: Dict[str, Any] = {}
        for number, track in enumerate(self._tracks):
            column = f"values{number}"
            if track.kind == "video":
                path, start = self._place(episode, track.key)
                file = path if _vidrec.is_remote(self.root) else (LocalPath(self.root).absolute() / path).as_posix()
                cells[column] = {"file": file, "count": episode.length, "fps": self.fps, "start": start}
            elif track.kind == "image":
                cells[column] = self._pictures(track.key, episode).as_posix()
            elif track.kind in ("utf-8", "language"):
                texts = self._file(column, f"{episode.number:06}.json")
                texts.write_text(json.dumps(_texts(rows, track)), encoding="utf-8")
                cells[column] = texts.as_posix()
            else:
                arrays[column] = _array(rows[track.key].combine_chunks(), track.shape)
        if arrays:
            file = self._file("values", f"{episode.number:06}.npz")
            np.savez(file, **arrays)
            cells["values"] = file.as_posix()
        for key in self._in_rows:
            # As Hugging Face's `datasets` stores them: structures of bytes and path.
            for t, cell in enumerate(rows[key].to_pylist()):
                if not cell or not cell.get("bytes"):
                    raise ValueError(f"{key}: frame {t} has no picture, or only the path of one")
                kind = "jpg" if cell["bytes"].startswith(b"\xff\xd8") else "png"
                self._file(self._pictures(key, episode), f"{t:06}.{kind}").write_bytes(cell["bytes"])
        return cells

    def _place(self, episode: _Episode, key: str) -> Tuple[str, Optional[float]]:
        """The video of an episode, and the time of its first frame there."""
        chunk, file, start = episode.places[key]
        return _below(str(self._video or ""), key, chunk, file), start

    def _pictures(self, key: str, episode: _Episode) -> LocalPath:
        number = self._in_rows.index(key) if key in self._in_rows else 0
        return self._work / f"pictures{number}" / f"{episode.number:06}"

    def _file(self, folder: Any, name: str) -> LocalPath:
        file: LocalPath = self._work / folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        self._made.append(file)
        return file

    def _listed(self, in_videos: Sequence[str]) -> Iterator[_Episode]:
        """The episodes of version 3."""
        parts = ("chunk_index", "file_index", "from_timestamp")
        columns = ["episode_index", "length", "tasks", "data/chunk_index", "data/file_index"]
        columns += [f"videos/{key}/{part}" for key in in_videos for part in parts]
        for file in sorted((self._folder / "meta" / "episodes").glob("*/*.parquet")):
            for row in self._parquet.read_table(file, columns=columns, partitioning=None).to_pylist():
                placed = {key: [row[f"videos/{key}/{part}"] for part in parts] for key in in_videos}
                places: Any = {key: (int(chunk), int(file), float(start)) for key, (chunk, file, start) in placed.items()}
                data, tasks = (int(row["data/chunk_index"]), int(row["data/file_index"])), list(row["tasks"] or [])
                yield _Episode(int(row["episode_index"]), int(row["length"]), tasks, data, places)

    def _older(self) -> Iterator[_Episode]:
        """The episodes of version 2, which have files of their own."""
        for line in _lines(self._folder / "meta" / "episodes.jsonl"):
            number = int(line["episode_index"])
            data = (number // self._chunk, number)
            keys = [camera.key for camera in self.cameras] + [track.key for track in self._tracks]
            yield _Episode(number, int(line["length"]), list(line.get("tasks", [])), data, {key: (*data, None) for key in keys})

    def _read_tasks(self) -> Dict[str, int]:
        """The numbers of all tasks."""
        if self._major == "2":
            return {line["task"]: int(line["task_index"]) for line in _lines(self._folder / "meta" / "tasks.jsonl")}
        table = self._parquet.read_table(self._folder / "meta" / "tasks.parquet")
        # The name that pandas gives to an index without a name.
        name = "task" if "task" in table.column_names else "__index_level_0__"
        return dict(zip(table[name].to_pylist(), table["task_index"].to_pylist()))


def _lines(file: LocalPath) -> List[Dict[str, Any]]:
    with open(file, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def _features(features: Mapping[str, Any]) -> Tuple[List[_Camera], List[_Track]]:
    """Features as cameras and tracks."""
    keys, tracks = {}, []
    for key, feature in features.items():
        kind, shape, info = str(feature["dtype"]), tuple(map(int, feature.get("shape") or ())), feature.get("info") or {}
        # LeRobot has written this mark in three places.
        marks = (info.get("is_depth_map"), info.get("video.is_depth_map"))
        is_depth = True in (*marks, (feature.get("video_info") or {}).get("video.is_depth_map"))
        if key in _OF_ROWS:
            continue
        if kind in ("video", "image") and not is_depth:
            keys[key] = kind == "image"
        elif (kind not in _TYPES and not is_depth) or set(key) & set(",=") or not 0 < len(key.encode()) < 256:
            warnings.warn(f"feature {key!r} of type {kind!r} is not packed: a track cannot have it", PackWarning, 6)
        elif is_depth:
            sides = shape[-2:] if len(shape) == 2 or shape[0] == 1 else shape[:2]
            tracks.append(_Track(key, kind, sides, _meaning(info, kind)))
        else:
            # A shape of a single 1 means a single number.
            tracks.append(_Track(key, _TYPES[kind], () if shape == (1,) else shape, {}))
    names = {key: key[len(_CAMERA) :] if key.startswith(_CAMERA) else "" for key in keys}
    is_short = {key: bool(name) and "." not in name and name not in keys for key, name in names.items()}
    return [_Camera(key, names[key] if is_short[key] else key, in_rows) for key, in_rows in keys.items()], tracks


def _meaning(info: Mapping[str, Any], kind: str) -> Dict[str, Any]:
    """What numbers of depth mean: the unit of pictures, or how LeRobot made the 4,096 numbers of a video from meters.

    Source: ``src/lerobot/configs/video.py``, whose defaults stand for what is missing.
    """
    if kind == "image":
        return {"unit": info["depth_unit"]} if info.get("depth_unit") is not None else {}
    usual = {"depth_min": 0.01, "depth_max": 10.0, "shift": 3.5, "use_log": True}
    found = {key: info.get(f"video.{key}") for key in usual}
    return {key: usual[key] if value is None else value for key, value in found.items()}


def _spec(number: int, track: _Track) -> str:
    column, timing = f"values{number}", "every-frame"
    words = f"type={track.kind}{',nan' if track.kind in FLOATS else ''},values={column}"
    if track.kind in ("video", "image"):
        timing, words = "frames", f"type=u16,size={track.shape[1]}x{track.shape[0]}"
    elif track.kind in ("utf-8", "language"):
        words = "type=utf-8"
    else:
        column = "values"
    return f"{track.key}={column},{timing},clock=segment,{words}"


def _below(pattern: str, key: str, chunk: int, file: int) -> str:
    """The path for a feature and the numbers of a chunk and a file, which stays in the folder of the data set."""
    numbers = {"chunk_index": chunk, "episode_chunk": chunk, "file_index": file, "episode_index": file}

    def filled(found: "re.Match[str]") -> str:
        if found[1] not in ("video_key", *numbers):
            raise ValueError(f"meta/info.json: {pattern!r} has an unknown field {found[0]}")
        return key if found[1] == "video_key" else str(numbers[found[1]]).zfill(int(found[2] or 0))

    path = re.sub(r"\{(\w+)(?::0?(\d{0,2})d)?\}", filled, pattern)
    if set(path) & set('\\:\0{}') or {"", ".", ".."} & set(path.split("/")):
        raise ValueError(f"meta/info.json: {pattern!r} leads out of the folder of the data set, to {path!r}")
    return path


def _array(column: Any, shape: Tuple[int, ...]) -> Any:
    """The values of an episode as an array of shape (frames, ...)."""
    from pyarrow import compute  # type: ignore[import-not-found, import-untyped, unused-ignore]

    count, sides = len(column), []
    # An array of two or more dimensions, where the process knows the types of Hugging Face's datasets.
    column = getattr(column, "storage", column)
    while hasattr(column.type, "value_type"):
        lengths = compute.list_value_length(column).unique().to_pylist()
        if len(lengths) > 1 or None in lengths:
            raise ValueError(f"expected lists of the same length in each row, for the shape {shape}")
        sides += lengths
        column = column.flatten()
    array = column.to_numpy(zero_copy_only=False)
    if column.null_count or array.size != count * np.prod(shape, dtype=np.int64) or (len(sides) > 1 and tuple(sides) != shape):
        raise ValueError(f"expected a value of the shape {shape} in each row, found {tuple(sides)}")
    return array.reshape(count, *shape)


def _texts(rows: Any, track: _Track) -> List[str]:
    """Texts, or structures as JSON."""
    values: List[Any] = rows[track.key].to_pylist()
    if track.kind == "language":
        plain = [[] if value is None else value for value in values]
        return [json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False) for value in plain]
    if not all(isinstance(value, str) for value in values):
        raise ValueError(f"{track.key}: expected a text in each row")
    return values


__all__ = ["from_lerobot", "lerobot_manifest"]
