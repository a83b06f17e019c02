"""Videos to pack, the data set that one machine makes of them, and parts that are stopped at work."""
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "python"))
from skips import pytest_make_collect_report, pytest_runtest_makereport  # noqa: E402, F401

os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1,localhost"
# The templates find the installed program there, as on a node.
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}:/usr/sbin"

TEMPLATES = Path(__file__).parents[2] / "examples/cluster"
PARTS = 5
SECONDS_TO_WAIT = 120


def vidrec(*arguments, status=0):
    done = subprocess.run(["vidrec", *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def videos(tmp_path_factory):
    """Fifteen short videos in two classes, and one that is none."""
    root = tmp_path_factory.mktemp("videos")
    for i in range(15):
        video = root / ("left" if i < 6 else "right") / f"{i:02}.mp4"
        video.parent.mkdir(exist_ok=True)
        source = f"gradients=size=128x96:rate=12:duration={1 + i % 3}:seed={i}:c0=orange:c1=navy"
        command = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", source, "-pix_fmt", "yuv420p", video]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    (root / "right/broken.mp4").write_bytes(b"no video")
    return root


@pytest.fixture(scope="session")
def expected(videos, tmp_path_factory):
    """The files that `vidrec pack` makes on this machine."""
    out = tmp_path_factory.mktemp("expected") / "set"
    vidrec("pack", videos, "-o", out, "--shards", PARTS, status=3)
    return digests(out)


@pytest.fixture
def plan(videos, tmp_path):
    """A plan of which no part is done."""
    plan = tmp_path / "plan"
    vidrec("plan", videos, "-o", plan, "--shards", PARTS)
    return plan


def digests(folder):
    """SHA-256 by name of all files of a data set."""
    listing = json.loads((folder / "dataset.json").read_text())
    names = ["dataset.json", listing["failures"]["file"]]
    for shard in listing["shards"]:
        names += [shard["record_file"], shard["index_file"]]
    assert len(listing["shards"]) == PARTS
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}


def wait_for(look, what):
    """What `look` gives, as soon as it gives something."""
    deadline = time.monotonic() + SECONDS_TO_WAIT
    while time.monotonic() < deadline:
        found = look()
        if found:
            return found
        time.sleep(0.01)
    raise TimeoutError(what)


def _at_work(plan):
    """The processes that pack a part of the plan, and its number."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            arguments = (folder / "cmdline").read_text().split("\0")
            variables = dict(one.split("=", 1) for one in (folder / "environ").read_text().split("\0") if "=" in one)
        except OSError:
            continue
        if "pack" in arguments and str(plan) in arguments and "--part" in arguments:
            part = arguments[arguments.index("--part") + 1]
            names = ["SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX"]
            number = next((variables[name] for name in names if name in variables), None) if part == "auto" else part
            yield int(folder.name), int(number)


class Stopped:
    """An attempt that does not get further: a process that somebody packs a part with, stopped in the middle."""

    def __init__(self, plan):
        self.plan = plan
        self.part, self.process = wait_for(self._stop_one, "no part can be stopped at work")

    def _stop_one(self):
        for process, part in _at_work(self.plan):
            try:
                os.kill(process, signal.SIGSTOP)
            except ProcessLookupError:
                continue
            # It may have written its receipt before it was stopped.
            if not (self.plan / f".vidrec.pack/parts/{part:05}.json").exists():
                return part, process
            os.kill(process, signal.SIGCONT)
        return None

    def kill(self):
        os.kill(self.process, signal.SIGKILL)

    def is_gone(self):
        try:
            state = Path(f"/proc/{self.process}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        return state == "Z"
