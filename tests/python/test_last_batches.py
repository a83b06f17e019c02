"""The batches at the end of an epoch: smaller, by default, and how the clips of all ranks come to count the same."""
import pickle

import numpy as np
import pytest

import vidrec


def make(ds, batch_size, **options):
    return vidrec.Loader(ds, batch_size, **{"crop": 32, "output": "numpy", **options})


def clips(batches):
    return [batch.clips.tolist() for batch in batches]


def test_the_last_batch_is_smaller(ds):
    loader = make(ds, 5)
    batches = list(loader)
    assert clips(batches) == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9], [10, 11]] and len(loader) == 3
    assert loader.shape == (5, 8, 3, 32, 32)
    last = batches[-1]
    assert last.frames.shape == (2, 8, 3, 32, 32) and len(last) == len(last.params) == len(last.sources) == 2
    assert last.labels.shape == last.mask.shape == (2,) and last.mask.all()
    assert last.frame_mask.shape == last.times.shape == (2, 8)
    assert np.array_equal(last.frames, make(ds, 12).batch(0, 0).frames[10:])
    assert clips(make(ds, 12)) == [list(range(12))], "and none is empty"


@pytest.mark.parametrize(("world", "batch_size"), [(2, 2), (2, 5), (5, 2), (7, 3), (12, 1)])
def test_ranks_have_as_many_batches_and_each_clip_comes_once(ds, world, batch_size):
    for epoch in range(2):
        ranks = [make(ds, batch_size, rank=(rank, world), shuffle=True) for rank in range(world)]
        for rank in ranks:
            rank.set_epoch(epoch)
        steps = list(zip(*ranks))
        assert {len(rank) for rank in ranks} == {len(steps)} == {-(-12 // (world * batch_size))}
        assert all(1 <= len(batch) <= batch_size and batch.mask.all() for step in steps for batch in step)
        assert sorted(clip for step in steps for batch in step for clip in batch.clips.tolist()) == list(range(12))
        for step in steps:
            assert {batch.clips_on_all_ranks for batch in step} == {sum(map(len, step))}


def test_clips_that_ranks_cannot_share_are_named(ds):
    with pytest.warns(vidrec.LoaderWarning, match="2 of 12 samples are in no batch of an epoch"):
        loader = make(ds, 1, rank=(0, 5))
    assert len(loader) == 2
    with pytest.raises(vidrec.UsageError, match="fewer samples than ranks"):
        make(ds, 1, rank=(0, 13))


def test_memory_of_ones_own_is_filled_from_its_start(ds):
    own = [np.zeros((5, 8, 3, 32, 32), np.uint8) for _ in range(2)]
    expected = list(make(ds, 5))
    for batch, same in zip(make(ds, 5, output=own), expected):
        memory = own[batch.number % 2]
        assert batch.frames is memory if len(batch) == 5 else batch.frames.base is memory
        assert np.array_equal(batch.frames, same.frames)
    last_3d = np.zeros((5, 8, 32, 32, 3), np.uint8).transpose(0, 4, 1, 2, 3)
    *_, batch = make(ds, 5, layout="channels_last_3d", output=last_3d)
    assert np.array_equal(batch.frames, expected[-1].frames.transpose(0, 2, 1, 3, 4))


def test_single_samples_are_all_of_them(ds):
    from vidrec.grain import Source

    assert len(Source(ds, crop=32)) == 12


@pytest.mark.parametrize("last", ["keep", "pad", "wrap", "drop"])
@pytest.mark.parametrize(("world", "batch_size"), [(1, 5), (5, 2)])
def test_the_mean_over_ranks_is_the_mean_over_clips(ds, last, world, batch_size):
    ranks = [make(ds, batch_size, rank=(rank, world), last=last) for rank in range(world)]
    for step in zip(*ranks):
        losses = [np.where(batch.mask, batch.clips.astype(np.float64) ** 2, np.nan) for batch in step]
        found = np.mean([batch.mean(each) for batch, each in zip(step, losses)])
        assert np.isclose(found, np.nanmean(np.concatenate(losses)))


def test_a_batch_without_a_clip_that_counts_has_mean_0(ds):
    batch = make(ds, 4, rank=(1, 2), last="pad").batch(0, 1)
    assert not batch.mask.any() and batch.mean(np.full(4, np.nan)) == 0 and batch.clips_on_all_ranks == 4


def test_a_mean_is_of_one_loss_for_each_clip(ds):
    batch = make(ds, 4).batch(0, 0)
    with pytest.raises(vidrec.UsageError, match=r"of shape \(4,\), found shape \(\); .*reduction=\"none\""):
        batch.mean(np.array(1.0))
    assert pickle.loads(pickle.dumps(batch)).mean(np.arange(4.0)) == 1.5


def test_gradients_flow_to_the_clips_that_count(ds):
    torch = pytest.importorskip("torch")
    batch = vidrec.Loader(ds, 5, crop=32, last="pad", output="torch").batch(0, 2)
    losses = torch.tensor([1.0, 3.0, float("nan"), 7.0, float("inf")], requires_grad=True)
    mean = batch.mean(losses)
    assert mean.item() == 2.0
    mean.backward()
    assert losses.grad.tolist() == [0.5, 0.5, 0.0, 0.0, 0.0]
    assert batch.to(torch.float16).mean(torch.arange(5.0)).item() == 0.5
