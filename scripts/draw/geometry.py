#!/usr/bin/env python3
"""The picture of docs/tracks.md about geometry: a frame with its boxes, points and mask, and samples of it. Draws geometry.webp.

    scripts/draw/geometry.py    with the package of this checkout installed
"""
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

import vidrec

PICTURE = Path(__file__).resolve().parents[2] / "docs/pictures/geometry.webp"
WIDTH, HEIGHT, SIDE, LARGER, SAMPLES = 160, 120, 96, 2, 5
BOXES = np.array([[40, 30, 101, 91], [110, 60, 151, 101]])
EYES, PARTS = np.array([[54.0, 54], [86, 54]]), np.array([[0, 0, 0], [255, 90, 60], [70, 90, 255]])


def scene(face, cap, eye, ground):
    """A face and a hat, in these colors."""
    picture = Image.new("RGB", (WIDTH, HEIGHT), ground)
    draw = ImageDraw.Draw(picture)
    draw.ellipse([40, 30, 100, 90], fill=face)
    draw.polygon([(110, 100), (150, 100), (130, 60)], fill=cap)
    for x, y in EYES:
        draw.ellipse([x - 3, y - 3, x + 2, y + 2], fill=eye)
    return np.array(picture)


def drawn(picture, mask, boxes, eyes):
    """A picture with what belongs to it: boxes, and points by their names, as far as they are there."""
    blended = np.where(mask[..., None] > 0, 0.55 * picture + 0.45 * PARTS[mask], picture).astype(np.uint8)
    image = Image.fromarray(blended).resize((picture.shape[1] * LARGER, picture.shape[0] * LARGER), Image.Resampling.NEAREST)
    draw = ImageDraw.Draw(image)
    for box in boxes:
        draw.rectangle([*(box[:2] * LARGER), *(box[2:] * LARGER - 1)], outline="#ff40ff", width=2)
    for name, (x, y) in eyes:
        draw.text((x * LARGER - 3, y * LARGER + 8), name, fill="#ffffff")
        draw.ellipse([x * LARGER - 4, y * LARGER - 4, x * LARGER + 4, y * LARGER + 4], outline="#40ffff", width=2)
    return image


def main():
    frame = scene("#e6b43c", "#50c878", "#000000", "#1e283c")
    mask = scene((1, 0, 0), (2, 0, 0), (1, 0, 0), (0, 0, 0))[..., 0]
    values = {"boxes": BOXES, "eyes": EYES, "mask": mask}
    tracks = {
        "boxes": vidrec.track(geometry="boxes"),
        "eyes": vidrec.track(geometry="points", swap=[(0, 1)]),
        "mask": vidrec.track(geometry="mask"),
    }
    with tempfile.TemporaryDirectory() as folder:
        with vidrec.Writer(Path(folder) / "set", quality=98) as writer:
            for _ in range(SAMPLES):
                writer.add([frame], tracks={name: value[None] for name, value in values.items()})
        crop = vidrec.RandomResizedCrop(SIDE, scale=(0.2, 1))
        loader = vidrec.Loader(Path(folder) / "set", SAMPLES, frames=1, crop=crop, flip=0.5, tracks=tracks, output="numpy", seed=4)
        batch = next(iter(loader))
        sheet = Image.new("RGB", (WIDTH * LARGER + SAMPLES * (SIDE * LARGER + 8), HEIGHT * LARGER), "white")
        sheet.paste(drawn(frame, mask, BOXES, zip("LR", EYES)))
        for i in range(SAMPLES):
            of = {name: (values[i, 0], batch.track_masks[name][i, 0]) for name, values in batch.tracks.items()}
            boxes, eyes = ([value for value, there in zip(*of[name]) if there] for name in ("boxes", "eyes"))
            names = [name for name, there in zip("LR", of["eyes"][1]) if there]
            shown = drawn(batch.frames[i, 0].transpose(1, 2, 0), of["mask"][0], boxes, zip(names, eyes))
            sheet.paste(shown, (WIDTH * LARGER + 8 + i * (SIDE * LARGER + 8), 0))
        sheet.save(PICTURE, quality=90)


if __name__ == "__main__":
    main()
