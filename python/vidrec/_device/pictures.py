# type: ignore
# Warp compiles these functions, and its types are not those of Python.
"""The kernel that makes pictures of lines, or of planes: the arithmetic of the processor's pass, bit for bit."""

from typing import Any

import warp as wp

from .arrays import at, put
from .colors import Channel, channel_of, level_of, value_for
from .copies import Column, column_of, copied
from .lines import STRIP, first_line
from .planes import PLACE, TABLE, TABLE_NUMBER, planes_of
from .tables import CHROMA_COLUMNS, IS_COPY, LUMA_COLUMNS, NEEDED, Axis, axis_of

wp.set_module_options({"enable_backward": False, "max_unroll": 1, "fast_math": False, "fuse_fp": False})

# A level of 1 in sums: 1/128 of a level for each row, 2^-14 for each column.
LEVEL = wp.constant(128 * 16384)

# Of a picture's dimensions: clips, frames, channels, rows and columns.
Strides = wp.types.vector(length=5, dtype=wp.int64)


@wp.struct
class Taps:
    """The samples of a line that make up a pixel."""

    count: int
    first: int  # from the line's begin on
    weights: int


@wp.func
def taps_of(numbers: wp.array(dtype=wp.int32), axis: Axis, x: int, start: int):
    """Those of column x; a row of the plane starts there in the line."""
    taps = Taps()
    taps.count = axis.taps
    taps.first = at(numbers, axis.firsts + x) + start
    taps.weights = axis.weights + x * axis.taps
    return taps


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
    numbers: wp.array(dtype=wp.int32),
    weights: wp.array(dtype=wp.int16),
    conversions: wp.array(dtype=wp.float32),
    width: int,
    height: int,
    channels: int,
    count: int,
    strides: Strides,
    out: wp.array(dtype=Any),
):
    """Makes a column of a strip of the picture of frame `f`; a clip has `count` frames."""
    f, strip, x = wp.tid()
    table = frames[f, TABLE]
    needed = at(numbers, table + NEEDED)
    is_copy = at(numbers, table + IS_COPY) != 0
    found = planes_of(frames, f)
    length = 2 * found.luma.pitch
    column = Column()
    luma = Taps()
    chroma = Taps()
    if is_copy:
        column = column_of(numbers, table, x, width)
    else:
        luma = taps_of(numbers, axis_of(numbers, table + LUMA_COLUMNS), x, -found.luma.left)
        if needed == 3:
            start = found.luma.pitch - found.blue.left
            chroma = taps_of(numbers, axis_of(numbers, table + CHROMA_COLUMNS), x, start)
    red = channel_of(conversions, frames[f, TABLE_NUMBER], 0)
    green = Channel()
    blue = Channel()
    if channels == 3:
        green = channel_of(conversions, frames[f, TABLE_NUMBER], 1)
        blue = channel_of(conversions, frames[f, TABLE_NUMBER], 2)
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
