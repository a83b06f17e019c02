"""The example of a policy: two robots of other cameras in a mix, samples for each frame with history and chunks of actions that
each robot normalizes by its own statistics, and a run that resumes on other ranks."""
import importlib.util
import itertools
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import make_videos

import vidrec

pytest.importorskip("torch")
EXAMPLE = Path(__file__).parents[2] / "examples/policy.py"
pytestmark = pytest.mark.filterwarnings("ignore::vidrec.PackWarning")


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("policy", EXAMPLE)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    return example


@pytest.fixture(scope="module")
def data(example, tmp_path_factory):
    folder = tmp_path_factory.mktemp("policy")
    for robot in example.ROBOTS:
        example.make(folder, robot)
    return folder


@pytest.mark.full
def test_samples_are_those_of_the_episodes(example, data):
    all_actions = {
        robot: [example.actions(robot, episode) for episode in range(count)] for robot, (_, count, _) in example.ROBOTS.items()
    }
    bounds = {robot: np.quantile(np.concatenate(all_actions[robot]), [0.01, 0.99], 0, method="inverted_cdf") for robot in all_actions}
    shown, flips = {"arm": 0, "cart": 0}, set()
    for batch in example.loader(data):
        assert batch.frames.shape[1:] == (2, 2, 3, 32, 32)
        for i, robot in enumerate(batch.source_names):
            shown[robot] += 1
            actions = all_actions[robot][int(batch.fields["episode"][i])]
            assert batch.fields["task"][i] == f"drive the {robot}"
            # The second frame is the current one; the first is five frames before it, or the first of all.
            before, now = batch.params[i].frames
            assert batch.frame_mask[i].tolist() == [now >= 5, True] and before == max(now - 5, 0)
            assert batch.camera_mask[i].tolist() == [True, robot == "arm"]
            assert bool(batch.frames[i, 1].any()) == (robot == "arm")
            wanted = np.arange(now - 1, now + 50)
            is_there = (wanted >= 0) & (wanted < len(actions))
            assert batch.track_masks["action"][i].tolist() == is_there.tolist()
            low, high = bounds[robot].astype(np.float64)
            scaled = 2 * (actions[wanted[is_there]] - low) / (high - low) - 1
            np.testing.assert_allclose(batch.tracks["action"][i].numpy()[is_there], scaled, atol=1e-5)
            flips.add((robot, bool(batch.params[i].flip)))
    assert shown == {"arm": 300, "cart": 100}
    assert flips == {("arm", False), ("cart", False), ("cart", True)}


@pytest.mark.full
def test_other_ranks_go_on_with_the_same_samples(example, data):
    def samples(batches):
        return [(b.source_names[i], int(b.clips[i]), b.params[i].frames, b.frames[i].sum().item()) for b in batches for i in range(len(b))]

    whole = samples(example.loader(data, batch_size=40))
    ranks = [example.loader(data, batch_size=20, rank=(rank, 2)) for rank in range(2)]
    begun = [samples(itertools.islice(rank, 3)) for rank in ranks]
    state = ranks[0].state_dict()
    assert sorted(begun[0] + begun[1]) == sorted(whole[:120])
    rest = []
    for rank in range(4):
        resumed = example.loader(data, batch_size=10, rank=(rank, 4))
        resumed.load_state_dict(state)
        rest += samples(resumed)
    assert sorted(rest) == sorted(whole[120:])


@pytest.mark.full
def test_the_program_trains_stops_and_goes_on(data, tmp_path):
    def run(*arguments):
        command = [sys.executable, EXAMPLE, "--data", data, *map(str, arguments)]
        told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=300).stdout
        return [json.loads(line) for line in told.splitlines()]

    whole = run("--steps", 6)
    state = ("--state", tmp_path / "run.pt")
    assert run("--steps", 3, *state) == whole[:3]
    rest = run("--steps", 3, "--ranks", 2, *state)
    assert [step["arm"] for step in rest] == [step["arm"] for step in whole[3:]]
    np.testing.assert_allclose([step["loss"] for step in rest], [step["loss"] for step in whole[3:]], rtol=0.05)


