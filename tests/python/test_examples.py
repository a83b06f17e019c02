"""The training example: it learns, goes on exactly after it was stopped, and shares the clips among processes."""
import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytestmark = pytest.mark.full
ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/train_pytorch.py"
VIDEOS = Path(os.environ.get("VIDREC_VIDEOS", ROOT.parent / "shared/videos"))
# Where there is no real footage: scenes that look unlike each other, of which each second is a clip.
SCENES = ["mandelbrot", "smptebars", "testsrc", "testsrc2", "life=ratio=0.3:random_seed=1:mold=10"]


@pytest.fixture(scope="module")
def footage(tmp_path_factory):
    if (VIDEOS / "bench/clips").is_dir():
        return VIDEOS
    folder = tmp_path_factory.mktemp("footage")
    (folder / "bench/clips").mkdir(parents=True)
    for source in SCENES:
        name, _, options = source.partition("=")
        source = f"{name}={options}{':' if options else ''}size=128x96:rate=16"
        clips = ["-g", "16", "-f", "segment", "-segment_time", "1", folder / f"bench/clips/{name}_%04d.mp4"]
        command = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", source, "-t", "12", "-pix_fmt", "yuv420p", *clips]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    return folder


@pytest.fixture(scope="module")
def run(tmp_path_factory, footage):
    """Starts the example with the clips that the first start made, or with footage."""
    folder = tmp_path_factory.mktemp("example")

    def run(*arguments, real=False, **environment):
        generated = [] if real else ["--clips", "24"]
        command = [sys.executable, EXAMPLE, *generated, "--batch-size", "8", *map(str, arguments)]
        # One thread, so that sums are in the same order in every run.
        environment = {**os.environ, "VIDREC_VIDEOS": str(footage), "TMPDIR": str(folder), "OMP_NUM_THREADS": "1", **environment}
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)

    return run


def output(process):
    text, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    return text


def shares(told):
    return [int(share) for share in re.findall(r"(\d+)% of held-out", told)]


def steps(log, rank=0):
    return [json.loads(line) for line in Path(f"{log}.{rank}").read_text().splitlines()]


def test_it_learns_and_goes_on_with_the_same_losses(run, tmp_path):
    told = output(run("--epochs", 5, "--log", tmp_path / "whole"))
    assert len(shares(told)) == 5 and max(shares(told)) >= 60, f"four classes, chance is 25 %: {shares(told)}"
    whole = steps(tmp_path / "whole")
    assert sum(s["loss"] for s in whole[-10:]) < 0.7 * sum(s["loss"] for s in whole[:10])

    stopping = ["--epochs", 2, "--checkpoint", tmp_path / "checkpoint", "--save-every", 3]
    output(run(*stopping, "--log", tmp_path / "first", "--stop-after", 7))
    output(run(*stopping, "--log", tmp_path / "second"))
    first, second = steps(tmp_path / "first"), steps(tmp_path / "second")
    assert (len(first), len(second)) == (7, 20 - 6)
    assert first[:6] + second == whole[:20], "the same clips and, to the last bit, the same losses"

    pytest.importorskip("warp")
    output(run("--epochs", 2, "--log", tmp_path / "device", "--device-frames"))
    assert steps(tmp_path / "device") == whole[:20], "with frames that a device makes, too"


def test_it_learns_from_real_footage(run):
    told = output(run("--epochs", 15, real=True))
    assert max(shares(told)) >= 40, f"the most common scene is 24 %: {shares(told)}"


def test_two_processes_see_each_clip_once(run, tmp_path):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = str(s.getsockname()[1])
    world = dict(WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
    arguments = ["--epochs", 1, "--log", tmp_path / "log"]
    ranks = [run(*arguments, RANK=str(rank), LOCAL_RANK=str(rank), **world) for rank in range(2)]
    for process in ranks:
        output(process)
    logs = [steps(tmp_path / "log", rank) for rank in range(2)]
    assert len(logs[0]) == len(logs[1])
    seen = [clip for log in logs for step in log for clip in step["clips"]]
    assert sorted(seen) == list(range(77)), "80 % of 96 clips"
