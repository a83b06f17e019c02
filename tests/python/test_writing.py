"""Writing to object storage: the same files as in a folder, and refusals that say what to do."""
import dataclasses
import os
import signal
import sys

import pytest
from programs import files

import vidrec
from vidrec import _parts

SECRET = "hunter2"


class Store:
    """A bucket in a folder, and a server of it that speaks S3's protocol."""

    def __init__(self, folder, serve):
        self.bucket, self.scratch = folder / "store/bucket", folder / "scratch"
        self.bucket.mkdir(parents=True)
        self.scratch.mkdir()
        self.server = serve(folder / "store", "--writable", "--log")
        self.options = {"endpoint": self.server.url, "region": "us-east-1", "access_key_id": "me", "secret_access_key": SECRET}

    def location(self, name):
        return f"s3://bucket/{name}"

    def output(self):
        """Arguments of whatever writes to it."""
        return {"storage_options": self.options, "scratch": self.scratch}

    def files(self, name):
        """What is there, when nothing was left anywhere else."""
        assert not list(self.scratch.iterdir())
        return files(self.bucket / name)

    def open(self, name):
        return vidrec.open(self.location(name), storage_options=self.options)


@pytest.fixture
def store(tmp_path, serve):
    return Store(tmp_path, serve)


def test_a_pushed_data_set_is_opened_there(store, train, ds):
    location, told = store.location("train"), []
    report = vidrec.push(train, location, storage_options=store.options, progress=lambda *call: told.append(call))
    size = sum(map(len, files(train).values())) - len((train / "dataset.json").read_bytes())
    assert (report.clips, report.bytes, report.kept_bytes, report.found) == (12, size, 0, False)
    assert report.output == location and report.notes == () and report.remote.requests > 0
    assert told[-1] == (size, size)
    assert store.files("train") == files(train)
    pushed = store.open("train")
    assert pushed.fingerprint == ds.fingerprint
    assert [clip.frames().tobytes() for clip in pushed] == [clip.frames().tobytes() for clip in ds]
    assert vidrec.push(str(train), location, storage_options=store.options, timeout=30).found


def test_clips_are_written_one_by_one(store, train, ds, tmp_path):
    def write(path, **how):
        with vidrec.Writer(path, classes=ds.classes, **how) as writer:
            for clip in ds:
                writer.add([clip.jpeg(t) for t in range(len(clip))], label=clip.label, source=clip.source)

    write(tmp_path / "local")
    write(store.location("new"), **store.output())
    assert store.files("new") == files(tmp_path / "local")
    with pytest.raises(vidrec.UsageError, match="if_exists='replace'"):
        write(store.location("new"), **store.output())
    with pytest.raises(ZeroDivisionError), vidrec.Writer(store.location("none"), **store.output()) as writer:
        writer.add([ds[0].jpeg(0)])
        1 / 0
    assert not (store.bucket / "none").exists() and not list(store.scratch.iterdir())
    write(store.location("new"), if_exists="replace", **store.output())


def test_an_edit_writes_what_it_writes_to_a_folder(store, train, tmp_path):
    def edit(out, **more):
        return vidrec.subset(train, out, rename_classes={"left": "up"}, **more)

    here, location = edit(tmp_path / "out"), store.location("out")
    there = edit(location, **store.output())
    assert there == dataclasses.replace(here, output=location)
    assert store.files("out") == files(tmp_path / "out")
    with pytest.raises(vidrec.UsageError, match="overwrite=True"):
        edit(location, **store.output())
    assert edit(location, overwrite=True, **store.output()) == there
    assert store.files("out") == files(tmp_path / "out")


def test_a_pack_writes_what_it_writes_to_a_folder(store, videos, tmp_path):
    told, location = [], store.location("train")
    here = vidrec.pack(videos, tmp_path / "train", frames=3, shards=2)
    there = vidrec.pack(
        videos, location, frames=3, shards=2, progress=lambda *call: told.append(call), **store.output()
    )
    assert (there.clips, there.bytes, there.unchanged) == (here.clips, here.bytes, False)
    assert store.files("train") == files(tmp_path / "train")
    assert {total for _, total in told} == {12} and told[-1] == (12, 12) and told == sorted(told)
    with pytest.raises(vidrec.UsageError, match="if_exists='replace'"):
        vidrec.pack(videos, location, frames=2, **store.output())
    vidrec.pack(videos, location, frames=2, if_exists="replace", **store.output())
    assert len(store.open("train")[0]) == 2


