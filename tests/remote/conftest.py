"""A small data set, on each server: in the default level, on S3 alone."""
import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "python"))
import servers  # noqa: E402
from run import vidrec  # noqa: E402
from skips import pytest_make_collect_report, pytest_runtest_makereport  # noqa: E402, F401

# The way to the loopback leads through no proxy that the environment names.
os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1,localhost"

CLIPS = {
    "shapes/pattern.mp4": ["testsrc2=size=320x240:rate=25:duration=2"],
    "shapes/counter.mkv": ["testsrc=size=240x320:rate=30:duration=1"],
    "color/gradients.mkv": ["gradients=size=320x180:rate=24:duration=2:seed=1:c0=orange:c1=navy"],
    "color/odd.avi": ["gradients=size=322x182:rate=15:duration=2:seed=2:c0=cyan:c1=maroon", "-c:v", "mpeg4", "-q:v", "2"],
    "fractal/zoom.mp4": ["mandelbrot=size=320x240:rate=25", "-t", "1"],
}
OPTIONS = ["-n", "8", "--size", "160", "--shards", "2"]


@pytest.fixture(scope="session")
def data_set(tmp_path_factory):
    """The folder of a data set of two shards."""
    folder = tmp_path_factory.mktemp("local")
    for name, arguments in CLIPS.items():
        path = folder / "videos" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        command = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", *arguments, "-pix_fmt", "yuv420p", path]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    out = folder / "set"
    done = vidrec("pack", folder / "videos", "-o", out, *OPTIONS)
    assert done.returncode == 0, done.stderr
    return out


class Stored:
    """A data set on a server."""

    def __init__(self, server, data_set):
        self.server, self.local, self.environment = server, data_set, server.environment
        self.location = server.location("first/train")
        for path in sorted(filter(Path.is_file, data_set.iterdir())):
            server.put(f"first/train/{path.name}", path.read_bytes())


def pytest_configure(config):
    config.addinivalue_line("markers", "full: only the full level of scripts/test.sh runs it")


@pytest.fixture(scope="session", params=[pytest.param(name, marks=() if name == "s3" else pytest.mark.full) for name in servers.ALL])
def server(request, tmp_path_factory):
    server = servers.ALL[request.param](tmp_path_factory.mktemp(request.param))
    yield server
    server.stop()
    assert not server.process.listens(), "a part of the server runs on"


@pytest.fixture(scope="session")
def stored(server, data_set):
    return Stored(server, data_set)
