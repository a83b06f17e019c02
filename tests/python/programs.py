"""The programs and examples that cargo has built, for tests of the level `full`. Others use the program in the package."""
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def built(name):
    """A program that cargo has built; VIDREC_BIN names another vidrec."""
    given = [Path(os.environ["VIDREC_BIN"])] if name == "vidrec" and "VIDREC_BIN" in os.environ else []
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    folders = [target / profile for profile in ("debug", "release")]
    for path in given + [folder / place / name for place in ("", "examples") for folder in folders]:
        if path.is_file():
            return path
    raise FileNotFoundError(f"{name}: run `cargo build --bins --examples` first")


def run(name, *arguments):
    """Standard output of a program that must succeed."""
    done = subprocess.run([built(name), *arguments], capture_output=True)
    assert done.returncode == 0, f"{name} {arguments}: status {done.returncode}\n{done.stderr.decode()}"
    return done.stdout
