#!/usr/bin/env python3
"""The picture of clips in docs/first-data-set.md: packs the videos of the page as the page does, and draws first-sheet.webp.

Needs FFmpeg and Pillow. VIDREC_PROGRAM names the program; without it, it is the one on PATH.
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from results import ROOT

sys.path.insert(0, str(ROOT / "tests/docs"))
import videos  # noqa: E402

PROGRAM = os.environ.get("VIDREC_PROGRAM", "vidrec")
PICTURE = ROOT / "docs/pictures/first-sheet.webp"
QUALITY = 28  # less than 60 kB


def main():
    with tempfile.TemporaryDirectory() as folder:
        videos.make(Path(folder) / "videos", videos.VIDEOS)
        for line in ("pack videos -o train", "view train -o sheet.png"):
            subprocess.run([PROGRAM, *line.split()], cwd=folder, check=True)
        Image.open(Path(folder) / "sheet.png").save(PICTURE, quality=QUALITY, method=6)


if __name__ == "__main__":
    main()
