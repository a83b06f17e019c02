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


def test_all_values_of_a_window_come_with_their_times(robot):
    normalize = vidrec.TrackNormalize([1.0, 2.0], [2.0, 4.0])
    found = set()
    for options in ({}, {"normalize": normalize}, {"dims": 3}):
        tracks = {"state": vidrec.track((-0.3, 0.2), **options)}
        for batch in loader(robot, tracks, frames=vidrec.Windows([-3, 0], hop=4, pad="edge")):
            values, mask, counts = batch.tracks["state"], batch.track_masks["state"], batch.track_counts["state"]
            assert mask.shape == values.shape[:2] and counts.max() == mask.shape[1]
            found.update(counts.tolist())
            for b, clip in enumerate(batch.clips):
                times, stored = state_of(clip)
                now = round(batch.times[b, 1] * 1e9)
                inside = (times >= now - 300_000_000) & (times <= now + 200_000_000)
                assert counts[b] == inside.sum() and (mask[b] == (np.arange(mask.shape[1]) < counts[b])).all()
                expected = np.zeros((mask.shape[1], values.shape[2]), np.float32)
                expected[: counts[b], :2] = (stored[inside] - [1, 2]) / [2, 4] if "normalize" in options else stored[inside]
                np.testing.assert_allclose(values[b], expected, rtol=1e-6)
                seconds = (times[inside] - now) / 1e9
                np.testing.assert_allclose(np.reshape(batch.track_times["state"][b], (-1, 2)), np.stack([seconds] * 2, 1), atol=1e-9)
    assert len(found) > 2
    empty = next(iter(loader(robot, {"state": vidrec.track((50.0, 60.0))}, frames=1)))
    assert empty.tracks["state"].shape == (2, 0, 2) and empty.track_times["state"] == [[], []] and not empty.track_counts["state"].any()
    for refused, message in (
        (vidrec.track(steps=3), "steps of this track need a rate"),
        (vidrec.track((0, 1), anchor="each"), "all values of a window come once a sample"),
        (vidrec.track((0, 1), how="linear"), "no values between the stored ones"),
    ):
        with pytest.raises(vidrec.UsageError, match=message):
            loader(robot, {"state": refused}, frames=1)


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


@pytest.fixture(scope="module")
def boxed(tmp_path_factory):
    """Clips of six frames with no, one or several boxes and classes in each, one without them, and the boxes of each clip."""
    path, rng, given = tmp_path_factory.mktemp("boxed") / "set", np.random.default_rng(0), []
    with vidrec.Writer(path, lists=["boxes", "ids", "timed"]) as writer:
        for clip in range(CLIPS):
            boxes = [rng.normal(size=(n, 4)).astype(np.float32) for n in rng.integers(0, 2 + clip, 6)]
            ids = [list(range(len(each))) for each in boxes]
            ids[0] = np.arange(len(boxes[0]))
            tracks = {"boxes": boxes, "ids": ids, "timed": (boxes, np.arange(6) / 12)} if clip != 2 else {}
            writer.add(np.full((6, 32, 32, 3), 40 * clip, np.uint8), times=np.arange(6) / 12, tracks=tracks, source=str(clip))
            given.append(boxes)
    return vidrec.open(path), given


