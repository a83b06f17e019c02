"""Further processes of Python, in which nothing is imported from the current folder: a folder of data may hold modules."""

from __future__ import annotations

import json
import os
import sys
from typing import List, Optional

from . import _vidrec

# Only the extension module: importing the package, and NumPy with it, takes longer than decoding a short video. Then the
# process ends at once, because a codec may hang in another thread.
_DECODE = """
import importlib.machinery, importlib.util, os, sys
path, options = sys.argv[1], sys.argv[-1]
spec = importlib.util.spec_from_file_location(
    "vidrec._vidrec", path, loader=importlib.machinery.ExtensionFileLoader("vidrec._vidrec", path)
)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
module.serve(options)
os._exit(0)
"""

# Modules of the standard library come first.
_MAIN = """
import json, sys
sys.path += json.loads(sys.argv.pop(1))
from {} import main
sys.exit(main())
"""


def command() -> Optional[List[str]]:
    """What starts a process that decodes for a pack. The last further argument is the options of the run. ``None`` if nothing can."""
    # In an embedded interpreter, there is no program to start.
    if not sys.executable:
        return None
    return [sys.executable, "-I", "-S", "-c", _DECODE, str(_vidrec.__file__)]


def main_of(module: str) -> List[str]:
    """What runs ``main`` of a module of this package, with further arguments. It imports from where this process does."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    path = [package, *filter(os.path.isabs, sys.path)]
    return [sys.executable, "-I", "-S", "-c", _MAIN.format(module), json.dumps(path)]
