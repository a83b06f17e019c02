"""The Pythons and programs that pages run with.

VIDREC_DOCS_PYTHONS names Pythons, separated by colons, the best first; without it, the one that runs the tests is the
only one. A page runs in the first that has all it needs. VIDREC_PROGRAM names the program `vidrec`; without it, it is
the one in the Python's own environment, or on PATH.
"""
import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pages

# Fixtures in conftest.py start these.
SERVERS = {"s3"}
# What scripts/cluster.sh installs; the stage "cluster" runs pages that need it.
CLUSTER = {"ray"}
FIND = "import importlib.util as u, sys; print(*[n for n in sys.argv[1:] if u.find_spec(n)])"


def pythons():
    named = os.environ.get("VIDREC_DOCS_PYTHONS", "")
    return [name for name in named.split(":") if name and Path(name).is_file()] or [sys.executable]


@functools.lru_cache(maxsize=None)
def has_modules(python, names):
    """Those of some modules that a Python has installed. A folder of the same name in the current one is none."""
    command = [python, "-I", "-c", FIND, *names]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return frozenset(done.stdout.split())


def search_path(python):
    folders = [str(Path(python).absolute().parent), os.environ["PATH"], "/usr/sbin"]
    return os.pathsep.join(folders)


def missing(python, needs):
    """What a Python and the programs beside it lack."""
    path = search_path(python)
    rest = tuple(need for need in needs if need not in SERVERS and not shutil.which(need, path=path))
    lacks = set(rest) - has_modules(python, rest) if rest else set()
    if "VIDREC_PROGRAM" not in os.environ and not shutil.which("vidrec", path=path):
        lacks.add("the program vidrec")
    return lacks


def needs_of(page):
    """With what its blocks need without saying so."""
    needs = set(page.needs) - set(pages.PACKED)
    if any(block.runs and block.language == "python" for block in page.blocks):
        needs.add("vidrec")
    return tuple(sorted(needs))


def choose(page):
    """A Python for a page, or why there is none."""
    needs, reasons = needs_of(page), []
    for python in pythons():
        lacks = missing(python, needs)
        if not lacks:
            return python, None
        reasons.append(f"{python} lacks {', '.join(sorted(lacks))}")
    prefix = "not asked for: " if CLUSTER & set(page.needs) else ""
    return None, prefix + "; ".join(reasons)


def environment(python, folder):
    """Variables for a page: a home of its own, and the program."""
    home, programs = folder / "home", folder / "programs"
    home.mkdir()
    programs.mkdir()
    if "VIDREC_PROGRAM" in os.environ:
        (programs / "vidrec").symlink_to(Path(os.environ["VIDREC_PROGRAM"]).absolute())
    dropped = ("PYTEST_", "VIRTUAL_ENV", "PYTHONPATH", "AWS_", "VIDREC_DOCS_", "VIDREC_REQUIRE", "XDG_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    return {**kept, "HOME": str(home), "PATH": f"{programs}{os.pathsep}{search_path(python)}", "COLUMNS": "120",
            "NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost", "PYTHONDONTWRITEBYTECODE": "1"}
