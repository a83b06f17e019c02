"""Where the built programs are."""
import os
from pathlib import Path

ROOT = Path(__file__).parents[2]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
# What scripts/servers.sh installed; a test of the tests may have it elsewhere.
INSTALLED = Path(os.environ.get("VIDREC_SERVERS", ROOT / "target/remote"))


def built(name):
    """A program that cargo has built; VIDREC_BIN names another vidrec."""
    given = [Path(os.environ["VIDREC_BIN"])] if name == "vidrec" and "VIDREC_BIN" in os.environ else []
    for path in given + [TARGET / profile / name for profile in ("debug", "release")]:
        if path.is_file():
            return path
    raise FileNotFoundError(f"{name}: run `cargo build --bins --package vidrec --package fault-proxy` first")
