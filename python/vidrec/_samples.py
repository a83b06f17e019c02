"""Single samples, for loaders of others that shuffle and batch by themselves."""

from __future__ import annotations

from typing import Any, Dict, Union

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
    # Frames of one sample side by side are little work to share; whoever asks for samples does it from several threads or
    # processes.
    options.setdefault("threads", 1)
    return Loader(dataset, 1, rank=(0, 1), output=output, **options)


def checked(index: int, samples: int) -> int:
    """Index of a sample, counted from the end if it is negative."""
    if not -samples <= index < samples:
        raise IndexError(f"there is no sample {index}, there are {samples}")
    return index % samples


def fields(batch: Batch[Any]) -> Dict[str, Any]:
    """Those of the only sample."""
    return {name: v[0] if isinstance(v, list) else v[0].item() for name, v in batch.fields.items()}


def tracks(batch: Batch[Any]) -> Dict[str, Any]:
    """Those of the only sample, with the mask of each as ``NAME_mask``, the times of texts as ``NAME_times``, and how many
    items lists have as ``NAME_counts``."""
    found = {}
    for name, values in batch.tracks.items():
        found.update({name: values[0], f"{name}_mask": batch.track_masks[name][0]})
    found.update({f"{name}_times": times[0] for name, times in batch.track_times.items()})
    found.update({f"{name}_counts": counts[0] for name, counts in batch.track_counts.items()})
    return found
