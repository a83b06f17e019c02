"""Tracks and attributes that clips get after they were packed: what was added is there for everything that reads, and nothing else changes."""
import json
import random
import re
import subprocess
import sys

import numpy as np
import pytest
from programs import files, program
from reader import open_dataset
from verify import verify as verify_in_python

import vidrec


def write(path, clips, start=0, **tracks):
    """A data set of so many clips, in shards of few, each of 1 to 3 frames, with the tracks that a function gives."""
    with vidrec.Writer(path, shard_size=3000, if_exists="replace") as writer:
        for i in range(start, start + clips):
            frames = np.full((1 + i % 3, 16, 16, 3), 20 * i % 256, np.uint8)
            given = {name: values(i, len(frames)) for name, values in tracks.items()}
            writer.add(frames, source=f"{i}.mp4", fields={"number": i, "old": "x"}, tracks={k: v for k, v in given.items() if v is not None})


def force(i, frames):
    return None if i % 4 == 3 else np.full((frames, 2), i, np.float32)


def values_of(kind, i, frames, rng):
    """Values of a track: for each frame, at times, as spans or as texts; or none."""
    return rng.choice([None, {
        "frames": np.full((frames, 3), rng.randrange(99), np.int32),
        "times": (np.arange(4) * rng.random(), np.arange(4) * 0.25),
        "spans": ([f"t{rng.randrange(99)}", "ü"], np.array([[0.0, 0.5], [0.5, 1.0]])),
        "sound": (np.full(900, rng.randrange(99), np.int16), 8000),
    }[kind]])


def plain(value):
    """The numbers or texts of a value."""
    value = value[0] if isinstance(value, tuple) else value
    return value if isinstance(value, list) else np.asarray(value).tolist()


def check(path, tracks, fields):
    """The data set has these tracks and attributes and no others, for the library, the program and the reader of the specification."""
    data = vidrec.open(path)
    # A track of which no clip has values any more may be gone.
    assert {name for name, values in tracks.items() if any(value is not None for value in values)} <= set(data.tracks) <= set(tracks)
    parsed = open_dataset(path).parse()["clips"]
    for i, clip in enumerate(data):
        want = {name: plain(values[i]) for name, values in tracks.items() if values[i] is not None}
        found = {name: clip.track(name).values for name in clip.track_names}
        assert {name: values if isinstance(values, list) else values.tolist() for name, values in found.items()} == want
        assert clip.attributes == fields[i] and json.loads(parsed[i]["attributes"] or "{}") == fields[i]
        assert {track["name"] for track in parsed[i].get("tracks", [])} == set(want)
    assert vidrec.verify(path, deep=True).ok and verify_in_python(path) == []


@pytest.mark.parametrize("seed", range(4))
def test_any_changes_in_any_order_are_those_of_plain_lists(seed, tmp_path):
    rng, path, kinds = random.Random(seed), tmp_path / "set", ["frames", "times", "spans", "sound"]
    write(path, 7, force=force)
    tracks = {"force": [force(i, 1 + i % 3) for i in range(7)]}
    fields = [{"number": i, "old": "x"} for i in range(7)]
    names = {"a": "frames", "b": "times", "c": "spans", "d": "sound"}
    for step in range(12):
        before, kept = files(path), vidrec.open(path)
        frames = [len(clip) for clip in kept]
        action = rng.choice(["add", "add", "remove", "append", "fields", "copy", "delete"])
        if action == "add":
            chosen = rng.sample(sorted(names), rng.randrange(1, 4))
            new = {name: [values_of(names[name], i, n, rng) for i, n in enumerate(frames)] for name in chosen}
            new = {name: values for name, values in new.items() if any(value is not None for value in values)}
            if not new:
                continue
            if any(name in tracks for name in new):
                with pytest.raises(vidrec.UsageError, match="already a track"):
                    vidrec.add_tracks(path, new)
                assert files(path) == before
            report = vidrec.add_tracks(path, {name: iter(values) for name, values in new.items()}, replace=True)
            assert report.tracks == {name: sum(value is not None for value in values) for name, values in new.items()}
            tracks.update(new)
        elif action == "remove" and tracks:
            gone = rng.choice(sorted(tracks))
            vidrec.remove_tracks(path, [gone])
            del tracks[gone]
        elif action == "fields":
            new = [rng.choice([None, {"n": rng.random()}, {"old": None}, {"x": [step, "é"]}]) for _ in frames]
            if any(new):
                vidrec.add_tracks(path, fields=new, replace=True)
            for mine, more in zip(fields, new):
                mine.update(more or {})
                mine.pop("old", None) if mine.get("old", 0) is None else None
        elif action == "delete" and len(frames) > 3:
            gone = rng.randrange(len(frames))
            vidrec.remove(path, clips=[gone])
            before = {name: data for name, data in before.items() if name in files(path)}
            for values in (fields, *tracks.values()):
                del values[gone]
        elif action == "append":
            write(tmp_path / "more", 2, start=100 * step + 50)
            vidrec.merge([tmp_path / "more"], path, append=True)
            fields += [{"number": 100 * step + 50 + i, "old": "x"} for i in range(2)]
            tracks = {name: [*values, None, None] for name, values in tracks.items()}
        else:
            vidrec.subset(path, tmp_path / "copy", overwrite=True)
            check(tmp_path / "copy", tracks, fields)
            assert json.loads((tmp_path / "copy/dataset.json").read_text())["format_version"] == 1
        # Frames and indexes stay, whoever has the data set open reads what was there, and no file is left.
        assert {name: data for name, data in before.items() if not name.endswith((".vtrk", ".json"))}.items() <= files(path).items()
        assert len(kept) == len(frames) and kept[0].frames().shape[0] == frames[0]
        listed = json.dumps(json.loads((path / "dataset.json").read_text()))
        assert all(name in listed for name in files(path) if not name.endswith(".json"))
        check(path, tracks, fields)
        tracks = {name: values for name, values in tracks.items() if name in vidrec.open(path).tracks}


