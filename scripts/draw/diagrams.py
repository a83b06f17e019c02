#!/usr/bin/env python3
"""Draws the diagrams of docs/format.md and docs/architecture.md into docs/pictures.

    scripts/draw/diagrams.py           draws them
    scripts/draw/diagrams.py --check   says which are not as they would be drawn; the status is then 1
"""
from textwrap import wrap

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


def files(sheet):
    """The files of a data set, and what ties them together. In a narrow drawing a shard's files stand below its index."""
    beside = sheet == WIDE
    d = Drawing(sheet, 250 if beside else 470, "The files of a data set", "dataset.json lists all files. Each index binds its record file "
                "and its track file by length, SHA-256 and a CRC-32 of both ends.")
    top = 92 if beside else 1
    tinted(d, 0, top, 150, 62, LIMIT, "the commit point: replacing it makes a data set")
    d.text(75, top + 24, "dataset.json", "middle", "mono bold")
    d.text(75, top + 40, "shards, counts,", "middle", "small")
    d.text(75, top + 55, "classes, settings", "middle", "small")

    def listed(x, y):
        d.arrow(*([(150, 123), (190, 123), (190, y)] if beside else [(12, 63), (12, y)]), (x - 4, y))

    for n, number in enumerate(("00000", "00001")):
        x, y = (222, 108 * n) if beside else (32, 82 + 160 * n)
        d.box(x, y, sheet - x, 98 if beside else 148, round_=5)
        d.text(sheet - 8, y + 14, f"shard {number}", "end", "small quiet")
        tinted(d, x + 12, y + 22, 176, 56, OURS, "header, tables of frames and clips, texts, checksums, settings")
        d.text(x + 100, y + 42, f"shard-{number}-D….vidx", "middle", "mono bold")
        d.text(x + 100, y + 60, "the index", "middle", "small")
        listed(x + 12, y + 50)
        for name, end, class_, place, tip in [
            ("DATA", "rec", "mono bold", (490, y + 20, 190) if beside else (x + 8, y + 110, 152), "one record for each frame"),
            ("TRKS", "vtrk", "mono", (490, y + 58, 190) if beside else (x + 168, y + 110, 152),
             "numbers, texts and sound beside the frames; only if there are any"),
        ]:
            at, below, width = place
            tinted(d, at, below, width, 28, GREEN, tip, stroke_dasharray="4 3" if end == "vtrk" else None)
            d.text(at + width / 2, below + 18, f"shard-{number}-D….{end}", "middle", class_)
            if beside:
                d.arrow((410, below + 14), (at - 4, below + 14))
                d.text(448, below + 9, name, "middle", "small")
            else:
                down = at + 40 if end == "rec" else x + 178
                d.arrow((down, y + 78), (down, below - 4))
                d.text(down + 7, y + 97, name, class_="small")
    x, y = (234, 216) if beside else (32, 402)
    tinted(d, x, y, 176, 28, GREEN, "skipped videos and why; only if there are any", stroke_dasharray="4 3")
    d.text(x + 88, y + 18, "failures-D….jsonl", "middle", "mono")
    listed(x, y + 14)
    d.text(*((428, 234) if beside else (32, 456)), "D…: twelve digits of the file's own SHA-256", class_="small quiet")
    return d


