"""Forked and spawned processes."""
import hashlib
import multiprocessing
import os
import threading

import pytest

import vidrec


def digest(loader):
    """Of a whole epoch: labels and samples."""
    found = hashlib.sha256()
    for batch in loader:
        found.update(batch.frames.tobytes() + batch.labels.tobytes())
    return found.hexdigest()


def make(path_or_ds, **options):
    return vidrec.Loader(path_or_ds, 4, **{"crop": 32, "shuffle": True, "output": "numpy", "threads": 2, **options})


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_loader_works_in_other_processes(train, method):
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(digest, [make(train)] * 2, 1) == [digest(make(train))] * 2


@pytest.mark.filterwarnings("ignore:This process")
def test_what_a_fork_inherits_is_refused_and_let_go_without_waiting(train):
    loader = make(train)
    batches = iter(loader)
    held = next(batches)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            next(batches)
        except vidrec.UsageError:
            copy = held.frames.copy()
            del batches, held
            os.write(write, b"y" if copy.any() and digest(loader) else b"n")
        os._exit(0)
    os.close(write)
    timer = threading.Timer(60, os.kill, (child, 9))
    timer.start()
    _, status = os.waitpid(child, 0)
    timer.cancel()
    assert (status, os.read(read, 1)) == (0, b"y")
    assert len(list(batches)) == 2, "the parent goes on"
