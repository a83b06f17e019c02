# type: ignore
# Warp compiles these functions, and its types are not those of Python.
"""The kernel that decodes tiles of JPEGs to planes: the arithmetic of the processor's tile decoder, bit for bit.

One thread decodes one tile. What the processor's decoder declines, this one marks as declined.
"""

import warp as wp

from .arrays import at, fetch
from .bits import bits_of, is_used_up
from .blocks import QUANTIZERS, block_of, dequantized, is_large, place_of, write
from .codes import CODING
from .planes import ACROSS, CODED, COLUMNS, FIRST_TILE, HEADER, LEFT, RESTART, ROWS, TABLE, TOP, planes_of
from .tables import Table
from .transforms import low16

wp.set_module_options({"enable_backward": False, "max_unroll": 1, "fast_math": False, "fuse_fp": False})


@wp.kernel
def decode(
    data: wp.array(dtype=wp.uint8),
    frames: wp.array2d(dtype=wp.int32),
    tables: wp.array(dtype=Table),
    marks: wp.array(dtype=wp.int32),
    codings: wp.array(dtype=wp.uint16),
    planes: wp.array(dtype=wp.uint8),
    declined: wp.array(dtype=wp.int32),
):
    """Decodes a tile that the picture needs to the planes of frame `f`."""
    f, tile = wp.tid()
    across = frames[f, COLUMNS]
    # Where markers are wrong, nothing is known of the tiles.
    if tile >= across * frames[f, ROWS] or at(declined, f) != 0:
        return
    column = tile % across
    row = tile // across
    number = (frames[f, TOP] + row) * frames[f, ACROSS] + frames[f, LEFT] + column
    mark = 2 * (frames[f, FIRST_TILE] + number)
    begin = frames[f, CODED]
    if number > 0:
        begin = at(marks, mark - 1)
    bits = bits_of(begin, at(marks, mark))
    fetch(data, bits.at, bits.end)
    step = tables[frames[f, TABLE]].step
    side = 8 // step
    coding = frames[f, HEADER] * CODING
    restart = frames[f, RESTART]
    found = planes_of(frames, f, step)
    predictions = wp.vec3i(0, 0, 0)
    had_ac = bool(False)
    was_large = bool(False)
    for mcu in range(restart):
        for b in range(6):
            component = wp.max(b - 3, 0)
            bits, v, has_ac = block_of(bits, data, codings, coding, component)
            predictions[component] = low16(predictions[component] + v[0])
            v[0] = predictions[component]
            factors = coding + QUANTIZERS + 64 * component
            if side == 1:
                # The processor's arithmetic at the smallest size has 32 bits.
                v[0] = v[0] * low16(int(at(codings, factors)))
            else:
                v = dequantized(v, codings, factors)
            # The processor transforms two blocks at a time, unless both are flat.
            large = is_large(v)
            if b % 2 == 1 and side >= 4 and (large or was_large) and (has_ac or had_ac):
                bits.wrong = True
            had_ac = has_ac
            was_large = large
            to, pitch = place_of(found, side, column * restart + mcu, row, b)
            write(planes, to, pitch, v, side, has_ac)
    if bits.wrong or not is_used_up(bits, data):
        declined[f] = 1
