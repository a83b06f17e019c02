"""Data sets written clip by clip: what a writer gets, a reader gives back."""
import io
import json
import random
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest
from PIL import Image
from programs import files
from reader import open_dataset

import vidrec

TYPES = ["f2", "f4", "f8", "i2", "i4", "i8", "u1", "u2", "?"]
Y, X = np.mgrid[:48, :64]
FRAMES = np.stack([np.dstack([2 * X + t, 3 * Y + t, X + Y + 9 * t]) for t in range(6)]).astype(np.uint8)


def jpeg(number, **how):
    file = io.BytesIO()
    Image.fromarray(FRAMES[number % 6] + np.uint8(number)).save(file, "JPEG", **how)
    return file.getvalue()


def clip(rng, number):
    """The arguments of a clip, all at random."""
    count = rng.randrange(7)
    numbers = np.random.default_rng(number)
    times = np.sort(numbers.integers(-(10**12), 10**12, 5))
    tracks = {f"plain {kind}": (numbers.random((count, 2, 3)) * 100).astype(kind) for kind in TYPES}
    lists = [numbers.normal(size=(n, 4)).astype(np.float16) for n in numbers.integers(0, 4, 5)]
    tracks["lists"] = (lists, times)
    tracks["flags"] = ([numbers.random(n) < 0.5 for n in range(5)], np.stack([times, times + 7], 1))
    tracks["texts"] = ([f"ö{number}", "", '"'], [0.5, 0.5, 2.0])
    tracks["timed"] = (numbers.normal(size=5).astype(np.float32), times)
    tracks["spans"] = (list("abcde"), np.stack([times, times + 7], 1))
    tracks["sound"] = (numbers.integers(-99, 99, (rng.randrange(900), 2), np.int16), Fraction(48000, 1001))
    return {
        "frames": [jpeg(number + t) for t in range(count)],
        "label": rng.choice([None, 0, 1, "left", "right"]),
        "source": f"folder/{number} é.mp4",
        "pts": sorted(rng.randrange(-(2**30), 2**30) for _ in range(count)),
        "time_base": (1001, 30000),
        "fields": {"number": number, "nested": {"ü": [1.5, None, "x"]}, "array": np.arange(number % 3)},
        "tracks": {name: tracks[name] for name in rng.sample(sorted(tracks), rng.randrange(len(tracks)))},
        "source_indices": [rng.choice([None, t, 2**31]) for t in range(count)],
        "is_short": rng.random() < 0.5,
    }


def nanoseconds(when):
    when = np.asarray(when)
    return np.rint(when * 1e9).astype(np.int64) if when.dtype.kind == "f" else when


@pytest.mark.parametrize("seed", range(3))
def test_what_is_written_is_read(seed, tmp_path):
    rng = random.Random(seed)
    given = [clip(rng, number) for number in range(12)]
    with vidrec.Writer(tmp_path / "set", classes=["left", "right"], settings={"from": "here"}, lists=["lists", "flags"], shard_size=rng.choice(["256MB", 9000])) as writer:
        for each in given:
            writer.add(**each)
    ds = vidrec.open(tmp_path / "set")
    assert vidrec.verify(ds, deep=True).ok and (ds.classes, ds.meta.settings) == (["left", "right"], {"from": "here"})
    assert (len(ds), writer.report.clips, writer.report.frames) == (12, 12, ds.frame_count)
    # The reader in plain Python has the same JPEGs.
    assert [[c.jpeg(t) for t in range(len(c.frames))] for c in open_dataset(tmp_path / "set").clips] == [each["frames"] for each in given]
    for found, each in zip(ds, given):
        label = {"left": 0, "right": 1}.get(each["label"], each["label"])
        assert (found.label, found.source, found.is_short) == (label, each["source"], each["is_short"])
        assert found.attributes == json.loads(json.dumps(each["fields"], default=np.ndarray.tolist))
        assert (found.pts.tolist(), found.time_base) == (each["pts"], Fraction(1001, 30000))
        assert found.source_indices == each["source_indices"] and sorted(found.track_names) == sorted(each["tracks"])
        for name, value in each["tracks"].items():
            track, (values, when) = found.track(name), value if isinstance(value, tuple) else (value, None)
            if isinstance(values, list):
                assert all(np.array_equal(a, b) for a, b in zip(track.values, values)) and len(track) == len(values)
            else:
                assert track.values.dtype == values.dtype and np.array_equal(track.values, values)
            if isinstance(when, Fraction):
                assert (track.timing, track.rate) == ("rate", when)
            elif when is not None:
                starts = nanoseconds(when) if np.ndim(when) == 1 else when[:, 0]
                assert np.array_equal(track.times, starts) and (track.ends is None) == (np.ndim(when) == 1)
            # A track that was read is written as it is.
    with vidrec.Writer(tmp_path / "again", classes=ds.classes, settings=ds.meta.settings, shard_size=len(ds.meta.shards) > 1 and 9000 or "256MB") as writer:
        for found in ds:
            jpegs, tracks = [found.jpeg(t) for t in range(len(found))], {name: found.track(name) for name in found.track_names}
            more = {"pts": found.pts, "time_base": found.time_base, "fields": found.attributes, "tracks": tracks}
            writer.add(jpegs, label=found.label, source=found.source, source_indices=found.source_indices, is_short=found.is_short, **more)
    assert files(tmp_path / "again") == files(tmp_path / "set")


