"""A process that decodes for ``vidrec.pack(isolate=True)`` and :func:`vidrec.pack_part`."""

from __future__ import annotations

import json
import os
import sys
from typing import Any, Dict, List

from . import _storage, _vidrec


def command(options: Dict[str, Any]) -> List[str]:
    """What starts one, for a run with these options."""
    # Options of the storage may be secret, and a command line is not. The run tells them to the process.
    options = {**options, "storage": _storage.given(), "scratch": None}
    code = f"from {__name__} import main; main()"
    return [sys.executable, "-c", code, json.dumps(options, default=os.fsdecode)]


def main() -> None:
    """Decode what the run asks for, until it ends."""
    _vidrec.serve(json.loads(sys.argv[1]))
    _end()


def of_part() -> List[str]:
    """What starts one, for an attempt of a part of a plan, which adds the options of the plan."""
    return [sys.executable, "-c", f"from {__name__} import main_of_part; main_of_part()"]


def main_of_part() -> None:
    """Decode what the attempt asks for, until it ends."""
    _vidrec.serve_part(sys.argv[1])
    _end()


def _end() -> None:
    # A codec may hang in another thread. Nobody waits for it, or for anything else in this process.
    os._exit(0)
