"""MosaicML's MDS: ``index.json``, and shards of samples with the same columns.

Source: mosaicml/streaming, ``streaming/base/format/mds/{writer,reader,encodings}.py``::

    shard  := samples u32 | offset u32 x (samples + 1) | the columns, as JSON | sample x samples
    sample := length u32 of each column without a fixed length | the columns, one after another
"""

from __future__ import annotations

import gzip
import json
import os
import struct
from typing import Any, Dict, Iterator, List, Mapping, Optional

import numpy as np

from .._progress import Progress
from .._storage import Path
from ..errors import DecodeError, FormatError, UsageError
from ..results import WriteReport
from ..writer import Writer
from ._import import Import

# Widths of the sides of an array, by the two lowest bits of its first byte.
_SIDES = ("u1", "<u2", "<u4", "<u8")


def from_mds(
    path: Path,
    output: Path,
    *,
    frames: Optional[str] = None,
    label: Optional[str] = None,
    salvage: bool = False,
    progress: Progress = False,
    **options: Any,
) -> WriteReport:
    """Make a data set of MDS shards: each sample becomes a clip. JPEGs are stored byte for byte.

    Columns of text, numbers, arrays and JSON become attributes of the same names. Columns of other encodings are left out, and
    ``notes`` says so.

    Parameters
    ----------
    path : path
        The folder with ``index.json``. Its shards may be compressed with gzip.
    output : path
        Folder to make the data set in, or a location such as ``"s3://bucket/train"``.
    frames : str, optional
        The column of frames, of encoding ``jpeg_array``, or ``jpeg`` or ``bytes`` for one frame. Default: the only one of the
        encodings ``jpeg_array`` and ``jpeg``.
    label : str, optional
        The column of labels, whole numbers; -1 stands for none. Default: ``label``, if there is one.
    salvage : bool, default False
        Skip samples that are at fault, and list them in ``skipped``. Default: the first fault is an error, and nothing is
        written.
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
        The first fault.

    Examples
    --------
    >>> vidrec.convert.from_mds("shards", "train", label="class").clips  # doctest: +SKIP
    100
    """
    folder = os.fspath(path)
    try:
        with open(os.path.join(folder, "index.json"), encoding="utf-8") as file:
            shards = json.load(file)["shards"]
        kinds = {name: kind for shard in shards for name, kind in zip(shard["column_names"], shard["column_encodings"])}
    except (ValueError, KeyError, TypeError) as e:
        raise FormatError(f"{folder}: index.json does not list MDS shards: {type(e).__name__}: {e}") from e
    pictures = [name for name, kind in kinds.items() if kind in ("jpeg_array", "jpeg")]
    frames = frames if frames is not None else pictures[0] if len(pictures) == 1 else None
    label = label if label is not None else "label" if "label" in kinds else None
    if frames not in kinds or (label is not None and label not in kinds):
        raise UsageError(f"{folder}: name the columns of frames and of labels, of {', '.join(map(repr, kinds))}")
    other = [name for name, kind in kinds.items() if name != frames and not _is_read(kind)]
    given = {"settings": {"imported_from": "mds"}, **options}
    with Import(Writer(output, **given), salvage, progress) as into:
        for shard in shards:
            for number, sample in enumerate(_samples(folder, shard, into)):
                place = f"{shard['raw_data']['basename']}, sample {number}"
                into.add(place, lambda s=sample: _clip(s, kinds, str(frames), label))  # type: ignore[misc]
    return into.report([f"column {name!r} of encoding {kinds[name]!r} is left out" for name in other])