@pytest.fixture
def small(tmp_path):
    write(tmp_path / "set", 6, force=force)
    return tmp_path / "set"


def test_loaders_give_what_was_added_and_resume(small):
    options = {"batch_size": 2, "frames": 1, "crop": 16, "shuffle": True}
    loader = vidrec.Loader(small, **options)
    batches = iter(loader)
    first, state = next(batches).clips.tolist(), loader.state_dict()
    rest = [batch.clips.tolist() for batch in batches]
    latents = (np.full((len(clip), 4, 2), clip.index, np.float32) for clip in vidrec.open(small))
    vidrec.add_tracks(small, {"latents": latents}, fields=[{"score": i / 4} for i in range(6)])
    loader = vidrec.Loader(small, **options)
    loader.load_state_dict(state)
    assert [batch.clips.tolist() for batch in loader] == rest
    found = list(vidrec.Loader(small, tracks={"latents": vidrec.track()}, fields=["score"], **options))
    assert [batch.clips.tolist() for batch in found] == [first, *rest]
    for batch in found:
        assert (np.asarray(batch.tracks["latents"]) == np.asarray(batch.clips)[:, None, None, None]).all()
        assert (np.asarray(batch.fields["score"]) == np.asarray(batch.clips) / 4).all()
    stats = vidrec.open(small).track_stats(["latents"])["latents"]
    lengths = np.array([len(clip) for clip in vidrec.open(small)])
    assert stats.mean[0] == pytest.approx((np.arange(6) * lengths).sum() / lengths.sum())


@pytest.mark.parametrize("tracks, more, message", [
    ({"a": [None] * 5}, {}, "expected one item for each of 6 clips, found 5"),
    ({"a": iter([None] * 2)}, {}, "track 'a': there is no item for clip 2"),
    ({"a": (None for _ in range(7))}, {}, "more items than the 6 clips"),
    ({"a": [None] * 6}, {}, "no clip has values"),
    ({"a": [np.zeros(9)] * 6}, {}, "one value for each|frames"),
    ({"force": [None, *[None] * 4, np.zeros((3, 2))]}, {}, "clip 5: there is already a track \"force\""),
    ({}, {"fields": [{}, {"old": 1}, {}, {}, {}, {}]}, "clip 1: there is already an attribute \"old\""),
    ({}, {"fields": [{}] * 6}, "nothing to add"),
    ({}, {"fields": [{"a": "x" * (16 << 20)}] + [{}] * 5}, "too long"),
    ({"": [["x"], *[None] * 5]}, {}, "cannot be the name"),
])
def test_what_does_not_fit_changes_nothing(tracks, more, message, small):
    before = files(small)
    with pytest.raises(vidrec.Error, match=message):
        vidrec.add_tracks(small, tracks, **more)
    assert files(small) == before
    with pytest.raises(vidrec.UsageError, match="no track or attribute \"b\""):
        vidrec.remove_tracks(small, ["b"])
    with pytest.raises(vidrec.UsageError, match="no track or attribute \"b\""):
        vidrec.remove_tracks(small, fields=["old", "b"])
    assert files(small) == before


def test_an_error_in_an_iterator_comes_out_and_changes_nothing(small):
    before = files(small)
    with pytest.raises(ZeroDivisionError):
        vidrec.add_tracks(small, {"a": ([1 / (2 - i)] * (1 + i % 3) for i in range(6))})
    assert files(small) == before
    # Nobody else can write while values are made.
    def values():
        for clip in vidrec.open(small):
            done = program("tracks", "remove", small, "force", status=1)
            assert "another process" in done.stderr
            yield np.zeros(len(clip))
    vidrec.add_tracks(small, {"a": values()})
    assert set(vidrec.open(small).tracks) == {"a", "force"}


def test_processes_that_add_at_once_lose_nothing(small):
    code = "import sys, vidrec; vidrec.add_tracks(sys.argv[1], {sys.argv[2]: [[1.0] * len(c) for c in vidrec.open(sys.argv[1])]})"
    running = {name: subprocess.Popen([sys.executable, "-c", code, small, name], stderr=subprocess.DEVNULL) for name in "abcd"}
    won = {name for name, process in running.items() if process.wait() == 0}
    assert won and set(vidrec.open(small).tracks) == {"force", *won}
    assert vidrec.verify(small).ok


