"""Data sets, clips and batches as notebooks and terminals show them."""

from __future__ import annotations

import base64
import html
import math
import shutil
import struct
import sys
import zlib
from functools import partial
from typing import TYPE_CHECKING, Any, Callable, Iterable, List, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

from .errors import Error

if TYPE_CHECKING:
    from typing_extensions import TypeAlias

    from .batch import Batch
    from .dataset import Clip, Dataset
    from .loader import Loader
    from .results import Result

Picture: TypeAlias = NDArray[np.uint8]

# What a page shows without being asked for more.
HEIGHT = 64
CLIPS_OF_DATASET = 6
CLIPS_OF_BATCH = 4
FRAMES = 8
PARTS = 10
# Pixels between two frames.
GAP = 2


def png(picture: Picture) -> bytes:
    """A picture of shape (H, W, 3) as PNG (ISO/IEC 15948)."""
    height, width, _ = picture.shape

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    # Each row is the difference to the one above it (filter 2), which compresses better.
    rows = picture.reshape(height, -1)
    rows = np.concatenate([rows[:1], rows[1:] - rows[:-1]])
    filtered = np.concatenate([np.full((height, 1), 2, np.uint8), rows], axis=1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(filtered.tobytes(), 6)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


def reduced(pictures: Picture, height: int) -> Picture:
    """Pictures of shape (..., H, W, 3), made smaller by the whole number that brings them nearest to ``height``."""
    *many, rows, columns, channels = pictures.shape
    by = max(1, min(round(rows / height), rows, columns))
    cut = pictures[..., : rows // by * by, : columns // by * by, :]
    blocks = cut.reshape(*many, rows // by, by, columns // by, by, channels)
    small: Picture = np.rint(blocks.mean(axis=(-4, -2))).astype(np.uint8)
    return small


def strip(frames: Iterable[Picture]) -> Picture:
    """Frames of one height side by side."""
    parts: List[Picture] = []
    for frame in frames:
        parts += [np.full((frame.shape[0], GAP, 3), 255, np.uint8)] * bool(parts) + [frame]
    return np.concatenate(parts, axis=1)


def evenly(count: int, most: int) -> List[int]:
    """At most ``most`` of ``count``, evenly spread."""
    return list(range(count)) if count <= most else [(2 * i + 1) * count // (2 * most) for i in range(most)]


def blocks(picture: Picture, columns: int) -> str:
    """A picture as text for terminals with 24-bit color: the halves of each letter are two pixels."""
    by = math.ceil(picture.shape[1] / columns)
    small = reduced(picture, max(1, picture.shape[0] // by)) if by > 1 else picture
    lines = []
    for top, below in zip(small[0::2], small[1::2]):
        letters = (
            f"\x1b[38;2;{a[0]};{a[1]};{a[2]};48;2;{b[0]};{b[1]};{b[2]}m▀" for a, b in zip(top.tolist(), below.tolist())
        )
        lines.append("".join(letters) + "\x1b[0m")
    return "\n".join(lines)


def of_dataset(dataset: Dataset) -> str:
    """A table, and the first frame of some clips."""
    classes = dataset.classes
    rows: List[Tuple[str, Any]] = [("clips", f"{len(dataset):,}"), ("frames", f"{dataset.frame_count:,}")]
    if classes:
        rows.append(("classes", f"{len(classes):,}: {_some(classes, 8)}"))
    if dataset.tracks:
        rows.append(("tracks", ", ".join(f"{name} ({t.type} {list(t.shape)})" for name, t in dataset.tracks.items())))
    clips = (dataset[i] for i in evenly(len(dataset), CLIPS_OF_DATASET))
    figures = (_figure(partial(_frames, clip, 1, HEIGHT), _name(clip)) for clip in clips)
    return _page(repr(dataset), rows, figures)


def of_clip(clip: Clip, height: int = HEIGHT, frames: int = FRAMES) -> str:
    """A table, and some frames side by side."""
    seconds = clip.pts_seconds
    rows: List[Tuple[str, Any]] = [
        ("source", clip.source),
        ("label", "none" if clip.label is None else f"{clip.label} {clip.class_name or ''}"),
        ("frames", f"{len(clip)}, {seconds[0]:.2f} s to {seconds[-1]:.2f} s" if len(seconds) else "0"),
    ]
    if clip.size is not None:
        rows.append(("size", f"{clip.size[0]} x {clip.size[1]}"))
    rows += [(name, value) for name, value in clip.attributes.items() if name != "video"]
    rows += [("tracks", ", ".join(clip.track_names))] * bool(clip.track_names)
    return _page(f"clip {clip.index}", rows, [_figure(partial(_frames, clip, frames, height), "")])


def of_batch(batch: Batch, clips: int = CLIPS_OF_BATCH, height: int = HEIGHT) -> str:
    """A table, and the first clips as they will be trained on."""
    rows: List[Tuple[str, Any]] = [
        ("frames", batch._described()),
        ("labels", _some([str(int(label)) for label in batch.labels], 16)),
    ]
    rows += [(f"track {name}", _shape(values)) for name, values in batch.tracks.items()]
    rows += [(f"field {name}", _shape(values)) for name, values in batch.fields.items()]
    pictures = batch_pictures(batch, clips, height)
    if pictures is None:
        why = "frames are not decoded" if batch.frames is None else "the shape has no 3 colors"
        return _page(repr(batch), [*rows, ("pictures", why)], [])
    figures = (_figure(partial(np.asarray, row), name) for name, row in pictures)
    return _page(repr(batch), rows, figures)


def of_loader(loader: Loader[Any]) -> str:
    """A table."""
    rows = [("data set", repr(loader.dataset)), ("batches", f"{len(loader):,}"), ("shape", loader.shape)]
    return _page("vidrec.Loader", [*rows, ("next epoch", loader.epoch)], [])


def of_result(result: Result) -> str:
    """A table, and one for each list of parts that it has, such as shards or failures."""
    values = result._shown()
    lists = {name: value for name, value in values.items() if isinstance(value, tuple) and value and hasattr(value[0], "_shown")}
    rows = [(name, f"{len(value):,}" if name in lists else value) for name, value in values.items()]
    return _page(type(result).__name__, rows, [_parts(name, parts) for name, parts in lists.items()])


def _parts(name: str, parts: Sequence[Any]) -> str:
    """The first of them, one a row."""
    rows = [part._shown() for part in parts[:PARTS]]
    columns = list(dict.fromkeys(column for row in rows for column in row))
    head = "".join(f"<th>{_text(column)}</th>" for column in columns)
    cells = ("".join(f"<td>{_text(row.get(column, ''))}</td>" for column in columns) for row in rows)
    body = "".join(f"<tr>{row}</tr>" for row in cells)
    rest = f"<p>and {len(parts) - PARTS:,} more</p>" if len(parts) > PARTS else ""
    return f"<p><b>{_text(name)}</b></p><table><tr>{head}</tr>{body}</table>{rest}"


def batch_pictures(batch: Batch, clips: int, height: int) -> Optional[List[Tuple[str, Picture]]]:
    """A name and a strip for each of the first clips; None if no side of the shape is 3 colors, or they are JPEGs."""
    if batch.frames is None:
        return None
    frames: Any = batch.frames[:clips]
    if hasattr(frames, "detach"):
        frames = frames.detach().cpu()
        frames = frames.numpy() if "uint8" in str(frames.dtype) else frames.float().numpy()
    frames = np.asarray(frames)
    if frames.ndim == 6:
        # Cameras.
        frames = frames.reshape(frames.shape[0], -1, *frames.shape[3:])
    colors = next((axis for axis in (2, 4, 1) if frames.ndim == 5 and frames.shape[axis] == 3), None)
    if colors is None:
        return None
    pictures = np.moveaxis(frames, colors, 4)
    if pictures.dtype != np.uint8 and pictures.size:
        low, high = float(np.nanmin(pictures)), float(np.nanmax(pictures))
        # Normalized colors have no range of their own: the darkest is black, the lightest white.
        pictures = np.nan_to_num((pictures.astype(np.float32) - low) * (255 / max(high - low, 1e-9)))
    shown = reduced(pictures[:, evenly(pictures.shape[1], FRAMES)].astype(np.uint8), height)
    labels = [int(label) for label in batch.labels[:clips]]
    return [(f"{label} · {source}", strip(row)) for label, source, row in zip(labels, batch.sources, shown)]


def clip_picture(clip: Clip, frames: int, height: int) -> List[Tuple[str, Picture]]:
    """A name and a strip."""
    return [(_name(clip), _frames(clip, frames, height))]


def show(page: str, pictures: Sequence[Tuple[str, Picture]]) -> None:
    """Shows a page in a notebook, and pictures elsewhere, as text."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if hasattr(shell, "kernel"):
        from IPython.display import HTML, display  # pyright: ignore[reportPrivateImportUsage]

        display(HTML(page))
        return
    columns = shutil.get_terminal_size().columns
    for name, picture in pictures:
        print(name)
        print(blocks(picture, columns))


def _frames(clip: Clip, count: int, height: int) -> Picture:
    return strip(reduced(clip.frames(evenly(len(clip), count)), height))


def _name(clip: Clip) -> str:
    return f"{clip.index} · {clip.class_name or ('no label' if clip.label is None else clip.label)} · {clip.source}"


def _some(names: Sequence[str], most: int) -> str:
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest:,} more" if rest > 0 else "")


def _shape(values: Any) -> str:
    return str(tuple(values.shape)) if hasattr(values, "shape") else f"{len(values)} of {type(values).__name__}"


def _text(value: Any) -> str:
    text = str(value)
    return html.escape(text if len(text) <= 300 else text[:299] + "…")


def _figure(picture: Callable[[], Picture], name: str) -> str:
    try:
        data = base64.b64encode(png(picture())).decode()
    except Error as e:
        # A damaged clip is not the end of a page.
        return f"<p>{_text(name)}: {_text(e)}</p>"
    image = f'<img alt="{_text(name)}" src="data:image/png;base64,{data}" style="max-width:100%">'
    caption = f'<figcaption style="font-size:smaller">{_text(name)}</figcaption>' if name else ""
    return f'<figure style="display:inline-block;margin:4px">{image}{caption}</figure>'


def _page(title: str, rows: Iterable[Tuple[str, Any]], figures: Iterable[str]) -> str:
    cells = "".join(
        f'<tr><th style="text-align:left">{_text(name)}</th><td style="text-align:left">{_text(value)}</td></tr>'
        for name, value in rows
    )
    return f"<div><b>{_text(title)}</b><table>{cells}</table>{''.join(figures)}</div>"
