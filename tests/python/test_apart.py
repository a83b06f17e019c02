"""A loader in a process of its own: the same batches, and what happens when either process ends."""
import gc
import importlib.util
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import vidrec

OPTIONS = {"crop": 32, "shuffle": True, "output": "numpy", "threads": 2}


def make(ds, batch_size=2, **options):
    return vidrec.Loader(ds, batch_size, **{**OPTIONS, "process": True, **options})


def facts(batch):
    """All that a loop may read of a batch."""
    tracks = {name: (np.asarray(t).tolist(), np.asarray(batch.track_masks[name]).tolist()) for name, t in batch.tracks.items()}
    known = (batch.labels, batch.clips, batch.mask, batch.frame_mask, batch.times)
    return pickle.dumps([[np.asarray(each).tolist() for each in known], batch.sources, batch.params, batch.fields, tracks])


def child(loader):
    """The process of a loader that has begun."""
    return loader._engine._other._process


def runs(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def ends(process):
    """Waits until the process is gone."""
    for _ in range(600):
        if not runs(process):
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("dtype", ["uint8", "bfloat16"])
def test_batches_are_those_of_threads(ds, dtype):
    apart, here = make(ds, dtype=dtype), make(ds, dtype=dtype, process=False)
    for _ in range(2):
        # All are kept, which takes memory for each.
        batches, expected = list(apart), list(here)
        assert len(batches) == len(expected) > 4
        for batch, same in zip(batches, expected):
            assert batch.frames.dtype == same.frames.dtype and np.array_equal(batch.frames, same.frames)
            assert facts(batch) == facts(same)
    assert apart.state_dict() == here.state_dict() and len(apart) == len(here)
    told = apart.stats()
    assert (told.batches, told.frames) == (here.stats().batches, here.stats().frames) and told.ready == 0
    assert told.consumer_wait_seconds > 0


def test_memory_is_used_again(ds):
    loader = make(ds, 1, prefetch=2)
    for _ in range(4):
        for batch in loader:
            batch.frames.sum()
    del batch
    gc.collect()
    next(iter(loader))
    # Those that are made ahead, the one that the loop has, and the one that it had.
    assert loader._engine._other._slots <= 4


def test_what_a_loop_keeps_is_not_written_to(ds):
    loader = make(ds, 1, prefetch=2)
    for batch in loader:
        kept, before = batch.frames[:, :1, :, ::2], batch.frames[:, :1, :, ::2].copy()
        break
    del batch
    for _ in range(3):
        list(loader)
    assert np.array_equal(kept, before)


def test_loops_at_the_same_time_and_loops_that_stop(ds):
    loader = make(ds, 1)
    for _ in range(3):
        next(iter(loader))
    expected = [batch.frames.tobytes() for batch in make(ds, 1, process=False, shuffle=False)]
    plain = make(ds, 1, shuffle=False)
    pairs = zip(plain, plain.map(lambda batch: batch))
    assert [(a.frames.tobytes(), b.frames.tobytes()) for a, b in pairs] == [(frames, frames) for frames in expected]
    plain.set_epoch(0)
    batches, found, lock = iter(plain), [], threading.Lock()

    def take():
        for batch in batches:
            with lock:
                found.append(batch.frames.tobytes())

    threads = [threading.Thread(target=take) for _ in range(3)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert sorted(found) == sorted(expected)


def test_an_error_names_the_clip_and_the_next_batch_comes(damaged):
    for process in (True, False):
        batches, errors, loader = [], [], make(damaged, 1, process=process, shuffle=False)
        batches_of = iter(loader)
        while True:
            try:
                batches.append(next(batches_of).clips.tolist())
            except StopIteration:
                break
            except vidrec.Error as e:
                errors.append((type(e), str(e), e.clip, e.file, e.rule))
        if process:
            apart = batches, errors
    assert apart == (batches, errors) and len(errors) >= 1 and len(batches) >= 1


def test_a_process_that_is_killed_is_named_and_the_place_is_kept(ds):
    loader = make(ds, 1)
    batches = iter(loader)
    next(batches)
    state, process = loader.state_dict(), child(loader)
    process.send_signal(signal.SIGKILL)
    with pytest.raises(vidrec.LimitError, match=rf"pid {process.pid}\) ended by signal 9, SIGKILL"):
        for _ in range(10):
            next(batches)
            state = loader.state_dict()
    for _ in range(2):
        with pytest.raises(vidrec.LimitError):
            next(batches)
    assert loader.state_dict() == state
    # Another process resumes.
    loader.load_state_dict(state)
    rest, whole = list(loader), list(make(ds, 1, process=False))
    place = len(whole) - len(rest)
    assert place > 0 and all(np.array_equal(a.frames, b.frames) for a, b in zip(rest, whole[place:]))


def test_the_process_ends_with_the_one_that_started_it(train):
    """Also if another process, which it forked, goes on."""
    code = f"""
import os, sys, time, vidrec
loader = vidrec.Loader({os.fspath(train)!r}, 1, crop=32, output="numpy", process=True)
batches = iter(loader)
next(batches)
if os.fork() == 0:
    time.sleep(60)
print(loader._engine._other._process.pid, flush=True)
time.sleep(60)
"""
    run = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        process = int(run.stdout.readline())
        assert runs(process)
        run.kill()
        assert ends(process)
    finally:
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
        run.stdout.close()


def mapped():
    """How many batches the processes share."""
    return Path("/proc/self/maps").read_text().count("memfd:vidrec-batch")


def test_a_loader_that_is_let_go_leaves_nothing(ds):
    gc.collect()
    before = mapped()
    loader = make(ds, 1)
    batch = next(iter(loader))
    process, frames = child(loader).pid, batch.frames.copy()
    kept = batch.frames
    del loader, batch
    gc.collect()
    assert ends(process) and np.array_equal(kept, frames)
    del kept
    gc.collect()
    assert mapped() <= before


def test_ctrl_c_is_for_the_training_loop(train):
    code = f"""
import os, signal, time, vidrec
# What starts the tests may have them ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)
loader = vidrec.Loader({os.fspath(train)!r}, 1, crop=32, output="numpy", process=True)
batches = iter(loader)
next(batches)
try:
    os.killpg(0, signal.SIGINT)
    while True:
        # Another thread may have got the signal, and only this one raises.
        time.sleep(0.01)
except KeyboardInterrupt:
    print(len(list(batches)))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, start_new_session=True, timeout=120)
    assert run.returncode == 0 and int(run.stdout) == len(make(train, 1)) - 1, run.stderr


def test_it_goes_into_pinned_memory_and_memory_of_your_own(ds):
    torch = pytest.importorskip("torch")
    own = [torch.zeros(make(ds).shape, dtype=torch.uint8) for _ in range(2)]
    expected = list(make(ds, process=False))
    count = 0
    for batch, same in zip(make(ds, output=own), expected):
        assert np.array_equal(batch.frames.numpy(), same.frames) and facts(batch) == facts(same)
        assert batch.frames.data_ptr() in [tensor.data_ptr() for tensor in own]
        count += 1
    assert count == len(expected)


def test_a_batch_that_cannot_be_sent_is_an_error_and_nobody_waits_for_it():
    from vidrec._apart import serve

    sent = queue.Queue()

    class Server:
        def send(self, *message):
            if not isinstance(message[-1], vidrec.InternalError):
                raise TypeError("cannot pickle it")
            sent.put(message)

        def facts(self, batch):
            return batch

    class Batches:
        def next(self):
            return {}

    loop = serve._Loop(Server(), 3, Batches())
    loop.provide(None)
    *place, error = sent.get(timeout=60)
    loop.end()
    assert place == ["batch", 3, None] and "cannot send a batch: TypeError: cannot pickle it" in str(error)


def test_no_process_imports_what_the_current_folder_has(train, videos, tmp_path):
    """A folder of data with modules that are named as those of the standard library are."""
    folder, ran, program = tmp_path / "data", tmp_path / "ran", tmp_path / "program.py"
    folder.mkdir()
    names = getattr(sys, "stdlib_module_names", ["json", "os", "ctypes", "pickle", "signal"])
    # Others this machine does not have, and whoever tries them finds what there is.
    for name in filter(importlib.util.find_spec, names):
        (folder / f"{name}.py").write_text(f"open({os.fspath(ran)!r}, 'a').write(__name__)")
    program.write_text(
        f"""
import sys, vidrec
from vidrec import _program
# As where Python has no program.
sys.path.append("")
batches = list(vidrec.Loader({os.fspath(train)!r}, 6, crop=32, output="numpy", process=True))
packed = vidrec.pack({os.fspath(videos)!r}, "packed", frames=2, size=32)
# With processes of its own.
other = _program.report(["pack", {os.fspath(videos)!r}, "-o", "other", "--frames", "2", "--size", "32"])
print(len(batches), packed.clips, other["clips"])
"""
    )
    run = subprocess.run([sys.executable, program], cwd=folder, capture_output=True, text=True, timeout=120)
    assert run.stdout == "2 12 12\n", run.stderr
    assert not ran.exists(), ran.read_text()
