# type: ignore
# Warp compiles these functions, and its types are not those of Python.
"""The kernel that blends rows of planes to lines: those of a picture, still as long as the rows of the planes.

So pixels that share samples do not blend them again. A line has a row of luma, and then one of each chroma.
"""

import warp as wp

from .arrays import at, put
from .planes import LINES, TABLE, UNIT, planes_of
from .tables import CHROMA_ROWS, LUMA_ROWS, Table, taps_of

wp.set_module_options({"enable_backward": False, "max_unroll": 1, "fast_math": False, "fuse_fp": False})

# Lines, or rows of pixels, that a thread makes one after another, so that it looks up only once what they share.
STRIP = wp.constant(8)


@wp.func
def first_line(frames: wp.array2d(dtype=wp.int32), f: int, strip: int, length: int):
    """Where the lines of a strip begin."""
    return wp.int64(frames[f, LINES]) * UNIT + wp.int64(strip * STRIP) * wp.int64(length)


@wp.func
def blended(
    planes: wp.array(dtype=wp.uint8), start: wp.int64, pitch: int, weights: wp.array(dtype=wp.int16), first: int, taps: int
):
    """The blend of samples below each other, in units of 1/128."""
    base = int(at(planes, start))
    line = base << 7
    for k in range(1, taps):
        start += wp.int64(pitch)
        weight = int(at(weights, first + k))
        if weight != 0:
            difference = (int(at(planes, start)) - base) << 7
            line += (difference * 2 * weight + 16384) >> 15
            line = wp.clamp(line, -32768, 32767)
    return wp.int16(line)


@wp.kernel
def blend(
    planes: wp.array(dtype=wp.uint8),
    frames: wp.array2d(dtype=wp.int32),
    tables: wp.array(dtype=Table),
    spans: wp.array(dtype=wp.int32),
    weights: wp.array(dtype=wp.int16),
    height: int,
    side: int,
    lines: wp.array(dtype=wp.int16),
):
    """Makes a column of a strip of lines of frame `f`."""
    f, strip, column = wp.tid()
    number = frames[f, TABLE]
    table = tables[number]
    found = planes_of(frames, f, table.step)
    length = 2 * found.luma.pitch
    if table.is_copy != 0 or column >= length:
        return
    plane = found.luma
    x = column
    axis = LUMA_ROWS
    if column >= plane.pitch:
        if table.needed != 3:
            return
        axis = CHROMA_ROWS
        x -= plane.pitch
        plane = found.blue
        if x >= plane.pitch:
            x -= plane.pitch
            plane = found.red
    to = first_line(frames, f, strip, length) + wp.int64(column)
    for y in range(strip * STRIP, wp.min(strip * STRIP + STRIP, height)):
        rows = taps_of(table, spans, number, axis, side, y)
        start = plane.start + wp.int64((rows.first - plane.top) * plane.pitch + x)
        put(lines, to, blended(planes, start, plane.pitch, weights, rows.weights, rows.count))
        to += wp.int64(length)
