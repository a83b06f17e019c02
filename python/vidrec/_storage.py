"""How remote data sets are read and written, in the form that the compiled module takes."""

from __future__ import annotations

import os
from typing import Any, Dict, Mapping, Optional, Union

from . import _vidrec
from .errors import UsageError

Path = Union[str, "os.PathLike[str]"]
Size = Union[int, str]

MEMORY_BYTES: Size = "2GiB"
TIMEOUT = 60.0


def given(
    storage_options: Optional[Mapping[str, Any]] = None,
    cache: Optional[Path] = None,
    cache_bytes: Optional[Size] = None,
    memory_bytes: Size = MEMORY_BYTES,
    timeout: float = TIMEOUT,
) -> Dict[str, Any]:
    """Of the arguments that are about storage."""
    if cache_bytes is not None and cache is None:
        raise UsageError("cache_bytes needs a cache; give cache as well")
    return {
        "options": {str(name): text(value) for name, value in (storage_options or {}).items()},
        # Another process may have another working folder.
        "cache": None if cache is None else os.path.abspath(os.fspath(cache)),
        "cache_bytes": None if cache_bytes is None else str(cache_bytes),
        "memory_bytes": str(memory_bytes),
        "timeout": float(timeout),
    }


def for_output(
    storage_options: Optional[Mapping[str, Any]], timeout: float, scratch: Optional[Path]
) -> Dict[str, Any]:
    """Of the arguments that are about an output in object storage."""
    return {
        "storage": given(storage_options, timeout=timeout),
        "scratch": None if scratch is None else os.path.abspath(os.fspath(scratch)),
    }


def text(value: Any) -> str:
    """An option's value as the storage takes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def absolute(location: Path) -> str:
    """A path from the root; the location of something remote as it is."""
    path = os.fspath(location)
    return path if _vidrec.is_remote(path) else os.path.abspath(path)
