# type: ignore
# Warp compiles these functions, and its types are not those of Python.
"""Tables that say how planes become a picture."""

import warp as wp

from .arrays import at

# The axes of a picture: columns and rows, as luma makes them and as chroma does.
LUMA_COLUMNS = wp.constant(0)
LUMA_ROWS = wp.constant(1)
CHROMA_COLUMNS = wp.constant(2)
CHROMA_ROWS = wp.constant(3)


@wp.struct
class Table:
    """How frames that look the same become pictures: `DeviceTable` of the loader writes it."""

    # Start and scale of the view, in samples of luma.
    x_start: wp.float64
    x_scale: wp.float64
    y_start: wp.float64
    y_scale: wp.float64
    # The samples of luma that may be read, from the first to the one after the last.
    x_low: int
    x_high: int
    y_low: int
    y_high: int
    # Of the frame, in pixels.
    width: int
    height: int
    step: int  # pixels for each sample of luma, along both axes
    is_copy: int  # whether the pixels are those of the frame
    needed: int  # planes that the picture needs: 1 or 3
    flip: int
    weights: wp.vec4i  # where those of each axis begin
    most_taps: wp.vec4i  # at least the number of samples of a pixel of each axis
    # From planes to channels.
    factors: wp.mat33f
    offsets: wp.vec3f
    low: wp.vec3f
    high: wp.vec3f


@wp.struct
class Taps:
    """The samples along an axis that make up a pixel."""

    count: int
    first: int
    weights: int  # where their weights begin


@wp.func
def span_of(number: int, axis: int, side: int, pixel: int):
    """Where the first sample of a pixel of a table is, and behind it the number of samples; an axis has `side` of them."""
    return 2 * ((4 * number + axis) * side + pixel)


@wp.func
def taps_of(table: Table, spans: wp.array(dtype=wp.int32), number: int, axis: int, side: int, pixel: int):
    span = span_of(number, axis, side, pixel)
    taps = Taps()
    taps.first = at(spans, span)
    taps.count = at(spans, span + 1)
    taps.weights = table.weights[axis] + pixel * table.most_taps[axis]
    return taps
