"""A loader's arguments, in the form that the compiled module takes."""

from __future__ import annotations

import operator
from typing import Any, Dict, Optional, Sequence, Tuple

import numpy as np

from . import _vidrec
from .errors import UsageError


def pair(name: str, value: Any, number: Any = operator.index) -> Tuple[Any, Any]:
    """One number as two, or two as they are."""
    if isinstance(value, (tuple, list)):
        if len(value) != 2:
            raise UsageError(f"loader option {name}: expected a number or two, found {value!r}")
        return number(value[0]), number(value[1])
    return number(value), number(value)


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


def order(value: Any, shuffle: bool, weights: Optional[Sequence[float]]) -> Dict[str, Any]:
    """The order: a word, ("blocks", block, window), or the samples themselves; or weights."""
    found: Dict[str, Any] = {"order": "shuffled" if shuffle else "sequential"}
    found.update(block=None, window=None, given=None, weights=None)
    if sum((shuffle, value is not None, weights is not None)) > 1:
        raise UsageError("of the loader options shuffle, order and weights only one can be given")
    if weights is not None:
        found["weights"] = np.asarray(weights, np.float64).tolist()
    elif isinstance(value, str):
        found["order"] = value
    elif isinstance(value, tuple) and value and value[0] == "blocks":
        found["order"], found["block"], found["window"] = value
    elif value is not None:
        samples = np.asarray(value)
        if samples.ndim != 1 or (samples.size and (samples.dtype.kind not in "iu" or samples.min() < 0)):
            raise UsageError("loader option order: expected a word, ('blocks', block, window) or numbers of samples")
        found["given"] = [int(sample) for sample in samples]
    return found
