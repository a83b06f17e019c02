"""From decoded frames to the pictures of a batch, by torch, on the device of the frames."""

from __future__ import annotations

from typing import Any, List, Sequence, Tuple

import torch

from .errors import UsageError
from .jpegs import Jpegs, Recipe

# Not all versions that have it declare it.
_autocast: Any = getattr(torch, "autocast")  # noqa: B009
# Whatever a program makes its defaults.
_FLOATS: Any = dict(dtype=torch.float32, device="cpu")
# BT.601 in full range, as in JFIF: red, green and blue to luma and chroma.
_TO_YCC = (
    (0.299, 0.587, 0.114, 0.0),
    (-0.299 / 1.772, -0.587 / 1.772, 0.5, 128.0),
    (0.5, -0.587 / 1.402, -0.114 / 1.402, 128.0),
)


def pictures(jpegs: Jpegs, decoded: Sequence[torch.Tensor]) -> torch.Tensor:
    """What the loader gives for these frames without ``output="jpeg"``, but for rounding."""
    _check(jpegs, decoded)
    recipe = jpegs._recipe
    shape = recipe.shape
    if recipe.cameras:
        shape = (shape[0] * shape[1], *shape[2:])
    side = dict(zip(recipe.layout, shape))
    device = decoded[0].device if len(decoded) else torch.device("cpu")
    # In a training loop that computes in 16 bits, these are not part of it.
    with torch.no_grad(), _autocast(device.type, enabled=False):
        levels = _colored(_resized(jpegs, decoded, (side["H"], side["W"]), device), jpegs.colors, recipe.channels)
        made = _normalized(levels, jpegs.normalize, recipe.dtype)
        places = side["B"] * side["T"]
        if len(made) < places:
            padded = made.new_zeros((places, *made.shape[1:]))
            padded[jpegs.places.to(device)] = made
            made = padded
        made = made.view(side["B"], side["T"], side["C"], side["H"], side["W"])
        made = made.permute(["BTCHW".index(letter) for letter in recipe.layout])
        made = made.contiguous(
            memory_format=torch.channels_last_3d if recipe.channels_last_3d else torch.contiguous_format
        )
        frames: torch.Tensor = made.reshape(recipe.shape)
        return frames


def _check(jpegs: Jpegs, decoded: Sequence[torch.Tensor]) -> None:
    if len(decoded) != len(jpegs):
        raise UsageError(f"finish: expected {len(jpegs)} decoded frames, found {len(decoded)}")
    for i, (frame, (width, height)) in enumerate(zip(decoded, jpegs.sizes.tolist())):
        if frame.dtype != torch.uint8 or tuple(frame.shape) != (3, height, width):
            found = f"{str(frame.dtype).replace('torch.', '')} of shape {tuple(frame.shape)}"
            raise UsageError(f"finish: decoded frame {i}: expected uint8 of shape {(3, height, width)}, found {found}")


def _resized(
    jpegs: Jpegs, decoded: Sequence[torch.Tensor], size: Tuple[int, int], device: torch.device
) -> torch.Tensor:
    """The windows of all frames in one size, mirrored where they are to be: float32 levels of shape (N, 3, H, W)."""
    resized = torch.empty((len(decoded), 3, *size), dtype=torch.float32, device=device)
    runs = _runs(jpegs)
    if not runs:
        return resized
    first = torch.tensor([start for start, _ in runs], device="cpu")
    bounds, windows = jpegs.bounds[first].double(), jpegs.windows[first]
    mirrored = jpegs.flip[first]
    x = _axis(windows[:, 0], windows[:, 2] / size[1], bounds[:, 0], bounds[:, 2], size[1])
    y = _axis(windows[:, 1], windows[:, 3] / size[0], bounds[:, 1], bounds[:, 3], size[0])
    columns = _weights(x.to(device), mirrored.to(device), size[1])
    rows = _weights(y.to(device), torch.zeros_like(mirrored).to(device), size[0])
    reach = torch.stack([x[:, 4], x[:, 5], y[:, 4], y[:, 5]], 1).long().tolist()
    for run, ((start, end), (left, width, top, height)) in enumerate(zip(runs, reach)):
        part = [frame[:, top : top + height, left : left + width] for frame in decoded[start:end]]
        across = torch.stack(part).float() @ columns[run, :, :width].T
        resized[start:end] = rows[run, :, :height] @ across
    return resized


