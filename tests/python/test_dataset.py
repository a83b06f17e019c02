"""Data sets and clips."""
import io
import pickle
from fractions import Fraction

import numpy as np
import pytest
from PIL import Image
from reader import open_dataset

import vidrec


def sources(clips):
    return [clip.source for clip in clips]


def test_it_says_what_the_plain_reader_says(train, ds):
    plain = open_dataset(train)
    assert (len(ds), ds.classes, ds.frame_count) == (len(plain), ["left", "right"], 96)
    for clip, other in zip(ds, plain.clips):
        assert (clip.source, clip.label, clip.class_name) == (other.source, other.label, other.class_name)
        assert (clip.size, clip.time_base) == ((other.width, other.height), Fraction(*other.time_base))
        assert clip.pts.tolist() == [frame.pts for frame in other.frames]
        assert clip.source_indices == [frame.source_index for frame in other.frames]
        assert np.allclose(clip.pts_seconds, clip.pts * float(clip.time_base))
        assert [clip.jpeg(t) for t in range(len(clip))] == [other.jpeg(t) for t in range(len(other.frames))]
        assert isinstance(clip.attributes, dict)
    assert ds.labels.tolist() == [0] * 6 + [1] * 6


def test_pixels_are_those_of_pillow(ds):
    clip = ds[3]
    expected = np.stack([np.asarray(Image.open(io.BytesIO(clip.jpeg(t)))) for t in range(len(clip))])
    assert np.array_equal(clip.frames(), expected)
    assert np.array_equal(clip.frames([-1, 2]), expected[[7, 2]])
    assert clip.frames([]).shape == (0, 72, 96, 3)
    clip.frames()[:] = 0
    assert np.array_equal(clip.frames(), expected), "writable, and nobody else's"


def test_indices_are_pythons(ds):
    assert ds[-1].source == ds[11].source == "right/b.mp4"
    assert sources(ds[2:8:3]) == ["left/2.mp4", "left/5.mp4"]
    assert sources(ds[::-1])[0] == "right/b.mp4"
    for bad in (12, -13):
        with pytest.raises(IndexError):
            ds[bad]
    with pytest.raises(IndexError):
        ds[0].jpeg(8)
    with pytest.raises(TypeError):
        ds["0"]
    assert ds[np.int64(3)].index == 3
    assert len(list(ds)) == 12


def test_selections_and_joins(ds):
    assert sources(ds.select([5, 0, 5])) == ["left/5.mp4", "left/0.mp4", "left/5.mp4"]
    right = ds.filter(lambda clip: clip.label == 1)
    assert len(right) == 6 and right.labels.tolist() == [1] * 6
    assert right[0].index == 0 and right.select(np.array([1]))[0].source == "right/7.mp4"
    assert sources(right[:1] + ds[:1]) == ["right/6.mp4", "left/0.mp4"]
    assert len(ds.select([])) == 0
    for bad in ([12], [-1], [0.5], np.ones(12, bool), [[1]]):
        with pytest.raises(vidrec.UsageError):
            ds.select(bad)


def test_parts_of_a_split_keep_groups_together(ds):
    groups = ds.split(0.5, by=lambda clip: clip.index // 3)
    together = [{int(clip.source[-5], 16) // 3 for clip in part} for part in groups]
    assert [len(part) for part in groups] == [6, 6] and not together[0] & together[1]
    for bad in [(0.8, 0.3), (), (-0.5,), (float("nan"),)]:
        with pytest.raises(vidrec.UsageError):
            ds.split(*bad)


def test_it_is_pickled_by_its_path(train, ds, monkeypatch):
    monkeypatch.chdir(train.parent)
    some = vidrec.open("train").select([3, 1]) + vidrec.open("train")
    monkeypatch.chdir("/")
    for dataset in (ds, some, some[1:4]):
        other = pickle.loads(pickle.dumps(dataset))
        assert sources(other) == sources(dataset) and other.fingerprint == dataset.fingerprint
    assert len(pickle.dumps(ds)) < 1000
    assert pickle.loads(pickle.dumps(some[0])).source == some[0].source


def test_errors_know_their_place(damaged, train, tmp_path):
    with pytest.raises(vidrec.FormatError) as caught:
        vidrec.open(damaged)[5].frames()
    e = caught.value
    assert (e.clip, e.frame, e.rule) == (5, 3, "jpeg-crc") and "shard-00000-" in e.file and e.offset > 0
    again = pickle.loads(pickle.dumps(e))
    assert type(again) is type(e) and str(again) == str(e) and vars(again) == vars(e)
    with pytest.raises(vidrec.FileError) as caught:
        vidrec.open(tmp_path / "nothing")
    assert isinstance(caught.value, (OSError, vidrec.Error)) and "nothing" in str(caught.value)
    with pytest.raises(ValueError):
        vidrec.open(train, io="floppy")
    # As a DataLoader raises it anew: from the message alone.
    assert str(vidrec.FormatError("message")) == "message"
