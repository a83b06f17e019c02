# type: ignore
# Warp compiles these functions, and its types are not those of Python.
"""Tables that say how planes become a picture."""

import warp as wp

from .arrays import at

# Numbers of a table: `ExportedTables::HEAD` of the loader has them.
IS_COPY = wp.constant(0)
NEEDED = wp.constant(1)
FLIP = wp.constant(2)
COPY_LEFT = wp.constant(3)
COPY_TOP = wp.constant(4)
WIDTH = wp.constant(5)
HEIGHT = wp.constant(6)
LUMA_COLUMNS = wp.constant(7)
LUMA_ROWS = wp.constant(10)
CHROMA_COLUMNS = wp.constant(13)
CHROMA_ROWS = wp.constant(16)


@wp.struct
class Axis:
    """How samples along an axis become pixels."""

    taps: int  # samples of a pixel
    firsts: int  # where the first sample of each pixel is
    weights: int  # where the weights of the pixels are


@wp.func
def axis_of(numbers: wp.array(dtype=wp.int32), place: int):
    axis = Axis()
    axis.taps = at(numbers, place)
    axis.firsts = at(numbers, place + 1)
    axis.weights = at(numbers, place + 2)
    return axis
