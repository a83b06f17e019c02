"""Batches of clips that differ in length and shape, and what comes with a batch."""

import copy
import json
import pickle
import re
import subprocess
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest
from conftest import make_videos

import vidrec
from vidrec import AllFrames, Buckets, FrameBudget

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


def test_clips_of_any_length_come_with_masks_and_times(varied):
    ds = vidrec.open(varied)
    found = []
    for batch in loader(ds, 2, frames=AllFrames()):
        longest = max(LENGTHS[clip] for clip in batch.clips)
        assert batch.frames.shape == (2, longest, 3, 32, 32) and batch.frame_mask.shape == batch.times.shape == (2, longest)
        for i, clip in enumerate(batch.clips):
            length = LENGTHS[clip]
            assert batch.frame_mask[i].tolist() == [True] * length + [False] * (longest - length)
            assert (batch.frames[i, length:] == 0).all() and (batch.frames[i, :length] != 0).any()
            np.testing.assert_allclose(batch.times[i, :length], ds[int(clip)].pts_seconds, rtol=0, atol=1e-9)
            assert np.isnan(batch.times[i, length:]).all()
        found += batch.clips.tolist()
    assert found == [0, 1, 2, 3]


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


def test_batches_move_with_their_fields(varied):
    torch = pytest.importorskip("torch")
    batch = next(iter(loader(varied, 4, frames=AllFrames(), fields=["caption", "score"], output="torch")))
    moved = batch.to("meta")
    tensors = [moved.frames, moved.labels, moved.frame_mask, moved.times, moved.fields["score"]]
    assert {t.device.type for t in tensors} == {"meta"} and moved.fields["caption"] is batch.fields["caption"]
    half = batch.to(torch.float16)
    assert half.frames.dtype == torch.float16 and half.times.dtype == torch.float64


def test_frames_that_are_enlarged_are_named_once(varied):
    pictures = "the frames of clip 0 are smaller than the pictures and are enlarged, from 72x96 to 75x100 pixels"
    with pytest.warns(vidrec.LoaderWarning, match=pictures) as told:
        made = vidrec.Loader(varied, 2, frames=2, crop=(100, 75), output="numpy")
        assert [len(list(made)) for _ in range(2)] == [2, 2]
    assert len(told) == 1


CHOICES = [vidrec.Uniform(10), vidrec.Random(10), vidrec.Run(10), vidrec.Run(10, at="center"), vidrec.Windows(10, hop=100)]


@pytest.mark.parametrize("frames", CHOICES, ids=repr)
def test_short_clips_are_never_silent(varied, frames):
    options = dict(batch_size=1, crop=32, output="numpy")
    for short, word in [("repeat", "repeat frames"), ("pad", "are padded"), ("skip", "are skipped")]:
        with pytest.warns(vidrec.LoaderWarning, match=f"1 of 4 clips have fewer frames than a sample and {word}"):
            made = vidrec.Loader(varied, frames=replace(frames, short=short), **options)
        stats = made.stats()
        assert (stats.short_clips, stats.skipped_clips, len(made)) == (1, short == "skip", 4 - (short == "skip"))
        if short != "skip":
            batch = made.batch(0, 0)
            assert batch.clips.tolist() == [0] and batch.frame_mask.sum() == 5
            assert (batch.frames[0, 5:] == 0).all() == (short == "pad")
    with pytest.raises(vidrec.UsageError, match="clip 0.*10 frames or more.*5 frames"):
        vidrec.Loader(varied, frames=replace(frames, short="error"), **options)


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


@pytest.mark.parametrize(
    "options, words",
    [
        (dict(frames="some"), "frames"),
        (dict(frames=4, batching=Buckets([4])), "buckets"),
        (dict(frames=AllFrames(), batching=Buckets([8])), "clip 1.*longer than the last bucket"),
        (dict(frames=AllFrames(), batching=FrameBudget(19, buckets=[20])), "one clip of 20 frames"),
        (dict(frames=AllFrames(), batching=FrameBudget(19)), "buckets"),
        (dict(frames=AllFrames(), fields=["nothing"]), "no clip has the attribute"),
        (dict(frames=AllFrames(), fields="caption"), "fields: invalid type"),
        (dict(frames=4, batch_size=1000, last="drop"), "there is no batch"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(varied, options, words):
    with pytest.raises(vidrec.UsageError, match=words):
        loader(varied, **options)


def test_a_state_of_another_order_is_refused(varied):
    state = loader(varied, 1, frames=4, shuffle=True).state_dict()
    with pytest.raises(vidrec.UsageError, match="other options: order.*Shuffled.*Sequential"):
        loader(varied, 1, frames=4).load_state_dict(state)
    with pytest.raises(vidrec.UsageError, match="other options: flip, frames"):
        loader(varied, 1, frames=5, flip=0.5, shuffle=True).load_state_dict(state)


def test_a_batch_beyond_memory_is_an_error_that_says_how_large_it_is(varied):
    code = f"""
import resource, vidrec
loader = vidrec.Loader({str(varied)!r}, 1000, frames=vidrec.Uniform(16, short="pad"), crop=512, dtype="float32", last="pad", output="numpy")
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
try:
    next(iter(loader))
except vidrec.Error as e:
    print(e)
"""
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "a batch of 1000x16x3x512x512 samples" in run.stdout and "make batches smaller" in run.stdout, run.stdout
    assert "panicked" not in run.stderr


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


def test_single_samples_have_their_own_length_and_fields(varied):
    pytest.importorskip("torch")
    from vidrec.torch import MapDataset

    samples = MapDataset(varied, frames=AllFrames(), crop=32, fields=["caption", "score"])
    frames, label, fields = samples[1]
    assert (frames.shape[0], label, fields) == (20, 1, {"caption": "caption 1", "score": 0.5})
    assert [samples[i][0].shape[0] for i in range(4)] == LENGTHS


def test_what_ranks_cannot_share_is_told_of_each_epoch_of_a_mix(varied):
    """Each epoch of a mix has other clips, so other numbers of them remain in the buckets."""
    world, samples, differing = 5, 9, 0
    for seed in range(6):
        mixed = vidrec.mix({"a": (varied, 0.6), "b": (varied, 0.4)}, samples_per_epoch=samples)
        options = dict(frames=AllFrames(), batching=Buckets([5, 10, 20]), crop=32, output="numpy", seed=seed)
        seen, told = [0] * 4, [0] * 4
        for rank in range(world):
            with warnings.catch_warnings(record=True) as found:
                warnings.simplefilter("always")
                of = vidrec.Loader(mixed, 2, rank=(rank, world), **options)
                for epoch in range(4):
                    seen[epoch] += sum(len(batch) for batch in of)
                    texts = [re.match(r"(\d+) of 9 samples are in no batch", str(warning.message)) for warning in found]
                    told[epoch] = max((int(text[1]) for text in texts if text), default=0)
            assert of.stats().samples_left_out == told[-1]
        missing = [samples - count for count in seen]
        assert told == [max(missing[: epoch + 1]) for epoch in range(4)], (seed, missing)
        differing += len(set(missing)) > 1
    assert differing
