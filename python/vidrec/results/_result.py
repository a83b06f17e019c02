"""What all results share."""

from __future__ import annotations

import json
import typing
from dataclasses import Field, dataclass, fields
from typing import Any, Dict, Mapping, Optional, Tuple, Type, TypeVar, Union

from .. import _display

R = TypeVar("R", bound="Result")

# What a terminal shows of a sequence or mapping.
_SHOWN = 3


@dataclass(frozen=True, repr=False)
class Result:
    """Base of all results: named values that do not change.

    Examples
    --------
    >>> told = vidrec.verify("train")
    >>> told
    VerifyReport(ok=True, clips=12, frames=96, problems=(), notes=())
    >>> told.to_dict()["frames"], vidrec.results.VerifyReport.from_dict(told.to_dict()) == told
    (96, True)
    """

    @classmethod
    def from_dict(cls: Type[R], told: Mapping[str, Any]) -> R:
        """A result from what :meth:`to_dict` gives, or from what the program ``vidrec`` prints with ``--json``.

        Parameters
        ----------
        told : mapping
            What this class has no field for becomes :attr:`extra`.
        """
        extra, known = dict(told), {}
        for key, field, kind in _keys(cls):
            if key in extra:
                known[field.name] = _made(kind, extra.pop(key))
        made = cls(**known)
        object.__setattr__(made, "_extra", extra)
        return made

    @property
    def extra(self) -> Mapping[str, Any]:
        """What the program said that this class has no field for. Of programs of the same version this is empty."""
        extra: Dict[str, Any] = self.__dict__.get("_extra", {})
        return extra

    def to_dict(self) -> Dict[str, Any]:
        """All values as dicts, lists, numbers and texts, by the names that ``vidrec ... --json`` has for them."""
        values = ((key, field, getattr(self, field.name)) for key, field, _ in _keys(type(self)))
        # The program omits what is not there as well.
        told = {key: _told(value) for key, field, value in values if value != field.default}
        return {**told, **self.extra}

    def to_json(self, *, indent: Optional[int] = None) -> str:
        """The same as JSON.

        Parameters
        ----------
        indent : int, optional
            Spaces of each level. Default: all in one line.
        """
        return json.dumps(self.to_dict(), indent=indent)

    def _shown(self) -> Dict[str, Any]:
        """What a reader is shown: all but what is not there."""
        return {f.name: value for f in fields(self) if (value := getattr(self, f.name)) != f.default}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={_short(value)}' for name, value in self._shown().items())})"

    def _repr_html_(self) -> str:
        """A table, and one for each list of parts that it has, such as shards or failures."""
        values = self._shown()
        tuples = {name: value for name, value in values.items() if isinstance(value, tuple)}
        lists = {name: value for name, value in tuples.items() if value and isinstance(value[0], Result)}
        rows = [(name, f"{len(value):,}" if name in lists else value) for name, value in values.items()]
        tables = (
            _display.parts(name, [part._shown() for part in value[: _display.PARTS]], len(value))
            for name, value in lists.items()
        )
        return _display.page(type(self).__name__, rows, tables)


# By class.
_known: Dict[Any, Tuple[Tuple[str, Field[Any], Any], ...]] = {}


def _keys(cls: Type[Result]) -> Tuple[Tuple[str, Field[Any], Any], ...]:
    """The program's name, the field and the type of each value."""
    if cls not in _known:
        kinds = typing.get_type_hints(cls)
        _known[cls] = tuple((field.metadata.get("key", field.name), field, kinds[field.name]) for field in fields(cls))
    return _known[cls]


def _made(kind: Any, told: Any) -> Any:
    """A value of this type, of what the program told."""
    origin, inside = typing.get_origin(kind), typing.get_args(kind)
    if told is None:
        return None
    if origin is Union:
        return _made(inside[0], told)
    if origin is tuple:
        kinds = inside[:1] * len(told) if inside[-1] is Ellipsis else inside
        return tuple(_made(each, value) for each, value in zip(kinds, told))
    if origin is dict:
        return {key: _made(inside[1], value) for key, value in told.items()}
    return kind.from_dict(told) if isinstance(kind, type) and issubclass(kind, Result) else told


def _told(value: Any) -> Any:
    """The value as the program tells it."""
    if isinstance(value, Result):
        return value.to_dict()
    if isinstance(value, tuple):
        return [_told(each) for each in value]
    return {key: _told(each) for key, each in value.items()} if isinstance(value, dict) else value


def _short(value: Any) -> str:
    """A value in few words."""
    if isinstance(value, tuple) and len(value) > _SHOWN:
        return f"({', '.join(map(_short, value[:_SHOWN]))}, ... {len(value) - _SHOWN} more)"
    return repr(value)
