# type: ignore
# Warp compiles these functions, and its types are not those of Python.
"""Kernels that make pictures of planes: the arithmetic of the processor's pass, bit for bit.

One thread makes one pixel. It blends rows and then columns in integers, and converts colors and normalizes in floats, one
operation after another without fused ones.
"""

from typing import Any

import warp as wp

from .tiles import COLUMNS, LEFT, PLACE, PLANES, RESTART, SIDE, TABLE, TABLE_NUMBER, TILES, TOP, UNIT

wp.set_module_options({"enable_backward": False, "max_unroll": 1, "fast_math": False, "fuse_fp": False})

# Numbers of a table: `ExportedTables::HEAD` of the loader has them.
IS_COPY = wp.constant(0)
NEEDED = wp.constant(1)
FLIP = wp.constant(2)
COPY_LEFT = wp.constant(3)
COPY_TOP = wp.constant(4)
WIDTH = wp.constant(5)
HEIGHT = wp.constant(6)
AXES = wp.constant(7)

# A level of 1 in sums: 1/128 of a level for each row, 2^-14 for each column.
LEVEL = wp.constant(128 * 16384)

# FIX(x) of libjpeg's jdcolor.c: x times 2^16, rounded.
R_CR = wp.constant(91881)
B_CB = wp.constant(116130)
G_CB = wp.constant(-22554)
G_CR = wp.constant(-46802)
HALF = wp.constant(32768)


# Of a picture's dimensions: clips, frames, channels, rows and columns.
Strides = wp.types.vector(length=5, dtype=wp.int64)


@wp.struct
class Plane:
    start: wp.int64
    pitch: int
    left: int
    top: int


@wp.struct
class Planes:
    luma: Plane
    blue: Plane
    red: Plane


