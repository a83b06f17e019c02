#!/usr/bin/env python3
"""Draws the plots of docs/speed.md and docs/quality.md from the figures in benches/results, into docs/pictures.

    scripts/draw/plots.py           draws them
    scripts/draw/plots.py --check   says which are not as they would be drawn; the status is then 1
"""
import math
from dataclasses import replace

from results import as_text, load, main_value
from svg import COLORS, WIDE, Drawing, both, width_of
from write import finish

ROW, BAR = 26, 16


def kind_of(results, name):
    if name == results.reference:
        return "limit"
    return "ours" if name.startswith("vidrec") else "other"


def wrapped(text, width, size=11.5, bold=False):
    """The text in lines that are not wider than this."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        lines = [*lines[:-1], longer] if width_of(longer, size, bold) <= width or not lines[-1] else [*lines, word]
    return lines


def bar(drawing, x, y, length, kind, tip):
    if kind == "limit":
        drawing.add("rect", tip=tip, x=x + 0.75, y=y + 0.75, width=max(length - 1.5, 1), height=BAR - 1.5,
                    fill=COLORS["limit"], fill_opacity=0.2, stroke=COLORS["limit"], stroke_width=1.5)
    elif kind == "ours":
        drawing.add("rect", tip=tip, x=x, y=y, width=max(length, 1), height=BAR, fill=COLORS["ours"])
    else:
        drawing.add("rect", tip=tip, x=x, y=y, width=max(length, 1), height=BAR, class_="other")


def dashed(drawing, x, top, bottom):
    drawing.line((x, top), (x, bottom), class_=None, stroke=COLORS["limit"], stroke_width=1.5, stroke_dasharray="3 3")


def labels_at(drawing, results, top, pitch, width, names):
    """The names of the rows, which `names` may shorten; above their bars, if the rows have the room."""
    for i, row in enumerate(results.rows):
        bold = kind_of(results, row.name) == "ours"
        name = names.get(row.name, row.name)
        lines = wrapped(name, width - 8, 12, bold) if pitch == ROW else [name]
        for n, text in enumerate(lines):
            y = top + pitch * i + (BAR - 4 + 12.5 * (n - (len(lines) - 1) / 2) if pitch == ROW else -5)
            drawing.text(0, y, text, font_size=12, class_="bold" if bold else None)


def column_of_bars(drawing, results, column, x, width, top, pitch):
    """The bars of one column, each with its value, and a dashed line at the reference."""
    values = [main_value(row.values[column]) for row in results.rows]
    known = [v for v in values if v is not None]
    longest = width - max(width_of(as_text(v), 12, bold=True) for v in known) - 18
    scale = longest / max(known)
    reference = main_value(results.row(results.reference).values[column]) if results.reference else None
    line = x + reference * scale if reference else None
    for i, (row, value) in enumerate(zip(results.rows, values)):
        y, note, kind = top + pitch * i, row.notes[column], kind_of(results, row.name)
        if value is None:
            drawing.text(x, y + BAR - 3, note or "–", class_="small quiet")
            continue
        tip = f"{row.name}: {as_text(value)} {results.unit_of(column)} ({results.columns[column]})"
        bar(drawing, x, y, value * scale, kind, tip + (f"; {note}" if note else ""))
        end = x + value * scale + 4
        if line and end - 4 < line < end + width_of(as_text(value), 12):
            end = line + 4
        drawing.text(end, y + BAR - 3, as_text(value), font_size=12, class_="bold" if kind == "ours" else None)
    if line:
        dashed(drawing, line, top - 4, top + pitch * len(values) - 6)


def bars(width, title, results, columns=None, names=None, label_width=190, less=()):
    """Rows with a bar in each column, of which each has a scale of its own; of those in `less`, less is better. In a narrow
    drawing the columns stand below each other."""
    columns = list(range(len(results.columns))) if columns is None else columns
    names, across, pitch = names or {}, len(columns), ROW
    if width < WIDE:
        across, label_width = 1, 142
        if any(len(wrapped(names.get(row.name, row.name), label_width - 8, 12)) > 2 for row in results.rows):
            label_width, pitch = 0, ROW + 16
    room = (width - label_width) / across
    drawing = Drawing(width, 0, f"{title}: {results.machine}", f"{results.data}. {results.command}".rstrip(". ") + ".")
    begin = 0
    for band in (columns[at:at + across] for at in range(0, len(columns), across)):
        heads = [wrapped(results.columns[c], room - 12, bold=True) for c in band]
        top = begin + 26 + 15 * max(map(len, heads)) + pitch - ROW
        labels_at(drawing, results, top, pitch, label_width, names)
        for place, (column, head) in enumerate(zip(band, heads)):
            x = label_width + place * room
            for n, text in enumerate(head):
                drawing.text(x, begin + 12 + 15 * n, text, class_="small bold")
            unit = results.unit_of(column) + (", less is better" if column in less else "")
            drawing.text(x, begin + 12 + 15 * len(head), unit, class_="small quiet")
            column_of_bars(drawing, results, column, x, room, top, pitch)
        begin = top + pitch * len(results.rows) - (pitch - ROW) + 16
    measured_on(drawing, begin, results)
    return drawing


def measured_on(drawing, y, results):
    """The last line of a plot."""
    drawing.text(0, y, f"measured on {results.machine}, {results.date}", class_="small quiet")
    drawing.size = drawing.size[0], y + 4


def loaders(width):
    """Without contestants that cannot do all workloads, and with one row for vidrec."""
    results = load("loaders")
    rows = tuple(row for row in results.rows if None not in row.values and row.name != "vidrec, one thread")
    return bars(width, "Frames per second of loaders", replace(results, rows=rows), names={
        "libjpeg-turbo alone: whole frames to RGB, nothing else": "bare decode: libjpeg-turbo",
        "best Python by hand: mmap, simplejpeg, OpenCV, threads": "best Python by hand",
        "MXNet ImageRecordIter (crops each frame by itself)": "MXNet, a crop per frame",
        "DALI on CPU, one crop per clip": "DALI on CPU",
        "FFCV (crops each frame by itself)": "FFCV, a crop per frame",
        "Grain with ArrayRecord": "Grain, ArrayRecord",
    }, label_width=172)


def lengths(width):
    return bars(width, "Clips of 8 to 64 frames with captions", load("lengths"), label_width=265, less=(2,))


def remote(width):
    return bars(width, "Training from a server with 50 ms of latency", load("remote"), columns=[1, 2, 3, 4], label_width=186,
                less=(4,))


def packing(width):
    return bars(width, "Videos packed per second", load("packing"), names={
        "decoding alone, of the packets that the frames need": "decoding alone"}, label_width=160)


# How each way to encode is drawn: its color and its dashes.
WAYS = {
    "libjpeg-turbo": ("limit", None), "mozjpeg 0.10, no restart markers": ("green", "2 3"),
    "jpegli 0.1, progressive, no restart markers": ("sky", "8 3 2 3"), "with --effort 1": ("ours", None),
}


def curve_of(results, way):
    """The points of a way to encode: bytes, PSNR and SSIMULACRA2 at each quality."""
    return [row.values[:3] for row in results.rows if row.name.rpartition(", ")[0] == way]


def density(width):
    """Two scores against bytes, side by side; in a narrow drawing below each other."""
    results = load("density")
    ways = {way: curve_of(results, way) for way in WAYS if curve_of(results, way)}
    room, height = min(WIDE / 2, width), 220
    drawing = Drawing(width, 0, results.title, f"{results.data}.")
    for i, way in enumerate(ways):
        color, dashes = WAYS[way]
        drawing.line((0, 18 * i + 10), (30, 18 * i + 10), class_=None, stroke=COLORS[color], stroke_width=2.5, stroke_dasharray=dashes)
        ours = way == "with --effort 1"
        drawing.text(38, 18 * i + 14, f"vidrec {way}" if way.startswith("with") else way, font_size=12, class_="bold" if ours else None)
    left, top = 0, 26 + 18 * len(ways)
    for panel, (score, unit) in enumerate([("PSNR of RGB", "dB"), ("SSIMULACRA2", "points")]):
        scores(drawing, ways, 1 + panel, (score, unit), (left, top, room, height))
        left, top = (room, top) if width == WIDE else (0, top + height + 62)
    bottom = top + height if width == WIDE else top - 62
    drawing.text(width / 2, bottom + 40, "bytes of a frame", "middle", class_="small bold")
    drawing.size = width, bottom + 44
    return drawing


def scores(drawing, ways, value_at, named, place):
    """The curves of one score in a place of (left, top, width, height)."""
    (score, unit), (begin, top, room, height) = named, place
    left, right = begin + 44, begin + room - 26
    points = [point for curve in ways.values() for point in curve]
    least, most = min(p[0] for p in points), max(p[0] for p in points)
    low, high = min(p[value_at] for p in points), max(p[value_at] for p in points)
    x = lambda length: left + (right - left) * (length - least) / (most - least)
    y = lambda value: top + height - height * (value - low) / (high - low)
    drawing.text(begin, top - 8, f"{score}, {unit}", class_="small bold")
    drawing.line((left - 6, top), (left - 6, top + height + 6), (right, top + height + 6))
    for value in range(math.ceil(low / 2) * 2, math.floor(high) + 1, 2):
        drawing.text(left - 11, y(value) + 4, str(value), "end", class_="small quiet")
    for thousand in range(math.ceil(least / 5000) * 5, int(most / 1000) + 1, 5):
        drawing.text(x(1000 * thousand), top + height + 21, f"{thousand} kB", "middle", class_="small quiet")
    for way, curve in ways.items():
        color, dashes = WAYS[way]
        drawing.line(*((x(p[0]), y(p[value_at])) for p in curve), class_=None, fill="none", stroke=COLORS[color],
                     stroke_width=2.5 if way == "with --effort 1" else 1.8, stroke_dasharray=dashes)
        for quality, p in zip(("75", "80", "85", "90", "95"), curve):
            tip = f"{way}, quality {quality}: {as_text(p[0])} bytes, {p[value_at]} {unit}"
            drawing.add("circle", tip=tip, cx=x(p[0]), cy=y(p[value_at]), r=3, fill=COLORS[color])


PLOTS = {name: both(plot) for name, plot in {
    "speed-loaders": loaders, "speed-remote": remote, "speed-lengths": lengths, "speed-packing": packing,
    "density": density,
}.items()}

if __name__ == "__main__":
    finish(PLOTS)
