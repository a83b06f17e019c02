#!/usr/bin/env python3
"""Draws the moving picture of the first page into docs/pictures: how JPEGs in a record file become batches.

    scripts/draw/batch.py           draws it
    scripts/draw/batch.py --check   says whether it is not as it would be drawn; the status is then 1
"""
import clips
from svg import NARROW, Drawing
from write import finish

HEIGHT = 398
# A frame in the record file: half the units of its scene.
SMALL, STEP_X, STEP_Y = 0.5, 21, 20
RECORD = (6, 26)
# A picture in the batch.
SIDE, STEP = 36, 38
BATCH = (50, 160)
# Two batches are an epoch of eight clips in a shuffled order: (clip, x, y and side of the crop, whether it is flipped).
EPOCH = [
    [(5, 8, 2, 26, False), (2, 5, 3, 26, True), (0, 8, 2, 26, False), (7, 7, 2, 26, False)],
    [(3, 7, 2, 26, False), (6, 8, 1, 25, False), (4, 6, 4, 25, False), (1, 7, 4, 26, True)],
]
LIGHT = "#e0442a"  # the light of the logo
SECONDS = 16  # of an epoch
PLANES = (62, 340)

# Without motion, the first batch is there. `fly` begins where the crop lies in the record file.
STYLE = f"""
svg.vidrec .second {{ opacity: 0; }}
svg.vidrec .crop {{ fill: none; stroke: LIGHT; stroke-width: 1.4; }}
@media (prefers-reduced-motion: no-preference) {{
svg.vidrec .fly {{ animation: vidrec-fly {SECONDS}s cubic-bezier(.3, .1, .2, 1) infinite both; }}
svg.vidrec .show {{ animation: vidrec-show {SECONDS}s linear infinite both; }}
}}
@keyframes vidrec-fly {{
0% {{ opacity: 0; transform: translate(var(--x), var(--y)) scale(var(--s)); }}
0.6% {{ opacity: 1; transform: translate(var(--x), var(--y)) scale(var(--s)); }}
7%, 46% {{ opacity: 1; transform: none; }}
49%, 100% {{ opacity: 0; transform: translate(18px, 0); }}
}}
@keyframes vidrec-show {{ 0% {{ opacity: 0; }} 1%, 46% {{ opacity: 1; }} 49%, 100% {{ opacity: 0; }} }}
""".strip().replace("LIGHT", LIGHT)


def place(clip, t):
    """Where a frame lies in the record file: two clips in each row."""
    return RECORD[0] + clip % 2 * (8 * STEP_X + 12) + t * STEP_X, RECORD[1] + clip // 2 * STEP_Y


def number(value):
    return f"{value:.2f}".rstrip("0").rstrip(".")


def begins(batch, row, t):
    """When a picture sets out, in seconds."""
    return SECONDS / 2 * batch + 0.8 * row + 0.05 * t


def cut(clip, t, x, y, side, flip, size):
    """The crop of a frame, as a picture of `size` pixels."""
    inside = f'<svg width="{size}" height="{size}" viewBox="{x} {y} {side} {side}"><use href="#vidrec-{clip}-{t}"/></svg>'
    return f'<g transform="translate({size} 0) scale(-1 1)">{inside}</g>' if flip else inside


def record(d):
    d.text(RECORD[0], 14, "train/*.rec: JPEG after JPEG, clip after clip", class_="small")
    for clip, scene in enumerate(clips.SCENES):
        for t in range(clips.FRAMES):
            x, y = place(clip, t)
            d.parts.append(f'<use href="#vidrec-{clip}-{t}" transform="translate({x} {y}) scale({SMALL})"/>')


def crops(d):
    """The part of each frame of a clip that the batch takes: the same in all of them."""
    for batch, rows in enumerate(EPOCH):
        for row, (clip, x, y, side, _) in enumerate(rows):
            boxes = ""
            for t in range(clips.FRAMES):
                left, top = place(clip, t)
                length = number(SMALL * side)
                boxes += f"M{number(left + SMALL * x)} {number(top + SMALL * y)}h{length}v{length}h-{length}z"
            d.parts.append(f'<path class="crop show{" second" if batch else ""}" d="{boxes}" '
                           f'style="animation-delay:{number(begins(batch, row, 0))}s"/>')