def _samples(folder: str, shard: Mapping[str, Any], into: Import) -> Iterator[Dict[str, bytes]]:
    """The samples of a shard: the bytes of each column."""
    raw = str(shard["raw_data"]["basename"])
    try:
        data = _data(folder, shard)
        (count,) = struct.unpack_from("<I", data)
        offsets = np.frombuffer(data, "<u4", count + 1, 4).tolist()
        if count != shard["samples"] or sorted(offsets) != offsets or offsets[-1] > len(data):
            raise ValueError("the samples are not where the shard says")
    except (OSError, EOFError, ValueError, KeyError, TypeError, struct.error) as e:
        into.skip(raw, DecodeError(f"the shard is damaged: {e}"))
        return
    sizes = dict(zip(shard["column_names"], shard["column_sizes"]))
    head = 4 * sum(size is None for size in sizes.values())
    for start, end in zip(offsets, offsets[1:]):
        sample, found, at = data[start:end], {}, head
        lengths = iter(np.frombuffer(sample[:head] if len(sample) >= head else b"", "<u4").tolist())
        for name, size in sizes.items():
            length = next(lengths, 0) if size is None else size
            found[name] = sample[at : at + length]
            at += length
        yield found if at == len(sample) else {}


def _data(folder: str, shard: Mapping[str, Any]) -> bytes:
    raw, zipped = shard["raw_data"], shard.get("zip_data")
    for name in (raw["basename"], zipped["basename"] if zipped else ""):
        if os.path.basename(name) != name:
            raise ValueError(f"{name!r} leads to another folder")
    file = os.path.join(folder, raw["basename"])
    if zipped and not os.path.exists(file):
        if not str(shard.get("compression")).startswith("gz"):
            raise ValueError(f"expected no compression, or gzip, found {shard.get('compression')!r}: decompress it first")
        with gzip.open(os.path.join(folder, zipped["basename"])) as unzipped:
            return unzipped.read()
    with open(file, "rb") as plain:
        return plain.read()


def _clip(sample: Mapping[str, bytes], kinds: Mapping[str, str], frames: str, label: Optional[str]) -> Dict[str, Any]:
    """The arguments of :meth:`vidrec.Writer.add` for a sample."""
    if frames not in sample:
        raise DecodeError("the lengths of its columns do not fit")
    fields = {name: _value(kinds[name], data) for name, data in sample.items() if name != frames and _is_read(kinds[name])}
    number = fields.pop(label) if label is not None else None
    return {"frames": _jpegs(kinds[frames], sample[frames]), "label": None if number == -1 else number, "fields": fields}


def _jpegs(kind: str, data: bytes) -> List[bytes]:
    """The JPEGs of a column: one, or their number, their lengths, and they."""
    if kind != "jpeg_array":
        return [data]
    (count,) = struct.unpack_from("<I", data)
    ends = 4 + 4 * count + np.cumsum(np.frombuffer(data, "<u4", count, 4).astype(np.int64))
    if (ends[-1] if count else 4) != len(data):
        raise DecodeError("the lengths of its frames do not fit")
    return [data[start:end] for start, end in zip([4 + 4 * count, *ends[:-1].tolist()], ends.tolist())]


def _is_read(kind: str) -> bool:
    try:
        return kind in ("str", "json", "int") or np.dtype(kind.partition(":")[2] or kind).kind in "iufb"
    except TypeError:
        return False


def _value(kind: str, data: bytes) -> Any:
    """A text, a number, an array as lists, or what JSON has."""
    if kind in ("str", "json"):
        return data.decode() if kind == "str" else json.loads(data)
    name, _, rest = kind.partition(":")
    if name != "ndarray":
        return np.frombuffer(data, "<i8" if kind == "int" else np.dtype(kind).newbyteorder("<"), 1)[0].item()
    dtype, _, fixed = rest.partition(":")
    shape, at = [int(side) for side in fixed.split(",")] if fixed else [], 0
    if not fixed:
        sides = np.dtype(_SIDES[data[0] & 3])
        shape, at = np.frombuffer(data, sides, data[0] >> 2, 1).tolist(), 1 + (data[0] >> 2) * sides.itemsize
    return np.frombuffer(data, np.dtype(dtype).newbyteorder("<"), offset=at).reshape(shape).tolist()


__all__ = ["from_mds"]