@pytest.mark.full
def test_what_a_source_normalizes_has_the_form_of_the_others(example, data):
    def refused(match, **own):
        mix = vidrec.mix({"arm": (data / "arm", 1), "cart": vidrec.Source(data / "cart", 1, **own)})
        with pytest.raises(vidrec.UsageError, match=match):
            vidrec.Loader(mix, 2, frames=1, crop=16, tracks={"action": vidrec.track(steps=5, rate=10)})

    refused("shape or type", tracks={"action": vidrec.track(steps=6, rate=10)})
    refused('track "state", and the loader has not', tracks={"state": vidrec.track()})
    refused("numbers for a value", tracks={"action": vidrec.track(steps=5, rate=10, normalize=vidrec.TrackNormalize(shift=(0.0,), scale=(1.0,)))})


def test_robots_of_7_and_14_numbers_have_32_dimensions(tmp_path):
    draw = np.random.default_rng(5)
    actions, stats = {}, {}
    make_videos({tmp_path / "video.mkv": ["testsrc=size=32x32:rate=10:duration=2", "-c:v", "ffv1"]})
    for robot, (count, type_) in {"arm": (7, "f32"), "both arms": (14, "f64")}.items():
        actions[robot] = [draw.normal(3.0, 2.0, (20, count)).astype(np.float32) for _ in range(3)]
        rows = []
        for episode, moves in enumerate(actions[robot]):
            rows.append(json.dumps({"path": "video.mkv", "episode": episode, "action": moves.tolist()}))
        (tmp_path / f"{robot}.jsonl").write_text("\n".join(rows))
        vidrec.pack(tmp_path / f"{robot}.jsonl", tmp_path / robot, frames="all", size="original", track=[f"action=action,frames,type={type_}"])
        stats[robot] = vidrec.open(tmp_path / robot).track_stats(["action"])["action"].normalize("quantiles")

    def loader(dims, **options):
        tracks = {robot: {"action": vidrec.track(steps=5, rate=10, normalize=stats[robot], dims=dims)} for robot in stats}
        mix = {robot: vidrec.Source(tmp_path / robot, 0.5, tracks=tracks[robot]) for robot in stats}
        options = {"frames": vidrec.Windows(1, pad="zero"), "crop": 16, "fields": ["episode"], "seed": 2, **options}
        own = {"action": vidrec.track(steps=5, rate=10, dims=dims)}
        return vidrec.Loader(vidrec.mix(mix, samples_per_epoch=60, window=20), tracks=own, **options)

    shown = dict.fromkeys(stats, 0)
    for batch in loader(32, batch_size=4):
        assert batch.tracks["action"].shape == (4, 5, 32) and str(batch.tracks["action"].dtype) == "torch.float32"
        for i, robot in enumerate(batch.source_names):
            shown[robot] += 1
            count = {"arm": 7, "both arms": 14}[robot]
            assert int(batch.track_dims["action"][i]) == count
            values, there = batch.tracks["action"][i], batch.track_masks["action"][i]
            assert not values[:, count:].any() and not values[~there].any()
            (frame,) = batch.params[i].frames
            expected = actions[robot][int(batch.fields["episode"][i])][frame : frame + 5]
            assert there.tolist() == [True] * len(expected) + [False] * (5 - len(expected))
            np.testing.assert_allclose(stats[robot].undo(values, dims=32)[there].numpy(), expected, atol=1e-4)
    assert shown == {"arm": 30, "both arms": 30}
    with pytest.raises(vidrec.UsageError, match="values of sources differ in shape or type.*dims"):
        loader(None, batch_size=4)
    with pytest.raises(vidrec.UsageError, match="dims is 10, and there is no room"):
        loader(10, batch_size=4)
    with pytest.raises(vidrec.UsageError, match="expected values of 32 numbers"):
        stats["arm"].undo(np.zeros((2, 16)), dims=32)
