"""The examples: they learn, go on exactly after they were stopped, and share the clips among processes."""
import importlib.util
import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import vidrec

pytest.importorskip("torch")
pytestmark = [pytest.mark.full, pytest.mark.filterwarnings("ignore::vidrec.PackWarning")]
EXAMPLES = Path(__file__).parents[2] / "examples"
# What makes them fast.
OPTIONS = {
    "train_pytorch": ["--clips", "24", "--batch-size", "8"],
    "train_captions": ["--clips", "3", "--batch-frames", "128", "--size", "32"],
}


@pytest.fixture(scope="module")
def start(tmp_path_factory):
    """Starts an example with the clips that the first start made."""
    folder = tmp_path_factory.mktemp("examples")

    def start(name, *arguments, **environment):
        command = [sys.executable, EXAMPLES / f"{name}.py", *OPTIONS.get(name, ()), *map(str, arguments)]
        # One thread, so that sums are in the same order in every run.
        environment = {**os.environ, "TMPDIR": str(folder), "OMP_NUM_THREADS": "1", **environment}
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)

    return start


@pytest.fixture
def run(start):
    """What an example prints."""
    return lambda *arguments: output(start(*arguments))


def output(process):
    text, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    return text


def imported(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    return example


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


def steps(log, rank=0):
    return lines(Path(f"{log}.{rank}").read_text())


@pytest.mark.parametrize(("name", "epochs", "learns"), [("train_pytorch", 5, 0.7), ("train_captions", 8, 0.8)])
def test_it_learns_and_goes_on_with_the_same_losses(name, epochs, learns, run, tmp_path):
    told = run(name, "--epochs", epochs, "--log", tmp_path / "whole")
    whole = steps(tmp_path / "whole")
    epoch = len(whole) // epochs
    first, last = (sum(step["loss"] for step in part) for part in (whole[:epoch], whole[-epoch:]))
    assert last < learns * first, (first, last)
    if name == "train_pytorch":
        shares = [int(share) for share in re.findall(r"(\d+)% of held-out", told)]
        assert len(shares) == 5 and max(shares) >= 60, f"four classes, chance is 25 %: {shares}"
    else:
        assert {step["shape"][1] for step in whole} == {8, 16, 32}
    stopping = ["--epochs", 2, "--checkpoint", tmp_path / "checkpoint", "--save-every", 2]
    run(name, *stopping, "--log", tmp_path / "first", "--stop-after", epoch - 1)
    run(name, *stopping, "--log", tmp_path / "second")
    saved = (epoch - 1) // 2 * 2
    found = steps(tmp_path / "first")[:saved] + steps(tmp_path / "second")
    assert found == whole[: 2 * epoch], "the same clips and, to the last bit, the same losses"


def test_a_device_makes_the_same_frames(run, tmp_path):
    pytest.importorskip("warp")
    for log, more in (("plain", []), ("device", ["--device-frames"])):
        run("train_pytorch", "--epochs", 1, "--log", tmp_path / log, *more)
    assert steps(tmp_path / "plain") == steps(tmp_path / "device")


@pytest.mark.parametrize(("name", "key", "clips"), [("train_pytorch", "clips", 77), ("train_captions", "ids", 48)])
def test_two_processes_see_each_clip_once(name, key, clips, start, tmp_path):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = str(s.getsockname()[1])
    world = dict(WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
    arguments = [name, "--epochs", 1, "--log", tmp_path / "log"]
    for process in [start(*arguments, RANK=str(rank), LOCAL_RANK=str(rank), **world) for rank in range(2)]:
        output(process)
    logs = [steps(tmp_path / "log", rank) for rank in range(2)]
    assert len(logs[0]) == len(logs[1])
    assert [step.get("shape", [0])[1:] for step in logs[0]] == [step.get("shape", [0])[1:] for step in logs[1]]
    assert sorted(clip for log in logs for step in log for clip in step[key]) == list(range(clips))


def test_ranks_of_a_mix_that_stop_and_others_that_go_on_give_one_stream(run, tmp_path):
    def mix(log, *arguments):
        return run("mix_ranks", "--data", tmp_path / "data", "--log", tmp_path / log, *arguments)

    told = mix("whole", "--ranks", 1, "--batch-size", 10)
    whole = lines((tmp_path / "whole").read_text())
    assert len(whole) == 120 and "epoch 0 batch 0: " in told
    for begin in range(0, 120, 20):
        names = [name for name, *_ in whole[begin : begin + 20]]
        shares = {"sports": 12, "hands": 6, "falls": 2} if begin < 60 else {"sports": 8, "hands": 6, "falls": 6}
        assert {name: names.count(name) for name in shares} == shares
    state = ("--state", tmp_path / "state.json")
    mix("parts", *state, "--ranks", 2, "--stop-after", 7)
    mix("parts", *state, "--ranks", 2, "--batch-size", 3, "--stop-after", 2)
    told = mix("parts", *state, "--ranks", 3)
    assert lines((tmp_path / "parts").read_text()) == whole and "sports: 60 samples, 5.00 epochs" in told


def test_a_world_model_learns_from_both_cameras_and_the_right_actions_and_sound(run, tmp_path):
    losses = [step["loss"] for step in lines(run("world_model", "--data", tmp_path / "data", "--epochs", "6"))]
    assert len(losses) == 6 and losses[-1] < 0.7 * losses[0]
    example, dataset, seen = imported("world_model"), vidrec.open(tmp_path / "data/train"), 0
    for batch in example.loader(tmp_path / "data/train"):
        assert batch.frames.shape == (len(batch), 2, 6, 1, 16, 16) and bool(batch.camera_mask.all())
        for i, clip in enumerate(batch.clips.tolist()):
            first = batch.params[i].frames[0]
            actions = np.load(tmp_path / f"data/{dataset[clip].attributes['episode']}.npy")
            np.testing.assert_array_equal(batch.tracks["action"][i].numpy(), actions[2 * first : 2 * first + 11])
            # 8,000 samples a second, from the time of the first frame on.
            heard = example.sound(actions)[800 * first : 800 * first + 4000]
            np.testing.assert_array_equal(batch.tracks["audio"][i].numpy(), heard)
            # The other camera is upside down.
            front, wrist = batch.frames[i, 0].numpy(), batch.frames[i, 1].numpy()
            np.testing.assert_allclose(front, wrist[:, :, ::-1], atol=0.1)
            seen += bool(batch.mask[i])
    assert seen == 6 * 10


def test_samples_of_a_policy_are_those_of_the_episodes_and_a_run_goes_on_with_other_ranks(run, tmp_path):
    """Two robots of other cameras, with history and chunks of actions that each normalizes by its own statistics."""
    example = imported("policy")
    for robot in example.ROBOTS:
        example.make(tmp_path, robot)
    made = {robot: [example.actions(robot, episode) for episode in range(count)] for robot, (_, count, _) in example.ROBOTS.items()}
    bounds = {robot: np.quantile(np.concatenate(made[robot]), [0.01, 0.99], 0, method="inverted_cdf") for robot in made}
    shown = {"arm": 0, "cart": 0}
    for batch in example.loader(tmp_path):
        assert batch.frames.shape[1:] == (2, 2, 3, 32, 32)
        for i, robot in enumerate(batch.source_names):
            shown[robot] += 1
            actions = made[robot][int(batch.fields["episode"][i])]
            # The second frame is the current one; the first is five frames before it, or the first of all.
            before, now = batch.params[i].frames
            is_shown = [now >= 5, True]
            assert batch.frame_mask[i].tolist() == [is_shown, [robot == "arm" and there for there in is_shown]] and before == max(now - 5, 0)
            assert batch.camera_mask[i].tolist() == [True, robot == "arm"]
            wanted = np.arange(now - 1, now + 50)
            is_there = (wanted >= 0) & (wanted < len(actions))
            assert batch.track_masks["action"][i].tolist() == is_there.tolist()
            low, high = bounds[robot].astype(np.float64)
            scaled = 2 * (actions[wanted[is_there]] - low) / (high - low) - 1
            np.testing.assert_allclose(batch.tracks["action"][i].numpy()[is_there], scaled, atol=1e-5)
            assert robot == "cart" or not batch.params[i].flip
    assert shown == {"arm": 300, "cart": 100}
    policy, state = ("policy", "--data", tmp_path), ("--state", tmp_path / "run.pt")
    whole = lines(run(*policy, "--steps", 6))
    assert lines(run(*policy, "--steps", 3, *state)) == whole[:3]
    rest = lines(run(*policy, "--steps", 3, "--ranks", 2, *state))
    assert [step["arm"] for step in rest] == [step["arm"] for step in whole[3:]]
    np.testing.assert_allclose([step["loss"] for step in rest], [step["loss"] for step in whole[3:]], rtol=0.05)
