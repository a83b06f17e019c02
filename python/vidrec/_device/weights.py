# type: ignore
# Warp compiles these functions, and its types are not those of Python.
"""The kernel that computes the weights of resampling: those of `kernel/axis.rs` of the loader, bit for bit."""

import warp as wp

from .arrays import put
from .tables import CHROMA_COLUMNS, Table, span_of

wp.set_module_options({"enable_backward": False, "max_unroll": 1, "fast_math": False, "fuse_fp": False})

ZERO = wp.constant(wp.float64(0.0))
QUARTER = wp.constant(wp.float64(0.25))
HALF = wp.constant(wp.float64(0.5))
THREE_QUARTERS = wp.constant(wp.float64(0.75))
ONE = wp.constant(wp.float64(1.0))
# The sum of all weights of a pixel.
UNIT = wp.constant(wp.float64(16384.0))


@wp.struct
class Triangle:
    """Samples of luma that make up a pixel, and their weights: greatest at its center, zero at `reach` samples from it."""

    center: wp.float64
    reach: wp.float64
    first: int
    end: int


@wp.func
def luma_weight(triangle: Triangle, x: int):
    distance = wp.abs(wp.float64(x) + HALF - triangle.center)
    return wp.max(ONE - distance / triangle.reach, ZERO)


@wp.func
def triangle_of(start: wp.float64, scale: wp.float64, low: int, high: int, pixel: int):
    triangle = Triangle()
    triangle.reach = wp.max(scale, ONE)
    lower = wp.float64(low)
    upper = wp.float64(high)
    triangle.center = wp.clamp(start + (wp.float64(pixel) + HALF) * scale, lower + HALF, upper - HALF)
    triangle.first = int(wp.max(triangle.center - triangle.reach, lower))
    triangle.end = wp.min(int(wp.min(triangle.center + triangle.reach, upper)) + 1, high)
    while triangle.first + 1 < triangle.end and luma_weight(triangle, triangle.first) <= ZERO:
        triangle.first += 1
    while triangle.first + 1 < triangle.end and luma_weight(triangle, triangle.end - 1) <= ZERO:
        triangle.end -= 1
    return triangle


@wp.func
def next_chroma(x: int, count: int):
    """The sample of chroma that is the next nearest to a sample of luma."""
    if x % 2 == 0:
        return wp.max(x // 2 - 1, 0)
    return wp.min(x // 2 + 1, count - 1)


@wp.func
def weight_of(triangle: Triangle, sample: int, chroma: int):
    """The weight of a sample of luma, or of one of `chroma` samples, if there are any."""
    if chroma == 0:
        return luma_weight(triangle, sample)
    total = ZERO
    for x in range(wp.max(2 * sample - 1, triangle.first), wp.min(2 * sample + 3, triangle.end)):
        weight = luma_weight(triangle, x)
        if x // 2 == sample:
            total += THREE_QUARTERS * weight
        if next_chroma(x, chroma) == sample:
            total += QUARTER * weight
    return total


@wp.kernel
def weigh(
    tables: wp.array(dtype=Table),
    width: int,
    height: int,
    side: int,
    spans: wp.array(dtype=wp.int32),
    weights: wp.array(dtype=wp.int16),
):
    """Computes the weights of a pixel of an axis."""
    number, axis, pixel = wp.tid()
    table = tables[number]
    pixels = width
    of_frame = table.width
    if axis % 2 == 1:
        pixels = height
        of_frame = table.height
    if pixel >= pixels or table.is_copy != 0 or (axis >= CHROMA_COLUMNS and table.needed != 3):
        return
    if axis % 2 == 1:
        triangle = triangle_of(table.y_start, table.y_scale, table.y_low, table.y_high, pixel)
    else:
        place = pixel
        if table.flip != 0:
            place = pixels - 1 - pixel
        triangle = triangle_of(table.x_start, table.x_scale, table.x_low, table.x_high, place)
    first = triangle.first
    end = triangle.end
    chroma = int(0)
    if axis >= CHROMA_COLUMNS:
        chroma = ((of_frame + table.step - 1) // table.step + 1) // 2
        first = wp.min(next_chroma(triangle.first, chroma), triangle.first // 2)
        end = wp.max(next_chroma(triangle.end - 1, chroma), (triangle.end - 1) // 2) + 1
    total = ZERO
    for sample in range(first, end):
        total += weight_of(triangle, sample, chroma)
    unit = UNIT / total
    # Each weight is the difference of two rounded sums. Samples before the first that counts are left out.
    to = table.weights[axis] + pixel * table.most_taps[axis]
    begin = first
    count = int(0)
    done = int(0)
    total = ZERO
    for sample in range(first, end):
        total += weight_of(triangle, sample, chroma)
        rounded = int(total * unit + HALF)
        if count > 0 or rounded != done:
            put(weights, to + count, wp.int16(rounded - done))
            count += 1
        else:
            begin += 1
        done = rounded
    span = span_of(number, axis, side, pixel)
    put(spans, span, begin)
    put(spans, span + 1, count)
