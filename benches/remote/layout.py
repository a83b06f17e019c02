"""Where things lie, and what is measured. Needs no package."""
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target"))
CACHE = Path(os.environ.get("VIDREC_PEERS_CACHE", REPOSITORY / "target/peers")).absolute()
PYTHON = CACHE / "remote/bin/python"
VIDREC = Path(os.environ.get("VIDREC_BIN", TARGET / "release/vidrec"))

BATCH = 16
SETTINGS = ["--frames", "8", "--size", "256", "--quality", "90"]

sys.path.append(str(REPOSITORY / "format-spec"))
import reader  # noqa: E402, F401: the format's own reader, which needs nothing but Python


class Job:
    """A data set that every contestant has in its own format: `copies` times the clips of one that vidrec packed."""

    def __init__(self, home, name, source, copies):
        self.name, self.source, self.copies = name, source, copies
        self.served = home / "served"            # the root of the web server; a folder in it is a bucket
        self.stores = self.served / name
        clips = list(reader.open_dataset(source).clips)
        self.clips = copies * len(clips)
        self.frames_a_clip = len(clips[0].frames)
        self.bytes = copies * sum(frame.length for clip in clips for frame in clip.frames)
        # The peers' usual 64 MiB, but at least 24 shards, so that a quarter of the data is several shards.
        self.shard_bytes = min(64 << 20, self.bytes // 24)

    @property
    def frames(self):
        return self.clips * self.frames_a_clip
