"""The arguments of a pack, in the form that the compiled module takes."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, List, Mapping, Optional, Union

from . import _storage, _vidrec
from ._storage import Path
from .errors import UsageError


def check_build() -> None:
    """Refuse a build that cannot pack."""
    if not _vidrec.HAS_PACK:
        raise UsageError(
            "this build of vidrec cannot pack: it was built without FFmpeg. Released wheels can; in a checkout, run\n"
            "    apt-get install clang libclang-dev pkg-config libavcodec-dev "
            "libavformat-dev libavutil-dev libswscale-dev libswresample-dev\n"
            "    pip install --force-reinstall ./python"
        )


def given(
    options: Mapping[str, Any],
    *,
    if_exists: str = "fail",
    threads: Optional[int] = None,
    memory: Union[int, str, None] = None,
    storage_options: Optional[Mapping[str, Any]] = None,
    storage_timeout: float = _storage.TIMEOUT,
    scratch: Optional[Path] = None,
) -> Dict[str, Any]:
    """Options of a recipe, and how this machine packs it."""
    return {
        "recipe": json.dumps({name: value_of(name, value) for name, value in options.items() if value is not None}),
        "if_exists": if_exists,
        "threads": threads,
        "memory": None if memory is None else str(memory),
        "remote": _storage.for_output(storage_options, storage_timeout, scratch),
    }


def value_of(name: str, value: Any) -> Any:
    """An option's value as a recipe has it."""
    if name == "size" and isinstance(value, (tuple, list)) and len(value) == 2:
        height, width = value
        return f"{width}x{height}"
    if name == "track" and isinstance(value, str):
        return [value]
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (tuple, list)):
        return [value_of("", item) for item in value]
    return str(value)


def listed(inputs: Any) -> List[Path]:
    """One input, or several, as a list."""
    return [inputs] if isinstance(inputs, (str, os.PathLike)) else list(inputs)
