"""Data sets on a web server: the same as local ones, in every process, and errors that say what is wrong."""
import http.server
import json
import pickle
import re
import signal
import socket
import subprocess
import sys
import threading

import numpy as np
import pytest

import vidrec

torch = pytest.importorskip("torch")


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves a folder with ranges and ETags, and counts requests."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        server = self.server
        with server.lock:
            server.requests += 1
        if server.page:
            return self._send(200, b"<html>log in</html>", {"Content-Type": "text/html"})
        path = server.folder / self.path.lstrip("/")
        if not path.is_file():
            return self._send(404, b"", {})
        data = path.read_bytes()
        fields = {"ETag": f'"{path.stat().st_mtime_ns:x}-{len(data):x}"'}
        if self.headers.get("If-Match", fields["ETag"]) != fields["ETag"]:
            return self._send(412, b"", fields)
        wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if not wanted or not server.ranges:
            return self._send(200, data, fields)
        first, last = int(wanted[1]), min(int(wanted[2]), len(data) - 1)
        fields["Content-Range"] = f"bytes {first}-{last}/{len(data)}"
        return self._send(206, data[first : last + 1], fields)

    def _send(self, status, body, fields):
        self.send_response(status)
        for name, value in {**fields, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, folder):
        super().__init__(("127.0.0.1", 0), Handler)
        self.folder, self.lock, self.requests = folder, threading.Lock(), 0
        self.ranges, self.page = True, False
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


@pytest.fixture
def server(train):
    with Server(train.parent) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def remote(server):
    return vidrec.open(server.url + "/train")


def clips(ds):
    return [(c.source, c.label, c.class_name, c.attributes, c.pts.tolist(), c.frames().tobytes()) for c in ds]


def batches(ds, **options):
    loader = vidrec.Loader(ds, batch_size=4, seed=7, output="numpy", **{"crop": 48, **options})
    made = [(b.frames.tobytes(), b.labels.tolist(), b.clips.tolist()) for _ in range(2) for b in loader]
    return made, loader.stats()


def test_it_is_what_the_local_one_is(ds, remote, server, train):
    assert (len(remote), remote.classes, remote.fingerprint) == (len(ds), ds.classes, ds.fingerprint)
    assert clips(remote) == clips(ds)
    assert clips(remote[2:9:3] + remote) == clips(ds[2:9:3] + ds)
    assert vidrec.inspect(remote) == vidrec.inspect(train) == vidrec.inspect(server.url + "/train")
    assert vidrec.verify(remote, deep=True).ok and vidrec.verify(server.url + "/train", timeout=30).ok
    with pytest.raises(vidrec.UsageError, match="selections"):
        vidrec.verify(remote[:2])
    with pytest.raises(vidrec.UsageError, match="selections"):
        vidrec.verify(vidrec.Dataset.concat([remote]))


@pytest.mark.parametrize(
    "options",
    [
        {"order": vidrec.Shuffled()},
        {"frames": vidrec.Random(3), "crop": vidrec.RandomResizedCrop(48), "flip": 0.5, "dtype": "float32"},
        {"order": vidrec.Blocks(2, window=2), "threads": 1, "prefetch": 1},
        {"rank": (1, 2), "order": vidrec.Shuffled(), "last": "drop"},
    ],
)
def test_batches_are_the_same_bits(ds, remote, options):
    expected, stats = batches(ds, **options)
    assert stats.remote is None and ds.remote_stats() is None
    found, stats = batches(remote, **options)
    assert found == expected
    assert stats.remote.requests > 0 and stats.remote.fetched_bytes > 0
    assert remote.remote_stats().requests >= stats.remote.requests


@pytest.mark.full
def test_a_device_that_keeps_jpegs_fetches_them_once(ds, server, remote):
    pytest.importorskip("warp")
    options = {"crop": 48, "dtype": "float32", "order": vidrec.Shuffled()}
    wanted = vidrec.Loader(ds, 4, seed=7, **options)
    loader = vidrec.Loader(remote, 4, seed=7, device="cpu", device_cache="10MB", **options)
    requests = []
    for _ in range(3):
        found, expected = [batch.frames for batch in loader], [batch.frames for batch in wanted]
        assert all(map(torch.equal, found, expected)) and len(found) == len(expected) > 2
        requests.append(server.requests)
    assert requests[0] > 0 and requests[1] == requests[2] == requests[0], "nothing was fetched again"


