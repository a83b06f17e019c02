"""Batches: what is in them, whose memory they are, and in which order they come."""
import gc
import json
import os
import pickle
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

import vidrec


def make(ds, batch_size=4, **options):
    return vidrec.Loader(ds, batch_size, **{"crop": 64, "output": "numpy", **options})


def clips(batches):
    return [batch.clips.tolist() for batch in batches]


def test_a_batch_is_the_crop_of_its_clips(ds):
    for batch in make(ds, batch_size=5, last="pad"):
        for i, clip in enumerate(batch.clips):
            expected = ds[int(clip)].frames()[:, 4:68, 16:80].transpose(0, 3, 1, 2)
            assert np.array_equal(batch.frames[i], expected)
            assert batch.labels[i] == ds[int(clip)].label
            assert batch.params[i].window == (16, 4, 64, 64) and batch.params[i].frames == tuple(range(8))
    assert batch.mask.tolist() == [True, True, False, False, False]
    assert (batch.epoch, batch.number, len(batch)) == (0, 2, 5)


@pytest.mark.parametrize("layout, axes", [("BTCHW", (0, 1, 2, 3, 4)), ("BCTHW", (0, 2, 1, 3, 4)), ("BTHWC", (0, 1, 3, 4, 2))])
def test_layouts_are_the_same_samples(ds, layout, axes):
    plain = make(ds, crop=(48, 64)).batch(0, 1)
    other = make(ds, crop=(48, 64), layout=layout)
    assert np.array_equal(other.batch(0, 1).frames, plain.frames.transpose(axes))
    assert other.shape == other.batch(0, 1).frames.shape


def test_channels_last_3d_is_a_view(ds):
    batch = make(ds, layout="channels_last_3d").batch(0, 0)
    assert batch.frames.shape == (4, 3, 8, 64, 64) and batch.frames.transpose(0, 2, 3, 4, 1).flags.c_contiguous
    assert np.array_equal(batch.frames, make(ds, layout="BCTHW").batch(0, 0).frames)


def test_a_held_batch_stays_as_it_is_while_memory_of_dropped_ones_is_used_again(ds):
    loader = make(ds, batch_size=2, prefetch=3, shuffle=True)
    addresses, held = set(), []
    for epoch in range(20):
        for batch in loader:
            addresses.add(batch.frames.ctypes.data)
            if (epoch, batch.number) in {(0, 0), (3, 2), (7, 5)}:
                # A view of a part, with the batch gone, is holding too.
                held.append((batch.frames[1, 3, :, ::2], batch.frames[1, 3, :, ::2].copy()))
            if batch.number == 1:
                # Spoilt for nobody: whoever gets this memory next writes all of it.
                batch.frames[:] = 77
    assert all(np.array_equal(view, copy) for view, copy in held)
    assert {view.ctypes.data for view, _ in held} & addresses == set()
    # 120 batches; each epoch has buffers of its own, which malloc may place elsewhere.
    assert len(addresses) < 100


def test_batches_outlive_loader_and_data_set(train):
    batch = next(iter(make(vidrec.open(train))))
    expected = make(vidrec.open(train)).batch(0, 0).frames
    gc.collect()
    assert np.array_equal(batch.frames, expected)


def test_batches_are_pickled_whole(ds):
    batch = make(ds, shuffle=True, flip=0.5).batch(2, 1)
    other = pickle.loads(pickle.dumps(batch))
    assert np.array_equal(other.frames, batch.frames) and other.params == batch.params
    assert (other.epoch, other.number, other.clips.tolist()) == (2, 1, batch.clips.tolist())


@pytest.mark.parametrize("count", [1, 3])
def test_memory_of_ones_own_is_filled_in_turn_and_not_before_the_next_is_asked_for(ds, count):
    out = [np.zeros((4, 8, 3, 64, 64), np.uint8) for _ in range(count)]
    loader = make(ds, output=out, shuffle=True)
    expected = make(ds, shuffle=True)
    for epoch in range(3):
        for batch in loader:
            assert batch.frames is out[batch.number % count]
            assert np.array_equal(batch.frames, expected.batch(epoch, batch.number).frames)
    assert loader.state_dict()["epoch"] == 3


def test_memory_of_ones_own_must_fit(ds):
    good = np.zeros((4, 8, 3, 64, 64), np.uint8)
    readonly = good.copy()
    readonly.flags.writeable = False
    for bad in ([good, good], good[:2], good.astype(np.float32), np.zeros((8, 8, 3, 64, 64), np.uint8)[::2], readonly, [], 7, [good, 7]):
        with pytest.raises(vidrec.UsageError, match="loader option output"):
            iter(make(ds, output=bad))
    with pytest.raises(TypeError, match="output"):
        pickle.dumps(make(ds, output=good))


