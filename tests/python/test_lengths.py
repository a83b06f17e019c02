"""Batches of clips that differ in length and shape, and what comes with a batch."""

import copy
import json
import pickle
import re
import warnings

import numpy as np
import pytest
from conftest import make_videos

import vidrec
from vidrec import AllFrames, Buckets

LENGTHS = [5, 20, 10, 15]


@pytest.fixture(scope="module")
def varied(tmp_path_factory):
    """Clips of 5, 20, 10 and 15 frames at 10 a second, two of them upright, with captions and scores."""
    root, sources = tmp_path_factory.mktemp("varied"), {}
    with open(root / "list.jsonl", "w") as file:
        for i, length in enumerate(LENGTHS):
            size = "96x72" if i % 2 else "72x96"
            source = f"gradients=size={size}:rate=10:duration={length / 10}:seed={i}:c0=orange:c1=navy"
            sources[root / f"{i}.mp4"] = [source]
            row = {"path": f"{i}.mp4", "label": i % 2, "caption": f"caption {i}", "number": 7 + i}
            file.write(json.dumps(row if i == 2 else {**row, "score": i / 2}) + "\n")
    make_videos(sources)
    vidrec.pack(root / "list.jsonl", root / "set", frames=vidrec.Fps(10))
    return root / "set"


def loader(path, *args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return vidrec.Loader(path, *args, **{"crop": 32, "output": "numpy", **options})


@pytest.mark.parametrize("output", ["numpy", "torch"])
def test_attributes_and_sources_come_with_the_batch(varied, output):
    if output == "torch":
        pytest.importorskip("torch")
    fields = ["caption", "score", "number", "video.codec"]
    batch = next(iter(loader(varied, 4, frames=AllFrames(), fields=fields, output=output)))
    assert batch.fields["caption"] == [f"caption {i}" for i in range(4)]
    assert batch.fields["video.codec"] == ["h264"] * 4
    assert batch.sources == [f"{i}.mp4" for i in range(4)]
    scores, numbers = batch.fields["score"], batch.fields["number"]
    assert str(scores.dtype).endswith("float64") and str(numbers.dtype).endswith("int64")
    np.testing.assert_array_equal(np.asarray(scores), [0, 0.5, np.nan, 1.5])
    assert np.asarray(numbers).tolist() == [7, 8, 9, 10]
    again = pickle.loads(pickle.dumps(batch))
    assert again.sources == batch.sources and again.fields["caption"] == batch.fields["caption"]
    assert (np.asarray(again.frame_mask) == np.asarray(batch.frame_mask)).all() and len(copy.copy(batch)) == 4


def test_a_function_makes_what_the_loop_gets(varied):
    plain = loader(varied, 2, frames=AllFrames())
    made = plain.map(lambda batch: (batch.frames.shape[1], batch.sources))
    assert list(made) == [(20, ["0.mp4", "1.mp4"]), (15, ["2.mp4", "3.mp4"])]
    assert made.batch(0, 1) == (15, ["2.mp4", "3.mp4"])
    assert made.epoch == 1 and plain.epoch == 0, "each has its own loops"
    assert list(made.map(lambda pair: pair[0])) == [20, 15] and len(next(iter(plain))) == 2

    def fails(batch):
        return batch.fields["nothing"]

    batches = iter(plain.map(fails))
    with pytest.raises(vidrec.MapError, match=r"batch 0 of epoch 1 \(clips 0, 1\): KeyError"):
        next(batches)
    with pytest.raises(vidrec.MapError, match=r"batch 1 of epoch 1 \(clips 2, 3\)"):
        next(batches)
    with pytest.raises(StopIteration):
        next(batches)


@pytest.mark.parametrize("layout", ["BTCHW", "BCTHW", "channels_last_3d"])
def test_memory_of_ones_own_holds_batches_of_all_shapes(varied, layout):
    wanted = [batch.frames.copy("K") for batch in loader(varied, 2, frames=AllFrames(), layout=layout)]
    memory = np.empty(loader(varied, 2, frames=AllFrames(), layout=layout).shape, np.uint8)
    if layout == "channels_last_3d":
        memory = np.empty((2, 20, 32, 32, 3), np.uint8).transpose(0, 4, 1, 2, 3)
    for batch, frames in zip(loader(varied, 2, frames=AllFrames(), layout=layout, output=memory), wanted):
        assert np.array_equal(batch.frames, frames) and np.shares_memory(batch.frames, memory)
        assert batch.frames.strides == frames.strides
    assert len({frames.shape for frames in wanted}) == 2


def test_what_ranks_cannot_share_is_told_of_each_epoch_of_a_mix(varied):
    """Each epoch of a mix has other clips, so other numbers of them remain in the buckets."""
    mixed = vidrec.mix({"a": (varied, 0.6), "b": (varied, 0.4)}, samples_per_epoch=9)
    options = dict(frames=AllFrames(), batching=Buckets([5, 10, 20]), crop=32, output="numpy")
    missing, told = [9] * 4, [0] * 4
    for rank in range(5):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            of = vidrec.Loader(mixed, 2, rank=(rank, 5), **options)
            for epoch in range(4):
                missing[epoch] -= sum(len(batch) for batch in of)
                texts = [re.match(r"(\d+) of 9 samples are in no batch", str(warning.message)) for warning in found]
                told[epoch] = max((int(text[1]) for text in texts if text), default=0)
        assert of.stats().samples_left_out == told[-1]
    assert told == [max(missing[: epoch + 1]) for epoch in range(4)] and max(told) > 0
