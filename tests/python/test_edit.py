"""Data sets out of data sets: Python and the program choose the same clips, and write the same files."""
import csv
import json
import shutil
import signal
import subprocess
import sys

import pytest
from programs import files, program

import vidrec


def clips(ds):
    return [(clip.source, clip.label, clip.pts.tolist(), clip.jpeg(0)) for clip in ds]


@pytest.fixture(scope="module")
def segments(videos, tmp_path_factory):
    """The path of a data set of 36 clips, three of each of 12 videos, in two classes and without one."""
    folder = tmp_path_factory.mktemp("segments")
    with open(folder / "list.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["path", "label", "start", "end", "weather"])
        for i, video in enumerate(sorted(videos.glob("*/*.mp4"))):
            label = "" if i % 4 == 3 else video.parent.name
            for k in range(3):
                rows.writerow([video.relative_to(videos), label, k / 3, (k + 1) / 3, "sun" if (i + k) % 3 else "rain"])
    report = vidrec.pack(folder / "list.csv", folder / "set", root=videos, frames=1, size=(24, 32))
    assert (report.clips, report.failed) == (36, 0)
    return folder / "set"


@pytest.mark.parametrize(
    "ratio, seed, stratify, keep_sources", [((0.8, 0.1, 0.1), 0, True, True), ((0.75, 0.25), 7, False, True), ((0.34, 0.33, 0.33), 7, True, False)]
)
def test_the_program_and_python_split_alike(segments, tmp_path, ratio, seed, stratify, keep_sources):
    flags = ["--no-stratify"] * (not stratify) + ["--no-keep-sources"] * (not keep_sources)
    names = ["a", "b", "c"][: len(ratio)]
    shares = ",".join(map(str, ratio))
    program("split", segments, "-o", tmp_path, "--ratio", shares, "--names", ",".join(names), "--seed", seed, *flags)
    written = [clips(vidrec.open(tmp_path / name)) for name in names]
    ds = vidrec.open(segments)
    # What is left makes the last part.
    for fractions in (ratio, ratio[:-1]):
        views = ds.split(*fractions, seed=seed, stratify=stratify, keep_sources=keep_sources)
        assert [clips(view) for view in views] == written
    assert sorted(sum(written, [])) == sorted(clips(ds))
    sources = [{source for source, *_ in part} for part in written]
    if keep_sources:
        assert sum(map(len, sources)) == len(set.union(*sources)) == 12


def test_lists_with_clips_that_are_not_there_warn_or_are_refused(segments, tmp_path):
    (tmp_path / "list.txt").write_text("left/4.mp4\nnone.mp4\n")
    # What only looks at a data set warns; what writes one refuses.
    program("subset", segments, "-o", tmp_path / "out", "--list", tmp_path / "list.txt", status=1)
    listed = ["left/4.mp4", "none.mp4"]
    with pytest.raises(vidrec.UsageError, match="no clip of the data set comes from .none.mp4."):
        vidrec.subset(segments, tmp_path / "out", clips=listed)
    with pytest.warns(UserWarning, match="not in the data set: none.mp4"):
        assert len(vidrec.open(segments).subset(clips=listed)) == 3


@pytest.mark.parametrize(
    ("options", "flags"),
    [
        ({"where": {"weather": "rain"}, "sample": 4, "seed": 3}, "--where weather=rain --sample 4 --seed 3".split()),
        ({"clips": range(3, 9), "classes": ["left", "right"]}, "--clips 3-8 --class left --class right".split()),
    ],
)
def test_subsets_are_those_of_the_program(segments, tmp_path, options, flags):
    program("subset", segments, "-o", tmp_path / "program", *flags)
    report = vidrec.subset(segments, tmp_path / "python", **options)
    view = vidrec.open(segments).subset(**options)
    assert files(tmp_path / "python") == files(tmp_path / "program")
    assert 0 < len(view) == report.clips and clips(view) == clips(vidrec.open(tmp_path / "python"))


def test_data_sets_are_written(train, damaged, tmp_path):
    calls = []
    parts = vidrec.split(train, tmp_path / "parts", ratios=[0.5, 0.5], seed=3, progress=lambda *call: calls.append(call))
    assert [part.clips for part in parts] == [6, 6] and calls[-1] == (12, 12)
    merged = vidrec.merge([tmp_path / "parts/train", tmp_path / "parts/val"], tmp_path / "merged", shards=2)
    assert (merged.clips, merged.shards) == (12, 2)
    vidrec.merge([tmp_path / "parts/val"], tmp_path / "parts/train", append=True)
    assert clips(vidrec.open(tmp_path / "parts/train")) == clips(vidrec.open(tmp_path / "merged"))
    attributes = {"left/2.mp4": {"split": "val"}}
    vidrec.subset(train, tmp_path / "relabeled", attributes=attributes, rename_classes={"left": "up"})
    relabeled = vidrec.open(tmp_path / "relabeled")
    assert relabeled.classes == ["up", "right"] and relabeled[2].attributes["split"] == "val"
    assert all(vidrec.verify(tmp_path / made).ok for made in ("merged", "parts/train", "relabeled"))
    with pytest.raises(vidrec.FormatError, match="vidrec.verify lists what is damaged"):
        vidrec.subset(damaged, tmp_path / "no", shards=1)
    with pytest.raises(vidrec.UsageError, match="shards"):
        vidrec.subset(train, tmp_path / "no", shards=0)


PACKS = """
import signal, sys, vidrec
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a process in the background is born without
try:
    vidrec.pack(sys.argv[1], sys.argv[2], frames=2, size=(24, 32), threads=1, shards="each:5", progress=lambda done, _: print(done, flush=True))
except KeyboardInterrupt:
    sys.exit(42)
"""


def test_ctrl_c_stops_a_pack_that_can_be_resumed(videos, tmp_path):
    for i in range(600):
        video = tmp_path / "many" / f"{i % 2}" / f"{i}.mp4"
        video.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(videos / "left/0.mp4", video)
    command = [sys.executable, "-c", PACKS, tmp_path / "many", tmp_path / "set"]
    packing = subprocess.Popen(command, stdout=subprocess.PIPE)
    # A shard is complete.
    assert any(int(line) > 5 for line in packing.stdout)
    packing.send_signal(signal.SIGINT)
    packing.stdout.read()
    assert packing.wait(60) == 42
    assert not (tmp_path / "set/dataset.json").exists()
    with pytest.raises(vidrec.UsageError, match="interrupted pack"):
        vidrec.pack(tmp_path / "many", tmp_path / "set", frames=2, size=(24, 32), shards="each:5")
    options = ["--frames", "2", "--size", "32x24", "--shards", "each:5", "--if-exists", "resume", "--json"]
    report = json.loads(program("pack", tmp_path / "many", "-o", tmp_path / "set", *options).stdout)
    assert report["clips"] == 600 and 0 < report["resumed_at"] < 600
