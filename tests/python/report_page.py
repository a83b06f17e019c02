"""Data sets whose pages the tests of `vidrec browse --export` open."""
import json
import subprocess

from programs import run

LAVFI = ["testsrc2=size=320x240:rate=12:duration=1", "testsrc=size=180x320:rate=12:duration=1",
         "mandelbrot=size=320x180:rate=12", "gradients=size=240x240:rate=12:duration=1:seed=3:c0=orange:c1=navy", "color=black:size=320x240:rate=12:duration=1"]


def make(folder):
    """A data set with a class that would like to be more than text, and its page."""
    for i, source in enumerate(LAVFI):
        video = folder / "videos" / ("plain" if i % 2 else "<img src=x onerror=alert(1)>") / f"{i} & 'q'.mp4"
        video.parent.mkdir(parents=True, exist_ok=True)
        year = f"creation_time={2011 + 4 * i}-05-06T07:08:09Z"
        subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", source, "-t", "1", "-metadata", year, video], check=True)
    run("vidrec", "pack", folder / "videos", "-o", folder / "set", "-n", "6", "--size", "120")
    told = json.loads(run("vidrec", "browse", folder / "set", "--export", folder / "page.html", "--json"))
    assert told["shown"]["clips"] == len(LAVFI)
    return folder


def make_two(folder):
    """The page about that data set and a part of it, which leaks. Not all clips of its findings are shown."""
    run("vidrec", "subset", folder / "set", "--clips", "0-2", "-o", folder / "part")
    run("vidrec", "browse", folder / "set", folder / "part", "--export", folder / "two.html", "--clips", "4")
    return folder / "two.html"
