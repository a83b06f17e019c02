"""Single samples, for loaders of others that shuffle and batch by themselves."""

from __future__ import annotations

from typing import Any, Dict, List, Sequence, Union

from ._storage import Path
from .batch import Batch
from .crops import Cover
from .dataset import Dataset
from .errors import UsageError
from .loader import Loader
from .mixing import Mix
from .words import Output

# Options of a loader that are about batches, their order and their memory.
_OF_BATCHES = {"batch_size", "batching", "last", "order", "output", "pin_memory", "rank", "shuffle"}


def loader_of(dataset: Union[Dataset, Mix, Path], output: Output, options: Dict[str, Any]) -> Loader[Any]:
    """A loader whose batches are single samples, in the order of the data set."""
    refused = sorted(_OF_BATCHES & options.keys())
    if refused:
        raise UsageError(f"these options are not for single samples: {', '.join(refused)}")
    crop = options.get("crop")
    if isinstance(crop, Cover) and crop.sizes is not None:
        raise UsageError("Cover.sizes: single samples are not divided by shape; give Cover.size")
    return Loader(dataset, 1, rank=(0, 1), output=output, **options)


def items(loader: Loader[Any], epoch: int, indices: Sequence[int]) -> List[Dict[str, Any]]:
    """Samples as they are in an epoch, all decoded at once by the threads of the loader."""
    engine = loader._ready()
    samples = engine.batches_in(0)
    places = [_checked(index, samples) for index in indices]
    # Samples that differ in shape are no batch; a device makes those of the loader.
    if not places or not engine.is_even or loader._feed is not None:
        return [_items(loader, loader.batch(epoch, place))[0] for place in places]
    return _items(loader, loader._batch_at(epoch, places))


def _checked(index: int, samples: int) -> int:
    """Index of a sample, counted from the end if it is negative."""
    if not -samples <= index < samples:
        raise IndexError(f"there is no sample {index}, there are {samples}")
    return index % samples


def _items(loader: Loader[Any], batch: Batch[Any]) -> List[Dict[str, Any]]:
    """The samples of a batch. They share its memory."""
    columns: Dict[str, Any] = {"frames": batch.frames, "label": batch.labels.tolist(), "frame_mask": batch.frame_mask}
    if batch.camera_mask is not None:
        columns["camera_mask"] = batch.camera_mask
    if isinstance(loader.dataset, Mix):
        columns["source"] = batch.source_names
    found = [dict(zip(columns, values)) for values in zip(*columns.values())]
    for i, item in enumerate(found):
        if batch.fields:
            item["fields"] = {name: v[i] if isinstance(v, list) else v[i].item() for name, v in batch.fields.items()}
        if batch.tracks:
            item["tracks"] = _tracks(batch, i)
    return found


def _tracks(batch: Batch[Any], i: int) -> Dict[str, Any]:
    """Those of a sample, with the mask of each as ``NAME_mask``, the times of texts as ``NAME_times``, and how many items lists
    have as ``NAME_counts``."""
    found = {}
    for name, values in batch.tracks.items():
        found.update({name: values[i], f"{name}_mask": batch.track_masks[name][i]})
    found.update({f"{name}_times": times[i] for name, times in batch.track_times.items()})
    for name, counts in batch.track_counts.items():
        # Padded to the longest list of this sample, whatever the others have.
        most = max(0, *counts[i].reshape(-1).tolist(), 0)
        own = (slice(None),) * counts[i].ndim + (slice(most),)
        found.update({each: found[each][own] for each in (name, f"{name}_mask")})
        found[f"{name}_counts"] = counts[i]
    return found
