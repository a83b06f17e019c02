"""A process that decodes for ``vidrec.pack(isolate=True)``."""

from __future__ import annotations

import json
import os
import sys
from typing import Any, Dict, List

from . import _storage, _vidrec


def command(options: Dict[str, Any]) -> List[str]:
    """What starts one, for a run with these options."""
    # Options of the storage may be secret, and a command line is not. The run tells them to the process.
    options = {**options, "storage": _storage.given()}
    code = f"from {__name__} import main; main()"
    return [sys.executable, "-c", code, json.dumps(options, default=os.fsdecode)]


def main() -> None:
    """Decode what the run asks for, until it ends."""
    _vidrec.serve(json.loads(sys.argv[1]))
    # A codec may hang in another thread. Nobody waits for it, or for anything else in this process.
    os._exit(0)
