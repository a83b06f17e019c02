"""Mixes of data sets: shares, labels, state, statistics, and what is refused."""
import itertools
import json
import pickle

import numpy as np
import pytest

import vidrec
from vidrec.results import SourceUse

# Names, weights that any ten samples have exactly.
WEIGHTS = {"left": 0.5, "right": 0.3, "few": 0.2}


@pytest.fixture
def sources(ds):
    return {"left": ds[:6], "right": ds[6:], "few": ds[:1]}


def mixed(sources, weights=WEIGHTS, **options):
    named = {name: (source, weights[name]) for name, source in sources.items()}
    return vidrec.mix(named, **{"samples_per_epoch": 30, "window": 10, **options})


def make(mix, batch_size=5, **options):
    return vidrec.Loader(mix, batch_size, **{"crop": vidrec.RandomCrop(32), "output": "numpy", "flip": 0.5, **options})


def stream(batches):
    """Source, clip, label and pixels of each sample that counts."""
    found = []
    for batch in batches:
        for i in np.flatnonzero(batch.mask):
            found.append((batch.source_names[i], int(batch.clips[i]), int(batch.labels[i]), batch.frames[i].tobytes()))
    return found


def test_a_batch_says_its_sources(sources, ds):
    mix = mixed(sources)
    batch = make(mix, crop=32, flip=0).batch(0, 1)
    assert batch.source_ids.dtype == np.int64
    for i, clip in enumerate(batch.clips):
        name, index = mix.place(int(clip))
        assert name == batch.source_names[i] == mix.names[batch.source_ids[i]]
        assert sources[name][index].source == batch.sources[i] and sources[name][index].label == batch.labels[i]
    with pytest.raises(IndexError):
        mix.place(len(mix))
    copy = pickle.loads(pickle.dumps(batch))
    assert copy.source_names == batch.source_names
    plain = vidrec.Loader(ds, 4, crop=32, output="numpy").batch(0, 0)
    assert plain.source_ids is None and plain.source_names == []


def test_a_stopped_run_gives_the_same_stream_on_any_number_of_ranks(sources):
    mix = mixed(sources, schedule=[(17, {"few": 1, "left": 1, "right": 2})])
    whole, seen, state = stream(make(mix)), [], make(mix).state_dict()
    for world_size, batches in ((2, 1), (1, 2), (3, 4)):
        ranks = [make(mix, 2, rank=(rank, world_size)) for rank in range(world_size)]
        for rank in ranks:
            rank.load_state_dict(json.loads(json.dumps(state)))
        for together in itertools.islice(zip(*ranks), batches):
            seen += stream(together)
        states = [rank.state_dict() for rank in ranks]
        assert all(other == states[0] for other in states)
        state, counts = states[0], ranks[0].stats().sources
        assert {name: count.samples for name, count in counts.items()} == {name: [s[0] for s in seen].count(name) for name in WEIGHTS}
    assert seen == whole and len(seen) == 30


def test_statistics_say_epochs(sources):
    loader = make(mixed(sources))
    assert loader.stats().sources["left"] == SourceUse(samples=0, epochs=0.0)
    list(loader)
    assert loader.stats().sources == {
        "left": SourceUse(samples=15, epochs=2.5),
        "right": SourceUse(samples=9, epochs=1.5),
        "few": SourceUse(samples=6, epochs=6.0),
    }
    assert vidrec.Loader(sources["left"], 2, crop=32).stats().sources is None


@pytest.mark.parametrize(
    ("match", "weights", "options"),
    [
        ("weight of 'few'", {**WEIGHTS, "few": "many"}, {}),
        ("no weight is positive", dict.fromkeys(WEIGHTS, 0), {}),
        ('no source "huge"', WEIGHTS, {"schedule": [(5, {**WEIGHTS, "huge": 1})]}),
        ("schedule", WEIGHTS, {"schedule": [(-5, WEIGHTS)]}),
        ("window", WEIGHTS, {"window": 0}),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(sources, match, weights, options):
    with pytest.raises(vidrec.UsageError, match=match):
        mixed(sources, weights, **options)
    for wrong, words in (({"left": sources["left"]}, "a data set and a weight"), ({}, "no sources")):
        with pytest.raises(vidrec.UsageError, match=words):
            vidrec.mix(wrong)
    with pytest.raises(vidrec.UsageError, match="flip"):
        own_mix(sources, flip=2)
    with pytest.raises(vidrec.UsageError, match="order"):
        make(mixed(sources), order=[1, 2])


OWN = {"frames": 2, "crop": vidrec.CenterCrop(32), "flip": 0.0, "normalize": vidrec.Normalize(mean=0.5, std=0.5)}


def own_mix(sources, **own):
    few = vidrec.Source(sources["right"], 0.4, **{**OWN, **own})
    return vidrec.mix({"left": (sources["left"], 0.6), "right": few}, samples_per_epoch=20, window=5)


def test_a_source_has_options_of_its_own(sources):
    options = {"dtype": "float32", "normalize": vidrec.IMAGENET}
    mix = own_mix(sources)
    alone = vidrec.Loader(sources["right"], 1, **{**options, **OWN}, output="numpy")
    expected = {int(batch.clips[0]): batch.frames[0] for batch in alone}
    assert len(expected) == len(sources["right"])
    seen = 0
    for batch in make(mix, frames=4, **options):
        for i, name in enumerate(batch.source_names):
            if name == "right":
                assert batch.frame_mask[i].tolist() == [True, True, False, False] and not batch.frames[i, 2:].any()
                assert (batch.frames[i, :2] == expected[mix.place(batch.clips[i])[1]]).all()
                seen += 1
    assert seen == 8
    copy = pickle.loads(pickle.dumps(mix))
    assert stream(make(copy, frames=4, **options)) == stream(make(mix, frames=4, **options))
    state = make(mix, frames=4, **options).state_dict()
    with pytest.raises(vidrec.UsageError, match="own"):
        make(own_mix(sources, flip=0.5), frames=4, **options).load_state_dict(state)


def test_a_mix_can_be_sent_to_another_process(sources, train):
    mix = mixed({"left": sources["left"], "all": train}, {"left": 1, "all": 2}, schedule=[(9, {"left": 1, "all": 1})])
    copy = pickle.loads(pickle.dumps(mix))
    assert repr(copy) == repr(mix) == "<vidrec.Mix of left, all: 18 clips>"
    loader = make(mix, shuffle=True)
    assert stream(make(copy)) == stream(loader) == stream(pickle.loads(pickle.dumps(make(mix))))


def test_torch_gets_tensors(sources):
    torch = pytest.importorskip("torch")
    batch = next(iter(make(mixed(sources), output="torch")))
    assert batch.source_ids.dtype == torch.int64 and batch.to("cpu").source_names == batch.source_names
