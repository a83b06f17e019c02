"""Data sets and servers for the tests of the page of `vidrec browse`."""
import contextlib
import json
import math
import subprocess

from programs import built, run

SOURCES = ["testsrc2=size=320x240:rate=12:duration=1", "testsrc=size=180x320:rate=12:duration=1", "mandelbrot=size=320x180:rate=12",
           "gradients=size=240x240:rate=12:duration=1:seed=3:c0=orange:c1=navy", "color=black:size=320x240:rate=12:duration=1"]
HOSTILE = "<img src=x onerror=alert(1)>"


def make(folder, text=HOSTILE):
    """Ten clips of twelve frames: two episodes of two cameras with actions, captions and sound, and six others. One of the classes
    is `text`."""
    rows = []
    for i in range(10):
        sound = ["-f", "lavfi", "-i", f"sine=frequency={300 + 50 * i}:duration=1"]
        command = ["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", SOURCES[i % 5], *sound, "-t", "1", folder / f"{i}.mkv"]
        subprocess.run(command, check=True)
        row = {"path": f"{i}.mkv", "label": text if i % 3 else "plain", "note": f"the Clip number {i} {text}", "score": i / 4}
        if i < 4:
            actions = [[math.sin(t / 3), math.cos(t / 4)] for t in range(20)]
            row |= {"episode": i // 2, "camera": ["top", "wrist"][i % 2], "actions": actions, "words": [[0.0, 0.5, "reaches"], [0.5, 1.0, "takes it"]]}
        rows.append(row)
    (folder / "list.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    tracks = ["--track", "action=actions,rate=20", "--track", "caption=words,spans", "--audio", "16000"]
    run("vidrec", "pack", folder / "list.jsonl", "-o", folder / "set", "--all", "--size", "120", *tracks)
    return folder / "set"


def export(folder):
    """Its page, and one about it and a part of it, which leaks. Not all clips of its findings are shown."""
    out = folder.parent / "page.html"
    told = json.loads(run("vidrec", "browse", folder, "--export", out, "--json"))
    assert told["shown"]["clips"] == 10
    run("vidrec", "subset", folder, "--clips", "0-2", "-o", folder.parent / "part")
    run("vidrec", "browse", folder, folder.parent / "part", "--export", folder.parent / "two.html", "--clips", "4")
    return folder.parent


@contextlib.contextmanager
def browsing(*arguments):
    """The address that `vidrec browse` prints, while it runs."""
    process = subprocess.Popen([built("vidrec"), "browse", *arguments], stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        assert process.wait() == 0
