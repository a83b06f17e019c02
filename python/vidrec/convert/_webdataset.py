"""WebDataset: tar files in which the files of a sample follow each other and have the same name up to the first dot."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import tarfile
from collections import Counter
from fractions import Fraction
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from .. import _storage
from .._progress import Progress
from .._storage import Path
from ..dataset import Clip, Dataset, opened
from ..errors import DecodeError, FormatError, UsageError
from ..results import ExportReport, TrackSchema, WriteReport
from ..stored_track import NUMBERS, Track, split
from ..writer import Writer
from ._import import Import

_PICTURES = ("jpg", "jpeg", "png")
# A file of a track: a name in small letters, because readers of WebDataset ignore case and split names at dots.
_TRACK = re.compile(r"(track\.[a-z0-9_-]+)\.(?:times\.npy|counts\.npy|npy|json)")
_CLIP = {"source", "label", "class", "attributes", "time_base", "short", "pts", "source_index"}
# What all clips share.
_META = "vidrec.json"
# The most bytes of a file of a sample.
_MAX_BYTES = 1 << 30


def from_webdataset(
    files: Union[Path, Sequence[Path]],
    output: Path,
    *,
    fps: Union[int, str, Fraction, None] = None,
    png_quality: Optional[int] = None,
    salvage: bool = False,
    progress: Progress = False,
    **options: Any,
) -> WriteReport:
    """Make a data set of tar files of WebDataset: each sample becomes a clip. JPEGs are stored byte for byte.

    Its images (``.jpg``, ``.jpeg``, ``.png``) are the frames, in the order of the last number between key and ending
    (``KEY.007.jpg``), or in the order of the file if they have none. ``.cls`` is the label. The keys of ``.json`` become
    attributes, except that its key ``label`` becomes the label if there is no ``.cls``; ``.txt`` becomes the attribute
    ``txt``. If :func:`to_webdataset` wrote the sample, the clip is the same again. Other files are ignored, and ``notes`` has
    their number.

    Parameters
    ----------
    files : path or sequence of path
        The tar files, in order. They may be compressed.
    output : path
        Folder to make the data set in, or a location such as ``"s3://bucket/train"``.
    fps : int, str or Fraction, optional
        Frames per second of samples without times, such as 25 or ``"30000/1001"``. Default: a frame is shown for a second.
    png_quality : int, optional
        Encode PNG images as JPEGs of this quality. Needs Pillow. Default: they are a fault.
    salvage : bool, default False
        Skip what is at fault, and list it in ``skipped``. Of a damaged file, that is the sample at the damage and everything
        behind it. Default: the first fault is an error, and nothing is written.
    progress : bool or callable, default False
        As for :func:`vidrec.verify`, in clips.
    **options
        As for :class:`vidrec.Writer`: ``retile``, ``if_exists``, ``shard_size`` and so on.

    Returns
    -------
    vidrec.results.WriteReport

    Raises
    ------
    DecodeError
        The first fault, such as a file that was cut, or a sample without images.
    """
    paths: List[Any] = [files] if isinstance(files, (str, os.PathLike)) else list(files)
    if not paths:
        raise UsageError("from_webdataset needs a tar file")
    ignored: "Counter[str]" = Counter()
    base = None if fps is None else 1 / Fraction(fps)
    given = {**_shared(os.path.dirname(os.fspath(paths[0]))), **options, "quality": png_quality or 90}
    with Import(Writer(output, **given), salvage, progress) as into:
        for path in paths:
            name = os.path.basename(os.fspath(path))
            for key, sample in _samples(path, into, ignored):
                into.add(f"{name}, sample {key}", lambda k=key, s=sample: _clip(k, s, base, png_quality, into, ignored))  # type: ignore[misc]
    return into.report([f"ignored .{ending} files: {count}" for ending, count in sorted(ignored.items())])


def to_webdataset(
    dataset: Union[Dataset, Path], output: Path, *, clips_per_shard: int = 1000, shard_bytes: int = 1 << 30
) -> ExportReport:
    """Write a data set as tar files of WebDataset, with one sample for each clip.

    The files of a sample are ``KEY.000.jpg`` and so on, byte for byte as they are stored, ``KEY.json`` with everything else
    about the clip, ``KEY.cls`` with its label, if it has one, and for each track ``KEY.track.NAME.npy`` of shape (N, ...), or
    ``.json`` with texts, and if it has times of its own ``KEY.track.NAME.times.npy`` in nanoseconds: (N,), or (N, 2) for spans.
    Of lists, the array has the items of all, and ``KEY.track.NAME.counts.npy`` says how many each has: (N,).

    Parameters
    ----------
    dataset : Dataset or path
        The data set, or its path or location, as :func:`vidrec.open` takes it.
    output : path
        The folder for ``shard-000000.tar`` and so on. It must not exist, or be empty.
    clips_per_shard : int, default 1000
        The most clips in a tar file.
    shard_bytes : int, default 1 GiB
        The size after which a tar file ends.

    Returns
    -------
    vidrec.results.ExportReport

    Raises
    ------
    UsageError
        The output exists.
    """
    ds = opened(dataset, _storage.given())
    schemas = ds.tracks
    stems, clips = _stems(list(schemas)), iter(ds)
    clip, shard = next(clips, None), 0
    with _new_folder(output) as folder:
        while clip is not None or not shard:
            with open(os.path.join(folder, f"shard-{shard:06}.tar"), "xb") as file:
                with tarfile.open(fileobj=file, mode="w", format=tarfile.USTAR_FORMAT) as tar:
                    count = 0
                    while clip is not None and (not count or (count < clips_per_shard and file.tell() < shard_bytes)):
                        for ending, data in _files(clip, stems, schemas):
                            # Without a time or an owner, so that the same clips give the same bytes.
                            info = tarfile.TarInfo(f"{clip.index:06}.{ending}")
                            info.size = len(data)
                            tar.addfile(info, io.BytesIO(data))
                        clip, count = next(clips, None), count + 1
                file.flush()
                os.fsync(file.fileno())
            shard += 1
        told = ds.meta.to_dict()
        shared = {key: told[key] for key in ("classes", "settings", "ffmpeg", "draws") if key in told}
        with open(os.path.join(folder, _META), "x", encoding="utf-8") as file:
            json.dump(shared, file, indent=2)
    sizes = [entry.stat().st_size for entry in os.scandir(output)]
    return ExportReport(os.fspath(output), len(ds), ds.frame_count, len(sizes), sum(sizes))


@contextlib.contextmanager
def _new_folder(output: Path) -> Iterator[str]:
    """A folder that gets its name when it is complete."""
    path = os.path.abspath(os.fspath(output))
    if os.path.lexists(path) and not (os.path.isdir(path) and not os.listdir(path)):
        raise UsageError(f"{path}: this exists already: choose another folder, or remove it")
    temporary = os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.{os.getpid()}")
    os.makedirs(temporary)
    try:
        yield temporary
        if os.path.isdir(path):
            os.rmdir(path)
        os.rename(temporary, path)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def _stems(names: Sequence[str]) -> Dict[str, str]:
    """What the names of a track's files begin with, for each track: each differs from all others."""
    found: Dict[str, str] = {}
    for name in names:
        plain = "track." + re.sub(r"[^a-z0-9_-]", "_", "".join(c.lower() if c.isascii() else "_" for c in name[:64]))
        numbered = (f"{plain}-{number}" for number in range(2, len(names) + 2))
        found[name] = next(stem for stem in (plain, *numbered) if stem not in found.values())
    return found


