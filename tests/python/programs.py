"""The installed program, and the programs and examples that cargo has built; and what they write."""
import os
import subprocess
import sys
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


def program(*arguments, status=0):
    """How the installed program ends, with this status."""
    done = subprocess.run([Path(sys.executable).with_name("vidrec"), *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == status, f"{arguments}: status {done.returncode}\n{done.stderr}"
    return done


def files(folder):
    """The bytes of each file in a folder, without those of folders in it."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
