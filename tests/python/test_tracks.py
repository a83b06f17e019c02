"""Tracks in batches: threads, runs that resume, copies and tensors."""
import json
import pickle

import numpy as np
import pytest
from conftest import make_videos
from programs import program

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
    _, label, more = MapDataset(robot, crop=16, tracks=tracks)[1]
    assert label == 1 and torch.equal(more["state"], batch.tracks["state"][1]) and bool(more["state_mask"][0])
    assert more["caption_times"] == batch.track_times["caption"][1] and len(more["caption_times"]) == len(more["caption"])


def test_halves_round_once_and_come_as_they_are(videos, tmp_path):
    """Every number between two of float16, and a little beside it, becomes the nearest, as in NumPy; latents stay float16."""
    halves = np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float64)
    between = (halves[:-1] + halves[1:]) / 2
    exact = np.concatenate([between, np.nextafter(between, -np.inf), -np.nextafter(between, np.inf), halves])[: 12 * 10_000]
    np.save(tmp_path / "exact.npy", exact.reshape(12, -1))
    latents = np.random.default_rng(0).normal(size=(12, 2, 3, 4)).astype(np.float16)
    np.save(tmp_path / "latents.npy", latents)
    row = {"path": str(videos / "left/0.mp4"), "exact": "exact.npy", "latents": "latents.npy", "label": 0, "small": latents[:, 0, 0].tolist()}
    (tmp_path / "list.jsonl").write_text(json.dumps(row))
    tracks = ["exact=exact,every-frame,type=f16", "latents=latents,every-frame", "small=small,every-frame,type=f16"]
    vidrec.pack(tmp_path / "list.jsonl", tmp_path / "set", frames="all", track=tracks)
    ds = vidrec.open(tmp_path / "set")
    found = ds[0].track("exact").values
    assert found.dtype == np.float16 and np.array_equal(found, exact.reshape(12, -1).astype(np.float16))
    assert np.array_equal(ds[0].track("latents").values, latents) and np.array_equal(ds[0].track("small").values, latents[:, 0, 0])
    stats = ds.track_stats(["latents"])["latents"]
    np.testing.assert_allclose(stats.mean, latents.astype(np.float64).mean(0).ravel(), rtol=1e-12)
    asked = {"stored": {}, "linear": {"how": "linear"}, "normalized": {"normalize": stats.normalize("mean_std")}}
    for name, options in asked.items():
        (batch,) = vidrec.Loader(ds, 1, frames=4, crop=16, tracks={"latents": vidrec.track(**options)}, output="numpy")
        indices = list(batch.params[0].frames)
        expected = latents[indices].astype(np.float64 if name == "normalized" else np.float16)
        if name == "normalized":
            expected = (expected - np.reshape(stats.mean, (2, 3, 4))) / np.reshape(stats.std, (2, 3, 4))
        assert batch.tracks["latents"].dtype == (np.float16 if name == "stored" else np.float32), name
        np.testing.assert_allclose(batch.tracks["latents"][0], expected, rtol=1e-6)
    (batch,) = vidrec.Loader(ds, 1, frames=4, crop=16, tracks={"small": vidrec.track(dims=8)}, output="numpy")
    assert batch.tracks["small"].dtype == np.float32 and np.array_equal(batch.tracks["small"][0, :, :4], latents[indices, 0, 0])
    assert "track latents: f16 [2, 3, 4]" in program("inspect", tmp_path / "set", "--clip", 0).stdout
    row["exact"] = [1.0] * 11 + [65520.0]
    (tmp_path / "list.jsonl").write_text(json.dumps(row))
    with pytest.raises(vidrec.Error, match="65520"):
        vidrec.pack(tmp_path / "list.jsonl", tmp_path / "other", frames="all", track=tracks[:1])


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_halves_that_are_no_numbers_need_nan(number, tmp_path):
    torch = pytest.importorskip("torch")
    values = torch.tensor([1, number], dtype=torch.float16)
    picture = np.zeros((2, 8, 8, 3), np.uint8)
    with pytest.raises(vidrec.Error, match="a number is infinite or not a number"), vidrec.Writer(tmp_path / "no") as writer:
        writer.add(picture, tracks={"x": values})
    with vidrec.Writer(tmp_path / "set", nan=["x"]) as writer:
        writer.add(picture, tracks={"x": values})
    ds = vidrec.open(tmp_path / "set")
    assert vidrec.verify(ds, deep=True).ok and ds.tracks["x"].type == "f16"
    assert np.array_equal(ds[0].track("x").values, values.numpy(), equal_nan=True)
