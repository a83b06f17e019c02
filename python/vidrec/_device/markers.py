# type: ignore
# Warp compiles these functions, and its types are not those of Python.
"""The kernels that find the markers between the tiles of JPEGs, with the verdict of `find_tiles` of the processor's decoder."""

import warp as wp

from .arrays import at, put
from .planes import CODED, END, FIRST_TILE, TILES

wp.set_module_options({"enable_backward": False, "max_unroll": 1})

# Threads that share a JPEG: each looks at a part of its bytes.
PARTS = wp.constant(256)
RST0 = wp.constant(0xD0)
EOI = wp.constant(0xD9)


@wp.func
def part_of(frames: wp.array2d(dtype=wp.int32), f: int, part: int):
    """The bytes of a part, from the first to the one after the last."""
    end = frames[f, END]
    size = (end - frames[f, CODED] + PARTS - 1) // PARTS
    begin = wp.min(frames[f, CODED] + part * size, end)
    return begin, wp.min(begin + size, end)


@wp.func
def last_byte(data: wp.array(dtype=wp.uint8), frames: wp.array2d(dtype=wp.int32), f: int, i: int):
    """The byte before `i`, if it is coded."""
    if i > frames[f, CODED]:
        return int(at(data, i - 1))
    return 0


@wp.kernel
def count(data: wp.array(dtype=wp.uint8), frames: wp.array2d(dtype=wp.int32), counts: wp.array(dtype=wp.int32)):
    """Counts the markers in a part."""
    f, part = wp.tid()
    begin, end = part_of(frames, f, part)
    last = last_byte(data, frames, f, begin)
    found = int(0)
    for i in range(begin, end):
        byte = int(at(data, i))
        # A zero after 0xFF is stuffed.
        if last == 255 and byte != 255 and byte != 0:
            found += 1
        last = byte
    put(counts, f * PARTS + part, found)


@wp.kernel
def find(
    data: wp.array(dtype=wp.uint8),
    frames: wp.array2d(dtype=wp.int32),
    counts: wp.array(dtype=wp.int32),
    marks: wp.array(dtype=wp.int32),
    declined: wp.array(dtype=wp.int32),
):
    """For each marker of a part: where the tile before it ends, and where the next one begins."""
    f, part = wp.tid()
    tiles = frames[f, TILES]
    number = int(0)
    for before in range(part):
        number += at(counts, f * PARTS + before)
    begin, end = part_of(frames, f, part)
    last = last_byte(data, frames, f, begin)
    for i in range(begin, end):
        byte = int(at(data, i))
        if last == 255 and byte != 255 and byte != 0:
            # What follows the end of the image does not count.
            if number < tiles:
                expected = RST0 + number % 8
                if number == tiles - 1:
                    expected = EOI
                if byte != expected:
                    declined[f] = 1
                tile_end = i - 1
                # More 0xFF may precede the marker, and belong to no tile.
                while tile_end > frames[f, CODED] and at(data, tile_end - 1) == wp.uint8(255):
                    tile_end -= 1
                put(marks, 2 * (frames[f, FIRST_TILE] + number), tile_end)
                put(marks, 2 * (frames[f, FIRST_TILE] + number) + 1, i + 1)
            number += 1
        last = byte
    if part == PARTS - 1 and number < tiles:
        declined[f] = 1
