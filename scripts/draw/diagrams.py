#!/usr/bin/env python3
"""Draws the diagrams of docs/format.md and docs/architecture.md into docs/pictures.

    scripts/draw/diagrams.py           draws them
    scripts/draw/diagrams.py --check   says which are not as they would be drawn; the status is then 1
"""
from svg import COLORS, WIDE, Drawing, both
from write import finish

OURS, LIMIT, GREEN = COLORS["ours"], COLORS["limit"], COLORS["green"]


def tinted(drawing, x, y, width, height, color, tip=None, strength=0.18, **values):
    """A box in a color, light enough for a text on it."""
    drawing.add("rect", tip=tip, x=x, y=y, width=width, height=height, rx=3, fill=color, fill_opacity=strength, stroke=color,
                **values)


def fields(drawing, x, y, height, parts, color=OURS):
    """Boxes side by side: (width, name, bytes below, tip)."""
    for width, name, size, tip in parts:
        tinted(drawing, x, y, width, height, color, tip, strength=0.14)
        drawing.text(x + width / 2, y + height / 2 + 4, name, "middle", "mono")
        drawing.text(x + width / 2, y + height + 14, size, "middle", "small quiet")
        x += width
    return x


def files():
    """The files of a data set, and what ties them together."""
    d = Drawing(WIDE, 250, "The files of a data set", "dataset.json lists all files. Each index binds its record file and "
                "its track file by length, SHA-256 and a CRC-32 of both ends.")
    tinted(d, 0, 92, 150, 62, LIMIT, "the commit point: replacing it makes a data set")
    d.text(75, 116, "dataset.json", "middle", "mono bold")
    d.text(75, 132, "shards, counts,", "middle", "small")
    d.text(75, 147, "classes, settings", "middle", "small")
    shards = [(8, "00000"), (116, "00001")]
    for y, number in shards:
        d.box(222, y - 8, 468, 98, round_=5)
        d.text(682, y + 6, f"shard {number}", "end", "small quiet")
        tinted(d, 234, y + 14, 176, 56, OURS, "header, tables of frames and clips, texts, checksums, settings")
        d.text(322, y + 34, f"shard-{number}-D….vidx", "middle", "mono bold")
        d.text(322, y + 52, "the index", "middle", "small")
        tinted(d, 490, y + 12, 190, 28, GREEN, "one record for each frame")
        d.text(585, y + 30, f"shard-{number}-D….rec", "middle", "mono bold")
        tinted(d, 490, y + 50, 190, 28, GREEN, "numbers, texts and sound beside the frames; only if there are any",
               stroke_dasharray="4 3")
        d.text(585, y + 68, f"shard-{number}-D….vtrk", "middle", "mono")
        d.arrow((410, y + 26), (486, y + 26))
        d.text(448, y + 21, "DATA", "middle", "small")
        d.arrow((410, y + 64), (486, y + 64))
        d.text(448, y + 59, "TRKS", "middle", "small")
        d.arrow((150, 123), (190, 123), (190, y + 42), (230, y + 42))
    tinted(d, 234, 216, 176, 28, GREEN, "skipped videos and why; only if there are any", stroke_dasharray="4 3")
    d.text(322, 234, "failures-D….jsonl", "middle", "mono")
    d.arrow((150, 123), (190, 123), (190, 230), (230, 230))
    d.text(428, 234, "D…: twelve digits of the file's own SHA-256", class_="small quiet")
    return d


