"""The batches at the end of an epoch: smaller, by default, and how the clips of all ranks come to count the same."""
import pickle

import numpy as np
import pytest

import vidrec


def make(ds, batch_size, **options):
    return vidrec.Loader(ds, batch_size, **{"crop": 32, "output": "numpy", **options})


def test_clips_that_ranks_cannot_share_are_named(ds):
    with pytest.warns(vidrec.LoaderWarning, match="2 of 12 samples are in no batch of an epoch"):
        loader = make(ds, 1, rank=(0, 5))
    assert len(loader) == 2
    with pytest.raises(vidrec.UsageError, match="fewer samples than ranks"):
        make(ds, 1, rank=(0, 13))


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
