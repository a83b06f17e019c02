"""The servers serve what was stored, and vidrec reads it from there as from the disk."""
import itertools
import json
import os
import subprocess

import pytest

from program import built

def test_ranges_of_all_files_are_as_stored(stored):
    for name, content in stored.files.items():
        end = len(content) - 1
        for first, last in [(0, 0), (0, min(99, end)), (end // 2, end), (end, end), (0, end)]:
            status, body = stored.server.read(stored.key(name), first, last)
            if stored.server.RANGES:
                assert (status, body) == (206, content[first:last + 1]), (name, first, last)
            else:
                assert (status, body) == (200, content), name


def vidrec(stored, *arguments):
    return subprocess.run([built("vidrec"), *arguments], capture_output=True, text=True, timeout=120,
                          env={**os.environ, **stored.environment})


def test_verify_reads_every_byte(stored):
    done = vidrec(stored, "verify", "--deep", stored.location)
    if stored.server.RANGES:
        assert done.returncode == 0, done.stderr
    else:
        assert done.returncode != 0 and "range" in done.stderr, done.stderr


def test_inspect_says_the_same_as_of_the_local_data_set(stored):
    if not stored.server.RANGES:
        pytest.skip("not asked for: this server has no ranges")
    for options in [("--json",), ("--json", "--clip", "3")]:
        far = vidrec(stored, "inspect", stored.location, *options)
        assert far.returncode == 0, far.stderr
        near = json.loads(vidrec(stored, "inspect", stored.local, *options).stdout)
        assert same(json.loads(far.stdout), stored) == same(near, stored)


def same(report, stored):
    """A report without where the data set is."""
    text = json.dumps(report)
    return json.loads(text.replace(stored.location, "SET").replace(json.dumps(str(stored.local))[1:-1], "SET"))


@pytest.mark.parametrize("shuffle", [False, True])
def test_batches_equal_local_ones(stored, shuffle, monkeypatch):
    package = pytest.importorskip("vidrec", reason="not asked for: the stage 'package' builds the Python package")
    np = pytest.importorskip("numpy")
    if not stored.server.RANGES:
        pytest.skip("not asked for: this server has no ranges")
    for name, value in stored.environment.items():
        monkeypatch.setenv(name, value)
    # One order for both; data sets on servers may default to another.
    options = {"batch_size": 2, "frames": 4, "crop": package.RandomResizedCrop(56), "flip": 0.5, "seed": 7,
               "order": package.Shuffled() if shuffle else None}
    far, near = (package.Loader(str(path), **options) for path in (stored.location, stored.local))
    for _ in range(2):
        batches = 0
        for a, b in itertools.zip_longest(far, near):
            assert np.array_equal(a.frames, b.frames) and np.array_equal(a.labels, b.labels)
            assert np.array_equal(a.clips, b.clips) and a.epoch == b.epoch
            batches += 1
        assert batches == len(near) > 1


@pytest.mark.parametrize("server", ["s3"], indirect=True)
def test_no_secret_is_said(stored):
    done = vidrec(stored, "inspect", stored.server.location("missing"), "--json")
    assert done.returncode != 0
    assert stored.environment["AWS_SECRET_ACCESS_KEY"] not in done.stdout + done.stderr
