"""Statistics of tracks against NumPy, and the normalization of tracks by them."""
import json

import numpy as np
import pytest

import vidrec

CLIPS = 6


def values_of(clip):
    draw = np.random.default_rng(clip)
    action = (draw.normal(size=(30 + clip, 3)) * [1, 50, 0] + [0, -200, 7]).astype(np.float32)
    action[clip, 1] = np.nan
    return {
        "action": action,
        "state": draw.normal(size=(40, 2, 2)),
        "grip": draw.integers(0, 3, size=25 + clip, dtype=np.uint8),
        "count": draw.integers(-(10**12), 10**12, size=20),
    }


@pytest.fixture(scope="module")
def robot(videos, tmp_path_factory):
    """The twelve videos, six of them with tracks of four types."""
    root = tmp_path_factory.mktemp("robot")
    rows = []
    for clip, video in enumerate(sorted(videos.glob("*/*.mp4"))):
        row = {"path": str(video), "words": ["a"]}
        if clip < CLIPS:
            for name, values in values_of(clip).items():
                np.save(root / f"{name}{clip}.npy", values)
                row[name] = f"{name}{clip}.npy"
        rows.append(json.dumps(row))
    (root / "list.jsonl").write_text("\n".join(rows))
    tracks = [f"{name}={name},rate=30,tolerance=3,nan" for name in values_of(0)]
    vidrec.pack(root / "list.jsonl", root / "set", frames=4, size=64, track=tracks)
    return root / "set"


def all_of(name, clips=range(CLIPS)):
    return np.concatenate([values_of(clip)[name] for clip in clips]).astype(np.float64)


def check(stats, values):
    flat = values.reshape(len(values), -1)
    for place in range(flat.shape[1]):
        column = flat[:, place]
        finite = column[np.isfinite(column)]
        assert (stats.count[place], stats.not_finite[place]) == (len(finite), len(column) - len(finite))
        assert (stats.min[place], stats.max[place]) == (finite.min(), finite.max())
        np.testing.assert_allclose([stats.mean[place], stats.std[place]], [finite.mean(), finite.std()], rtol=1e-12, atol=1e-12)
        for percent in (1, 10, 50, 90, 99):
            expected = np.sort(finite)[max(-(-len(finite) * percent // 100), 1) - 1]
            assert getattr(stats, f"q{percent:02}")[place] == expected


def test_statistics_are_those_of_numpy(robot):
    ds = vidrec.open(robot)
    found = ds.track_stats()
    assert set(found) == set(values_of(0))
    for name, stats in found.items():
        check(stats, all_of(name))
        assert stats.shape == values_of(0)[name].shape[1:] and (stats.clips, stats.clips_without) == (CLIPS, 12 - CLIPS)
        assert vidrec.results.TrackStats.from_dict(json.loads(stats.to_json())) == stats and not stats.extra
    assert ds.track_stats(["grip"]) == {"grip": found["grip"]}
    check(ds[2:5].track_stats(["action"])["action"], all_of("action", range(2, 5)))


@pytest.mark.parametrize("scaling, how", [("mean_std", "nearest"), ("min_max", "linear"), ("quantiles", "nearest")])
def test_a_loader_normalizes(robot, scaling, how):
    ds = vidrec.open(robot)[:CLIPS]
    stats = ds.track_stats()
    normal = {name: each.normalize(scaling) for name, each in stats.items()}
    window = dict(window=(-0.3, 1.2), rate=24, how=how)
    load = lambda tracks: vidrec.Loader(ds, 2, frames=vidrec.Run(2), crop=16, tracks=tracks, output="numpy")  # noqa: E731
    plain = load({name: vidrec.track(**window) for name in stats})
    made = load({name: vidrec.track(**window, normalize=normal[name]) for name in stats})
    for before, after in zip(plain, made):
        for name, normalize in normal.items():
            raw, found, mask = before.tracks[name], after.tracks[name], after.track_masks[name]
            shape = stats[name].shape
            shift, scale = (np.reshape(numbers, shape) for numbers in (normalize.shift, normalize.scale))
            assert found.dtype == (np.float64 if name == "state" else np.float32)
            np.testing.assert_array_equal(mask, before.track_masks[name])
            assert (found[~mask] == 0).all()
            if how == "nearest":
                expected = ((raw.astype(np.float64) - shift) / scale).astype(found.dtype)
                np.testing.assert_array_equal(found[mask], expected[mask])
            undone = normalize.undo(found)
            assert undone.dtype == found.dtype and undone.shape == found.shape
            spread = np.abs(np.nan_to_num(raw.astype(np.float64))).max()
            np.testing.assert_allclose(undone[mask], raw[mask].astype(found.dtype), atol=spread * 1e-5)
    if scaling == "min_max":
        assert np.nanmin(found) >= -1 and np.nanmax(found) <= 1


def test_scales_of_equal_numbers_are_one_and_torch_undoes(robot):
    normalize = vidrec.open(robot).track_stats(["action"])["action"].normalize()
    assert (normalize.shift[2], normalize.scale[2]) == (7.0, 1.0)
    torch = pytest.importorskip("torch")
    predicted = torch.zeros(4, 5, 3)
    assert torch.equal(normalize.undo(predicted)[1, 2], torch.tensor(normalize.shift))
    assert normalize.undo(predicted.double()).dtype == torch.float64
    with pytest.raises(vidrec.UsageError, match="3 numbers"):
        normalize.undo(torch.zeros(4, 2))
