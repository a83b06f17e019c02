"""The programs that cargo has built, for what opens pages in a browser. Tests of the package use the one that is in it."""
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def built(name):
    """A program that cargo has built; VIDREC_BIN names another vidrec."""
    given = [Path(os.environ["VIDREC_BIN"])] if name == "vidrec" and "VIDREC_BIN" in os.environ else []
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    for path in given + [target / profile / name for profile in ("debug", "release")]:
        if path.is_file():
            return path
    raise FileNotFoundError(f"{name}: run `cargo build --bins` first")


def run(name, *arguments):
    """Standard output of a program that must succeed."""
    done = subprocess.run([built(name), *arguments], capture_output=True)
    assert done.returncode == 0, f"{name} {arguments}: status {done.returncode}\n{done.stderr.decode()}"
    return done.stdout
