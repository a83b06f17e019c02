"""Data that grows and shrinks: states of loaders, new classes, removed clips, and sources that join a run."""
import itertools
import json
import shutil
import warnings

import numpy as np
import pytest
from programs import program
from reader import open_dataset
from verify import verify as verify_by_specification

import vidrec

RNG = np.random.default_rng(7)
FRAMES = RNG.integers(0, 255, (40, 3, 24, 32, 3), np.uint8)


def write(path, clips, classes, shards=None):
    """A data set of these clips, labeled in turn, each with a track that says which it is."""
    with vidrec.Writer(path, classes=classes) as writer:
        for clip in clips:
            label = clip % len(classes) if classes else None
            track = {"number": np.full((3, 1), clip, np.float32)}
            writer.add(FRAMES[clip], label=label, source=f"{clip}.mp4", tracks=track, fields={"day": str(clip // 10)})
    if shards is not None:
        vidrec.subset(path, path.with_name("resharded"), shards=shards)
        shutil.rmtree(path)
        path.with_name("resharded").rename(path)
    return path


@pytest.fixture
def days(tmp_path):
    """Yesterday's data set of six clips in two classes, and today's of three that bring a class."""
    return write(tmp_path / "set", range(6), ["a", "b"]), write(tmp_path / "today", range(10, 13), ["b", "c"])


def make(source, batch_size=2, **options):
    return vidrec.Loader(source, batch_size, **{"crop": vidrec.RandomCrop(16), "shuffle": True, "seed": 3, "output": "numpy", **options})


def stream(batches):
    """Source of the mix, clip, label, track and pixels of each sample that counts."""
    found = []
    for batch in batches:
        for i in np.flatnonzero(batch.mask):
            name = batch.source_names[i] if batch.source_names else ""
            found.append((name, int(batch.clips[i]), int(batch.labels[i]), batch.sources[i], batch.frames[i].tobytes()))
    return found


def numbers(ds):
    """The clips of a data set, as their tracks tell them."""
    return [int(clip.track("number").values[0, 0]) for clip in ds]


def test_a_state_from_before_an_append_loads_on_the_set_as_it_was(days, serve):
    path, today = days
    whole = stream(make(path))
    begun = [stream(itertools.islice(make(path, 1, rank=(rank, 2)), 1)) for rank in range(2)]
    loader = make(path, 1, rank=(0, 2))
    next(iter(loader))
    state = json.loads(json.dumps(loader.state_dict()))
    assert vidrec.merge([today], path, append=True).clips == 3
    url = serve(path.parent).url + "/set"
    grown, remote = vidrec.open(path), vidrec.open(url)
    old, far = vidrec.open(path, clips=6), vidrec.open(url, clips=6)
    assert (old.classes, far.classes, grown[:6].classes, remote.classes) == (["a", "b"], ["a", "b"], *[["a", "b", "c"]] * 2)
    for view in (old, far, grown[:6], remote[:6], grown.select(range(6)), grown.subset(clips=range(6))):
        resumed = make(view, 3)
        resumed.load_state_dict(state)
        assert sorted(sum(begun, []) + stream(resumed)) == sorted(whole) and view.fingerprint == old.fingerprint
        assert stream(make(view, order=vidrec.Shuffled(), shuffle=False)) == whole
    for refused, what in ((grown, "clips=6"), (remote, "clips=6"), (grown[:8], "its first 6 clips"), (grown[:5], "expected 6 clips")):
        with pytest.raises(vidrec.UsageError, match=what):
            make(refused).load_state_dict(state)
    for clips in (0, 10, 2.5):
        with pytest.raises(vidrec.UsageError, match=str(clips)):
            vidrec.open(path, clips=clips)
    assert vidrec.open(path, clips=7).labels.tolist() == grown.labels[:7].tolist()
    with pytest.raises(vidrec.UsageError, match="whole data sets"):
        vidrec.verify(old)


def test_an_append_brings_classes_and_all_see_them(days, serve, tmp_path):
    path, today = days
    files = {file.name: file.stat().st_ino for file in path.glob("shard-*")}
    vidrec.merge([today], path, append=True)
    assert vidrec.merge([today], path, append=True).notes == ("nothing to add: the data set already has these clips",)
    grown = vidrec.open(path)
    assert {name: (path / name).stat().st_ino for name in files} == files
    assert grown.classes == ["a", "b", "c"] and [clip.class_name for clip in grown] == [*"ababab", *"bcb"]
    assert vidrec.verify(path, deep=True).ok and verify_by_specification(path) == []
    assert [clip.class_name for clip in open_dataset(path).clips] == [clip.class_name for clip in grown]
    told = json.loads(program("inspect", path, "--stats", "--json").stdout)
    assert [(each["class"], each["clips"]) for each in told["classes"]] == [("a", 3), ("b", 5), ("c", 1)]
    assert len(grown.subset(classes=["c"])) == 1 and all(part.classes == grown.classes for part in grown.split(0.5))
    twice = vidrec.merge([path, vidrec.open(path, clips=6)], tmp_path / "twice")
    assert twice.clips == 15 and vidrec.open(tmp_path / "twice").classes == grown.classes
    joined = vidrec.mix({"today": (today, 1), "all": (grown, 1)})
    assert joined.classes == ["b", "c", "a"]
    of_source = {clip.source: clip.class_name for clip in grown}
    assert all(joined.classes[label] == of_source[source] for _, _, label, source, _ in stream(make(joined)))
    remote = vidrec.open(serve(path.parent).url + "/set")
    assert [clip.class_name for clip in remote] == [clip.class_name for clip in grown] and vidrec.verify(remote).ok
    assert numbers(grown[:6] + grown[6:]) == numbers(vidrec.Dataset.concat([vidrec.open(path, clips=6), grown[6:]])) == numbers(grown)
    with pytest.raises(vidrec.FormatError, match="same class names"):
        vidrec.open(today) + grown
    with pytest.raises(vidrec.UsageError, match=r"vidrec\.merge"):
        vidrec.merge([path], write(tmp_path / "plain", range(2), []), append=True)


@pytest.mark.parametrize("seed", range(6))
def test_removing_leaves_what_a_list_leaves_and_the_files_of_other_shards(tmp_path, seed):
    rng = np.random.default_rng(seed)
    path = write(tmp_path / "set", range(12), ["a", "b"], shards="each:3")
    vidrec.merge([write(tmp_path / "today", range(20, 24), ["b", "c"])], path, append=True, shards="each:2")
    kept = numbers(vidrec.open(path))
    for _ in range(3):
        before = vidrec.inspect(path).shards
        inodes = {file.name: file.stat().st_ino for file in path.iterdir()}
        gone = sorted(rng.choice(len(kept), rng.integers(1, 4), replace=False).tolist())
        opened = vidrec.open(path)
        expected = [clip.jpeg(1) for clip in opened.subset(exclude=gone)]
        report = vidrec.remove(path, clips=gone) if seed % 2 else json.loads(program("remove", path, "--clips", ",".join(map(str, gone)), "--json").stdout)
        assert (report.left_out if seed % 2 else report["left_out"]) == len(gone) and numbers(opened) == kept
        kept = [number for i, number in enumerate(kept) if i not in gone]
        ends = np.cumsum([shard.clips for shard in before])
        touched = {int(np.searchsorted(ends, i, side="right")) for i in gone}
        stay = {name for i, shard in enumerate(before) if i not in touched for name in (shard.record_file, shard.index_file, shard.track_file.file)}
        now = {file.name: file.stat().st_ino for file in path.iterdir()}
        assert {name: now[name] for name in stay} == {name: inodes[name] for name in stay}
        listed = {name for shard in vidrec.inspect(path).shards for name in (shard.record_file, shard.index_file, shard.track_file.file if shard.track_file else "")}
        assert set(now) == (listed - {""}) | {"dataset.json"}
        left = vidrec.open(path)
        assert numbers(left) == kept and [clip.jpeg(1) for clip in left] == expected and left.classes == ["a", "b", "c"]
        assert vidrec.verify(path, deep=True).ok and verify_by_specification(path) == []
    # It grows again, and labels mean what they meant.
    vidrec.merge([write(tmp_path / "more", range(30, 32), ["d", "c"])], path, append=True)
    assert vidrec.open(path).classes == ["a", "b", "c", "d"] and numbers(vidrec.open(path)) == [*kept, 30, 31]


def test_removals_by_name_can_be_repeated_and_others_are_refused(days, serve):
    path, _ = days
    record, index = (next(path.glob(f"*.{ending}")) for ending in ("rec", "vidx"))
    whole = bytearray(record.read_bytes())
    whole[whole.index(vidrec.open(path)[2].jpeg(1)) + 300] ^= 1
    record.write_bytes(whole)
    with pytest.raises(vidrec.FormatError, match=r"clip 2\b"):
        vidrec.remove(path, clips=[1])
    assert index.exists() and len(vidrec.open(path)) == 6
    assert vidrec.remove(path, clips=["2.mp4"]).clips == 5 and vidrec.verify(path).ok
    assert vidrec.remove(path, where={"day": "1"}).notes == ("nothing to remove: no clip matches",)
    assert vidrec.remove(path, classes=["a"]).clips == 3 and vidrec.open(path).classes == ["a", "b"]
    assert vidrec.remove(path, classes=["a"]).left_out == 0
    assert "no clip of the data set would be left" in program("remove", path, status=1).stderr
    with pytest.raises(vidrec.UsageError, match="local folders only"):
        vidrec.remove(serve(path.parent).url + "/set", clips=[0])


WINDOW = 10


def mixed(sets, weights, **options):
    named = {name: (sets[name], weight) for name, weight in weights.items()}
    return vidrec.mix(named, **{"window": WINDOW, "samples_per_epoch": 45, **options})


def run(mix, state, epochs, **options):
    """All samples of these epochs from a state on, on two ranks whose batches are put together, and the state after some batches."""
    ranks = [make(mix, 3, shuffle=False, rank=(rank, 2), **options) for rank in range(2)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", vidrec.LoaderWarning)
        for loader in ranks if state else ():
            loader.load_state_dict(json.loads(json.dumps(state)))
        found = []
        for _ in range(epochs):
            for batches in zip(*ranks):
                found += stream(batches)
                yield found, ranks[0].state_dict()


@pytest.mark.parametrize("seed", range(5))
def test_a_source_joins_as_a_simple_model_has_it(tmp_path, seed):
    """Each source gives its own samples one after the other, however often others join, and any window has the shares."""
    rng = np.random.default_rng(seed)
    sets = {name: vidrec.open(write(tmp_path / name, range(i * 10, i * 10 + 3 + 2 * i), [name, "all"])) for i, name in enumerate("abcd")}
    rest = [{"a": 7, "b": 3}, {"a": 5, "b": 3, "c": 2}, {"a": 0, "b": 4, "c": 4, "d": 2}]
    found, state, joins = [], None, []
    for i, weights in enumerate(rest):
        joins.append(len(found))
        stop = rng.integers(1, 12)
        for k, (more, next_state) in enumerate(run(mixed(sets, weights), state, 4)):
            if k == stop and i < len(rest) - 1:
                break
            done, after = list(more), next_state
        found, state = found + done, after
    # Each source alone, at its place in the mix.
    for name in "abcd":
        alone = mixed(sets, {other: float(other == name) for other in "abcd"})
        (*_, (model, _)), got = run(alone, None, 5), [sample for sample in found if sample[0] == name]
        assert got and [sample[1:] for sample in got] == [sample[1:] for sample in model[: len(got)]]
    for begin, end, weights in zip(joins, [*joins[1:], len(found)], rest):
        names = [sample[0] for sample in found[begin:end]]
        for start in range(len(names) - WINDOW + 1):
            assert all(names[start : start + WINDOW].count(name) == weight for name, weight in weights.items())


def test_what_may_change_in_a_mix_that_is_resumed(tmp_path, days):
    path, today = days
    sets = {"a": path, "b": today, "c": write(tmp_path / "c", range(20, 24), ["a"])}
    weights = {"a": 6, "b": 4}
    loader = make(mixed(sets, weights), shuffle=False)
    next(iter(loader))
    state = loader.state_dict()
    resume = lambda mix: make(mix, shuffle=False).load_state_dict(state)  # noqa: E731
    renamed = make(vidrec.mix({"x": (path, 6), "y": (today, 4)}, window=WINDOW, samples_per_epoch=45), shuffle=False)
    renamed.load_state_dict(state)
    usual = make(mixed(sets, weights), shuffle=False)
    usual.load_state_dict(state)
    assert [sample[1:] for sample in stream(renamed)] == [sample[1:] for sample in stream(usual)]
    for other, what in (({"a": 1}, "lacks source \"b\".*weight of 0"), ({"b": 4, "a": 6}, "keep the order"), ({"c": 1, "a": 6, "b": 4}, "put new ones after")):
        with pytest.raises(vidrec.UsageError, match=what):
            resume(mixed(sets, other))
    with pytest.raises(vidrec.UsageError, match="another window: expected 10, found 20"):
        resume(mixed(sets, weights, window=20))
    joined = make(mixed(sets, {**weights, "c": 10}), shuffle=False)
    with pytest.warns(vidrec.LoaderWarning, match="other shares than before from sample 2 on: a 0.300, b 0.200, c 0.500"):
        joined.load_state_dict(state)
    vidrec.merge([sets["c"]], path, append=True)
    with pytest.raises(vidrec.UsageError, match="\"a\", is a different data set.*clips=6"):
        resume(mixed(sets, weights))
    resume(mixed({**sets, "a": vidrec.open(path, clips=6), "new": vidrec.open(path)[6:]}, {**weights, "new": 5}))
    for shares in ([[0, [2**63, 2**63]]], [], [[0, [1, 2, 3]]], [[3, [6000, 4000]]]):
        broken = {**state, "mix": {**state["mix"], "shares": shares}}
        with pytest.raises(vidrec.UsageError, match="not those of a run"):
            make(mixed({**sets, "a": vidrec.open(path, clips=6)}, weights), shuffle=False).load_state_dict(broken)
