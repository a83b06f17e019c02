"""A process that decodes for :func:`vidrec.pack` and :func:`vidrec.pack_part`."""

from __future__ import annotations

import json
import os
import sys
from typing import Any, Dict, List, Optional

from . import _storage, _vidrec

# Only the extension module: importing the package, and NumPy with it, takes longer than decoding a short video. Then the
# process ends at once, because a codec may hang in another thread.
_CODE = """
import importlib.machinery, importlib.util, json, os, sys
path, serves = sys.argv[1:3]
spec = importlib.util.spec_from_file_location(
    "vidrec._vidrec", path, loader=importlib.machinery.ExtensionFileLoader("vidrec._vidrec", path)
)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
module.serve(json.loads(sys.argv[3])) if serves == "pack" else module.serve_part(sys.argv[3])
os._exit(0)
"""


def _start(serves: str) -> Optional[List[str]]:
    # In an embedded interpreter, there is no program to start.
    if not sys.executable:
        return None
    # Nothing is imported from the current folder or because of the environment.
    return [sys.executable, "-I", "-S", "-c", _CODE, str(_vidrec.__file__), serves]


def command(options: Dict[str, Any]) -> Optional[List[str]]:
    """What starts one, for a run with these options; ``None`` if nothing can."""
    # Options of the storage may be secret, and a command line is not. The run opens remote videos itself.
    options = {**options, "storage": _storage.given(), "scratch": None}
    start = _start("pack")
    return start and [*start, json.dumps(options, default=os.fsdecode)]


def of_part() -> Optional[List[str]]:
    """What starts one, for an attempt of a part of a plan, which adds the options of the plan."""
    return _start("part")
