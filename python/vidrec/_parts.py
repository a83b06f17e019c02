"""Packing in parts: making a plan, packing its parts, and publishing, each by the program ``vidrec``."""

from __future__ import annotations

import inspect
import os
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from . import _pack_options, _program, _storage, tools
from ._storage import Path
from .errors import UsageError
from .results import PackReport, PlanStatus, WrittenPlan

# Options of `vidrec.pack` that each part has of its own. All others but these two kinds are in the plan.
_OF_A_PART = {"threads", "io_threads", "memory", "commit_every", "no_isolate", "scratch"}
# Those about object storage, which every command has.
_OF_STORAGE = {"storage_options", "storage_timeout"}
# Those that have no meaning for a pack in parts: a plan is always resumed.
_OF_A_WHOLE_PACK = {
    "resume",
    "restart",
    "retry_failed",
    "mxnet",
    "overwrite",
    "force",
    "dry_run",
    "progress",
    "only_publisher",
}
_PATHS = {"root", "classes", "scratch"}


def divided(options: Mapping[str, Any]) -> Tuple[Dict[str, Any], Dict[str, Any], Dict[str, Any]]:
    """The options of the plan, of its parts, and of the storage, of what the caller gave.

    All have the names that they have for :func:`vidrec.pack`.
    """
    known = set(inspect.signature(tools.pack).parameters) - {"inputs", "output"} - _OF_A_WHOLE_PACK
    for name in options:
        if name not in known:
            raise UsageError(f"{name}: a pack in parts does not have this option")
    of_part = {name: value for name, value in options.items() if name in _OF_A_PART}
    of_storage = {name: value for name, value in options.items() if name in _OF_STORAGE}
    of_plan = {name: value for name, value in options.items() if name not in _OF_A_PART | _OF_STORAGE}
    return of_plan, of_part, of_storage


def plan(
    inputs: Sequence[Path], folder: str, parts: int, options: Mapping[str, Any], storage: Mapping[str, Any]
) -> WrittenPlan:
    """Make a plan in ``folder``, or prove that the one that is there is the same."""
    paths = [_storage.absolute(path) for path in inputs]
    flags = ["-o", folder, "--parts", str(parts), *_flags(options)]
    return WrittenPlan.from_dict(_program.report(["plan", *flags, "--", *paths], _secret(storage)))


def pack_part(folder: str, part: int, options: Mapping[str, Any], storage: Mapping[str, Any]) -> PackReport:
    """Pack a part of the plan in ``folder``; its report."""
    arguments = ["pack", folder, "--part", str(part), *_flags(options)]
    return PackReport.from_dict(_program.report(arguments, _secret(storage)))


def status(folder: str, storage: Mapping[str, Any]) -> PlanStatus:
    """Which parts are done."""
    return PlanStatus.from_dict(_program.report(["status", folder], _secret(storage, "--timeout")))


def publish(
    folder: str, output: Optional[str], overwrite: bool, only_publisher: bool, storage: Mapping[str, Any]
) -> PackReport:
    """Make a data set of the parts, in the plan's folder or in ``output``; the report of the whole pack."""
    where = [] if output is None else ["-o", output]
    flags = [*(["--force"] if overwrite else []), *(["--only-publisher"] if only_publisher else [])]
    return PackReport.from_dict(_program.report(["publish", folder, *where, *flags], _secret(storage, "--timeout")))


def _secret(storage: Mapping[str, Any], timeout_flag: str = "--storage-timeout") -> List[str]:
    """How the storage is reached, as the program has it. Its options may be secret, and a command line is not.

    Where no videos are decoded, whose time has a limit as well, the time for a request is ``--timeout``.
    """
    options = storage.get("storage_options") or {}
    flags = [f"--storage={name}={_storage.text(value)}" for name, value in options.items()]
    timeout = storage.get("storage_timeout")
    return flags if timeout is None else [*flags, f"{timeout_flag}={timeout}"]


def _flags(options: Mapping[str, Any]) -> List[str]:
    """Options as the program has them."""
    flags: List[str] = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if name == "short_side" and value is None:
            flags.append("--size", "original")
        elif value is True:
            flags.append(flag)
        elif value is not None and value is not False:
            given = os.path.abspath(os.fspath(value)) if name in _PATHS else _pack_options.text(name, value)
            flags.append(f"{flag}={given}")
    return flags