def test_each_loop_is_the_next_epoch_and_set_epoch_says_which(ds):
    loader = make(ds, shuffle=True)
    first, second = clips(loader), clips(loader)
    assert first != second and sorted(sum(first, [])) == sorted(sum(second, [])) == list(range(12))
    loader.set_epoch(0)
    assert clips(loader) == first and clips(loader) == second
    loader.set_epoch(1)
    assert clips(loader) == second
    with pytest.raises(vidrec.UsageError):
        loader.set_epoch(-1)


def test_a_run_goes_on_exactly_with_other_ranks_and_batches(ds):
    options = dict(shuffle=True, seed=5)
    whole = sum(clips(make(ds, batch_size=1, **options)), [])
    loader = make(ds, **options)
    batches = iter(loader)
    assert sum(clips([next(batches)]), []) == whole[:4]
    state = json.loads(json.dumps(loader.state_dict()))
    same = make(ds, **options)
    same.load_state_dict(state)
    assert len(same) == 3 and same.epoch == 0, "a whole epoch, as schedulers of learning rates want it"
    # What training scripts do at the head of the epoch changes nothing.
    same.set_epoch(0)
    rest = list(same)
    assert sum(clips(rest), []) == whole[4:]
    assert all(np.array_equal(a.frames, b.frames) for a, b in zip(rest, batches))
    assert len(same) == 3 and same.epoch == 1, "and then whole epochs"
    assert clips(same) == clips(loader) and same.state_dict() == loader.state_dict()
    found = []
    for rank in range(2):
        other = make(ds, batch_size=3, rank=(rank, 2), **options)
        other.load_state_dict(state)
        found += sum(clips(other), [])
    assert sorted(found) == sorted(whole[4:])
    for wrong, saved, word in ((make(ds, shuffle=True), state, "seed"), (make(ds[:6], **options), state, "data set"), (make(ds), {"epoch": 1}, "state")):
        with pytest.raises(vidrec.UsageError, match=word):
            wrong.load_state_dict(saved)


def test_an_epoch_begins_with_its_first_batch(ds):
    loader = make(ds, shuffle=True)
    expected = clips(make(ds, shuffle=True))
    iter(loader), iter(loader)
    assert loader.epoch == 0 and clips(loader) == expected
    loader.set_epoch(7)
    unused = iter(loader)
    loader.set_epoch(0)
    assert next(unused).epoch == 0


@pytest.mark.parametrize("own", [None, 8])
def test_threads_may_share_a_loop(ds, own):
    order = [i % 12 for i in range(400)]
    memory = {"output": [np.zeros((1, 1, 3, 16, 16), np.uint8) for _ in range(own)]} if own else {}
    loader = make(ds, batch_size=1, frames=1, crop=16, order=order, **memory)
    batches, found = iter(loader), []

    def take():
        found.extend((batch.number, int(batch.clips[0])) for batch in batches)

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(found) == list(enumerate(order)), "each once, with its own number"
    assert loader.epoch == 1


def test_of_two_loops_the_state_is_that_of_the_one_that_began_last(ds):
    loader = make(ds, shuffle=True)
    first = iter(loader)
    next(first)
    loader.set_epoch(0)
    second = iter(loader)
    next(first)
    next(first)
    assert loader.state_dict()["consumed"] == 0
    next(second)
    assert loader.state_dict()["consumed"] == 4
    assert next(first, None) is None and loader.epoch == 0


def test_a_bad_frame_is_an_error_in_its_place_and_the_next_batch_comes(damaged):
    for output in ("numpy", [np.zeros((4, 8, 3, 64, 64), np.uint8) for _ in range(2)]):
        batches = iter(make(vidrec.open(damaged), output=output))
        assert next(batches).clips.tolist() == [0, 1, 2, 3]
        with pytest.raises(vidrec.FormatError) as caught:
            next(batches)
        assert (caught.value.clip, caught.value.frame) == (5, 3)
        batch = next(batches)
        assert (batch.clips.tolist(), batch.number) == ([8, 9, 10, 11], 2)
        assert np.array_equal(batch.frames, make(vidrec.open(damaged)).batch(0, 2).frames)
        assert next(batches, None) is None
    loader = make(vidrec.open(damaged), on_bad_frame="substitute")
    replaced = [params for batch in loader for params in batch.params if params.instead_of is not None]
    assert [params.instead_of for params in replaced] == [5]
    assert loader.stats().substituted_clips == 1


