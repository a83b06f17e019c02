"""A process that decodes for :func:`vidrec.pack` and :func:`vidrec.pack_part`."""

from __future__ import annotations

import sys
from typing import List, Optional

from . import _vidrec

# Only the extension module: importing the package, and NumPy with it, takes longer than decoding a short video. Then the
# process ends at once, because a codec may hang in another thread.
_CODE = """
import importlib.machinery, importlib.util, os, sys
path, options = sys.argv[1:3]
spec = importlib.util.spec_from_file_location(
    "vidrec._vidrec", path, loader=importlib.machinery.ExtensionFileLoader("vidrec._vidrec", path)
)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
module.serve(options)
os._exit(0)
"""


def command() -> Optional[List[str]]:
    """What starts one, with one more argument: the options of the run. ``None`` if nothing can."""
    # In an embedded interpreter, there is no program to start.
    if not sys.executable:
        return None
    # Nothing is imported from the current folder or because of the environment.
    return [sys.executable, "-I", "-S", "-c", _CODE, str(_vidrec.__file__)]
