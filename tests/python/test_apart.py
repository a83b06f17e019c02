"""A loader in a process of its own: the same batches, and what happens when either process ends."""
import gc
import os
import pickle
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
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


def test_memory_is_used_again_but_not_what_a_loop_keeps(ds):
    loader = make(ds, 1, prefetch=2)
    first = next(iter(loader))
    kept, before = first.frames[:, :1, :, ::2], first.frames[:, :1, :, ::2].copy()
    del first
    for _ in range(4):
        for batch in loader:
            batch.frames.sum()
    del batch
    gc.collect()
    next(iter(loader))
    # Those that are made ahead, the one that the loop has, the one that it had, and what is kept.
    assert loader._engine._other._slots <= 5 and np.array_equal(kept, before)


def test_loops_at_the_same_time_and_loops_that_stop(ds):
    loader = make(ds, 1)
    for _ in range(3):
        next(iter(loader))
    expected = [batch.frames.tobytes() for batch in make(ds, 1, process=False, shuffle=False)]
    plain = make(ds, 1, shuffle=False)
    pairs = zip(plain, plain.map(lambda batch: batch))
    assert [(a.frames.tobytes(), b.frames.tobytes()) for a, b in pairs] == [(frames, frames) for frames in expected]
    plain.set_epoch(0)
    batches = iter(plain)
    with ThreadPoolExecutor(3) as pool:
        found = pool.map(lambda _: [batch.frames.tobytes() for batch in batches], range(3))
    assert sorted(sum(found, [])) == sorted(expected)


def test_an_error_names_the_clip_and_the_next_batch_comes(damaged):
    def outcomes(process):
        batches = iter(make(damaged, 1, process=process, shuffle=False))
        for _ in range(12):
            try:
                yield next(batches).clips.tolist()
            except vidrec.Error as e:
                yield type(e), str(e), e.clip, e.file, e.rule

    found = list(outcomes(True))
    assert found == list(outcomes(False)) and sum(isinstance(each, tuple) for each in found) == 1


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


def test_no_process_imports_what_the_current_folder_has(train, tmp_path):
    """A folder of data with modules that are named as those of the standard library are."""
    ran, program = tmp_path / "ran", tmp_path / "program.py"
    (tmp_path / "data").mkdir()
    for name in ("json", "ctypes", "pickle", "signal", "socket", "mmap"):
        (tmp_path / f"data/{name}.py").write_text(f"open({os.fspath(ran)!r}, 'a').write(__name__)")
    program.write_text(f"import sys, vidrec; print(len(list(vidrec.Loader({os.fspath(train)!r}, 6, crop=32, output='numpy', process=True))))")
    run = subprocess.run([sys.executable, program], cwd=tmp_path / "data", capture_output=True, text=True, timeout=120)
    assert run.stdout == "2\n" and not ran.exists(), run.stderr
