"""A process that decodes for ``vidrec.pack(isolate=True)``."""

from __future__ import annotations

import json
import os
import sys
from typing import Any, Dict, List

from . import _vidrec


def command(options: Dict[str, Any]) -> List[str]:
    """What starts one, for a run with these options."""
    code = f"from {__name__} import main; main()"
    return [sys.executable, "-c", code, json.dumps(options, default=os.fsdecode)]


def main() -> None:
    """Decode what the run asks for, until it ends."""
    # JSON has lists for tuples, and there are no other lists.
    options = json.loads(sys.argv[1])
    _vidrec.serve({name: tuple(value) if isinstance(value, list) else value for name, value in options.items()})
