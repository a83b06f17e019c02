"""Tracks in batches: threads, runs that resume, copies and tensors."""
import json
import pickle

import numpy as np
import pytest
from conftest import make_videos

import vidrec

RATE, SECONDS, CLIPS = 12, 2, 5


def state_of(clip):
    """Times in nanoseconds, a little irregular, and two numbers each."""
    n = 40 + clip
    times = (np.arange(n) * 47_000_000 + np.arange(n) ** 2 % 7 * 1_300_000).astype(np.int64)
    return times, np.random.default_rng(clip).normal(size=(n, 2)).astype(np.float32)


@pytest.fixture(scope="module")
def robot(tmp_path_factory):
    """Clips of 24 frames with what a robot did, at times of its own."""
    root = tmp_path_factory.mktemp("robot")
    rows, sources = [], {}
    for clip in range(CLIPS):
        source = f"gradients=size=64x48:rate={RATE}:duration={SECONDS}:seed={clip}:c0=orange:c1=navy"
        sources[root / f"{clip}.mp4"] = [source]
        times, values = state_of(clip)
        np.savez(root / f"state{clip}.npz", t=times, state=values)
        words = [[0, 0.5, f"reach {clip}"], [0.5, 1.2, f"grasp {clip}"], [1.2, 1.95, "lift"]]
        row = {"path": f"{clip}.mp4", "label": clip, "state": f"state{clip}.npz", "words": words}
        rows.append(json.dumps(row))
    make_videos(sources)
    (root / "list.jsonl").write_text("\n".join(rows))
    tracks = ["state=state,times=t,values=state,unit=ns", "caption=words,spans"]
    vidrec.pack(root / "list.jsonl", root / "set", frames=RATE * SECONDS, track=tracks)
    return root / "set"


def loader(path, tracks, **options):
    return vidrec.Loader(path, 2, crop=16, tracks=tracks, **{"output": "numpy", "last": "pad", **options})


def test_threads_state_and_copies(robot):
    tracks = {"state": vidrec.track(window=(-0.2, 0.2), rate=20), "caption": vidrec.track()}
    options = {"frames": vidrec.Random(3), "shuffle": True, "seed": 3}
    one, many = loader(robot, tracks, threads=1, **options), loader(robot, tracks, threads=4, **options)
    whole = list(one)
    for a, b in zip(whole, many):
        np.testing.assert_array_equal(a.tracks["state"], b.tracks["state"])
        assert a.tracks["caption"] == b.tracks["caption"]
    batches = iter(many)
    next(batches)
    resumed = loader(robot, tracks, **options)
    resumed.load_state_dict(many.state_dict())
    for batch in resumed:
        np.testing.assert_array_equal(batch.tracks["state"], next(batches).tracks["state"])
    copy = pickle.loads(pickle.dumps(whole[0]))
    np.testing.assert_array_equal(copy.tracks["state"], whole[0].tracks["state"])
    np.testing.assert_array_equal(copy.track_masks["state"], whole[0].track_masks["state"])
    assert copy.track_times == whole[0].track_times != {}


def test_torch_gets_tensors(robot):
    torch = pytest.importorskip("torch")
    from vidrec.torch import MapDataset

    tracks = {"state": vidrec.track(), "caption": vidrec.track()}
    batch = next(iter(vidrec.Loader(robot, 2, crop=16, tracks=tracks, output="torch")))
    assert batch.tracks["state"].dtype == torch.float32 and batch.track_masks["state"].dtype == torch.bool
    assert batch.to("cpu").tracks["caption"] == batch.tracks["caption"]
    sample = MapDataset(robot, crop=16, tracks=tracks)[1]
    more = sample["tracks"]
    assert sample["label"] == 1 and torch.equal(more["state"], batch.tracks["state"][1]) and bool(more["state_mask"][0])
    assert more["caption_times"] == batch.track_times["caption"][1] and len(more["caption_times"]) == len(more["caption"])