def test_lists_are_padded_to_the_longest_of_their_batch(boxed):
    ds, given = boxed
    assert (ds.tracks["boxes"].list, ds.tracks["boxes"].shape) == (True, (4,)) and vidrec.verify(ds, deep=True).ok
    assert all(np.array_equal(a, b) for a, b in zip(ds[4].track("boxes").values, given[4]))
    stats = ds.track_stats(["boxes"])["boxes"]
    every = np.concatenate([np.concatenate(boxes) for clip, boxes in enumerate(given) if clip != 2]).astype(np.float64)
    assert stats.count == (len(every),) * 4
    np.testing.assert_allclose((stats.mean, stats.std), (every.mean(0), every.std(0)), rtol=1e-12)
    plain, steps = {"missing": "mask"}, {"steps": range(-1, 3), "rate": 12, "how": "previous", "missing": "mask"}
    tracks = {"boxes": vidrec.track(**plain), "ids": vidrec.track(**plain), "timed": vidrec.track(**steps, normalize=stats.normalize(), dims=6)}
    options = {"frames": vidrec.Random(3), "shuffle": True, "seed": 5}
    batches = list(loader(ds, tracks, threads=1, **options))
    for a, b in zip(batches, loader(ds, tracks, threads=4, **options)):
        assert all(np.array_equal(a.tracks[name], b.tracks[name]) for name in tracks)
    longest = set()
    for batch in batches:
        for name in tracks:
            counts, mask, values = batch.track_counts[name], batch.track_masks[name], batch.tracks[name]
            n = max(counts.max(), 0)
            longest.add(n)
            assert mask.shape == (*counts.shape, n) == values.shape[: mask.ndim] and not values[~mask].any()
            assert np.array_equal(mask, np.arange(n) < counts[..., None])
            for b, clip in enumerate(batch.clips):
                first = batch.params[b].frames[0]
                places = np.arange(first - 1, first + 3) if name == "timed" else batch.params[b].frames
                for t, place in enumerate(places):
                    expected = given[clip][place] if clip != 2 and 0 <= place < 6 else None
                    assert counts[b, t] == (-1 if expected is None else len(expected))
                    if expected is None:
                        continue
                    found = values[b, t, : counts[b, t]]
                    if name == "timed":
                        assert not found[:, 4:].any()
                        np.testing.assert_allclose(found[:, :4], (expected - np.array(stats.mean)) / np.array(stats.std), rtol=1e-5, atol=1e-6)
                    else:
                        assert np.array_equal(found, expected if name == "boxes" else np.arange(len(expected)))
    assert len(longest) > 2
    copy = pickle.loads(pickle.dumps(batches[0]))
    assert np.array_equal(copy.track_counts["boxes"], batches[0].track_counts["boxes"])
    with pytest.raises(vidrec.UsageError, match="no values between"):
        loader(ds, {"boxes": vidrec.track(how="linear", missing="mask")})
    long = {"timed": vidrec.track(times=[1 / 12] * 200, dims=1 << 20)}
    with pytest.raises(vidrec.UsageError, match="too many values in a sample: expected at most"):
        list(loader(ds[4:], long, frames=6))


def test_lists_go_through_edits_exports_and_pages(boxed, tmp_path):
    ds, given = boxed
    vidrec.convert.to_webdataset(ds, tmp_path / "tar")
    vidrec.convert.from_webdataset(sorted((tmp_path / "tar").glob("*.tar")), tmp_path / "back")
    vidrec.split(ds, tmp_path / "parts", ratios=[0.5, 0.5], seed=3)
    vidrec.merge([tmp_path / "parts/train", tmp_path / "parts/val"], tmp_path / "merged", shards=2)
    vidrec.merge([tmp_path / "parts/val"], tmp_path / "parts/train", append=True)
    for path in ["back", "merged", "parts/train"]:
        made = vidrec.open(tmp_path / path)
        assert vidrec.verify(made, deep=True).ok and {int(clip.source) for clip in made} == set(range(CLIPS))
        for clip in made:
            track, source = clip.track("timed"), int(clip.source)
            assert source == 2 and track is None or [v.tolist() for v in track.values] == [v.tolist() for v in given[source]]
    assert "track boxes: lists of f32 [4], frames, 6 values" in program("inspect", tmp_path / "merged", "--clip", 0).stdout
    program("browse", tmp_path / "merged", "--export", tmp_path / "page.html")


def test_lists_are_packed_from_json_and_other_files_are_refused(videos, tmp_path):
    boxes = [[[t, 1.5]] * (t % 3) for t in range(12)]
    (tmp_path / "boxes.json").write_text(json.dumps(boxes))
    np.save(tmp_path / "boxes.npy", np.zeros((12, 3, 2)))
    spans = [[0, 0.5, [1, 2]], [0.5, 0.9, []]]
    video = str(videos / "left/0.mp4")

    def pack(rows, track, **options):
        (tmp_path / "list.jsonl").write_text("\n".join(map(json.dumps, rows)))
        return vidrec.pack(tmp_path / "list.jsonl", tmp_path / "set", if_exists="replace", track=[track], **options)

    rows = [{"path": video, "label": 0, "boxes": of_clip} for of_clip in ([[]] * 12, "boxes.json", boxes)]
    pack(rows, "boxes=boxes,frames,type=f16,list", frames=4)
    for clip, row in zip(vidrec.open(tmp_path / "set"), rows):
        track = clip.track("boxes")
        expected = [[] if row is rows[0] else boxes[t] for t in clip.source_indices]
        assert [value.tolist() for value in track.values] == expected and track.values[0].dtype == np.float16
    pack([{"path": video, "label": 0, "ids": spans}], "ids=ids,spans,type=u8,list", frames=4)
    assert [value.tolist() for value in vidrec.open(tmp_path / "set")[0].track("ids").values] == [[1, 2], []]
    for value, words in [
        ("boxes.npy", "no lists of varying length"),
        ([1] * 12, "value 0 is not a list of items"),
        ([[]] * 12, "all lists are empty"),
        ([[["a"]]] * 12, "expected a number"),
        ([[[1, 2]], [[1, 2, 3]]] * 6, "items of lists: value 1 differs"),
    ]:
        with pytest.raises(vidrec.Error, match=words):
            pack([{"path": video, "label": 0, "boxes": value}], "boxes=boxes,frames,list", frames=4)


