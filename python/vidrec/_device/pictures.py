# type: ignore
# Warp compiles these functions, and its types are not those of Python.
"""The kernel that makes pictures of lines, or of planes: the arithmetic of the processor's pass, bit for bit."""

from typing import Any

import warp as wp

from .arrays import at, put
from .colors import Channel, channel_of, level_of, value_for
from .copies import Column, column_of, copied
from .lines import STRIP, first_line
from .planes import PLACE, TABLE, planes_of
from .tables import CHROMA_COLUMNS, LUMA_COLUMNS, Table, Taps, taps_of

wp.set_module_options({"enable_backward": False, "max_unroll": 1, "fast_math": False, "fuse_fp": False})

# A level of 1 in sums: 1/128 of a level for each row, 2^-14 for each column.
LEVEL = wp.constant(128 * 16384)

# Of a picture's dimensions: clips, frames, channels, rows and columns.
Strides = wp.types.vector(length=5, dtype=wp.int64)


@wp.func
def resized(lines: wp.array(dtype=wp.int16), line: wp.int64, taps: Taps, weights: wp.array(dtype=wp.int16)):
    first = line + wp.int64(taps.first)
    total = int(0)
    for i in range(taps.count):
        total += int(at(lines, first + wp.int64(i))) * int(at(weights, taps.weights + i))
    return total


@wp.func
def resized_chroma(
    lines: wp.array(dtype=wp.int16), line: wp.int64, apart: int, taps: Taps, weights: wp.array(dtype=wp.int16)
):
    """Both, which share their weights."""
    first = line + wp.int64(taps.first)
    sums = wp.vec2i(0, 0)
    for i in range(taps.count):
        weight = int(at(weights, taps.weights + i))
        sums[0] += int(at(lines, first + wp.int64(i))) * weight
        sums[1] += int(at(lines, first + wp.int64(i + apart))) * weight
    return sums


@wp.kernel
def make(
    planes: wp.array(dtype=wp.uint8),
    lines: wp.array(dtype=wp.int16),
    frames: wp.array2d(dtype=wp.int32),
    tables: wp.array(dtype=Table),
    spans: wp.array(dtype=wp.int32),
    weights: wp.array(dtype=wp.int16),
    width: int,
    height: int,
    side: int,
    channels: int,
    count: int,
    strides: Strides,
    out: wp.array(dtype=Any),
):
    """Makes a column of a strip of the picture of frame `f`; a clip has `count` frames."""
    f, strip, x = wp.tid()
    number = frames[f, TABLE]
    table = tables[number]
    needed = table.needed
    is_copy = table.is_copy != 0
    found = planes_of(frames, f, table.step)
    length = 2 * found.luma.pitch
    column = Column()
    luma = Taps()
    chroma = Taps()
    if is_copy:
        column = column_of(table, x, width)
    else:
        # From the line's begin on.
        luma = taps_of(table, spans, number, LUMA_COLUMNS, side, x)
        luma.first -= found.luma.left
        if needed == 3:
            chroma = taps_of(table, spans, number, CHROMA_COLUMNS, side, x)
            chroma.first += found.luma.pitch - found.blue.left
    red = channel_of(table, 0)
    green = channel_of(table, 1)
    blue = channel_of(table, 2)
    line = first_line(frames, f, strip, length)
    place = frames[f, PLACE]
    to = wp.int64(place // count) * strides[0] + wp.int64(place % count) * strides[1]
    to += wp.int64(strip * STRIP) * strides[3] + wp.int64(x) * strides[4]
    for y in range(strip * STRIP, wp.min(strip * STRIP + STRIP, height)):
        sums = wp.vec3i(0, 0, 0)
        if is_copy:
            sums = LEVEL * copied(planes, found, column, column.top + y)
        else:
            sums[0] = resized(lines, line, luma, weights)
            if needed == 3:
                both = resized_chroma(lines, line, found.blue.pitch, chroma, weights)
                sums[1] = both[0]
                sums[2] = both[1]
            line += wp.int64(length)
        put(out, to, value_for(level_of(red, sums, needed), red, out.dtype(0)))
        if channels == 3:
            put(out, to + strides[2], value_for(level_of(green, sums, needed), green, out.dtype(0)))
            put(out, to + strides[2] + strides[2], value_for(level_of(blue, sums, needed), blue, out.dtype(0)))
        to += strides[3]


# Types of values: bytes, floats, halves, and the bits of bfloat16.
for _type in (wp.uint8, wp.float32, wp.float16, wp.uint16):
    wp.overload(make, {"out": wp.array(dtype=_type)})