def _files(clip: Clip, stems: Mapping[str, str], schemas: Mapping[str, TrackSchema]) -> Iterator[Tuple[str, bytes]]:
    """The files of a clip: what their names end with, and their contents."""
    for t in range(len(clip)):
        yield f"{t:03}.jpg", clip.jpeg(t)
    tracks = []
    for name in clip.track_names:
        track, stem = clip.track(name), stems[name]
        if track is None:
            continue
        about: Dict[str, Any] = {**schemas[name].to_dict(), "count": len(track), "files": stem}
        if track.rate is not None:
            first = int(track.times[0]) if len(track) else 0
            about.update(first_ns=first, rate=[track.rate.numerator, track.rate.denominator])
        tracks.append(about)
        values = track.values
        if schemas[name].list and isinstance(values, list):
            yield f"{stem}.counts.npy", _npy(np.array([len(value) for value in values], np.int64))
            values = np.concatenate([np.zeros((0, *schemas[name].shape), NUMBERS[schemas[name].type]), *values])
        if isinstance(values, list):
            yield f"{stem}.json", json.dumps(values, ensure_ascii=False).encode()
        else:
            yield f"{stem}.npy", _npy(values)
        if track.timing in ("times", "spans"):
            yield f"{stem}.times.npy", _npy(track.times if track.ends is None else np.stack([track.times, track.ends], 1))
    base = [clip.time_base.numerator, clip.time_base.denominator]
    told: Dict[str, Any] = {"source": clip.source, "label": clip.label, "class": clip.class_name or "", "attributes": clip.attributes}
    told.update(time_base=base, short=clip.is_short, pts=clip.pts.tolist(), source_index=clip.source_indices)
    yield "json", json.dumps({**told, **({"tracks": tracks} if tracks else {})}, ensure_ascii=False).encode()
    if clip.label is not None:
        yield "cls", str(clip.label).encode()


