"""The example with captions: it learns, resumes exactly, and shares clips of any length among processes."""
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytestmark = pytest.mark.full
EXAMPLE = Path(__file__).parents[2] / "examples/train_captions.py"
CLIPS = 3 * 16


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Starts the example with the clips that the first start made."""
    folder = tmp_path_factory.mktemp("captions")

    def run(*arguments, **environment):
        command = [sys.executable, EXAMPLE, "--clips", "3", "--batch-frames", "128", "--size", "32", *map(str, arguments)]
        # One thread, so that sums are in the same order in every run.
        environment = {**os.environ, "TMPDIR": str(folder), "OMP_NUM_THREADS": "1", **environment}
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)

    return run


def output(process):
    text, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    return text


def steps(log, rank=0):
    return [json.loads(line) for line in Path(f"{log}.{rank}").read_text().splitlines()]


def test_it_learns_and_resumes_with_the_same_losses(run, tmp_path):
    output(run("--epochs", 8, "--log", tmp_path / "whole"))
    whole = steps(tmp_path / "whole")
    an_epoch = len(whole) // 8
    first, last = (sum(s["loss"] for s in part) for part in (whole[:an_epoch], whole[-an_epoch:]))
    assert last < 0.8 * first, (first, last)
    assert {s["shape"][1] for s in whole} == {8, 16, 32}
    for epoch in range(8):
        assert sorted(i for s in whole if s["epoch"] == epoch for i in s["ids"]) == list(range(CLIPS))

    stopping = ["--epochs", 2, "--checkpoint", tmp_path / "checkpoint", "--save-every", 2]
    output(run(*stopping, "--log", tmp_path / "first", "--stop-after", an_epoch - 1))
    output(run(*stopping, "--log", tmp_path / "second"))
    before, after = steps(tmp_path / "first"), steps(tmp_path / "second")
    saved = (an_epoch - 1) // 2 * 2
    assert before[:saved] + after == whole[: 2 * an_epoch], "the same clips and, to the last bit, the same losses"


def test_two_processes_have_the_same_lengths_and_each_clip_once(run, tmp_path):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = str(s.getsockname()[1])
    world = dict(WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
    arguments = ["--epochs", 1, "--log", tmp_path / "log"]
    ranks = [run(*arguments, RANK=str(rank), LOCAL_RANK=str(rank), **world) for rank in range(2)]
    for process in ranks:
        output(process)
    logs = [steps(tmp_path / "log", rank) for rank in range(2)]
    assert [s["shape"][1:] for s in logs[0]] == [s["shape"][1:] for s in logs[1]]
    assert sorted(i for log in logs for step in log for i in step["ids"]) == list(range(CLIPS))
