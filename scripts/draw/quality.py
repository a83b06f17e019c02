#!/usr/bin/env python3
"""What JPEG quality and frame size cost: the picture of docs/quality.md, and the figures of its tables.

    scripts/draw/quality.py picture                 packs the picture of scene.py at each quality, and draws quality.webp
    scripts/draw/quality.py chroma                  packs two pictures as simulators draw them, and draws chroma.webp
    scripts/draw/quality.py sizes NAME VIDEOS...    packs videos at each quality and short side
    scripts/draw/quality.py disk NAME VIDEOS...     packs videos with default options, and computes how large known data sets become
    scripts/draw/quality.py batches NAME VIDEOS...  packs videos at each quality, and compares a loader's batches; needs vidrec for Python
    scripts/draw/quality.py videos NAME VIDEOS...   packs few, some and all frames of videos, beside their bytes

Each writes benches/results/NAME.json ("picture" and "chroma": quality-picture.json, quality-chroma.json), whose figures other work
on the machine does not change. Needs NumPy and Pillow. VIDREC_PROGRAM names the program; without it, it is the one on PATH.
"""
import argparse
import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import quantiles

import numpy
from PIL import Image, ImageDraw, ImageFont
from results import FOLDER, ROOT, write
from scene import arm, scene, streets

sys.path.insert(0, str(ROOT / "format-spec"))
import reader  # noqa: E402

PROGRAM = os.environ.get("VIDREC_PROGRAM", "vidrec")
QUALITIES = (75, 80, 85, 90, 95)
SHORT_SIDES = (128, 224, 256, 320)
# Known data sets: clips, hours of all clips together, frames per second, and the size of frames of short side 256 or less.
DATASETS = {
    "UCF101, 101 classes": (13_320, 1_600 / 60, 25, 320 * 240),                 # arXiv:1212.0402, table 2
    "Something-Something v2": (220_847, 220_847 * 4.03 / 3600, 12, 427 * 240),  # Qualcomm; seconds of arXiv:1706.04261, table 1
    "Kinetics-400": (306_245, 306_245 * 10 / 3600, 30, 456 * 256),  # arXiv:1705.06950, table 2
    "DROID, three cameras": (3 * 95_658, 3 * 27_630_375 / 15 / 3600, 15, 320 * 180),  # lerobot/droid_1.0.1, meta/info.json
    "HowTo100M": (1_221_000, 134_472, 30, 456 * 256),              # arXiv:1906.03327, table 1; the rate is a guess
}
PICTURE = ROOT / "docs/pictures/quality.webp"
CHROMA = ROOT / "docs/pictures/chroma.webp"
# Two pictures as simulators draw them, and what is cut out of them.
SIMULATED = {"robot": (arm, (224, 110, 300, 190)), "streets": (streets, (60, 70, 136, 150))}
# Of the picture: what is cut out, how much it is enlarged, how many stand in a row, and the height of a caption.
PART, ZOOM, COLUMNS, CAPTION = (148, 92, 224, 172), 3, 3, 24
# What `videos` packs.
AMOUNTS = {"vidrec pack: 8 frames of each": (), "vidrec pack --fps 8": ("--fps", 8), "vidrec pack --all": ("--all",)}


