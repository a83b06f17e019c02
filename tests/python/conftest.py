"""Where the built program is, and the data sets that the tests read."""
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "format-spec"))
sys.path.append(str(ROOT / "tests/python"))
from skips import pytest_make_collect_report, pytest_runtest_makereport  # noqa: E402, F401

# ffmpeg's own moving pictures, pale and a little soft: in full color, what 4:2:0 takes away would hide what goes wrong.
PALE = "hue=s=0.3,gblur=1"
CLIPS = {
    "shapes/pattern.mp4": ["testsrc2=size=320x240:rate=25:duration=2", "-vf", PALE],
    "shapes/counter.mkv": ["testsrc=size=360x640:rate=30:duration=1", "-vf", PALE],
    "fractal/zoom.mp4": ["mandelbrot=size=480x360:rate=30000/1001", "-vf", PALE, "-t", "2", "-bf", "2"],
    "fractal/full range.mp4": ["mandelbrot=size=640x480:rate=24", "-vf", PALE + ",scale=out_range=full", "-t", "1",
                               "-color_range", "pc"],
    "color/gradients.mkv": ["gradients=size=640x360:rate=24:duration=2:seed=1:c0=orange:c1=navy"],
    "color/odd.avi": ["gradients=size=322x182:rate=15:duration=2:seed=2:c0=cyan:c1=maroon", "-c:v", "mpeg4", "-q:v", "2"],
}
# Real footage, where there is some, beside the clips that are made: every so many of these.
VIDEOS = Path(os.environ.get("VIDREC_VIDEOS", ROOT.parent / "shared/videos")) / "bench/clips"
REAL = sorted(VIDEOS.glob("*.mp4"))[::12]


def built(name):
    """A program that cargo has built; VIDREC_BIN names another vidrec."""
    given = [Path(os.environ["VIDREC_BIN"])] if name == "vidrec" and "VIDREC_BIN" in os.environ else []
    folders = [ROOT / "target" / profile for profile in ("debug", "release")]
    for path in given + [f / name for f in folders] + [f / "examples" / name for f in folders]:
        if path.is_file():
            return path
    raise FileNotFoundError(f"{name}: run `cargo build --bins --examples` first")


def run(name, *arguments):
    """Standard output of a program that must succeed."""
    done = subprocess.run([built(name), *arguments], capture_output=True)
    assert done.returncode == 0, f"{name} {arguments}: status {done.returncode}\n{done.stderr.decode()}"
    return done.stdout


class Packed:
    """A data set that vidrec packed, and the folder of its videos."""

    def __init__(self, videos, out):
        self.videos, self.path = videos, out
        self.report = json.loads(run("vidrec", "pack", videos, "-o", out, "-n", "5", "--size", "180", "--json"))
        (self.record_file,) = out.glob("shard-00000-*.rec")

    def inspect(self, *arguments):
        return json.loads(run("vidrec", "inspect", self.path, "--json", *arguments))


@pytest.fixture(scope="session", params=["made", "real"] if REAL else ["made"])
def packed(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    videos = folder / "videos"
    if request.param == "made":
        for name, arguments in CLIPS.items():
            (videos / name).parent.mkdir(parents=True, exist_ok=True)
            command = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", *arguments, "-pix_fmt", "yuv420p", videos / name]
            subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    else:
        (videos / "all").mkdir(parents=True)
        for video in REAL:
            shutil.copy(video, videos / "all" / video.name)
    return Packed(videos, folder / "set")