def pictures(d):
    for batch, rows in enumerate(EPOCH):
        for row, (clip, x, y, side, flip) in enumerate(rows):
            for t in range(clips.FRAMES):
                (from_x, from_y), to = place(clip, t), (BATCH[0] + t * STEP, BATCH[1] + row * STEP)
                style = (f"--x:{number(from_x + SMALL * x - to[0])}px;--y:{number(from_y + SMALL * y - to[1])}px;"
                         f"--s:{number(SMALL * side / SIDE)};animation-delay:{number(begins(batch, row, t))}s")
                d.parts.append(f'<g transform="translate({to[0]} {to[1]})"><g class="fly{" second" if batch else ""}" '
                               f'style="{style}">{cut(clip, t, x, y, side, flip, SIDE)}</g></g>')


def axes(d):
    x, y = BATCH
    right, bottom = x + 8 * STEP - 2, y + 4 * STEP - 2
    d.text(x, y - 24, "one random crop a clip, in shuffled order", class_="small")
    middle = (x + right) / 2
    d.line((x, y - 5), (x, y - 9), (middle - 28, y - 9))
    d.line((middle + 28, y - 9), (right, y - 9), (right, y - 5))
    d.text(middle, y - 5, "frames", "middle", "small bold")
    d.line((x - 5, y), (x - 9, y), (x - 9, bottom), (x - 5, bottom))
    d.text(x - 14, (y + bottom) / 2 + 4, "batch", "end", "small bold")


def planes(d):
    """The last picture, in its channels."""
    x, y = PLANES
    left, bottom = BATCH[0], BATCH[1] + 4 * STEP - 2
    d.line((left, bottom + 2), (x, y))
    d.line((left + SIDE, bottom + 2), (x + SIDE, y))
    for n, channel in enumerate("BGR"):
        across, down = x + 9 * (2 - n), y + 5 * n
        for batch, rows in enumerate(EPOCH):
            shown = cut(rows[3][0], 0, *rows[3][1:], SIDE)
            d.parts.append(f'<g transform="translate({across} {down})" filter="url(#vidrec-{channel})">'
                           f'<g class="show{" second" if batch else ""}" '
                           f'style="animation-delay:{number(begins(batch, 3, 8))}s">{shown}</g></g>')
        d.box(across, down, SIDE, SIDE, class_="line")
    d.text(x + 62, y + 7, "C", "start", "small bold")
    d.text(x - 6, y + 34, "H", "end", "small bold")
    d.text(x + SIDE / 2, y + 57, "W", "middle", "small bold")
    d.text(152, y + 10, "batch.frames", class_="mono bold")
    d.text(152, y + 29, "uint8 (4, 8, 3, 224, 224)", class_="mono")
    d.text(152, y + 47, "(batch, frames, C, H, W)", class_="mono quiet")


def frames():
    """Each frame of each clip, to be used in the record file and in the batch."""
    for clip, scene in enumerate(clips.SCENES):
        for t in range(clips.FRAMES):
            yield f'<g id="vidrec-{clip}-{t}">{scene(t / (clips.FRAMES - 1))}</g>'


def filters():
    """What leaves one channel of a picture."""
    for n, name in enumerate("RGB"):
        rows = " ".join(" ".join("1" if row == column == n else "0" for column in range(5)) for row in range(3))
        yield (f'<filter id="vidrec-{name}" x="0" y="0" width="1" height="1" color-interpolation-filters="sRGB">'
               f'<feColorMatrix values="{rows} 0 0 0 1 0"/></filter>')


def batch():
    d = Drawing(NARROW, HEIGHT, "From record files to batches",
                "Eight clips of eight frames lie in a record file as JPEGs, one after another. Four clips at a time, in shuffled "
                "order, become a batch: the same crop of each frame of a clip, at the same size, flipped for some clips. The batch "
                "has the axes batch, frames, channels, height and width.")
    d.parts.append(f"<style>{STYLE}</style><defs>{''.join([*filters(), *frames()])}</defs>")
    for part in (record, crops, axes, pictures, planes):
        part(d)
    return d


MOVING = {"batch": batch}

if __name__ == "__main__":
    finish(MOVING)
