"""vidrec reads a data set from each server as from the disk."""
import itertools

import numpy as np
import vidrec as package

from run import vidrec


def test_verify_reads_every_byte(stored):
    done = vidrec("verify", "--deep", stored.location, environment=stored.environment)
    assert done.returncode == 0, done.stderr


def test_batches_equal_local_ones_and_a_run_resumes(stored, monkeypatch):
    for name, value in stored.environment.items():
        monkeypatch.setenv(name, value)
    # One order for both; data sets on servers may default to another.
    options = {"batch_size": 2, "frames": 4, "crop": package.RandomResizedCrop(56), "flip": 0.5, "seed": 7,
               "order": package.Shuffled()}
    far, near, resumed = (package.Loader(str(path), **options) for path in (stored.location, stored.local, stored.location))
    epochs = [list(near) for _ in range(2)]
    same(far, epochs[0])
    batches = iter(far)
    same([next(batches)], epochs[1][:1])
    resumed.load_state_dict(far.state_dict())
    same(resumed, epochs[1][1:])


def same(batches, wanted):
    for a, b in itertools.zip_longest(batches, wanted):
        assert np.array_equal(a.frames, b.frames) and np.array_equal(a.labels, b.labels)
        assert np.array_equal(a.clips, b.clips) and a.epoch == b.epoch
