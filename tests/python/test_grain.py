"""Single samples for Grain. The page docs/frameworks/jax.md runs its pipelines with them."""
import pickle

import numpy as np

import vidrec
from vidrec.grain import Source

OPTIONS = dict(crop=vidrec.RandomResizedCrop(32), flip=0.5, seed=3)


def whole(ds, epoch):
    """All samples of an epoch, as the loader gives them."""
    return vidrec.Loader(ds, 12, output="numpy", **OPTIONS).batch(epoch, 0)


def test_samples_are_those_of_the_loader(ds):
    source = Source(ds, **OPTIONS)
    assert len(source) == 12
    for index in (0, 7, 11):
        for sample, epoch in ((source[index], 0), (source.sample(np.int64(index), np.int64(5)), 5)):
            batch = whole(ds, epoch)
            assert isinstance(sample["frames"], np.ndarray) and set(sample) == {"frames", "label", "frame_mask"}
            np.testing.assert_array_equal(sample["frames"], batch.frames[index])
            assert sample["label"] == batch.labels[index]
    assert not np.array_equal(source.sample(7, 1)["frames"], source[7]["frames"]), "each epoch draws other crops"
    np.testing.assert_array_equal(source[-1]["frames"], source[11]["frames"])


def test_fields_come_beside_the_frames(ds):
    sample = Source(ds, crop=32, fields=["video.codec", "video.frames"])[3]
    assert sample["fields"] == {"video.codec": "h264", "video.frames": 12}


def test_it_goes_to_another_process_and_tells_data_sets_apart(ds):
    source = Source(ds, **OPTIONS)
    sent = pickle.loads(pickle.dumps(source))
    np.testing.assert_array_equal(sent[5]["frames"], source[5]["frames"])
    assert repr(sent) == repr(source) == repr(Source(ds, **OPTIONS))
    assert repr(source) != repr(Source(ds.select(range(1, 12)) + ds[:1], **OPTIONS)), "other clips, as many"