@wp.func
def planes_of(frames: wp.array2d(dtype=wp.int32), f: int):
    side = frames[f, SIDE]
    across = frames[f, COLUMNS]
    pitch = across * frames[f, RESTART] * 2 * side
    size = wp.int64(pitch) * wp.int64((frames[f, TILES] // across) * 2 * side)
    found = Planes()
    found.luma.start = wp.int64(frames[f, PLANES]) * wp.int64(UNIT)
    found.luma.pitch = pitch
    found.luma.left = frames[f, LEFT]
    found.luma.top = frames[f, TOP]
    found.blue.start = found.luma.start + size
    found.blue.pitch = pitch // 2
    found.blue.left = frames[f, LEFT] // 2
    found.blue.top = frames[f, TOP] // 2
    found.red = found.blue
    found.red.start = found.blue.start + size // wp.int64(4)
    return found


@wp.func
def sample_at(planes: wp.array(dtype=wp.uint8), plane: Plane, x: int, y: int):
    at = wp.int64(y - plane.top) * wp.int64(plane.pitch) + wp.int64(x - plane.left)
    return int(planes[plane.start + at])


@wp.func
def resized(
    planes: wp.array(dtype=wp.uint8),
    plane: Plane,
    numbers: wp.array(dtype=wp.int32),
    weights: wp.array(dtype=wp.int16),
    axes: int,
    x: int,
    y: int,
):
    """The sum for a pixel of the picture, in units of 1 / LEVEL."""
    columns = numbers[axes]
    first_column = numbers[numbers[axes + 1] + x]
    column_weights = numbers[axes + 2] + x * columns
    rows = numbers[axes + 3]
    first_row = numbers[numbers[axes + 4] + y]
    row_weights = numbers[axes + 5] + y * rows
    total = int(0)
    for i in range(columns):
        column_weight = int(weights[column_weights + i])
        if column_weight != 0:
            column = first_column + i
            base = sample_at(planes, plane, column, first_row)
            line = base << 7
            for k in range(1, rows):
                weight = int(weights[row_weights + k])
                if weight != 0:
                    difference = (sample_at(planes, plane, column, first_row + k) - base) << 7
                    line += (difference * 2 * weight + 16384) >> 15
                    line = wp.clamp(line, -32768, 32767)
            total += line * column_weight
    return total


@wp.func
def chroma_of_copy(
    planes: wp.array(dtype=wp.uint8), plane: Plane, x: int, y: int, width: int, height: int
):
    """Chroma of a pixel of the frame, less 128, as libjpeg upsamples it (jdsample.c, `h2v2_fancy_upsample`)."""
    columns = (width + 1) // 2
    rows = (height + 1) // 2
    row = y // 2
    if y % 2 == 0:
        next_row = wp.max(row - 1, 0)
    else:
        next_row = wp.min(row + 1, rows - 1)
    column = x // 2
    if x % 2 == 0:
        next_column = wp.max(column - 1, 0)
        rounding = 8
    else:
        next_column = wp.min(column + 1, columns - 1)
        rounding = 7
    own = 3 * sample_at(planes, plane, column, row) + sample_at(planes, plane, column, next_row)
    other = 3 * sample_at(planes, plane, next_column, row) + sample_at(planes, plane, next_column, next_row)
    return ((3 * own + other + rounding) >> 4) - 128


@wp.func
def sums_of(
    planes: wp.array(dtype=wp.uint8),
    frames: wp.array2d(dtype=wp.int32),
    numbers: wp.array(dtype=wp.int32),
    weights: wp.array(dtype=wp.int16),
    f: int,
    x: int,
    y: int,
    width: int,
):
    """Luma and chroma, or red, green and blue of a pixel of the picture, in units of 1 / LEVEL."""
    table = frames[f, TABLE]
    found = planes_of(frames, f)
    sums = wp.vec3i(0, 0, 0)
    if numbers[table + IS_COPY] != 0:
        at_x = numbers[table + COPY_LEFT] + x
        if numbers[table + FLIP] != 0:
            at_x = numbers[table + COPY_LEFT] + width - 1 - x
        at_y = numbers[table + COPY_TOP] + y
        frame_width = numbers[table + WIDTH]
        frame_height = numbers[table + HEIGHT]
        luma = sample_at(planes, found.luma, at_x, at_y)
        blue = chroma_of_copy(planes, found.blue, at_x, at_y, frame_width, frame_height)
        red = chroma_of_copy(planes, found.red, at_x, at_y, frame_width, frame_height)
        sums[0] = wp.clamp(luma + ((R_CR * red + HALF) >> 16), 0, 255) * LEVEL
        sums[1] = wp.clamp(luma + ((G_CB * blue + G_CR * red + HALF) >> 16), 0, 255) * LEVEL
        sums[2] = wp.clamp(luma + ((B_CB * blue + HALF) >> 16), 0, 255) * LEVEL
    else:
        axes = table + AXES
        sums[0] = resized(planes, found.luma, numbers, weights, axes, x, y)
        if numbers[table + NEEDED] == 3:
            sums[1] = resized(planes, found.blue, numbers, weights, axes + 6, x, y)
            sums[2] = resized(planes, found.red, numbers, weights, axes + 6, x, y)
    return sums


@wp.func
def value_of(sums: wp.vec3i, conversions: wp.array(dtype=wp.float32), at: int, channel: int, needed: int):
    """A channel before it is clamped."""
    value = conversions[at + 9 + channel]
    for plane in range(needed):
        value = float(sums[plane]) * conversions[at + 3 * channel + plane] + value
    return value


@wp.func
def clamped(value: float, conversions: wp.array(dtype=wp.float32), at: int, channel: int):
    low = conversions[at + 12 + channel]
    high = conversions[at + 15 + channel]
    if not (value > low):
        value = low
    if not (value < high):
        value = high
    return value


@wp.func
def value_for(value: float, conversions: wp.array(dtype=wp.float32), at: int, channel: int, like: wp.uint8):
    """The nearest whole number from 0 to 255, ties to even."""
    return wp.uint8(wp.rint(wp.clamp(value, 0.0, 255.0)))


@wp.func
def value_for(value: float, conversions: wp.array(dtype=wp.float32), at: int, channel: int, like: wp.float32):  # noqa: F811
    return clamped(value, conversions, at, channel)


@wp.func
def value_for(value: float, conversions: wp.array(dtype=wp.float32), at: int, channel: int, like: wp.float16):  # noqa: F811
    return wp.float16(clamped(value, conversions, at, channel))


@wp.func
def value_for(value: float, conversions: wp.array(dtype=wp.float32), at: int, channel: int, like: wp.uint16):  # noqa: F811
    """The bits of the nearest bfloat16, ties to even."""
    bits = wp.cast(clamped(value, conversions, at, channel), wp.uint32)
    return wp.uint16((bits + wp.uint32(32767) + ((bits >> wp.uint32(16)) & wp.uint32(1))) >> wp.uint32(16))


@wp.kernel
def make(
    planes: wp.array(dtype=wp.uint8),
    frames: wp.array2d(dtype=wp.int32),
    numbers: wp.array(dtype=wp.int32),
    weights: wp.array(dtype=wp.int16),
    conversions: wp.array(dtype=wp.float32),
    width: int,
    channels: int,
    count: int,
    strides: Strides,
    out: wp.array(dtype=Any),
):
    """Makes pixel (x, y) of the picture of frame `f`; a clip has `count` frames."""
    f, y, x = wp.tid()
    sums = sums_of(planes, frames, numbers, weights, f, x, y, width)
    at = frames[f, TABLE_NUMBER] * 18
    needed = numbers[frames[f, TABLE] + NEEDED]
    place = frames[f, PLACE]
    to = wp.int64(place // count) * strides[0] + wp.int64(place % count) * strides[1]
    to += wp.int64(y) * strides[3] + wp.int64(x) * strides[4]
    for c in range(channels):
        value = value_of(sums, conversions, at, c, needed)
        out[to + wp.int64(c) * strides[2]] = value_for(value, conversions, at, c, out.dtype(0))


# Types of values: bytes, floats, halves, and the bits of bfloat16.
for _type in (wp.uint8, wp.float32, wp.float16, wp.uint16):
    wp.overload(make, {"out": wp.array(dtype=_type)})
