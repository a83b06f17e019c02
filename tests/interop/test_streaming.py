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
