"""Values of a loader's options: how they print, and how the library reads and checks them."""

from __future__ import annotations

import json
import math
import operator
import os
import sys
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any, Mapping, NoReturn, Optional, Tuple

import numpy as np

from . import _vidrec
from .errors import UsageError

if TYPE_CHECKING:
    from typing_extensions import Self

# The library counts with numbers of these sizes.
U32 = 2**32 - 1
U64 = 2**64 - 1


class Value:
    """A frozen dataclass that prints as it is written: without the fields that have their defaults.

    The first field may come without its name. The library checks values when they are made.
    """

    _positional = 1
    # The option of a loader that has such values, and whether it has values of several classes.
    _option = ""
    _is_one_of_several = False

    def __new__(cls, *args: Any, **_fields: Any) -> Self:
        if len(args) > cls._positional:
            named = ", ".join(f.name for f in _fields_of(cls)[cls._positional :])
            raise TypeError(f"{cls.__name__}: only the first value may come without a name; name the others: {named}")
        return super().__new__(cls)

    def __post_init__(self) -> None:
        for field in _fields_of(self):
            self._keep(field.name, canonical(getattr(self, field.name)))
        self._check()

    def __repr__(self) -> str:
        default = {f.name: f.default if f.default_factory is MISSING else f.default_factory() for f in _fields_of(self)}
        shown = ((name, getattr(self, name), default[name]) for name in default)
        given = ", ".join(f"{name}={value!r}" for name, value, default in shown if default is MISSING or value != default)
        return f"{self._name()}({given})"

    def _name(self) -> str:
        return type(self).__name__

    def _check(self) -> None:
        check(self._option, self)

    def _refuse(self, field: str, expected: str) -> NoReturn:
        raise UsageError(f"{self._name()}.{field}: expected {expected}, found {getattr(self, field)!r}")

    def _keep(self, field: str, value: Any) -> None:
        """Set a field to the form in which it is compared and printed."""
        object.__setattr__(self, field, value)

    def _fields_as_json(self) -> Any:
        values = {field.name: getattr(self, field.name) for field in _fields_of(self)}
        return {name: rate(value) if name in ("fps", "rate") else as_json(value) for name, value in values.items() if value is not None}


def _fields_of(value: Any) -> Tuple[Any, ...]:
    return fields(value)


def canonical(value: Any) -> Any:
    """A value without NumPy's types, with tuples in place of other sequences."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    return tuple(map(canonical, value)) if isinstance(value, (list, tuple)) else value


def as_json(value: Any) -> Any:
    """A value as the library reads it: one of several classes is under the name of its class."""
    if isinstance(value, Value):
        told = value._fields_as_json()
        if value._is_one_of_several:
            return {type(value).__name__: told} if _fields_of(value) else type(value).__name__
        return told
    if isinstance(value, Mapping):
        return {name: as_json(each) for name, each in value.items()}
    if isinstance(value, range):
        return [value.start, value.stop] if value.step == 1 else repr(value)
    if isinstance(value, (list, tuple)):
        return [as_json(each) for each in value]
    if isinstance(value, float) and math.isinf(value):
        return math.copysign(sys.float_info.max, value)
    return os.fsdecode(value) if isinstance(value, os.PathLike) else value


def check(option: str, value: Any) -> None:
    """Refuse a value that makes no sense for an option of a loader."""
    try:
        text = json.dumps(as_json(value), allow_nan=False)
    except (TypeError, ValueError) as e:
        raise UsageError(f"loader option {option}: {e}") from None
    _vidrec.check_option(option, text)


def rate(value: Any) -> Any:
    """Frames per second as text: 8, 29.97 or 30000/1001."""
    return f"{value:.3f}".rstrip("0").rstrip(".") if isinstance(value, float) else value


def whole(value: Any, least: int, most: int) -> Optional[int]:
    """A whole number as Python's, None for anything else."""
    try:
        found = operator.index(value)
    except TypeError:
        return None
    return found if least <= found <= most and not isinstance(value, bool) else None
