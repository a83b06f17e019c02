#!/usr/bin/env python3
"""The picture of docs/browse.md: an opened clip of the data set that tests/python/browse_page.py makes, with a camera and tracks.

Needs the built program, ffmpeg, Chromium, Pillow and pytest.
"""
import sys
import tempfile
from pathlib import Path

from PIL import Image
from results import ROOT

sys.path.append(str(ROOT / "tests/python"))
import browse_page  # noqa: E402
import browser as chromium  # noqa: E402

PICTURE = ROOT / "docs/pictures/browse.webp"
SIZE = 1000, 700
QUALITY = 40


def main():
    with tempfile.TemporaryDirectory() as folder, chromium.Browser(folder) as browser:
        made = browse_page.make(Path(folder), "shapes")
        with browse_page.browsing(made) as address:
            browser.size(*SIZE, still=True)
            browser.open(f"{address}#clips?clip=0.2")
            browser.wait("document.querySelectorAll('dialog .track').length === 3")
            # Empty ones are 300 wide.
            browser.wait("document.querySelector('dialog .cameras a canvas') !== null")
            browser.wait("[...document.querySelectorAll('dialog canvas')].every(c => c.width !== 300)")
            browser.screenshot(Path(folder) / "page.png")
            Image.open(Path(folder) / "page.png").save(PICTURE, quality=QUALITY, method=6)


if __name__ == "__main__":
    main()