def test_files_name_clips_by_numbers_and_sources(small, tmp_path):
    frames = [len(clip) for clip in vidrec.open(small)]
    np.savez(tmp_path / "flow.npz", **{f"{i}.mp4": np.full((frames[i], 2), i, np.float64) for i in (5, 0, 2)})
    np.savez(tmp_path / "boxes.npz", **{str(i): np.full((frames[i], 4), i, np.uint8) for i in range(6)})
    rows = [{"clip": 1, "caption": [[0, 0.5, "é"]]}, {"source": "3.mp4", "caption": [[0, 1, "b"]]}]
    (tmp_path / "captions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    np.save(tmp_path / "heat.npy", np.arange(3))
    (tmp_path / "heat.csv").write_text('source,heat,t\n0.mp4,heat.npy,"[0, 0.5, 1]"\n4.mp4,,\n')
    (tmp_path / "fields.csv").write_text("clip,word,n\n0,cat,\n2,,7\n")
    report = json.loads(program(
        "tracks", "add", small, f"flow={tmp_path}/flow.npz,frames,type=f32", f"boxes={tmp_path}/boxes.npz,rate=10",
        f"caption={tmp_path}/captions.jsonl,spans", f"heat={tmp_path}/heat.csv,times=t",
        "--fields", tmp_path / "fields.csv", "--json").stdout)
    assert (report["tracks"], report["attributes"]) == ({"flow": 3, "boxes": 6, "caption": 2, "heat": 1}, {"word": 1, "n": 1})
    data = vidrec.open(small)
    assert [clip.track("flow") is not None for clip in data] == [True, False, True, False, False, True]
    assert data[5].track("flow").values.tolist() == [[5, 5]] * frames[5] and data[5].track("flow").values.dtype == np.float32
    assert all(clip.track("boxes").values.tolist() == [[i] * 4] * frames[i] for i, clip in enumerate(data))
    assert (data[1].track("caption").values, data[3].track("caption").values) == (["é"], ["b"])
    assert data[0].track("heat").times.tolist() == [0, 500_000_000, 1_000_000_000]
    assert (data[0].attributes["word"], data[2].attributes["n"]) == ("cat", "7")
    for name, arrays, words, message in [
        ("far", {"6": [1]}, "frames", "does not have clip 6"),
        ("none", {"6.mp4": [1]}, "frames", "does not have 6.mp4"),
        ("both", {"0": [1], "0.mp4": [1]}, "frames", "named as"),
        ("short", {"0": [1, 2]}, "frames", "one value for each frame"),
        ("timed", {"0": [1]}, "times=t", "no times"),
    ]:
        np.savez(tmp_path / f"{name}.npz", **{key: np.array(value) for key, value in arrays.items()})
        failed = program("tracks", "add", small, f"x={tmp_path}/{name}.npz,{words}", status=1)
        assert re.search(message, failed.stderr), failed.stderr
    assert list(vidrec.open(small).tracks) == ["boxes", "caption", "flow", "force", "heat"]


def test_damage_in_added_files_is_found_and_the_rest_is_saved(small, tmp_path):
    vidrec.add_tracks(small, {"text": [[f"clip {i}"] * (1 + i % 3) for i in range(6)]}, fields=[{"word": f"w{i}"} for i in range(6)])
    good = files(small)
    added = {name: small / name for name in good if name.startswith("tracks-")}
    assert len(added) == 2
    for name, path in added.items():
        for at in range(0, len(good[name]), 7):
            path.write_bytes(good[name][:at] + bytes([good[name][at] ^ 1]) + good[name][at + 1 :])
            report = vidrec.verify(small)
            assert not report.ok and all(problem.file == str(path) for problem in report.problems), (name, at)
            assert verify_in_python(small)
        path.write_bytes(good[name].replace(b"clip 2", b"clip X").replace(b"w2", b"wX"))
        saved = json.loads(program("repair", small, "-o", tmp_path / name, "--json", status=3).stdout)
        # The checksum of the ends of so small a file is that of all of it, so it costs all clips their tracks.
        assert [lost["source"] for lost in saved["partly_lost"]] == [f"{i}.mp4" for i in range(6)] and saved["saved"] == 6
        assert all(lost["what"].startswith("its tracks: ") for lost in saved["partly_lost"])
        for i, clip in enumerate(vidrec.open(tmp_path / name)):
            assert not clip.track_names and clip.attributes == {"number": i, "old": "x"}, (name, i)
        path.write_bytes(good[name])
    (small / "dataset.json").write_bytes(b"{")
    lost = json.loads(program("repair", small, "-o", tmp_path / "rest", "--json", status=3).stdout)["lost"]
    assert [file["shard"] for file in lost] == sorted(added) and all("only dataset.json says" in file["what"] for file in lost)
    assert len(vidrec.open(tmp_path / "rest")) == 6
