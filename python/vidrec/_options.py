"""A loader's arguments, in the form that the compiled module takes."""

from __future__ import annotations

import operator
import os
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from . import _vidrec
from .errors import UsageError
from .tracks import TrackWindow


def pair(name: str, value: Any, number: Any = operator.index) -> Tuple[Any, Any]:
    """One number as two, or two as they are."""
    if isinstance(value, (tuple, list)):
        if len(value) != 2:
            raise UsageError(f"loader option {name}: expected a number or two, found {value!r}")
        return number(value[0]), number(value[1])
    return number(value), number(value)


def frames(value: Any, most: Optional[int]) -> Dict[str, Any]:
    """A number of frames, all of them whatever their number, or those that every clip has."""
    found: Dict[str, Any] = {"frames": None, "any_length": False, "max_frames": most}
    if isinstance(value, str):
        if value != "all":
            raise UsageError(f"loader option frames: expected a number or 'all', found {value!r}")
        found["any_length"] = True
    elif value is not None:
        found["frames"] = operator.index(value)
    if most is not None and not found["any_length"]:
        raise UsageError("loader option max_frames: it needs frames='all'")
    return found


def rate(value: Any) -> str:
    """Frames per second as text: 8, 29.97 or 30000/1001."""
    return f"{value:.3f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def budget(batch_frames: Optional[int], batch_tokens: Optional[int], patch: Any) -> Dict[str, Any]:
    """What a batch may hold."""
    if batch_frames is not None and batch_tokens is not None:
        raise UsageError("give only one of the loader options batch_frames and batch_tokens")
    if (batch_tokens is None) != (patch is None):
        raise UsageError("give both of the loader options batch_tokens and patch, or neither")
    sides = [operator.index(side) for side in patch or (1, 1, 1)]
    if len(sides) != 3:
        raise UsageError(f"loader option patch: expected frames, rows and columns, found {patch!r}")
    return {"batch_frames": batch_frames, "batch_tokens": batch_tokens, "patch": sides}


def names(option: str, value: Any) -> List[str]:
    """Names in a list; one alone is a mistake."""
    if isinstance(value, str) or not all(isinstance(name, str) for name in value):
        raise UsageError(f"loader option {option}: expected names in a list, found {value!r}")
    return list(value)


def tracks(value: Any) -> List[Tuple[Any, ...]]:
    """What batches have of each track, by its name."""
    if value is None:
        return []
    if not isinstance(value, Mapping):
        raise UsageError(f"loader option tracks: expected a dict of names and vidrec.track(...), found {value!r}")
    found = []
    for name, window in value.items():
        option = f"loader option tracks[{name!r}]"
        if not isinstance(name, str) or not isinstance(window, TrackWindow):
            raise UsageError(f"{option}: expected vidrec.track(...), found {window!r}")
        span = None if window.window is None else tuple(float(x) for x in window.window)
        if span is not None and len(span) != 2:
            raise UsageError(f"{option}: expected a window of start and end in seconds, found {window.window!r}")
        pace = None if window.rate is None else rate(window.rate)
        found.append((name, span, pace, window.how, window.anchor, window.missing))
    return found


def decoded_cache(size: Union[int, str, None], folder: Any) -> Dict[str, Any]:
    """How much memory decoded frames may take, and where it is."""
    if folder is not None and size is None:
        raise UsageError("loader option decoded_cache_dir: it needs decoded_cache; give that as well")
    # Another process may have another working folder.
    found = None if folder is None else os.path.abspath(os.fspath(folder))
    return {"decoded_cache": None if size is None else str(size), "decoded_cache_dir": found}


def channels(name: str, value: Any) -> Tuple[float, float, float]:
    """One number for all channels, or one for each."""
    values = [float(x) for x in (value if isinstance(value, (tuple, list, np.ndarray)) else [value])]
    if len(values) == 1:
        values *= 3
    if len(values) != 3:
        raise UsageError(f"loader option {name}: expected a number or one for each channel, found {value!r}")
    return (values[0], values[1], values[2])


def dtype(value: Any) -> str:
    """The name of a type given by name, or as torch's or NumPy's."""
    name = str(value).replace("torch.", "") if not isinstance(value, type) else np.dtype(value).name
    if name not in _vidrec.DTYPES:
        raise UsageError(f"loader option dtype: expected one of {', '.join(_vidrec.DTYPES)}, found {value!r}")
    return name


def color(value: Any) -> Tuple[float, float, float, float]:
    """Strengths of brightness, contrast, saturation, and the probability of gray."""
    names = ("brightness", "contrast", "saturation", "grayscale")
    if value is None:
        value = {}
    if isinstance(value, (int, float)):
        value = dict.fromkeys(names[:3], value)
    if not isinstance(value, dict) or not set(value) <= set(names):
        raise UsageError(f"loader option color: expected a number or a dict of {', '.join(names)}, found {value!r}")
    b, c, s, g = (float(value.get(name, 0.0)) for name in names)
    return (b, c, s, g)


def order(
    value: Any,
    shuffle: bool,
    weights: Union[Sequence[float], NDArray[Any], None],
    homes: Optional[int],
    exchange: float,
    is_mix: bool = False,
) -> Dict[str, Any]:
    """The order: a word, ("blocks", block, window), the same of homes, or the samples themselves; or weights."""
    # Which one mixes, the data set decides: a remote one is read in blocks. The sources of a mix decide without a word.
    found: Dict[str, Any] = {"order": "mixed" if shuffle and not is_mix else "sequential"}
    found.update(block=None, window=None, given=None, weights=None)
    found.update(homes=None if homes is None else operator.index(homes), exchange=float(exchange))
    if sum((shuffle, value is not None, weights is not None)) > 1:
        raise UsageError("give only one of the loader options shuffle, order and weights")
    if weights is not None:
        found["weights"] = np.asarray(weights, np.float64).tolist()
    elif isinstance(value, str):
        found["order"] = value
    elif isinstance(value, tuple) and value and value[0] in ("blocks", "homes"):
        if len(value) != 3:
            raise UsageError(f"loader option order: expected ({value[0]!r}, block, window), found {value!r}")
        found["order"], found["block"], found["window"] = value
    elif value is not None:
        samples = np.asarray(value)
        if samples.ndim != 1 or (samples.size and (samples.dtype.kind not in "iu" or samples.min() < 0)):
            raise UsageError("loader option order: expected a word, ('blocks', block, window) or numbers of samples")
        found["given"] = [int(sample) for sample in samples]
    for name, is_set in (("homes", homes is not None), ("exchange", exchange != 1.0)):
        if is_set and found["order"] != "homes":
            raise UsageError(f"loader option {name}: it needs order='homes'")
    return found
