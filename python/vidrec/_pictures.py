"""Pictures as arrays, as PNG and as letters."""

from __future__ import annotations

import math
import struct
import zlib
from typing import TYPE_CHECKING, Any, Iterable, List, Optional

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from typing_extensions import TypeAlias

Picture: TypeAlias = NDArray[np.uint8]

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


def in_colors(frames: Any) -> Optional[Picture]:
    """Frames of any layout and type, torch's or NumPy's, in shape (B, T, H, W, 3); None if no side of theirs is 3 colors."""
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
    return pictures.astype(np.uint8, copy=False)
