"""Data sets on a web server: the same as local ones, in every process, and errors that say what is wrong."""
import pickle
import signal
import socket
import subprocess
import sys

import numpy as np
import pytest

import vidrec

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def server(serve, train):
    return serve(train.parent)


@pytest.fixture
def remote(server):
    return vidrec.open(server.url + "/train")


def clips(ds):
    return [(c.source, c.label, c.class_name, c.attributes, c.pts.tolist(), c.frames().tobytes()) for c in ds]


def test_it_is_what_the_local_one_is(ds, remote, server, train, tmp_path):
    assert (len(remote), remote.classes, remote.fingerprint) == (len(ds), ds.classes, ds.fingerprint)
    assert clips(remote) == clips(ds)
    assert clips(remote[2:9:3] + remote) == clips(ds[2:9:3] + ds)
    assert vidrec.inspect(remote) == vidrec.inspect(train) == vidrec.inspect(server.url + "/train")
    assert vidrec.verify(remote, deep=True).ok and vidrec.verify(server.url + "/train", timeout=30).ok
    with pytest.raises(vidrec.UsageError, match="selections"):
        vidrec.verify(remote[:2])
    loaders = [vidrec.Loader(each, 4, crop=48, order=vidrec.Shuffled(), output="numpy") for each in (ds, remote)]
    local, found = ([(batch.frames.tobytes(), batch.clips.tolist()) for batch in loader] for loader in loaders)
    assert found == local
    assert loaders[0].stats().remote is None and 0 < loaders[1].stats().remote.requests <= remote.remote_stats().requests
    assert vidrec.subset(server.url + "/train", tmp_path / "few", clips=[3, 4], timeout=30).clips == 2
    told = []
    report = vidrec.fetch(server.url + "/train", tmp_path / "copy", progress=lambda *call: told.append(call))
    assert (report.clips, report.kept_bytes, told[-1]) == (12, 0, (vidrec.inspect(train).bytes,) * 2)


def test_options_go_along_with_it(server, ds):
    given = {"storage_options": {"connect_timeout": "1234 seconds"}, "memory_bytes": "1MiB", "timeout": 20, "io": "read"}
    opened = vidrec.open(server.url + "/train", **given)
    part = opened[1:4]
    assert all("1234 seconds" not in repr(each) for each in (opened, part, vidrec.Loader(opened, 4)))
    again = pickle.loads(pickle.dumps(part))
    assert again._recipe[1] == opened._recipe and clips(again) == clips(ds[1:4])
    _, path, _, storage = opened._recipe
    assert (path, storage["memory_bytes"], storage["timeout"]) == (server.url + "/train", "1MiB", 20.0)


def test_errors_say_what_is_wrong_and_show_no_secret(server):
    for location, options, what in [
        (server.url + "/nothing", {}, "there is no data set here"),
        (server.url + "/train", {"timeout": -1.0}, "timeout"),
        ("http://me:hunter2@127.0.0.1:1/train", {}, "password"),
        ("s3://bucket/train", {"storage_options": {"colour": "hunter2"}}, "colour"),
    ]:
        with pytest.raises(vidrec.Error, match=what) as e:
            vidrec.open(location, **options)
        assert "hunter2" not in str(e.value)


def test_workers_read_it_too(remote, ds):
    from vidrec.torch import MapDataset

    # In use before the workers start.
    assert remote[0].jpeg(0) == ds[0].jpeg(0)

    def given(dataset, **more):
        samples = MapDataset(dataset, crop=vidrec.RandomResizedCrop(48), seed=3)
        loader = torch.utils.data.DataLoader(samples, batch_size=5, **more)
        return [(batch["frames"].numpy(), batch["label"].numpy()) for batch in loader]

    expected = given(ds)
    found = given(remote, num_workers=2, multiprocessing_context="fork")
    assert len(found) == len(expected)
    for (a, b), (c, d) in zip(found, expected):
        assert np.array_equal(a, c) and np.array_equal(b, d)


@pytest.mark.parametrize("call", ["open", "verify"])
def test_ctrl_c_ends_a_call_while_a_server_is_silent(call):
    with socket.create_server(("127.0.0.1", 0)) as server:
        program = (
            "import signal, vidrec\n"
            "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
            f"try:\n    vidrec.{call}('http://127.0.0.1:{server.getsockname()[1]}/set')\nexcept KeyboardInterrupt:\n    print('stopped')\n"
        )
        with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as child:
            connection, _ = server.accept()
            with connection:
                connection.recv(100)
                child.send_signal(signal.SIGINT)
                # Far longer than it takes, and far shorter than the patience with a server.
                assert child.communicate(timeout=60)[0] == "stopped\n"