def _runs(jpegs: Jpegs) -> List[Tuple[int, int]]:
    """Frames in a row that become pictures in the same way: as a rule, those of a clip."""
    if not len(jpegs):
        return []
    numbers = (jpegs.sizes, jpegs.bounds, jpegs.windows, jpegs.flip[:, None])
    keys = torch.cat([values.double() for values in numbers], 1)
    starts = [0, *((keys[1:] != keys[:-1]).any(1).nonzero()[:, 0] + 1).tolist()]
    return list(zip(starts, [*starts[1:], len(jpegs)]))


def _axis(
    start: torch.Tensor, scale: torch.Tensor, low: torch.Tensor, high: torch.Tensor, out: int
) -> torch.Tensor:
    """Of each run: start, scale, bounds, and the first of the samples that count and their number."""
    reach = scale.clamp(min=1.0)
    first = torch.maximum(low, (start - reach).floor())
    end = torch.minimum(high, (start + out * scale + reach).ceil())
    return torch.stack([start, scale, low, high, first, end - first], 1)


def _weights(axis: torch.Tensor, mirrored: torch.Tensor, out: int) -> torch.Tensor:
    """Of each run, for each pixel of the picture, the weights of the samples that count: (runs, out, samples).

    A triangle around the pixel's center, as wide as the step where that is more than a sample; as Pillow's ``BILINEAR``.
    """
    start, scale, low, high, first, length = axis[:, :, None].unbind(1)
    pixel = torch.arange(out, dtype=axis.dtype, device=axis.device)
    pixel = torch.where(mirrored[:, None], out - 1 - pixel, pixel)
    center = torch.minimum(torch.maximum(start + (pixel + 0.5) * scale, low + 0.5), high - 0.5)
    sample = first + torch.arange(int(length.max()), dtype=axis.dtype, device=axis.device) + 0.5
    distance = (sample[:, None, :] - center[:, :, None]).abs()
    weights = (1.0 - distance / scale.clamp(min=1.0)[:, :, None]).clamp(min=0.0)
    weights = weights * ((sample > low) & (sample < high))[:, None, :]
    shares: torch.Tensor = (weights / weights.sum(2, keepdim=True)).float()
    return shares


def _colored(levels: torch.Tensor, colors: torch.Tensor, channels: str) -> torch.Tensor:
    """The channels that were asked for, with the colors that were drawn: levels of 0 to 255."""
    square = torch.cat([colors, torch.tensor([[[0.0, 0.0, 0.0, 1.0]]], **_FLOATS).expand(len(colors), 1, 4)], 1)
    if channels != "rgb":
        square = torch.tensor(_TO_YCC[: 1 if channels == "gray" else 3], **_FLOATS) @ square
    matrix = square[:, :3]
    if channels == "rgb" and bool((matrix == torch.eye(3, 4, **_FLOATS)).all()):
        return levels
    matrix = matrix.to(levels.device)
    mixed = matrix[:, :, :3] @ levels.flatten(2) + matrix[:, :, 3:]
    colored: torch.Tensor = mixed.clamp_(0.0, 255.0).reshape(len(levels), matrix.shape[1], *levels.shape[2:])
    return colored


def _normalized(levels: torch.Tensor, normalize: torch.Tensor, dtype: str) -> torch.Tensor:
    if dtype == "uint8":
        rounded: torch.Tensor = levels.round().to(torch.uint8)
        return rounded
    mean, std = normalize[:, :, : levels.shape[1], None, None].unbind(1)
    factor, offset = (1.0 / (255.0 * std)).to(levels.device), (mean / std).to(levels.device)
    made: torch.Tensor = (levels * factor - offset).to(getattr(torch, dtype))
    return made
