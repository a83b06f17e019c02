# type: ignore
# Warp compiles these functions, and its types are not those of Python.
"""The kernels that find the markers between the tiles of JPEGs, with the verdict of `find_tiles` of the processor's decoder."""

import warp as wp

from .arrays import at, have_no_255, put
from .planes import CODED, END, FIRST_TILE, TILES

wp.set_module_options({"enable_backward": False, "max_unroll": 1})

# Threads that share a JPEG: each looks at a part of its bytes.
PARTS = wp.constant(256)
RST0 = wp.constant(0xD0)
EOI = wp.constant(0xD9)


@wp.func
def part_of(frames: wp.array2d(dtype=wp.int32), f: int, part: int):
    """The bytes of a part, from the first to the one after the last. Parts meet at multiples of four."""
    end = frames[f, END]
    first = frames[f, CODED] // 4
    size = (end // 4 - first) // PARTS + 1
    begin = 4 * (first + part * size)
    return wp.clamp(begin, frames[f, CODED], end), wp.min(begin + 4 * size, end)


@wp.func
def next_byte(data: wp.array(dtype=wp.uint8), i: int, end: int):
    """The next byte to look at, from `i` on: four bytes without 255 hold no marker."""
    while i % 4 == 0 and i + 4 <= end and have_no_255(data, i):
        i += 4
    return i


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
    i = int(begin)
    while i < end:
        byte = int(at(data, i))
        # A zero after 0xFF is stuffed.
        if last == 255 and byte != 255 and byte != 0:
            found += 1
        last = byte
        i += 1
        if last != 255:
            i = next_byte(data, i, end)
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
    i = int(begin)
    while i < end:
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
        i += 1
        if last != 255:
            i = next_byte(data, i, end)
    if part == PARTS - 1 and number < tiles:
        declined[f] = 1