def test_true_shows_the_upload_in_bytes(store, train, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    vidrec.subset(train, store.location("out"), shards=2, progress=True, **store.output())
    size = sum(len(data) for name, data in store.files("out").items() if name != "dataset.json")
    work, upload = capsys.readouterr().err.strip().split("\n")
    assert "12 of 12 clips" in work and "bytes" not in work
    assert f"{size} of {size} bytes uploaded" in upload and "clips" not in upload


@pytest.fixture
def ctrl_c():
    """A process that was started in the background ignores SIGINT."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_stops_an_upload_that_continues(ctrl_c, store, videos, tmp_path):
    def progress(done, total):
        # The upload of the second shard has begun. Its answers never come, so it cannot end by itself.
        if any(each["method"] == "PUT" and "shard-00001" in each["path"] for each in store.server.log()):
            os.kill(os.getpid(), signal.SIGINT)

    options = {"frames": 3, "shards": 2}
    store.server.fault("no-answer", method="PUT", path="shard-00001")
    with pytest.raises(KeyboardInterrupt):
        vidrec.pack(videos, store.location("train"), progress=progress, storage_timeout=20, **options, **store.output())
    assert not (store.bucket / "train/dataset.json").exists() and not list(store.scratch.iterdir())
    store.server.tell("clear")
    with pytest.raises(vidrec.UsageError, match="6 of 12 videos done.*if_exists='resume'"):
        vidrec.pack(videos, store.location("train"), **options, **store.output())
    report = vidrec.pack(videos, store.location("train"), if_exists="resume", **options, **store.output())
    assert (report.clips, report.resumed_at) == (12, 6)
    vidrec.pack(videos, tmp_path / "here", **options)
    assert store.files("train") == files(tmp_path / "here")


@pytest.mark.full
def test_engines_pack_with_the_program_and_show_no_secrets(store, videos, tmp_path, monkeypatch):
    """What tasks on other nodes do."""
    commands, start = [], vidrec._program.subprocess.Popen
    monkeypatch.setattr(vidrec._program.subprocess, "Popen", lambda command, **more: commands.append(command) or start(command, **more))
    given = {"frames": 3, "shards": 2, "scratch": store.scratch, "threads": 1, "storage_options": store.options, "isolate": False}
    of_plan, of_part, of_storage = _parts.divided(given)
    assert (of_plan, set(of_part), set(of_storage)) == ({"frames": 3, "shards": 2}, {"scratch", "threads", "isolate"}, {"storage_options"})
    plan = store.location("train")
    assert _parts.plan([videos], plan, of_plan, of_storage).parts == 2
    for part in (1, 0):
        assert _parts.pack_part(plan, part, of_part, of_storage).failed == 0
    assert _parts.status(plan, of_storage).done == 2 and _parts.publish(plan, False, of_storage).clips == 12
    vidrec.pack(videos, tmp_path / "whole", shards=2, frames=3)
    assert store.open("train").fingerprint == vidrec.open(tmp_path / "whole").fingerprint
    assert len(commands) == 5 and SECRET not in str(commands)


def test_what_makes_no_sense_is_refused(store, train, videos, tmp_path):
    there = {"storage_options": store.options}
    for call, what in [
        (lambda: vidrec.merge([train], store.location("train"), append=True, **there), "in local folders only"),
        (lambda: vidrec.push(train, tmp_path / "copy"), "local folder"),
        (lambda: vidrec.pack(videos, tmp_path / "out", scratch=tmp_path), "^scratch needs an output"),
        (lambda: vidrec.subset(train, store.location("out"), storage_options={"colour": SECRET}), "colour"),
    ]:
        with pytest.raises(vidrec.UsageError, match=what) as error:
            call()
        assert SECRET not in str(error.value)
    assert not list(store.bucket.iterdir()) and not (tmp_path / "out").exists()
