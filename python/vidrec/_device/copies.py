# type: ignore
# Warp compiles these functions, and its types are not those of Python.
"""Pixels that are those of the frame, exactly as libjpeg decodes them."""

import warp as wp

from .planes import Plane, Planes, sample_at
from .tables import Table

# FIX(x) of libjpeg's jdcolor.c: x times 2^16, rounded.
R_CR = wp.constant(91881)
B_CB = wp.constant(116130)
G_CB = wp.constant(-22554)
G_CR = wp.constant(-46802)
HALF = wp.constant(32768)


@wp.struct
class Column:
    """A column of a frame: what all of its pixels share."""

    x: int
    chroma: int  # the column of chroma nearest to it
    next_chroma: int  # and the one behind, which counts a third of it
    rounding: int
    top: int  # the row of the first pixel
    rows: int  # of chroma


@wp.func
def column_of(table: Table, x: int, width: int):
    column = Column()
    column.x = int(table.x_start) + x
    if table.flip != 0:
        column.x = int(table.x_start) + width - 1 - x
    column.chroma = column.x // 2
    if column.x % 2 == 0:
        column.next_chroma = wp.max(column.chroma - 1, 0)
        column.rounding = 8
    else:
        column.next_chroma = wp.min(column.chroma + 1, (table.width + 1) // 2 - 1)
        column.rounding = 7
    column.top = int(table.y_start)
    column.rows = (table.height + 1) // 2
    return column


@wp.func
def chroma_of(planes: wp.array(dtype=wp.uint8), plane: Plane, column: Column, row: int, next_row: int):
    """Chroma of a pixel, less 128, as libjpeg upsamples it (jdsample.c, `h2v2_fancy_upsample`)."""
    own = 3 * sample_at(planes, plane, column.chroma, row) + sample_at(planes, plane, column.chroma, next_row)
    other = 3 * sample_at(planes, plane, column.next_chroma, row) + sample_at(planes, plane, column.next_chroma, next_row)
    return ((3 * own + other + column.rounding) >> 4) - 128


@wp.func
def copied(planes: wp.array(dtype=wp.uint8), found: Planes, column: Column, y: int):
    """Red, green and blue of a pixel."""
    row = y // 2
    if y % 2 == 0:
        next_row = wp.max(row - 1, 0)
    else:
        next_row = wp.min(row + 1, column.rows - 1)
    luma = sample_at(planes, found.luma, column.x, y)
    b = chroma_of(planes, found.blue, column, row, next_row)
    r = chroma_of(planes, found.red, column, row, next_row)
    red = wp.clamp(luma + ((R_CR * r + HALF) >> 16), 0, 255)
    green = wp.clamp(luma + ((G_CB * b + G_CR * r + HALF) >> 16), 0, 255)
    blue = wp.clamp(luma + ((B_CB * b + HALF) >> 16), 0, 255)
    return wp.vec3i(red, green, blue)
