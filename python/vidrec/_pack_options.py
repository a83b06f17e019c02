"""The arguments of a pack, in the form that the compiled module takes: as text, which the library reads."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional

from .dataset import Path


def given(
    root: Optional[Path],
    classes: Optional[Path],
    storage: Dict[str, Any],
    values: Mapping[str, Any],
    flags: Mapping[str, bool],
) -> Dict[str, Any]:
    """What the caller gave: the values that are not None, and the flags that are on."""
    return {
        "root": root,
        "classes": classes,
        "storage": storage,
        "values": {name: _text(name, value) for name, value in values.items() if value is not None},
        "flags": [name for name, on in flags.items() if on],
    }


def _text(name: str, value: Any) -> str:
    if name == "size" and isinstance(value, (tuple, list)) and len(value) == 2:
        height, width = value
        return f"{width}x{height}"
    # 8.0 frames a second are 8, as the data set's settings say.
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value)