def test_frames_are_encoded_the_same_on_any_number_of_threads(tmp_path):
    for threads in (1, 3):
        with vidrec.Writer(tmp_path / str(threads), threads=threads, shard_size=20_000) as writer:
            for number in range(12):
                writer.add(FRAMES[: number % 6 + 1] + np.uint8(number), times=np.arange(number % 6 + 1) / 25)
    assert files(tmp_path / "1") == files(tmp_path / "3")
    ds = vidrec.open(tmp_path / "1")
    assert len(ds.meta.shards) > 1 and ds[5].pts_seconds.tolist() == [0, 0.04, 0.08, 0.12, 0.16, 0.2]
    assert np.abs(ds[5].frames().astype(int) - (FRAMES + np.uint8(5))).mean() < 2
    rgb = np.zeros((1, 5, 7, 3), np.uint8) + np.uint8([200, 40, 90])
    with vidrec.Writer(tmp_path / "odd", quality=100) as writer:
        writer.add(rgb)
        writer.add([rgb[0], rgb[0]])
    odd = vidrec.open(tmp_path / "odd")
    assert [len(clip) for clip in odd] == [1, 2]
    # As Pillow decodes it, a plain color is itself.
    assert np.abs(np.asarray(Image.open(io.BytesIO(odd[0].jpeg(0))).convert("RGB")).astype(int) - rgb[0]).max() <= 2


