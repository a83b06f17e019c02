"""Packing in parts: making a plan, packing its parts, and publishing, each by the program ``vidrec``."""

from __future__ import annotations

import inspect
import os
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from . import _pack_options, _program, _storage, tools
from ._storage import Path
from .errors import UsageError

# Options of `vidrec.pack` that each part has of its own. All others but these two kinds are in the plan.
_OF_A_PART = {"threads", "io_threads", "memory", "commit_every", "isolate"}
# Those that have no meaning for a pack in parts: a plan is always resumed.
_OF_A_WHOLE_PACK = {"resume", "restart", "retry_failed", "mxnet", "overwrite", "force", "dry_run", "progress"}
_PATHS = {"root", "classes"}


def divided(options: Mapping[str, Any]) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    """The options of the plan, and those of its parts, of what the caller gave by the names of :func:`vidrec.pack`."""
    known = set(inspect.signature(tools.pack).parameters) - {"inputs", "output"} - _OF_A_WHOLE_PACK
    for name in options:
        if name not in known:
            raise UsageError(f"{name}: a pack in parts has no such option")
    of_plan = {name: value for name, value in options.items() if name not in _OF_A_PART}
    return of_plan, {name: value for name, value in options.items() if name in _OF_A_PART}


def plan(inputs: Sequence[Path], folder: str, parts: int, options: Mapping[str, Any]) -> Dict[str, Any]:
    """Make a plan in ``folder``, or prove that the one that is there is the same."""
    paths = [_storage.absolute(path) for path in inputs]
    return _program.report(["plan", *_flags(options), "-o", folder, "--parts", str(parts), "--", *paths])


def pack_part(folder: str, part: int, options: Mapping[str, Any]) -> Dict[str, Any]:
    """Pack a part of the plan in ``folder``; its report."""
    return _program.report(["pack", "--plan", folder, "--part", str(part), *_flags(options)])


def status(folder: str) -> Dict[str, Any]:
    """Which parts are done."""
    return _program.report(["status", folder])


def publish(folder: str, output: Optional[str], overwrite: bool) -> Dict[str, Any]:
    """Make a data set of the parts, in the plan's folder or in ``output``; the report of the whole pack."""
    where = [] if output is None else ["-o", output]
    return _program.report(["publish", folder, *where, *(["--force"] if overwrite else [])])


def _flags(options: Mapping[str, Any]) -> List[str]:
    """Options as the program has them."""
    flags: List[str] = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if name == "short_side" and value is None:
            flags.append("--original")
        elif value is True:
            flags.append(flag)
        elif value is not None and value is not False:
            given = os.path.abspath(os.fspath(value)) if name in _PATHS else _pack_options.text(name, value)
            flags.append(f"{flag}={given}")
    return flags