def _shared(folder: str) -> Dict[str, Any]:
    """The arguments of a :class:`vidrec.Writer` that all clips share, if :func:`to_webdataset` wrote the folder."""
    file = os.path.join(folder, _META)
    if not os.path.exists(file):
        return {"settings": {"imported_from": "webdataset"}}
    try:
        with open(file, encoding="utf-8") as text:
            told = json.load(text)
        more = {key: told[key] for key in ("ffmpeg", "draws") if told.get(key) is not None}
        return {"classes": told.get("classes", []), "settings": told.get("settings", {}), "_meta": more}
    except (ValueError, AttributeError) as e:
        raise FormatError(f"{file}: this is not JSON in vidrec's form: {e}") from e


def _samples(path: Path, into: Import, ignored: "Counter[str]") -> Iterator[Tuple[str, Dict[str, bytes]]]:
    """The samples of a tar file: their keys, and their files by what the names end with."""
    name, key = os.path.basename(os.fspath(path)), ""
    sample: Dict[str, bytes] = {}
    try:
        with tarfile.open(path, "r:*") as tar:
            for member in tar:
                start = member.name.rfind("/") + 1
                stem, _, ending = member.name[start:].partition(".")
                last = ending.lower().rpartition(".")[2]
                if not member.isfile():
                    continue
                if not stem or not ending:
                    ignored[""] += 1
                    continue
                if key and key != member.name[:start] + stem:
                    yield key, sample
                    sample = {}
                key, ending = member.name[:start] + stem, ending.lower()
                if last not in (*_PICTURES, "json", "cls", "txt") and not _TRACK.fullmatch(ending):
                    ignored[last] += 1
                elif member.size > _MAX_BYTES:
                    raise tarfile.ReadError(f"{member.name} is too long: {member.size} bytes")
                else:
                    sample[ending] = tar.extractfile(member).read()  # type: ignore[union-attr]
        _check_end(path)
    except FileNotFoundError:
        raise
    except (tarfile.TarError, EOFError, OSError, ValueError) as e:
        where = f"{name}, sample {key} and what follows" if key else name
        into.skip(where, DecodeError(f"the tar file is damaged, or was cut: {e}"))
        return
    if key:
        yield key, sample


def _check_end(path: Path) -> None:
    """Refuse a tar file that was cut between two files, which ``tarfile`` takes for a whole one."""
    with open(path, "rb") as file:
        file.seek(257)
        is_plain = file.read(5) == b"ustar"
        file.seek(-min(1024, file.seek(0, os.SEEK_END)), os.SEEK_END)
        if is_plain and file.read() != bytes(1024):
            raise tarfile.ReadError("its end is missing")