def run(*arguments):
    command = [PROGRAM, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    if done.returncode not in (0, 3):
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return done.stdout


def jpegs(dataset):
    for clip in reader.open_dataset(dataset).clips:
        for t in range(len(clip.frames)):
            yield clip.jpeg(t)


def mean_bytes(dataset):
    lengths = [frame.length for clip in reader.open_dataset(dataset).clips for frame in clip.frames]
    return sum(lengths) / len(lengths)


def pixels(jpeg):
    return numpy.asarray(Image.open(io.BytesIO(jpeg)).convert("RGB"), dtype=numpy.int16)


def psnr(pairs):
    """In dB, over all pixels and colors of pairs of pictures."""
    squares = [float(numpy.mean(numpy.square(a - b, dtype=numpy.int32))) for a, b in pairs]
    return 10 * numpy.log10(255**2 / (sum(squares) / len(squares)))


def packed_scene(folder):
    """For each quality: the JPEG of the scene as vidrec packs it."""
    original = scene()
    (folder / "frames/scene").mkdir(parents=True)
    original.save(folder / "frames/scene/0.png")
    for quality in QUALITIES:
        run("pack", folder / "frames", "-o", folder / str(quality), "--frames", 1, "--size", "original", "--quality", quality)
    return original, {quality: next(jpegs(folder / str(quality))) for quality in QUALITIES}


def picture_rows(original, packed):
    true = numpy.asarray(original, dtype=numpy.int16)
    values = {quality: [len(jpeg), round(psnr([(pixels(jpeg), true)]), 1)] for quality, jpeg in packed.items()}
    return [{"name": f"{quality}", "values": each} for quality, each in values.items()]


def draw(original, packed, rows):
    """The original and each quality, side by side."""
    cells = [("before packing", original.crop(PART))]
    for row in reversed(rows):
        size, decibels = row["values"]
        jpeg = packed[int(row["name"])]
        cells.append((f"quality {row['name']}: {size:,} bytes, {decibels} dB", Image.open(io.BytesIO(jpeg)).crop(PART)))
    return sheet_of(cells)


def sheet_of(cells):
    """Parts of pictures, enlarged, each over its caption."""
    width, height = (cells[0][1].width * ZOOM, cells[0][1].height * ZOOM + CAPTION)
    gap, lines = 3, -(-len(cells) // COLUMNS)
    sheet = Image.new("RGB", ((width + gap) * COLUMNS - gap, (height + gap) * lines - gap), (34, 36, 42))
    for n, (caption, part) in enumerate(cells):
        x, y = n % COLUMNS * (width + gap), n // COLUMNS * (height + gap)
        sheet.paste(part.convert("RGB").resize((width, height - CAPTION), Image.Resampling.NEAREST), (x, y))
        at, font = (x + 6, y + height - CAPTION + 4), ImageFont.load_default(13)
        ImageDraw.Draw(sheet).text(at, caption, font=font, fill=(238, 239, 243))
    return sheet


def picture(_):
    with tempfile.TemporaryDirectory() as folder:
        original, packed = packed_scene(Path(folder))
    rows = picture_rows(original, packed)
    draw(original, packed, rows).save(PICTURE, lossless=True, quality=100, method=6)
    save("quality-picture", "What quality costs: a generated picture of 384x256", "scripts/draw/quality.py picture",
         "one generated picture; PSNR of RGB against the picture before packing", "bytes, dB", ["bytes", "PSNR in dB"], rows)


def simulated(folder):
    """Of each simulated picture: parts of it, of the JPEG that vidrec packs and of one in 4:4:4; and the figures of both JPEGs."""
    cells, rows = [], []
    for name, (drawn, part) in SIMULATED.items():
        original, frames = drawn(), folder / name / "scene"
        frames.mkdir(parents=True)
        original.save(frames / "0.png")
        run("pack", frames.parent, "-o", folder / f"{name}-set", "--frames", 1, "--size", "original")
        full = io.BytesIO()
        original.save(full, "jpeg", quality=90, subsampling=0)
        cells.append((f"{name}, before packing", original.crop(part)))
        for way, jpeg in (("4:2:0", next(jpegs(folder / f"{name}-set"))), ("4:4:4", full.getvalue())):
            stored = Image.open(io.BytesIO(jpeg))
            luma, rgb = (psnr([[numpy.asarray(each.convert(mode), dtype=numpy.int16) for each in (stored, original)]]) for mode in ("L", "RGB"))
            rows.append({"name": f"{name}, {way}", "values": [len(jpeg), round(luma, 1), round(rgb, 1)]})
            cells.append((f"{way}: {rgb:.1f} dB of RGB", stored.crop(part)))
    return cells, rows


def chroma(_):
    with tempfile.TemporaryDirectory() as folder:
        cells, rows = simulated(Path(folder))
    sheet_of(cells).save(CHROMA, lossless=True, quality=100, method=6)
    save("quality-chroma", "What color at half the resolution costs: generated pictures of 384x256", "scripts/draw/quality.py chroma",
         "two generated pictures at quality 90: vidrec's (4:2:0, --effort 1) and libjpeg-turbo's in 4:4:4; PSNR against the picture before packing",
         "bytes, dB", ["bytes", "PSNR of luma in dB", "PSNR of RGB in dB"], rows)


def sizes(options):
    """Kilobytes a frame and PSNR, of each quality and short side."""
    rows = [{"name": f"{quality}", "values": []} for quality in QUALITIES]
    for side in options.sides:
        with tempfile.TemporaryDirectory() as folder:
            for quality in (*QUALITIES, 100):
                run("pack", *options.videos, "-o", f"{folder}/{quality}", "--size", side, "--quality", quality)
            best = [pixels(jpeg) for jpeg in jpegs(f"{folder}/100")]
            for row in rows:
                dataset = f"{folder}/{row['name']}"
                pairs = zip(map(pixels, jpegs(dataset)), best)
                row["values"].append([round(mean_bytes(dataset) / 1000, 1), round(psnr(pairs), 1)])
    save(options.name, "Size and PSNR of packed frames", f"scripts/draw/quality.py sizes {options.name} VIDEOS...",
         f"8 frames of each of {options.kind}; PSNR of RGB against quality 100 at the same size", "kB a frame, dB",
         [f"short side {side}" for side in options.sides], rows)


def rounded(value):
    """To two digits, as a whole number if there are no more."""
    return float(f"{value:.1f}") if value < 10 else int(float(f"{value:.2g}"))


def disk(options):
    """Gigabytes of known data sets, by the bytes that a pixel of these videos takes."""
    with tempfile.TemporaryDirectory() as folder:
        run("pack", *options.videos, "-o", folder)
        clips = reader.open_dataset(folder).clips
        pixel = [sum(frame.length for frame in clip.frames) / len(clip.frames) / (clip.width * clip.height) for clip in clips]
    mean, rows = sum(pixel) / len(pixel), []
    for name, (count, hours, rate, pixels_of) in DATASETS.items():
        frame = mean * pixels_of
        rows.append({"name": name, "values": [count, round(hours), round(frame / 1000, 1),
                                              *(rounded(n * frame / 1e9) for n in (8 * count, hours * 3600, hours * 3600 * rate))]})
    low, _, high = (round(each, 2) for each in quantiles(pixel))
    save(options.name, "How much disk known data sets take", f"scripts/draw/quality.py disk {options.name} VIDEOS...",
         f"{options.kind} with default options: {mean:.2f} bytes a pixel, {low} to {high} in the middle half", "GB",
         ["clips", "hours", "kB a frame", "8 frames a clip", "1 frame a second", "all frames"], rows)


def batches(options):
    """PSNR of what a loader gives at each quality, against quality 100."""
    import vidrec

    crops = {"random crop to 224": vidrec.RandomResizedCrop(224), "center crop of 224": vidrec.CenterCrop(224),
             "random crop to 112": vidrec.RandomResizedCrop(112)}
    with tempfile.TemporaryDirectory() as folder:
        for quality in (*QUALITIES, 100):
            run("pack", *options.videos, "-o", f"{folder}/{quality}", "--size", 256, "--quality", quality)

        def loaded(quality, crop):
            loader = vidrec.Loader(f"{folder}/{quality}", 8, crop=crop, output="numpy")
            return (batch.frames.astype(numpy.int16) for batch in loader)

        rows = [{"name": f"{quality}", "values": [round(mean_bytes(f"{folder}/{quality}") / 1000, 1)]} for quality in QUALITIES]
        for row in rows:
            for crop in crops.values():
                found = [(numpy.square(a - b, dtype=numpy.int32).mean(), len(a)) for a, b in zip(loaded(100, crop), loaded(row["name"], crop))]
                squares = numpy.average([square for square, _ in found], weights=[count for _, count in found])
                row["values"].append(round(float(10 * numpy.log10(255**2 / squares)), 1))
    save(options.name, "What batches keep of the frames", f"scripts/draw/quality.py batches {options.name} VIDEOS...",
         f"8 frames of each of {options.kind}, short side 256, --effort 1; batches of bytes against those of quality 100",
         "kB a frame, dB", ["kB a frame", *crops], rows)


def videos(options):
    """Megabytes of videos and of packs of them, and their ratio."""
    size = sum(Path(video).stat().st_size for video in options.videos)
    rows = [{"name": "the videos", "values": [None, round(size / 1e6, 1), 1]}]
    for name, words in AMOUNTS.items():
        with tempfile.TemporaryDirectory() as folder:
            run("pack", *options.videos, "-o", folder, *words)
            lengths = [frame.length for clip in reader.open_dataset(folder).clips for frame in clip.frames]
        rows.append({"name": name, "values": [len(lengths), round(sum(lengths) / 1e6, 1), round(sum(lengths) / size, 1)]})
    save(options.name, "Bytes of videos and of packed frames", f"scripts/draw/quality.py videos {options.name} VIDEOS...",
         f"{options.kind} with default options", "MB", ["frames", "MB", "of the videos"], rows)


def save(name, title, command, data, unit, columns, rows):
    write(FOLDER / f"{name}.json", title, columns, rows, command=command, data=data, unit=unit, better="less")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    commands.add_parser("picture").set_defaults(do=picture)
    commands.add_parser("chroma").set_defaults(do=chroma)
    for do in (sizes, disk, batches, videos):
        command = commands.add_parser(do.__name__)
        command.add_argument("name")
        command.add_argument("videos", nargs="+")
        command.add_argument("--kind", default="some videos", help="what the videos are, for the report")
        command.add_argument("--sides", type=lambda text: tuple(map(int, text.split(","))), default=SHORT_SIDES)
        command.set_defaults(do=do)
    options = parser.parse_args()
    options.do(options)


if __name__ == "__main__":
    main()