def record(sheet):
    """The bytes of a record, and where records lie in a record file. In a narrow drawing the bytes fill two rows."""
    beside = sheet == WIDE
    d = Drawing(sheet, 202 if beside else 286, "A record", "A record file holds one record after another; the records of a clip lie side "
                "by side. A record is a magic word, a length, 24 bytes of label and ids, one JPEG, and padding to a multiple of four.")
    d.text(0, 14, "record file", class_="small bold")
    x, width = 0.0, 46.0 if beside else 26.0
    for clip in range(3):
        first = x
        for t in range(4):
            picked = (clip, t) == (1, 1)
            tinted(d, x, 24, width - 2, 26, LIMIT if picked else GREEN, f"clip {clip}, frame {t}", 0.3 if picked else 0.12)
            d.text(x + width / 2 - 1, 41, f"{t}", "middle", "small")
            if picked:
                at = x
            x += width
        d.line((first + 1, 55), (first + 1, 59), (x - 3, 59), (x - 3, 55))
        d.text((first + x) / 2, 74, f"clip {clip}", "middle", "small quiet")
        x += 12 if beside else 8
    d.text(x + (4 if beside else 0), 41, "…", class_="small")
    top = 128
    parts = [
        (76, "magic", "4", "0a 23 d7 ce"), (76, "lrec", "4", "3 bits: whole record or part of one; 29 bits: length"),
        (56, "flag", "4", "0"), (62, "label", "4", "the clip's label as f32; -1.0 if it has none"),
        (78, "id", "8", "ordinal of the record in the file"),
        (88, "id2", "8", "ordinal of the clip << 32, plus ordinal of the frame"),
        (190, "JPEG", "n", "one JPEG: any reader of JPEGs reads it"), (62, "00…", "0 to 3", "padding to a multiple of 4"),
    ]
    rows = [parts] if beside else [parts[:5], parts[5:]]
    d.line((at, 50), (1, top - 2), stroke_dasharray="3 3")
    d.line((at + width - 2, 50), (sum(part[0] for part in rows[0]) - 1, top - 2), stroke_dasharray="3 3")
    for row, shown in enumerate(rows):
        fields(d, 1, top + 84 * row, 30, shown, LIMIT)
    header = [(153, 437, 0, "header of MXNet's images: 24 bytes")]
    if not beside:
        header = [(153, 349, 0, "header of MXNet's images:"), (1, 89, 1, "24 bytes")]
    for first, last, row, name in [(1, 153, 0, "RecordIO"), *header]:
        y = top + 84 * row
        d.line((first + 2, y + 50), (first + 2, y + 54), (last - 2, y + 54), (last - 2, y + 50))
        d.text((first + last) / 2, y + 67, name, "middle", "small quiet")
    d.text(684 if beside else 340, top + 84 * (len(rows) - 1) + 67, "sizes in bytes", "end", "small quiet")
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


def index(sheet):
    """The sections of an index, and how a reader gets from a clip to a JPEG. In a narrow drawing what a section holds stands below it."""
    beside = sheet == WIDE
    left, width = (172, 96) if beside else (148, 96)
    d = Drawing(sheet, 0, "An index", "Sections from the first byte to the last: "
                + "; ".join(f"{name}: {what}" for name, _, what, _ in SECTIONS))
    d.text(left + width + 12, 14, "bytes", class_="small quiet")
    if beside:
        d.text(left + width + 96, 14, "what", class_="small quiet")
    d.text(0, 14, "from clip 1 to its JPEG" if beside else "clip 1 to its JPEG", class_="small bold")
    middle, y = {}, 24
    for name, size, what, used in SECTIONS:
        color = LIMIT if used else OURS
        dashed = "4 3" if name == "TRKS" else None
        tinted(d, left, y, width, 24, color, what, 0.24 if used else 0.12, stroke_dasharray=dashed)
        d.text(left + width / 2, y + 16, name, "middle", "mono bold" if used else "mono")
        d.text(left + width + 12, y + 16, size or "any", class_="small")
        middle[name] = y + 12
        if beside:
            d.text(left + width + 96, y + 16, what, class_="small")
        else:
            for line in wrap(what, 36):
                y += 15
                d.text(left, y + 24, line, class_="small quiet")
            y += 5
        y += 29
    d.size = sheet, y + 6
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


COMMIT = [
    ("write", "records, index;", "hidden names"), ("sync", "until the disk", "has them"), ("rename", "to final names,", "not listed yet"),
    ("replace", "dataset.json:", "one rename"), ("remove", "files of the old", "data set"),
]