def record():
    """The bytes of a record, and where records lie in a record file."""
    d = Drawing(WIDE, 202, "A record", "A record file holds one record after another; the records of a clip lie side by side. "
                "A record is a magic word, a length, 24 bytes of label and ids, one JPEG, and padding to a multiple of four.")
    d.text(0, 14, "record file", class_="small bold")
    clips = [("clip 0", 4), ("clip 1", 4), ("clip 2", 4)]
    x, width = 0.0, 46.0
    for name, frames in clips:
        first = x
        for t in range(frames):
            picked = (name, t) == ("clip 1", 1)
            tinted(d, x, 24, width - 2, 26, LIMIT if picked else GREEN, f"{name}, frame {t}", 0.3 if picked else 0.12)
            d.text(x + width / 2 - 1, 41, f"{t}", "middle", "small")
            if picked:
                at = x
            x += width
        d.line((first + 1, 55), (first + 1, 59), (x - 3, 59), (x - 3, 55))
        d.text((first + x) / 2, 74, name, "middle", "small quiet")
        x += 12
    d.text(x + 4, 41, "…", class_="small")
    top = 128
    parts = [
        (76, "magic", "4", "0a 23 d7 ce"), (76, "lrec", "4", "3 bits: whole record or part of one; 29 bits: length"),
        (56, "flag", "4", "0"), (62, "label", "4", "the clip's label as f32; -1.0 if it has none"),
        (78, "id", "8", "ordinal of the record in the file"),
        (88, "id2", "8", "ordinal of the clip << 32, plus ordinal of the frame"),
        (190, "JPEG", "n", "one JPEG: any reader of JPEGs reads it"), (62, "00…", "0 to 3", "padding to a multiple of 4"),
    ]
    d.line((at, 50), (1, top - 2), stroke_dasharray="3 3")
    d.line((at + width - 2, 50), (687, top - 2), stroke_dasharray="3 3")
    fields(d, 1, top, 30, parts, LIMIT)
    for first, last, name in ((1, 153, "RecordIO"), (153, 437, "header of MXNet's images: 24 bytes")):
        d.line((first + 2, top + 50), (first + 2, top + 54), (last - 2, top + 54), (last - 2, top + 50))
        d.text((first + last) / 2, top + 67, name, "middle", "small quiet")
    d.text(684, top + 67, "sizes in bytes", "end", "small quiet")
    return d


SECTIONS = [
    ("header", "64", "magic, version, counts, offsets, CRC-32", None),
    ("FRMS", "32 a frame", "record offset, length, CRC-32, pts, position in the source", "frame"),
    ("CLPS", "80 a clip", "first frame, count, label, size, time base, texts", "clip"),
    ("STRS", "", "sources, classes, attributes: UTF-8", None),
    ("DATA", "48", "length, SHA-256 and CRC-32 of both ends of the .rec", None),
    ("META", "", "class names, settings, versions: JSON", None),
    ("TRKS", "48", "the same as DATA, of the .vtrk; optional", None),
    ("section table", "32 each", "id, offset, length, CRC-32 of each section", None),
    ("footer", "24", "file length, CRC-32 of the header, magic", None),
]


def index():
    """The sections of an index, and how a reader gets from a clip to a JPEG."""
    row, top, left, width = 29, 24, 172, 96
    d = Drawing(WIDE, top + row * len(SECTIONS) + 6, "An index", "Sections from the first byte to the last: "
                + "; ".join(f"{name}: {what}" for name, _, what, _ in SECTIONS))
    d.text(left + width + 12, 14, "bytes", class_="small quiet")
    d.text(left + width + 96, 14, "what", class_="small quiet")
    d.text(0, 14, "from clip 1 to its JPEG", class_="small bold")
    middle = {}
    for i, (name, size, what, used) in enumerate(SECTIONS):
        y = top + row * i
        color = LIMIT if used else OURS
        dashed = "4 3" if name == "TRKS" else None
        tinted(d, left, y, width, row - 5, color, what, 0.24 if used else 0.12, stroke_dasharray=dashed)
        d.text(left + width / 2, y + 16, name, "middle", "mono bold" if used else "mono")
        d.text(left + width + 12, y + 16, size or "any", class_="small")
        d.text(left + width + 96, y + 16, what, class_="small")
        middle[name] = y + (row - 5) / 2
    clip, frame, strings = middle["CLPS"], middle["FRMS"], middle["STRS"]
    d.arrow((100, clip), (left - 4, clip), class_="line")
    d.text(0, clip + 4, "1. entry of clip 1", class_="small")
    d.arrow((left - 4, clip - 8), (left - 14, clip - 8), (left - 14, frame), (left - 4, frame))
    d.text(0, frame + 4, "2. its frames' entries", class_="small")
    d.arrow((left - 4, clip + 8), (left - 14, clip + 8), (left - 14, strings), (left - 4, strings))
    d.text(0, strings + 4, "… source and class", class_="small quiet")
    d.arrow((left - 4, frame - 8), (left - 14, frame - 8), (left - 14, middle["header"]), (left - 24, middle["header"]))
    d.text(0, middle["header"] + 4, "3. record in the .rec", class_="small")
    d.text(0, middle["DATA"] + 4, "which .rec: checked", class_="small quiet")
    d.text(0, middle["DATA"] + 18, "when it is opened", class_="small quiet")
    return d


