"""MosaicML streaming on what vidrec writes. In a process of its own, because of the stubs."""
import numpy as np
import stubs
from conftest import FRAMES, clips, rgb, run

stubs.install()
import streaming  # noqa: E402


def test_streaming_reads_every_sample(packed, tmp_path):
    run("export", "mds", packed, "-o", tmp_path / "out", "--shard-size", "1")
    dataset, expected = streaming.LocalDataset(str(tmp_path / "out")), clips(packed)
    assert len(dataset) == len(expected)
    for n, (source, label, name, attributes, jpegs) in enumerate(expected):
        sample = dataset[n]
        assert (sample["clip"], sample["source"], sample["label"], sample["class"]) == (n, source, label, name)
        assert sample["attributes"] == attributes and len(sample["pts_seconds"]) == FRAMES
        assert all(np.array_equal(np.asarray(image), rgb(picture)) for image, picture in zip(sample["frames"], jpegs))
        stored = dataset.shards[0].get_sample_data(n)
        assert b"".join(jpegs) in stored, "byte for byte"


def test_streaming_reads_every_track(tracked, tmp_path):
    path, expected = tracked
    run("export", "mds", path, "-o", tmp_path / "out")
    dataset = streaming.LocalDataset(str(tmp_path / "out"))
    assert len(dataset) == len(expected)
    for n, tracks in enumerate(expected):
        sample = dataset[n]
        assert np.array_equal(sample["track.action"], tracks["track.action"])
        assert np.array_equal(sample["track.point"], tracks["track.point"])
        assert np.array_equal(sample["track.point.times_ns"], tracks["track.point.times"])
        assert sample["track.Caption"] == tracks.get("track.caption", [])
        assert np.array_equal(sample["track.Caption.times_ns"], tracks.get("track.caption.times", np.zeros(0)))
        said = {track["name"]: track for track in sample["tracks"]}
        assert said.keys() == ({"action", "point"} if n == 1 else {"action", "point", "Caption"})
        assert (said["action"]["rate"], said["action"]["first_ns"], said["action"]["count"]) == ([50, 1], 0, 50)