def test_threads_add_clips_as_they_come_and_prepare_them_in_order(tmp_path):
    def simulate(seed):
        return {"frames": FRAMES[: seed % 5 + 1] + np.uint8(seed), "source": str(seed), "tracks": {"seed": [seed] * (seed % 5 + 1)}}

    def add_all(thread):
        for number in range(6):
            writer.add(**simulate(10 * thread + number))

    with ThreadPoolExecutor(4) as pool:
        with vidrec.Writer(tmp_path / "free", threads=2, shard_size=20_000) as writer:
            list(pool.map(add_all, range(4)))
        for name, mapped in [("pool", pool.map), ("loop", map)]:
            with vidrec.Writer(tmp_path / name) as writer:
                for each in mapped(simulate, range(12)):
                    writer.add(**each)
        with pytest.raises(vidrec.UsageError, match="uint8"), vidrec.Writer(tmp_path / "failed") as writer:
            list(pool.map(writer.add, [FRAMES, FRAMES / 2]))
    assert files(tmp_path / "pool") == files(tmp_path / "loop") and not (tmp_path / "failed").exists()
    free = vidrec.open(tmp_path / "free")
    assert sorted((int(clip.source) for clip in free), key=lambda seed: seed // 10) == [10 * t + n for t in range(4) for n in range(6)]
    for clip in free:
        assert clip.track("seed").values.tolist() == [int(clip.source)] * (int(clip.source) % 5 + 1) == [int(clip.source)] * len(clip)


def test_retiled_jpegs_have_the_same_pixels(tmp_path):
    given = [jpeg(0, subsampling=2), jpeg(1, subsampling=0)]
    with vidrec.Writer(tmp_path / "set", retile=True) as writer:
        writer.add(given)
    clip = vidrec.open(tmp_path / "set")[0]
    assert (writer.report.retiled, writer.report.not_retiled, clip.jpeg(1)) == (1, 1, given[1])
    same = [np.asarray(Image.open(io.BytesIO(data))) for data in (clip.jpeg(0), given[0])]
    assert clip.jpeg(0) != given[0] and np.array_equal(*same)


def test_a_clip_that_is_refused_leaves_no_trace(tmp_path):
    one = jpeg(1)
    with vidrec.Writer(tmp_path / "set", classes=["a"], nan=["nan"]) as writer:
        writer.add([one], tracks={"t": [1.0], "nan": [np.nan]})
        for wrong, words in [
            ({"frames": [b"none"]}, "not a JPEG"),
            ({"frames": one}, "in a list"),
            ({"frames": FRAMES / 255}, "expected uint8"),
            ({"label": "b"}, "one of 1 classes"),
            ({"times": [1.0, 2.0]}, "expected 1 numbers"),
            ({"times": [0.0], "pts": [0]}, "only one"),
            ({"time_base": (1, 0)}, "positive fraction"),
            ({"source_indices": [-1]}, "one for each"),
            ({"label": 0, "class_name": "b"}, "the class of label 0"),
            ({"fields": {"a": object()}}, "JSON"),
            ({"tracks": {"t": [1, 2]}}, "one value for each frame"),
            ({"tracks": {"t": [np.nan]}}, "not a number"),
            ({"tracks": {"t": ([1.0], [[[0]]])}}, "(N, 2)"),
            ({"tracks": {"x": np.array([2**63], np.uint64)}}, "64 bits"),
        ]:
            with pytest.raises(vidrec.Error) as refused:
                writer.add(**{"frames": [one], **wrong})
            assert words in str(refused.value), (wrong, str(refused.value))
        writer.add([one], label="a")
    ds = vidrec.open(tmp_path / "set")
    assert ([clip.label for clip in ds], sorted(ds.tracks)) == ([None, 0], ["nan", "t"])
    with pytest.raises(vidrec.UsageError, match="closed"):
        writer.add([one])
    assert writer.close() is writer.report
    for wrong in [{"quality": 0}, {"shard_size": "x"}, {"if_exists": "resume"}, {"threads": 0}, {"classes": ["a", "a"]}, {"nan": "a"}, {"scratch": "x"}]:
        with pytest.raises(vidrec.UsageError):
            vidrec.Writer(tmp_path / "other", **wrong)
    assert not (tmp_path / "other").exists()


def test_nothing_appears_after_an_exception_and_what_is_there_stays(tmp_path):
    with pytest.raises(ZeroDivisionError), vidrec.Writer(tmp_path / "set") as writer:
        writer.add(FRAMES)
        1 / 0
    assert list(tmp_path.iterdir()) == []
    with vidrec.Writer(tmp_path / "set") as writer:
        writer.add(FRAMES)
    before = files(tmp_path / "set")
    with pytest.raises(vidrec.UsageError, match="if_exists='replace'"):
        vidrec.Writer(tmp_path / "set")
    with pytest.raises(ZeroDivisionError), vidrec.Writer(tmp_path / "set", if_exists="replace") as writer:
        writer.add(FRAMES)
        1 / 0
    assert files(tmp_path / "set") == before
    with vidrec.Writer(tmp_path / "set", if_exists="replace") as writer:
        writer.add(FRAMES)
        writer.add(FRAMES)
    assert len(vidrec.open(tmp_path / "set")) == 2


def test_clips_are_appended_in_one_step(tmp_path):
    def clips(ds):
        return [(c.source, c.class_name, c.attributes, c.track("x").values.tolist(), [c.jpeg(t) for t in range(len(c))]) for c in ds]

    def write(path, numbers, **options):
        with vidrec.Writer(path, scratch=scratch if options.get("append") else None, **options) as writer:
            for number in numbers:
                writer.add([jpeg(number)] * 2, label=number % 2, source=str(number), fields={"n": number}, tracks={"x": [number, 0.5]})
        return writer.report

    scratch = tmp_path / "scratch"
    scratch.mkdir()
    write(tmp_path / "whole", range(12), classes=["even", "odd"])
    write(tmp_path / "set", range(4), classes=["even", "odd"], append=True)
    before, first = files(tmp_path / "set"), vidrec.open(tmp_path / "set")
    told = write(tmp_path / "set", range(4, 9), append=True)
    assert (told.clips, told.frames, told.shards, told.notes) == (5, 10, 1, ())
    write(tmp_path / "set", range(9, 12), append=True, classes=["even", "odd"], shard_size=1)
    assert clips(vidrec.open(tmp_path / "set")) == clips(vidrec.open(tmp_path / "whole"))
    assert clips(first) == clips(vidrec.open(tmp_path / "whole")[:4]) and vidrec.verify(tmp_path / "set", deep=True).ok
    after = files(tmp_path / "set")
    assert all(after[name] == data for name, data in before.items() if name != "dataset.json")
    again = write(tmp_path / "set", range(4, 9), append=True)
    assert (again.clips, again.bytes) == (0, 0) and "already" in again.notes[0]
    for wrong in [{"tracks": {"x": [1, 2]}}, {"tracks": {"x": [[1.0], [2.0]]}}, {"tracks": {"x": ([1.0], [0.0])}}, {"label": "new"}]:
        with pytest.raises(vidrec.UsageError, match="data set|classes"), vidrec.Writer(tmp_path / "set", append=True, scratch=scratch) as writer:
            writer.add([jpeg(1)] * 2, tracks={"x": [1.0, 2.0]})
            writer.add([jpeg(1)] * 2, **wrong)
    for path, how in [(tmp_path / "set", "replace"), ("s3://bucket/set", "fail")]:
        with pytest.raises(vidrec.UsageError, match="append needs"):
            vidrec.Writer(path, append=True, if_exists=how)
    assert files(tmp_path / "set") == after and list(scratch.iterdir()) == []


def test_writers_that_append_at_once_wait_for_each_other(tmp_path):
    with vidrec.Writer(tmp_path / "set") as writer:
        writer.add(FRAMES)

    def append(number):
        with vidrec.Writer(tmp_path / "set", append=True) as writer:
            writer.add(FRAMES + np.uint8(number), source=str(number))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(append, range(8)))
    assert sorted(clip.source for clip in vidrec.open(tmp_path / "set")) == ["", *map(str, range(8))]