def test_options_go_along_with_it(server, ds, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    opened = vidrec.open(
        server.url + "/train",
        storage_options={"connect_timeout": "1234 seconds"},
        memory_bytes="1MiB",
        timeout=20,
        io="read",
    )
    part = opened[1:4]
    for each in (opened, part, vidrec.Loader(opened, 4)):
        assert "1234 seconds" not in repr(each)
    again = pickle.loads(pickle.dumps(part))
    assert again._recipe[1] == opened._recipe
    assert clips(again) == clips(ds[1:4])
    _, path, _, storage = opened._recipe
    assert (path, storage["memory_bytes"], storage["timeout"]) == (server.url + "/train", "1MiB", 20.0)
    # The cache's folder is found from another working folder, too.
    from vidrec import _storage

    assert _storage.given(cache="here")["cache"] == str(tmp_path / "here")
    assert _storage.given({"skip_signature": True})["options"] == {"skip_signature": "true"}


@pytest.mark.parametrize("options", [{"cache_bytes": "20GB"}, {"memory_bytes": "lots"}, {"timeout": 0}, {"timeout": -1.0}])
def test_options_that_make_no_sense_are_named(server, options):
    with pytest.raises(vidrec.UsageError, match=next(iter(options))):
        vidrec.open(server.url + "/train", **options)


def test_errors_say_what_is_wrong(server, train):
    for location, what in [
        (server.url + "/nothing", "there is no data set here"),
        ("http://me:hunter2@127.0.0.1:1/train", "password"),
        ("ftp://host/train", "unknown kind of storage"),
    ]:
        with pytest.raises(vidrec.Error, match=what) as e:
            vidrec.open(location)
        assert "hunter2" not in str(e.value)
    with pytest.raises(vidrec.UsageError, match="colour") as e:
        vidrec.open("s3://bucket/train", storage_options={"colour": "hunter2"})
    assert "hunter2" not in str(e.value)
    server.page = True
    with pytest.raises(vidrec.FormatError, match="web page"):
        vidrec.open(server.url + "/train")
    server.page, server.ranges = False, False
    with pytest.raises(vidrec.FileError, match="ranges"):
        vidrec.open(server.url + "/train")


def test_a_lost_object_is_an_error_of_the_clip(server, train, tmp_path):
    copy = tmp_path / "train"
    copy.mkdir()
    for file in train.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    server.folder = tmp_path
    opened = vidrec.open(server.url + "/train")
    for record in copy.glob("*.rec"):
        record.unlink()
    with pytest.raises(vidrec.FileError, match="no such object"):
        list(vidrec.Loader(opened, 4, crop=48, output="numpy"))


def test_edits_take_data_sets_and_locations(server, remote, ds, train, tmp_path):
    location = server.url + "/train"
    assert vidrec.subset(location, tmp_path / "few", clips=[3, 4], timeout=30).clips == 2
    assert clips(vidrec.open(tmp_path / "few")) == clips(ds[3:5])
    assert vidrec.merge([remote, train], tmp_path / "both").clips == 24
    assert vidrec.merge([remote[:2]], tmp_path / "few", append=True).clips == 2
    assert vidrec.subset(remote, tmp_path / "renamed", rename_classes={"left": "up"}).clips == 12
    # A selection cannot share the files of what it is of.
    vidrec.subset(ds[3:5], tmp_path / "some", rename_classes={"left": "up"})
    assert [c.source for c in vidrec.open(tmp_path / "some")] == [c.source for c in ds[3:5]]
    assert vidrec.open(tmp_path / "some").classes == vidrec.open(tmp_path / "renamed").classes == ["up", "right"]
    with pytest.raises(vidrec.UsageError, match="read-only"):
        vidrec.subset(train, server.url + "/x", clips=[1])


def test_a_local_copy_has_the_same_files(server, train, tmp_path):
    told = []
    report = vidrec.fetch(server.url + "/train", tmp_path / "copy", progress=lambda done, total: told.append((done, total)))
    assert (report.clips, report.kept_bytes) == (12, 0)
    content = lambda folder: {f.name: f.read_bytes() for f in folder.iterdir() if f.is_file()}
    assert content(tmp_path / "copy") == content(train)
    assert told and told[-1] == (vidrec.inspect(train).bytes,) * 2
    again = vidrec.fetch(server.url + "/train", tmp_path / "copy")
    assert again.kept_bytes == again.bytes and again.remote.requests == 1
    assert vidrec.fetch(server.url + "/train", tmp_path / "some", classes=["left"], clips=[0, 1, 11]).clips == 2
    with pytest.raises(vidrec.UsageError, match="on this machine"):
        vidrec.fetch(str(train), tmp_path / "other")


def test_the_monitor_tells_the_rate(remote, tmp_path):
    loader = vidrec.Loader(remote, 4, crop=48, output="numpy")
    with loader.monitor(tmp_path / "log", every=60):
        list(loader)
    last = json.loads((tmp_path / "log").read_text().splitlines()[-1])
    assert last["remote"]["fetched_bytes"] > 0 and last["remote"]["fetched_per_second"] > 0


def test_workers_read_it_too(remote, ds):
    from vidrec.torch import MapDataset

    # In use before the workers start.
    assert remote[0].jpeg(0) == ds[0].jpeg(0)

    def given(dataset, **more):
        samples = MapDataset(dataset, crop=vidrec.RandomResizedCrop(48), seed=3)
        loader = torch.utils.data.DataLoader(samples, batch_size=5, **more)
        return [(frames.numpy(), labels.numpy()) for frames, labels in loader]

    expected = given(ds)
    found = given(remote, num_workers=2, multiprocessing_context="fork")
    assert len(found) == len(expected)
    for (a, b), (c, d) in zip(found, expected):
        assert np.array_equal(a, c) and np.array_equal(b, d)


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
@pytest.mark.parametrize("call", ["open", "verify"])
def test_ctrl_c_ends_a_call_while_a_server_is_silent(call):
    calls = {
        "open": "vidrec.open(url)",
        "verify": "vidrec.verify(url)",
    }
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/set"
        program = (
            "import signal, vidrec\n"
            "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
            f"url = {url!r}\n"
            f"try:\n    {calls[call]}\nexcept KeyboardInterrupt:\n    print('stopped')\n"
        )
        with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as child:
            connection, _ = server.accept()
            with connection:
                connection.recv(100)
                child.send_signal(signal.SIGINT)
                # Far longer than it takes, and far shorter than the patience with a server.
                assert child.communicate(timeout=60)[0] == "stopped\n"
