#!/usr/bin/env python3
"""The picture of an exported page in docs/browse.md: runs the cells of docs/tour.ipynb, and takes report.webp of the wall of their report.

Needs what scripts/docs/tour.py needs, and Chromium.
"""
import json
import os
import sys
import tempfile
from pathlib import Path

from PIL import Image
from results import ROOT

sys.path += [str(ROOT / "scripts/docs"), str(ROOT / "tests/python")]
import browser as chromium  # noqa: E402
import tour  # noqa: E402

PICTURE = ROOT / "docs/pictures/report.webp"
SIZE = 1000, 640
QUALITY = 40


def main():
    with tempfile.TemporaryDirectory() as folder, chromium.Browser(folder) as browser:
        os.chdir(folder)
        tour.run(json.loads(tour.TOUR.read_text(encoding="utf-8")))
        browser.size(*SIZE, still=True)
        browser.open(f"{Path('report.html').resolve().as_uri()}#clips")
        browser.screenshot("wall.png")
        Image.open("wall.png").save(PICTURE, quality=QUALITY, method=6)
        os.chdir(ROOT)


if __name__ == "__main__":
    main()
