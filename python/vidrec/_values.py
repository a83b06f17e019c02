"""What the values of a loader's options have in common: how they print, and how wrong ones are refused."""

from __future__ import annotations

import math
import operator
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any, NoReturn, Optional, Tuple, get_args

from .errors import UsageError

if TYPE_CHECKING:
    from typing_extensions import Self

# What the library counts with.
U32 = 2**32 - 1
U64 = 2**64 - 1


class Value:
    """A frozen dataclass that prints as it is written: without the fields that have their defaults.

    The first field may come without its name.
    """

    _positional = 1

    def __new__(cls, *args: Any, **_fields: Any) -> Self:
        if len(args) > cls._positional:
            named = ", ".join(f.name for f in _fields_of(cls)[cls._positional :])
            raise TypeError(f"{cls.__name__}: only the first value may come without a name; name the others: {named}")
        return super().__new__(cls)

    def __repr__(self) -> str:
        default = {f.name: f.default if f.default_factory is MISSING else f.default_factory() for f in _fields_of(self)}
        shown = ((name, getattr(self, name), default[name]) for name in default)
        given = ", ".join(f"{name}={value!r}" for name, value, default in shown if default is MISSING or value != default)
        return f"{self._name()}({given})"

    def _name(self) -> str:
        return type(self).__name__

    def _refuse(self, field: str, expected: str) -> NoReturn:
        raise UsageError(f"{self._name()}.{field}: expected {expected}, found {getattr(self, field)!r}")

    def _keep(self, field: str, value: Any) -> None:
        """A field in the form in which it is compared and printed."""
        object.__setattr__(self, field, value)

    def _whole(self, field: str, least: int = 0, most: int = U32, optional: bool = False) -> None:
        """Check a whole number."""
        value = getattr(self, field)
        if value is None and optional:
            return
        found = whole(value, least, most)
        if found is None:
            self._refuse(field, f"a whole number from {least:,} to {most:,}" if most < U32 else f"a whole number from {least:,}")
        self._keep(field, found)

    def _wholes(self, field: str, least: int = 0, count: Optional[int] = None, what: str = "whole numbers") -> None:
        """Check whole numbers in a sequence."""
        found = wholes(getattr(self, field), least, count)
        if found is None:
            self._refuse(field, what)
        self._keep(field, found)

    def _number(self, field: str, least: float = 0.0, most: float = math.inf, what: str = "") -> None:
        """Check a number."""
        found = number(getattr(self, field), least, most)
        if found is None:
            self._refuse(field, what or (f"a number from {least:g}" + ("" if math.isinf(most) else f" to {most:g}")))
        self._keep(field, found)

    def _span(self, field: str, above: float, most: float, what: str) -> None:
        """Check a least and a greatest number."""
        value = getattr(self, field)
        pair = tuple(value) if isinstance(value, (tuple, list)) and len(value) == 2 else (None, None)
        low, high = (number(each, above, most) for each in pair)
        if low is None or high is None or not above < low <= high:
            self._refuse(field, what)
        self._keep(field, (low, high))

    def _word(self, field: str, words: Any) -> None:
        """Check one of the words of a ``Literal``."""
        known = get_args(words)
        if getattr(self, field) not in known:
            self._refuse(field, _one_of(known))

    def _side(self, field: str) -> None:
        """Check a size of pictures."""
        found = size(getattr(self, field))
        if found is None:
            self._refuse(field, "a side in pixels, or height and width")
        self._keep(field, found)

    def _rate(self, field: str) -> None:
        """Check frames per second; whoever reads the frames reads it once more."""
        value = getattr(self, field)
        if value is None or isinstance(value, str):
            return
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf:
            self._refuse(field, "a rate such as 8, 29.97 or '30000/1001'")

    def _bytes(self, field: str) -> None:
        """Check a number of bytes."""
        value = getattr(self, field)
        if (parse_bytes(value) if isinstance(value, str) else whole(value, 1, U64)) is None:
            self._refuse(field, "a size such as '1GiB', '500MB' or 1000000")

    def _names(self, field: str) -> None:
        """Check names in a list: one alone is a mistake."""
        value = getattr(self, field)
        if isinstance(value, str) or not all(isinstance(name, str) for name in value):
            self._refuse(field, "names in a list")
        self._keep(field, tuple(value))


def _fields_of(value: Any) -> Tuple[Any, ...]:
    return fields(value)


def _one_of(words: Tuple[str, ...]) -> str:
    *most, last = map(repr, words)
    return f"{', '.join(most)} or {last}" if most else last


def word(option: str, value: Any, words: Any) -> None:
    """Refuse what is not one of the words of a ``Literal`` that an option takes."""
    if value not in get_args(words):
        raise UsageError(f"loader option {option}: expected {_one_of(get_args(words))}, found {value!r}")


def whole(value: Any, least: int, most: int) -> Optional[int]:
    """A whole number as Python's, None for anything else."""
    try:
        found = operator.index(value)
    except TypeError:
        return None
    return found if least <= found <= most and not isinstance(value, bool) else None


def wholes(value: Any, least: int, count: Optional[int] = None, most: int = U32) -> Optional[Tuple[int, ...]]:
    """Whole numbers as a tuple, None for anything else."""
    if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
        return None
    found = [whole(each, least, most) for each in value]
    if count not in (None, len(found)) or None in found:
        return None
    return tuple(each for each in found if each is not None)


def number(value: Any, least: float, most: float) -> Optional[float]:
    """A number as Python's, None for anything else."""
    if isinstance(value, (str, bytes, bool)):
        return None
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    if not least <= found <= most:
        return None
    return int(found) if found.is_integer() and not isinstance(value, float) else found


def size(value: Any) -> Any:
    """A side, or height and width; None for anything else."""
    alone = whole(value, 1, U32)
    return wholes(value, 1, 2) if alone is None else alone


# As the library reads them.
_UNITS = {"": 1, "b": 1}
_UNITS.update({unit: 1 << 10 * power for power, letter in enumerate("kmgt", 1) for unit in (letter, f"{letter}ib")})
_UNITS.update({f"{letter}b": 1000**power for power, letter in enumerate("kmgt", 1)})


def parse_bytes(text: str) -> Optional[int]:
    """The number of bytes of a size such as ``"1GiB"``, ``"500MB"`` or ``"1000000"``; None if it is not one."""
    digits = len(text) - len(text.lstrip("0123456789"))
    factor = _UNITS.get(text[digits:].strip().lower())
    found = int(text[:digits]) * factor if digits and factor and text[:digits].isascii() else 0
    return found if 0 < found <= U64 else None
