"""Packing in parts: making a plan, packing its parts, and publishing, each by the program ``vidrec``."""

from __future__ import annotations

import os
import tempfile
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from . import _program, _storage, tools
from ._recipe import RecipeOptions
from ._storage import Path
from .errors import UsageError
from .results import PackReport, PlanStatus, WrittenPlan

# Options of a part, as the program has them, beside those of the plan.
_OF_A_PART = {"threads", "memory"}
# Those about object storage, which every command has.
_OF_STORAGE = {"storage_options", "storage_timeout"}
_PATHS = {"root", "classes"}


def divided(options: Mapping[str, Any]) -> Tuple[Dict[str, Any], Dict[str, Any], Dict[str, Any]]:
    """The options of the plan, of its parts, and of the storage, of what the caller gave.

    All have the names that they have for :func:`vidrec.pack`.
    """
    for name in set(options) - set(RecipeOptions.__annotations__) - _OF_A_PART - _OF_STORAGE - {"isolate", "scratch"}:
        raise UsageError(f"{name}: a pack on a cluster does not have this option")
    of_part = {name: value for name, value in options.items() if name in _OF_A_PART | {"isolate", "scratch"}}
    of_storage = {name: value for name, value in options.items() if name in _OF_STORAGE}
    of_plan = {name: value for name, value in options.items() if name not in {*of_part, *of_storage}}
    return of_plan, of_part, of_storage


def plan(inputs: Sequence[Path], folder: str, options: Mapping[str, Any], storage: Mapping[str, Any]) -> WrittenPlan:
    """Make a plan in ``folder``, or prove that the one that is there is the same."""
    paths = [_storage.absolute(path) for path in inputs]
    options = {name: _storage.absolute(value) if name in _PATHS and value else value for name, value in options.items()}
    with tempfile.TemporaryDirectory(prefix="vidrec-") as temporary:
        recipe = os.path.join(temporary, "recipe.toml")
        with open(recipe, "w", encoding="utf-8") as file:
            file.write(tools.recipe(paths, **options))
        return WrittenPlan.from_dict(_program.report(["plan", recipe, "-o", folder], _secret(storage)))


def pack_part(folder: str, part: int, options: Mapping[str, Any], storage: Mapping[str, Any]) -> PackReport:
    """Pack a part of the plan in ``folder``; its report."""
    flags = [f"--{name}={options[name]}" for name in _OF_A_PART if options.get(name) is not None]
    flags += [] if options.get("isolate", True) else ["--no-isolate"]
    scratch = options.get("scratch")
    arguments = ["pack", folder, "--part", str(part), *sorted(flags)]
    return PackReport.from_dict(_program.report(arguments, _secret(storage), scratch and os.path.abspath(scratch)))


def status(folder: str, storage: Mapping[str, Any]) -> PlanStatus:
    """Which parts are done."""
    return PlanStatus.from_dict(_program.report(["status", folder], _secret(storage)))


def publish(folder: str, overwrite: bool, storage: Mapping[str, Any]) -> PackReport:
    """Make a data set of the parts; the report of the whole pack."""
    flags = ["--overwrite"] if overwrite else []
    return PackReport.from_dict(_program.report(["publish", folder, *flags], _secret(storage)))


def _secret(storage: Mapping[str, Any]) -> List[str]:
    """How the storage is reached, as the program has it. Its options may be secret, and a command line is not."""
    options = dict(storage.get("storage_options") or {})
    timeout = storage.get("storage_timeout")
    if timeout is not None:
        options["timeout"] = timeout
    return [f"--storage={name}={_storage.text(value)}" for name, value in options.items()]