@pytest.mark.parametrize(
    "options, name",
    [
        (dict(batch_size=0), "batch_size"),
        (dict(crop=None), "crop: expected a value, found None"),
        (dict(dtype="int8"), "dtype"),
        (dict(dtype="float32", normalize=0.5), "normalize"),
        (dict(shuffle=True, order=vidrec.Weighted([1] * 12)), "order: expected none with shuffle"),
        (dict(rank=0), "rank"),
        (dict(layout="NCTHW"), "layout: expected one of BTCHW, BCTHW, BTHWC, channels_last_3d, found 'NCTHW'"),
        (dict(last="fill"), "last: unknown variant `fill`, expected one of `keep`, `drop`, `pad`, `wrap`"),
        (dict(output="jax"), "output"),
        (dict(num_workers=2), "no option num_workers: .*threads=N"),
        (dict(collate_fn=1), r"no option collate_fn: .*loader.map\("),
    ],
)
def test_a_senseless_option_is_named(ds, options, name):
    with pytest.raises(vidrec.UsageError, match=name):
        make(ds, **options)
    with pytest.raises(TypeError, match="colour"):
        make(ds, colour=1)


WAITING = """
import os, signal, sys, threading, time, traceback, vidrec
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a process in the background is born without
order = list(range(12)) * 1000
loader = vidrec.Loader(sys.argv[1], len(order), crop=32, order=order, threads=1, output="numpy")
batches = iter(loader)
main = threading.main_thread().ident

def interrupt():
    # The loader has released the interpreter and waits when this runs while the main thread is in next().
    while "wait_for_a_batch" not in (f.f_code.co_name for f, _ in traceback.walk_stack(sys._current_frames()[main])):
        time.sleep(0.001)
    os.kill(os.getpid(), signal.SIGINT)

def wait_for_a_batch():
    next(batches)

threading.Thread(target=interrupt).start()
try:
    wait_for_a_batch()
except KeyboardInterrupt:
    print("interrupted", loader.stats().batches, flush=True)
    os._exit(0)
"""


def test_ctrl_c_interrupts_a_wait(train):
    done = subprocess.run([sys.executable, "-c", WAITING, train], capture_output=True, text=True, timeout=120)
    assert done.stdout == "interrupted 0\n", done.stderr


def test_a_state_within_a_loop_that_is_broken_off_is_told(ds):
    loader = make(ds, batch_size=2)

    def broken(at, saves):
        for batch in loader:
            if batch.number == at:
                return loader.state_dict() if saves else None

    broken(1, saves=False)
    broken(5, saves=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        broken(2, saves=True)
        loader.set_epoch(3)
        broken(2, saves=True)
    with pytest.warns(vidrec.LoaderWarning, match="middle of epoch 3.*this loop is epoch 4.*set_epoch"):
        next(iter(loader))


def test_it_counts_the_batches_that_came_before_the_run_resumed(ds):
    loader = make(ds, batch_size=2)
    batches = iter(loader)
    assert loader.batches_done == 0
    for done in range(1, 5):
        next(batches)
        assert loader.batches_done == done
    for options, before, whole in ({}, 4, 6), ({"batch_size": 4}, 2, 3), ({"rank": (1, 2)}, 2, 3):
        resumed = make(ds, **{"batch_size": 2, **options})
        resumed.load_state_dict(loader.state_dict())
        assert (resumed.batches_done, len(resumed)) == (before, whole)
        found = [resumed.batches_done for _ in resumed]
        assert found == [*range(before + 1, whole + 1)] and resumed.batches_done == 0
        next(iter(resumed))
        assert resumed.batches_done == 1


def test_a_batch_is_no_pair(ds):
    with pytest.raises(vidrec.UsageError, match=r"batch.frames, batch.labels.*loader.map"):
        for _frames, _labels in make(ds):
            pass


def test_ctrl_c_leaves_no_half_of_torch(train, tmp_path):
    (tmp_path / "torch.py").write_text("import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(0.1)\nis_whole = True\n")
    code = f"""
import signal, sys, vidrec
# What starts the tests may have them ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.path.insert(0, {os.fspath(tmp_path)!r})
try:
    vidrec.Loader({os.fspath(train)!r})
except KeyboardInterrupt:
    print(sys.modules["torch"].is_whole)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout == "True\n", run.stderr