def tiles(sheet):
    """Which tiles of a JPEG a crop touches. In a narrow drawing the words stand below the picture."""
    picture, crop, mcu, restart = (340, 256), (96, 52, 170, 170), 16, 2
    tile = mcu * restart
    columns, rows = -(-picture[0] // tile), -(-picture[1] // mcu)
    left, right = crop[0] // tile, (crop[0] + crop[2] - 1) // tile
    first, last = crop[1] // mcu, (crop[1] + crop[3] - 1) // mcu
    touched = (right - left + 1) * (last - first + 1)
    beside = sheet == WIDE
    words_x, words_y = (372, 0) if beside else (0, 272)
    d = Drawing(sheet, 330 if beside else 570, "Tiles and a crop", f"A JPEG of {picture[0]}x{picture[1]} pixels has {columns * rows} tiles of "
                f"{tile}x{mcu}. A crop of {crop[2]}x{crop[3]} touches {touched} of them, and only these are decoded.")
    scale, x0, y0 = 1.0, 1, 22
    d.text(0, 14, f"a frame of {picture[0]}x{picture[1]}", class_="small bold")
    for r in range(rows):
        for c in range(columns):
            used = left <= c <= right and first <= r <= last
            width = min(tile, picture[0] - c * tile) * scale
            d.add("rect", x=x0 + c * tile * scale, y=y0 + r * mcu * scale, width=width, height=mcu * scale,
                  fill=OURS if used else "currentColor", fill_opacity=0.28 if used else 0.05, stroke="currentColor",
                  stroke_opacity=0.35, stroke_width=0.7)
    d.box(x0 + crop[0], y0 + crop[1], crop[2], crop[3], class_=None, fill="none", stroke=LIMIT, stroke_width=2.5)
    d.text(x0 + crop[0] + crop[2] / 2, y0 + crop[1] + crop[3] / 2, "the crop", "middle", "bold")
    d.text(x0 + crop[0] + crop[2] / 2, y0 + crop[1] + crop[3] / 2 + 16, f"{crop[2]}x{crop[3]}", "middle", "small")
    for y, words, bold in [
        (34, "A tile: two blocks of 16x16 pixels", True), (52, "(one, where their number in a row is odd).", False),
        (70, "A restart marker ends it, so what is behind the", False),
        (88, "marker can be decoded without what is before.", False),
        (122, f"This crop touches {touched} of {columns * rows} tiles.", True),
        (140, "The loader finds them by their markers and", False),
        (158, "decodes nothing else: at half or a quarter of the", False),
        (176, "size, if the crop is that much larger than the", False), (194, "output.", False),
        (228, "Other readers see an ordinary JPEG.", True),
    ]:
        d.text(words_x, words_y + y, words, class_="small bold" if bold else "small")
    y, x = d.size[1] - 32, 1.0
    behind = "; behind each tile its restart marker" if beside else " and restart markers"
    d.text(0, y - 7, f"row {first} of the tiles as bytes{behind}", class_="small bold")
    tinted(d, x, y, 58, 24, LIMIT, "SOI, quantization and Huffman tables, SOF0, DRI, SOS", 0.14)
    d.text(x + 29, y + 16, "header", "middle", "small")
    d.text(x + 62, y + 16, "…", class_="small")
    x += 78
    width, marker = (sheet - 44 - 80 - 20) / columns, 12 if beside else 5
    for n in range(columns):
        used = left <= n <= right
        d.add("rect", tip=f"tile {n} of row {first}", x=x, y=y, width=width - marker - 1, height=24,
              fill=OURS if used else "currentColor", fill_opacity=0.28 if used else 0.05, stroke="currentColor",
              stroke_opacity=0.35, stroke_width=0.7)
        d.add("rect", tip=f"marker RST{n % 8}", x=x + width - marker - 1, y=y, width=marker, height=24, fill=LIMIT)
        x += width
    d.text(x + 4, y + 16, "… EOI", class_="small")
    return d


def commit():
    """How files become a data set, and what a reader finds at each moment."""
    d = Drawing(WIDE, 196, "The commit point", "Files are written and synced, get their final names, and then dataset.json is "
                "replaced in one step. A reader finds the old data set before that and the new one after it.")
    steps = [("write", "records, index;", "hidden names"), ("sync", "until the disk", "has them"),
             ("rename", "to final names,", "not listed yet"), ("replace", "dataset.json:", "one rename"),
             ("remove", "files of the old", "data set")]
    width, gap = 122.0, 20.0
    for n, (name, one, two) in enumerate(steps):
        x = n * (width + gap)
        tinted(d, x + 1, 16, width - 2, 66, LIMIT if name == "replace" else OURS, strength=0.28 if name == "replace" else 0.12)
        d.text(x + width / 2, 36, name, "middle", "bold")
        d.text(x + width / 2, 54, one, "middle", "small")
        d.text(x + width / 2, 70, two, "middle", "small")
        if n:
            d.arrow((x - gap + 2, 49), (x - 2, 49))
    at = 3 * (width + gap) + width / 2
    d.line((at, 84), (at, 176), class_=None, stroke=LIMIT, stroke_width=2, stroke_dasharray="4 3")
    d.text(at, 190, "the commit point", "middle", "small bold")
    before = (0, at - 6, GREEN, "a reader finds the old data set", "killed here: as if nothing had been begun")
    after = (at + 6, WIDE, OURS, "the new one", "killed here: it is there")
    for x, end, color, name, what in (before, after):
        tinted(d, x + 1, 100, end - x - 2, 26, color, strength=0.16)
        d.text((x + end) / 2, 117, name, "middle", "small bold")
        d.text((x + end) / 2, 148, what, "middle", "small")
    d.text((at - 6) / 2, 164, "or, with --if-exists resume, where the journal says", "middle", "small quiet")
    return d


# The steps of ARCHITECTURE.md, "Life of a frame": a name, the rooms below src/, and what happens there.
PACKING = [
    ("1. list", "pack/plan", "folders, manifests, LeRobot:", "an ordered list of videos"),
    ("2. choose", "video, sampler", "decode, compare with the", "packets, take N frames"),
    ("3. convert", "video", "scale, then one pass to", "8-bit planes; no RGB"),
    ("4. encode", "jpeg", "a baseline JPEG in tiles of", "32x16 or 16x16 pixels"),
    ("5. write", "pack, disk", "records, index, journal;", "dataset.json commits"),
]
LOADING = [
    ("6. read", "dataset", "two checksums and a slice", "of the memory map"),
    ("7. order", "order", "which clip is where in the", "epoch: seed, epoch, rank"),
    ("8. plan", "loader/feed", "frames, crop, flip, colors:", "drawn once for a clip"),
    ("9. cut", "jpeg", "decode the tiles of the crop,", "at a scale that suffices"),
    ("10. one pass", "loader/kernel", "resample, color, normalize:", "sixteen pixels at a time"),
    ("11. ahead", "loader/feed", "a ring of reused buffers,", "filled before you ask"),
]
STEP = (208.0, 68.0)  # width and height of a step's box
ACROSS, DOWN = 241.0, 98.0


class Steps:
    """Boxes one after another, three in each row; in a narrow drawing below each other."""

    def __init__(self, drawing, top, color):
        self.d, self.top, self.color, self.count = drawing, top, color, 0
        wide = drawing.size[0] == WIDE
        self.across, self.width, self.down = (3, STEP[0], DOWN) if wide else (1, drawing.size[0], STEP[1] + 20)

    def corner(self, place):
        return place % self.across * ACROSS, self.top + place // self.across * self.down

    def box(self, color, tip, strength):
        """The next box, with the arrow that leads to it."""
        (x, y), place = self.corner(self.count), self.count
        tinted(self.d, x + 1, y, self.width - 2, STEP[1], color, tip, strength)
        self.count += 1
        before_x, before_y = self.corner(place - 1)
        if place % self.across:
            self.d.arrow((before_x + self.width + 2, y + STEP[1] / 2), (x - 2, y + STEP[1] / 2))
        elif place:
            self.turn(before_x, before_y, y)
        return x, y

    def turn(self, from_x, from_y, to_y):
        """The arrow from a box to the left one of the next row."""
        middle = to_y - (self.down - STEP[1]) / 2
        start, end = from_x + self.width / 2, self.width / 2
        bends = [(start, middle), (end, middle)] if start != end else []
        self.d.arrow((start, from_y + STEP[1] + 2), *bends, (end, to_y - 2))

    def step(self, name, room, one, two):
        x, y = self.box(self.color, f"{name}: {one} {two}", 0.12)
        self.d.text(x + 12, y + 21, name, class_="bold")
        self.d.text(x + self.width - 10, y + 21, room, "end", "mono quiet")
        self.d.text(x + 12, y + 41, one, class_="small")
        self.d.text(x + 12, y + 57, two, class_="small")


def way(width):
    """From a video to a batch."""
    d = Drawing(width, 0, "The way of a frame", "From a video to a batch. Packing, once: "
                + ", ".join(name for name, *_ in PACKING) + ". Loading, each epoch: " + ", ".join(name for name, *_ in LOADING))
    d.text(0, 14, "Packing, once", class_="bold")
    note = "on the right of each step: its rooms below src/" if width == WIDE else "on the right: rooms below src/"
    d.text(width, 14, note, "end", "small quiet")
    packing = Steps(d, 26, GREEN)
    for step in PACKING:
        packing.step(*step)
    x, y = packing.box(LIMIT, None, 0.2)
    middle = x + packing.width / 2
    d.text(middle, y + 21, "a data set", "middle", "bold")
    d.text(middle, y + 41, "dataset.json .vidx .rec", "middle", "mono")
    d.text(middle, y + 57, "on a disk or in object storage", "middle", "small")
    loading = Steps(d, y + STEP[1] + 68, OURS)
    turn, end = y + STEP[1] + 16, loading.width / 2
    d.arrow((middle, y + STEP[1] + 2), *([(middle, turn), (end, turn)] if middle != end else []), (end, loading.top - 2))
    d.text(end + 12, loading.top - 14, "Loading, each epoch", class_="bold")
    for step in LOADING:
        loading.step(*step)
    x, y = loading.corner(loading.count - 1)
    middle, bottom = x + loading.width / 2, y + STEP[1]
    d.arrow((middle, bottom + 2), (middle, bottom + 20))
    d.text(middle, bottom + 36, "your training step", "middle", "bold")
    d.size = width, bottom + 42
    return d


DIAGRAMS = {"format-files": files, "format-record": record, "format-index": index, "format-tiles": both(tiles),
            "format-commit": commit, "way-of-a-frame": both(way)}

if __name__ == "__main__":
    finish(DIAGRAMS)
