"""What video-language models take of a batch: patches in one sequence, and what is known of each video.

:func:`patchify` makes the input of the vision models of Qwen2-VL, Qwen2.5-VL and Qwen3-VL. :func:`video_metadata` is for
processors of transformers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Sequence, Union

import numpy as np
import torch

from .batch import Batch
from .errors import UsageError

# How far from an even rate frames may be, in frames.
_EVEN = 0.1
# The rate in which the times of other frames are said.
_MILLISECONDS = 1000.0


@dataclass(frozen=True)
class Patches:
    """The samples of one batch or several, one after another in one sequence of patches. Frames that pad a sample are not in it.

    Attributes
    ----------
    pixel_values_videos : torch.Tensor
        The patches: (N, C * temporal_patch * patch * patch), in the type of the frames.
    video_grid_thw : torch.Tensor
        Patches of each sample in time, rows and columns: int64 of shape (V, 3), for the V samples that have frames. Texts have no
        row, as in transformers.
    cu_seqlens : torch.Tensor
        Where each sample begins in the sequence, and where the last one ends: int32 of shape (B + 1,). A text ends where it begins.
    second_per_grid_ts : torch.Tensor
        Seconds from one patch to the next in time, of each row of ``video_grid_thw``: float32 of shape (V,).
    padding : int
        Patches that frames which pad samples would have taken, as :class:`vidrec.TokenBudget` counts them.
    """

    pixel_values_videos: torch.Tensor
    video_grid_thw: torch.Tensor
    cu_seqlens: torch.Tensor
    second_per_grid_ts: torch.Tensor
    padding: int


def patchify(
    batch: Union[Batch[torch.Tensor], Sequence[Batch[torch.Tensor]]],
    *,
    patch: int = 14,
    merge: int = 2,
    temporal_patch: int = 2,
) -> Patches:
    """Cut the frames of batches into patches, in the layout of the video processors of Qwen2-VL.

    The patches of a sample stand in the order of time, and those that become one token stand together. The last frame is
    repeated where it takes more to fill a patch. The values are those of the frames: let the loader normalize them.

    Parameters
    ----------
    batch : Batch or sequence of Batch
        Of tensors in the layout BTCHW, on any device, as from a loader with :class:`vidrec.SmartResize`. Several batches make one
        sequence, in which videos of different sizes follow each other.
    patch : int, default 14
        Rows and columns of a patch; 16 for Qwen3-VL.
    merge : int, default 2
        Rows and columns of patches that become one token.
    temporal_patch : int, default 2
        Frames of a patch.

    Returns
    -------
    Patches
        On the device of the frames.

    Raises
    ------
    UsageError
        The frames have another layout, several cameras, or sides that are no multiples of ``patch * merge``.

    Examples
    --------
    >>> import vidrec.vlm
    >>> crop = vidrec.SmartResize(28, min_pixels=4 * 28 * 28)
    >>> loader = vidrec.Loader("train", 2, crop=crop, dtype="float32", normalize=vidrec.CLIP)
    >>> patches = vidrec.vlm.patchify(next(iter(loader)))
    >>> patches.pixel_values_videos.shape, patches.video_grid_thw.tolist()
    (torch.Size([288, 1176]), [[4, 6, 6], [4, 6, 6]])
    """
    batches = [batch] if isinstance(batch, Batch) else list(batch)
    if not batches:
        raise UsageError("patchify: expected a batch or several, found none")
    return _joined([_of_batch(each, patch, merge, temporal_patch) for each in batches])


def _joined(parts: List[Patches]) -> Patches:
    """Several sequences as one."""
    if len(parts) == 1:
        return parts[0]
    starts = np.cumsum([0, *[len(part.pixel_values_videos) for part in parts]]).tolist()
    ends = [part.cu_seqlens[1:] + start for part, start in zip(parts, starts)]
    return Patches(
        torch.cat([part.pixel_values_videos for part in parts]),
        torch.cat([part.video_grid_thw for part in parts]),
        torch.cat([parts[0].cu_seqlens[:1], *ends]),
        torch.cat([part.second_per_grid_ts for part in parts]),
        sum(part.padding for part in parts),
    )


def _of_batch(batch: Batch[torch.Tensor], patch: int, merge: int, temporal_patch: int) -> Patches:
    frames = batch.frames
    side = patch * merge
    is_plain = frames.ndim == 5 and frames.shape[1] == batch.times.shape[1]
    if not is_plain or frames.shape[3] % side or frames.shape[4] % side:
        raise UsageError(
            f"patchify: expected frames of shape (B, T, C, H, W), with H and W in multiples of {side}, as crop=SmartResize({side})"
            f" makes them, found {tuple(frames.shape)}"
        )
    _, length, channels, height, width = frames.shape
    rows, columns = height // patch, width // patch
    times = [-(-len(found) // temporal_patch) for found in _times(batch)]
    ends = np.cumsum([0, *times]) * rows * columns
    sequence = frames.new_empty((int(ends[-1]), channels * temporal_patch * patch * patch))
    for sample, real, start, end in zip(frames, _real(batch), ends, ends[1:]):
        if start == end:
            continue
        shown = real.nonzero().flatten().tolist()
        shown += shown[-1:] * (-len(shown) % temporal_patch)
        kept = sample if shown == list(range(length)) else sample[torch.tensor(shown, device=sample.device)]
        steps = (-1, temporal_patch, channels, rows // merge, merge, patch, columns // merge, merge, patch)
        patches = kept.reshape(steps).permute(0, 3, 6, 4, 7, 2, 1, 5, 8)
        sequence[start:end].view(patches.shape).copy_(patches)
    device = frames.device
    seconds = [temporal_patch / _rate(found) for found in _times(batch) if len(found)]
    return Patches(
        sequence,
        torch.tensor([(time, rows, columns) for time in times if time], dtype=torch.int64, device=device).reshape(-1, 3),
        torch.tensor(ends, dtype=torch.int32, device=device),
        torch.tensor(seconds, dtype=torch.float32, device=device),
        len(times) * -(-length // temporal_patch) * rows * columns - len(sequence),
    )


def video_metadata(batch: Batch[Any], *, absolute: bool = False) -> List[Dict[str, Any]]:
    """What processors of transformers ask of each video, for frames that are already chosen.

    Pass it with ``do_sample_frames=False``. ``frames_indices`` divided by ``fps`` are the times of the frames. ``fps`` is the rate of
    the frames where they are even in time; where they are not, times are in milliseconds, with an ``fps`` of 1000.

    Parameters
    ----------
    batch : Batch
        From any loader.
    absolute : bool, default False
        Whether times count from the start of the video that the clip is of, as a question about the whole video does, even if the clip
        is a segment of it: they are :attr:`vidrec.Batch.times`. Otherwise the sample is the video, and its first frame is at 0 seconds.

    Returns
    -------
    list of dict
        ``fps``, ``frames_indices``, ``total_num_frames``, ``duration`` in seconds, ``width``, ``height`` and ``video_backend`` of each
        sample that has frames: the fields of ``transformers.video_utils.VideoMetadata``. Number and
        duration are those of the sample.

    Examples
    --------
    >>> import vidrec.vlm
    >>> batch = next(iter(vidrec.Loader("train", 2, frames=2, crop=56)))
    >>> vidrec.vlm.video_metadata(batch)[0]["frames_indices"]
    [0, 1]
    """
    frames: Any = batch.frames
    height, width = frames.shape[-2:] if frames.shape[-1] != 3 else frames.shape[-3:-1]
    found = []
    for times in filter(len, _times(batch)):
        rate = _rate(times)
        places = times if absolute else times - times[0]
        even = np.abs(places * rate - np.rint(places[0] * rate) - np.arange(len(times))).max() <= _EVEN
        fps = rate if even else _MILLISECONDS
        found.append(
            {
                "total_num_frames": len(times) if even else round(len(times) / rate * fps),
                "fps": fps,
                "width": width,
                "height": height,
                "duration": len(times) / rate,
                "video_backend": "vidrec",
                "frames_indices": np.rint(places * fps).astype(int).tolist(),
            }
        )
    return found


def _real(batch: Batch[Any]) -> torch.Tensor:
    """Which frames do not pad a sample."""
    is_real: torch.Tensor = ~torch.as_tensor(batch.times).cpu().isnan()
    return is_real


def _times(batch: Batch[Any]) -> List[Any]:
    """The times of the frames of each sample in seconds."""
    times = torch.as_tensor(batch.times).cpu().numpy()
    return [found[~np.isnan(found)] for found in times]


def _rate(times: Any) -> float:
    """Frames per second. Of a single time, 1."""
    span = float(times[-1] - times[0])
    # Times are of 64 bits, a little less exact than rates are written.
    return round((len(times) - 1) / span, 6) if span > 0 else 1.0
