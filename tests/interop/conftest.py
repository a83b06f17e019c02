"""The program, packed data sets, and pictures, for all peers. Needs pytest, Pillow and NumPy, and `ffmpeg` on the path."""
import io
import json
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "format-spec"))
sys.path.append(str(ROOT / "tests/python"))
from programs import built  # noqa: E402
from reader import open_dataset  # noqa: E402
from skips import pytest_make_collect_report, pytest_runtest_makereport  # noqa: E402, F401

MAGIC = struct.pack("<I", 0xCED7230A)
FRAMES, WIDTH, HEIGHT = 4, 96, 64
# 4:2:0, so odd class names and sizes are left to other tests; these are what peers have to carry.
VIDEOS = {
    "run/a.mp4": "testsrc2=size=192x128:rate=25:duration=1",
    "run/b c.mp4": "mandelbrot=size=192x128:rate=24",
    "jump/d.mkv": "testsrc=size=192x128:rate=30:duration=1",
    "jump/e.mp4": "gradients=size=192x128:rate=24:duration=1:seed=3:c0=orange:c1=navy",
    "jump/ü.mp4": "smptebars=size=192x128:rate=24:duration=1",
    "sit/g.mp4": "rgbtestsrc=size=192x128:rate=24:duration=1",
}


def run(*arguments, status=0, program="vidrec"):
    """Standard output of a program, or what it complained of if it was to fail."""
    done = subprocess.run([built(program), *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == status, f"{arguments}: status {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stderr if status else done.stdout


def clips(path):
    """(source, label, class, attributes, JPEGs) of every clip, as the plain reader has them."""
    return [(c.source, c.label, c.class_name, json.loads(c.attributes or "{}"),
             [c.jpeg(t) for t in range(len(c.frames))]) for c in open_dataset(path).clips]


def pictures(path):
    """The JPEGs and labels of all frames, in order."""
    return [(jpeg, label) for _, label, _, _, jpegs in clips(path) for jpeg in jpegs]


def rgb(picture):
    return np.asarray(Image.open(io.BytesIO(picture)).convert("RGB"))


def jpeg(seed, width=WIDTH, height=HEIGHT, form="JPEG", **options):
    """A picture that no other seed gives."""
    y, x = np.mgrid[0:height, 0:width]
    wave = [np.sin(x / (5 + seed % 7) + k * seed) * np.cos(y / (4 + seed % 5) + k) for k in (1, 2, 3)]
    file = io.BytesIO()
    Image.fromarray((127 + 120 * np.stack(wave, 2)).astype(np.uint8)).save(file, form, **options)
    return file.getvalue()


def with_magic(picture):
    """A JPEG with a comment that has RecordIO's magic at a multiple of 4 bytes from the start."""
    text = b".." + MAGIC + b"...." + MAGIC
    return picture[:2] + b"\xff\xfe" + struct.pack(">H", 2 + len(text)) + text + picture[2:]


@pytest.fixture(scope="session")
def packed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("packed")
    for name, source in VIDEOS.items():
        video = folder / "videos" / name
        video.parent.mkdir(parents=True, exist_ok=True)
        command = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", source, "-t", "1", "-vf", "format=yuv420p", video]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    run("pack", folder / "videos", "-o", folder / "set", "-n", FRAMES, "--size", f"{WIDTH}x{HEIGHT}")
    return folder / "set"


@pytest.fixture(scope="session")
def shards(packed, tmp_path_factory):
    """The same clips as two record files: the second one has one clip less."""
    folder = tmp_path_factory.mktemp("shards")
    record_file = next(packed.glob("*.rec"))
    run("import", "mxnet", record_file, record_file, "-o", folder / "set")
    return folder / "set"
