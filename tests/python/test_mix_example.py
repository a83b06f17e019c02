"""The example of a mix: two processes, a stop, and three processes give the stream of one."""
import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytestmark = pytest.mark.full
EXAMPLE = Path(__file__).parents[2] / "examples/mix_ranks.py"


def test_ranks_that_stop_and_others_that_go_on_give_one_stream(tmp_path):
    def run(log, *arguments):
        command = [sys.executable, EXAMPLE, "--data", tmp_path / "data", "--log", tmp_path / log, *map(str, arguments)]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=300).stdout

    def samples(log):
        return [json.loads(line) for line in (tmp_path / log).read_text().splitlines()]

    told = run("whole", "--ranks", 1, "--batch-size", 10)
    whole = samples("whole")
    assert len(whole) == 120 and "epoch 0 batch 0: " in told
    for begin in (0, 20, 40, 60, 80, 100):
        names = [name for name, *_ in whole[begin : begin + 20]]
        shares = {"sports": 12, "hands": 6, "falls": 2} if begin < 60 else {"sports": 8, "hands": 6, "falls": 6}
        assert {name: names.count(name) for name in shares} == shares
    # Classes are joined by name: "run" is a class of two sets.
    labels = {(name, label) for name, _, label, _ in whole}
    assert len({label for _, label in labels}) == 5 and len(labels) == 6
    state = ("--state", tmp_path / "state.json")
    run("parts", *state, "--ranks", 2, "--stop-after", 7)
    run("parts", *state, "--ranks", 2, "--batch-size", 3, "--stop-after", 2)
    told = run("parts", *state, "--ranks", 3)
    assert samples("parts") == whole
    assert "sports: 60 samples, 5.00 epochs" in told