def test_a_writer_takes_lists_only_by_name(tmp_path):
    frames = np.zeros((2, 8, 8, 3), np.uint8)
    ragged, even = [np.zeros((1, 4)), np.zeros((2, 4))], np.zeros((2, 3, 4))
    with vidrec.Writer(tmp_path / "set", lists=["x"]) as writer:
        for name, values, words in [
            ("y", ragged, "name it in lists of the Writer"),
            ("x", [[], []], "all lists are empty"),
            ("x", [np.zeros((1, 4)), np.zeros((1, 5))], "as the first list"),
            ("x", [np.zeros((1, 4)), np.zeros((1, 4), np.float32)], "as the first list"),
            ("x", ragged[:1], "one value for each frame"),
        ]:
            with pytest.raises(vidrec.Error, match=words):
                writer.add(frames, tracks={name: values})
        writer.add(frames, tracks={"x": even})
        writer.add(frames, tracks={"x": [[], np.zeros((1, 4))]})
    ds = vidrec.open(tmp_path / "set")
    assert [[value.shape for value in clip.track("x").values] for clip in ds] == [[(3, 4)] * 2, [(0, 4), (1, 4)]]


@pytest.mark.parametrize("geometry", ["boxes", "points", "mask"])
def test_lists_follow_crops_as_arrays_do(geometry, tmp_path):
    rng = np.random.default_rng(1)
    values = {"boxes": rng.uniform(-5, 40, (6, 3, 4)), "points": rng.uniform(-5, 40, (6, 3, 5, 2)), "mask": rng.integers(0, 9, (6, 3, 8, 8))}[geometry]
    with vidrec.Writer(tmp_path / "set", lists=["lists"]) as writer:
        for _ in range(3):
            tracks = {"lists": [value[: t % 4] for t, value in enumerate(values)]}
            if geometry == "mask":
                tracks.update({f"array{i}": values[:, i] for i in range(3)})
            else:
                tracks["array"] = values
            writer.add(np.zeros((6, 32, 36, 3), np.uint8), tracks=tracks)
    track = vidrec.track(geometry=geometry, **({"swap": [(0, 1), (2, 4)]} if geometry == "points" else {}))
    ds = vidrec.open(tmp_path / "set")
    options = {"frames": 6, "crop": vidrec.RandomResizedCrop(16), "flip": 0.5, "output": "numpy", "seed": 2}
    for batch in vidrec.Loader(ds, 3, tracks=dict.fromkeys(ds.tracks, track), **options):
        arrays = [batch.tracks[name] for name in sorted(ds.tracks) if name != "lists"]
        masks = [batch.track_masks[name] for name in sorted(ds.tracks) if name != "lists"]
        array, mask = (arrays[0], masks[0]) if geometry != "mask" else (np.stack(arrays, 2), np.stack(masks, 2))
        lists, flags, counts = batch.tracks["lists"], batch.track_masks["lists"], batch.track_counts["lists"]
        assert lists.shape == array.shape and flags.shape == mask.shape and counts.tolist() == [[0, 1, 2, 3, 0, 1]] * 3
        for t in range(6):
            assert np.array_equal(lists[:, t, : t % 4], array[:, t, : t % 4]) and not lists[:, t, t % 4 :].any()
            assert np.array_equal(flags[:, t, : t % 4], mask[:, t, : t % 4]) and not flags[:, t, t % 4 :].any()
    assert geometry == "mask" or not flags.all() and flags.any()
