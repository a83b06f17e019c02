"""Makes folders with a small picture each: small_clips.py OUT COUNT. `vidrec import frames` takes them as clips."""
import sys
from pathlib import Path

import cv2
import numpy as np
import simplejpeg

SIDE = 48


def main():
    out, count = Path(sys.argv[1]), int(sys.argv[2])
    rng = np.random.default_rng(0)
    for number in range(count):
        coarse = rng.integers(0, 256, (4, 4, 3), np.uint8)
        picture = cv2.resize(coarse, (SIDE, SIDE), interpolation=cv2.INTER_CUBIC)
        folder = out / f"{number:05}"
        folder.mkdir(parents=True)
        (folder / "0.jpg").write_bytes(simplejpeg.encode_jpeg(picture, quality=75, colorsubsampling="420"))


if __name__ == "__main__":
    main()