def _clip(
    key: str,
    sample: Mapping[str, bytes],
    base: Optional[Fraction],
    png_quality: Optional[int],
    into: Import,
    ignored: "Counter[str]",
) -> Dict[str, Any]:
    """The arguments of :meth:`vidrec.Writer.add` for a sample."""
    kinds = {ending: ending.rpartition(".")[2] for ending in sample if not _TRACK.fullmatch(ending)}
    pictures = [ending for ending, kind in kinds.items() if kind in _PICTURES]
    if all(_number(ending) is not None for ending in pictures):
        pictures.sort(key=lambda ending: _number(ending) or 0)
    told: Any = next((json.loads(sample[ending]) for ending, kind in kinds.items() if kind == "json"), {})
    fields: Dict[str, Any] = told if isinstance(told, dict) else {"json": told}
    is_ours = set(fields) >= _CLIP
    if not pictures and not (is_ours and not fields["pts"]):
        raise DecodeError("the sample has no images: expected .jpg or .png files")
    tracks = fields.get("tracks", []) if is_ours else []
    used = {track["files"] for track in tracks}
    ignored.update(ending.rpartition(".")[2] for ending in sample if (found := _TRACK.fullmatch(ending)) and found[1] not in used)
    clip: Dict[str, Any] = {"frames": _frames([sample[ending] for ending in pictures], png_quality)}
    if is_ours:
        clip.update(label=fields["label"], source=fields["source"], pts=fields["pts"], time_base=fields["time_base"])
        clip.update(class_name=fields["class"], source_indices=fields["source_index"], is_short=fields["short"])
        into.writer._nan.update(track["name"] for track in tracks if track.get("nan"))
        clip.update(tracks={track["name"]: _track(track, sample) for track in tracks}, fields=dict(fields["attributes"]))
    else:
        label = fields.get("label")
        is_label = isinstance(label, int) and not isinstance(label, bool) and label >= 0
        clip.update(label=label if is_label else None, source=key, time_base=base, fields=dict(fields))
    for ending, kind in kinds.items():
        if kind == "txt":
            clip["fields"]["txt"] = sample[ending].decode(errors="replace").strip()
        elif kind == "cls":
            if not re.fullmatch(rb"\s*[0-9]+\s*", sample[ending]):
                raise DecodeError(f"its .cls is not a whole number: {sample[ending][:40]!r}")
            clip["label"] = int(sample[ending])
    return clip


def _track(told: Mapping[str, Any], sample: Mapping[str, bytes]) -> Track:
    """A track that :func:`to_webdataset` wrote."""
    name, stem, timing, count = told["name"], told["files"], told["timing"], told["count"]
    try:
        values = json.loads(sample[f"{stem}.json"]) if told["type"] == "utf-8" else _array(sample[f"{stem}.npy"])
        lists = _array(sample[f"{stem}.counts.npy"]) if told.get("list") else None
        times = _array(sample[f"{stem}.times.npy"]) if timing in ("times", "spans") else np.zeros(0, np.int64)
    except KeyError as e:
        raise DecodeError(f"track {name!r}: the file {e} is missing") from e
    is_array = not isinstance(values, list)
    items = count if lists is None else int(lists.sum())
    fits = values.dtype == NUMBERS[told["type"]] and values.shape == (items, *told["shape"]) if is_array else len(values) == count
    fits = fits and (lists is None or is_array and lists.shape == (count,) and lists.dtype == np.int64 and (lists >= 0).all())
    sides = {"times": (count,), "spans": (count, 2)}.get(timing, (0,))
    if not fits or times.shape != sides or times.dtype != np.int64:
        raise DecodeError(f"track {name!r}: its files have other values than its description")
    values = values if lists is None else split(np.asarray(values), lists)
    rate = Fraction(*told["rate"]) if timing == "rate" else None
    if rate is not None:
        times = np.array([told["first_ns"]], np.int64)
    ends = times[:, 1] if timing == "spans" else None
    return Track(name, timing, values, times[:, 0] if timing == "spans" else times, ends, rate)


def _frames(pictures: List[bytes], png_quality: Optional[int]) -> Any:
    """JPEGs as they are, or the pixels of PNG images."""
    if not any(data.startswith(b"\x89PNG") for data in pictures):
        return pictures
    if png_quality is None:
        raise DecodeError("an image is a PNG, which a data set cannot store: pass png_quality to encode it as a JPEG")
    if not all(data.startswith(b"\x89PNG") for data in pictures):
        raise DecodeError("some images of the sample are PNG, and others are not")
    try:
        from PIL import Image, ImageOps
    except ImportError as e:
        raise UsageError("decoding PNG images needs Pillow, which is not installed: pip install pillow") from e
    return [np.asarray(ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert("RGB")) for data in pictures]


def _number(ending: str) -> Optional[int]:
    """The last number in an ending, before its last dot."""
    found = re.findall(r"[0-9]+", ending.rpartition(".")[0])
    return int(found[-1]) if found else None


def _npy(array: Any) -> bytes:
    out = io.BytesIO()
    np.save(out, np.ascontiguousarray(array), allow_pickle=False)
    return out.getvalue()


def _array(data: bytes) -> Any:
    return np.load(io.BytesIO(data), allow_pickle=False)


__all__ = ["from_webdataset", "to_webdataset"]