def commit(sheet):
    """How files become a data set, and what a reader finds at each moment. In a narrow drawing time runs down."""
    beside = sheet == WIDE
    d = Drawing(sheet, 196 if beside else 412, "The commit point", "Files are written and synced, get their final names, and then "
                "dataset.json is replaced in one step. A reader finds the old data set before that and the new one after it.")
    width, height, gap = 122.0, 66.0, 20.0
    across, down, top = (width + gap, 0, 16) if beside else (0, height + gap, 1)
    for n, (name, one, two) in enumerate(COMMIT):
        x, y = n * across, top + n * down
        tinted(d, x + 1, y, width - 2, height, LIMIT if name == "replace" else OURS, strength=0.28 if name == "replace" else 0.12)
        for below, text, class_ in ((20, name, "bold"), (38, one, "small"), (54, two, "small")):
            d.text(x + width / 2, y + below, text, "middle", class_)
        if n and beside:
            d.arrow((x - gap + 2, 49), (x - 2, 49))
        elif n:
            d.arrow((width / 2, y - gap + 2), (width / 2, y - 2))
    dashes = {"class_": None, "stroke": LIMIT, "stroke_width": 2, "stroke_dasharray": "4 3"}
    if beside:
        at = 3 * across + width / 2
        d.line((at, 84), (at, 176), **dashes)
        d.text(at, 190, "the commit point", "middle", "small bold")
        before = (0, at - 6, GREEN, "a reader finds the old data set", "killed here: as if nothing had been begun")
        after = (at + 6, sheet, OURS, "the new one", "killed here: it is there")
        for x, end, color, name, what in (before, after):
            tinted(d, x + 1, 100, end - x - 2, 26, color, strength=0.16)
            d.text((x + end) / 2, 117, name, "middle", "small bold")
            d.text((x + end) / 2, 148, what, "middle", "small")
        d.text((at - 6) / 2, 164, "or, with --if-exists resume, from the complete shards", "middle", "small quiet")
        return d
    at, x = top + 3 * down + height / 2, width + 24
    d.line((width + 4, at), (sheet, at), **dashes)
    d.text(sheet, at - 7, "the commit point", "end", "small bold")
    for y, end, color, lines in [
        (0, at - 24, GREEN, ("a reader finds", "the old data set", "", "killed here: as if", "nothing had been begun", "or, with", "--if-exists resume,",
                             "from the complete shards")),
        (at + 6, d.size[1] - 2, OURS, ("the new one", "", "killed here: it is there")),
    ]:
        tinted(d, x, y + 1, sheet - x - 1, end - y - 2, color, strength=0.16)
        for n, line in enumerate(lines):
            bold = "" not in lines[:n] and line
            # An empty line sets those behind it apart.
            if line:
                at_y = (y + end) / 2 + 17 * (n - len(lines) / 2) + 12
                d.text((x + sheet) / 2, at_y, line, "middle", "small bold" if bold else "small")
    return d


# The steps of ARCHITECTURE.md, "Life of a frame": a name, the rooms below src/, and what happens there.
PACKING = [
    ("1. list", "pack/plan", "folders, manifests, LeRobot:", "an ordered list of videos"),
    ("2. choose", "video, sampler", "decode, compare with the", "packets, take N frames"),
    ("3. convert", "video", "scale, then one pass to", "8-bit planes; no RGB"),
    ("4. encode", "jpeg", "a baseline JPEG in tiles of", "32x16 or 16x16 pixels"),
    ("5. write", "pack, disk", "records and index;", "dataset.json commits"),
]
LOADING = [
    ("6. read", "dataset", "two checksums and a slice", "of the memory map"),
    ("7. order", "order", "which clip is where in the", "epoch: seed, epoch, rank"),
    ("8. plan", "loader/feed", "frames, crop, flip, colors:", "drawn once for a clip"),
    ("9. cut", "jpeg", "decode the tiles of the crop,", "at a scale that suffices"),
    ("10. one pass", "loader/kernel", "resample, color, normalize:", "sixteen pixels at a time"),
    ("11. ahead", "loader/feed", "a queue of reused buffers,", "filled before you ask"),
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


DIAGRAMS = {"format-files": both(files), "format-record": both(record), "format-index": both(index), "format-tiles": both(tiles),
            "format-commit": both(commit), "way-of-a-frame": both(way)}

if __name__ == "__main__":
    finish(DIAGRAMS)
