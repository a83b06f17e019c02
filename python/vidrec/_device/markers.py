# type: ignore
# Warp compiles these functions, and its types are not those of Python.
"""The kernels that find the markers between the tiles of JPEGs, with the verdict of `find_tiles` of the processor's decoder."""

import warp as wp

from .arrays import at, put
from .planes import CODED, END, FIRST_TILE, TILES

wp.set_module_options({"enable_backward": False, "max_unroll": 1})

# Threads that share a JPEG: each looks at a part of its bytes, and adds up what those before it counted.
PARTS = wp.constant(256)
# Parts whose markers are also counted together, which shortens that sum.
GROUP = wp.constant(16)
RST0 = wp.constant(0xD0)
EOI = wp.constant(0xD9)


@wp.func_native("""
assert(i >= 0 && i % 4 == 0 && i + 3 < a.shape[0]);
wp::uint32 four = *(const wp::uint32*)(a.data + i);
if (i < begin) four &= 0xFFFFFFFFu << 8 * (begin - i);
if (end < i + 4) four &= 0xFFFFFFFFu >> 8 * (i + 4 - end);
const wp::uint32 before = i > begin ? a.data[i - 1] : 0, last = four << 8 | before, low = 0x7F7F7F7Fu;
const wp::uint32 last_is_255 = ~(((~last & low) + low) | ~last | low), is_255 = ~(((~four & low) + low) | ~four | low);
const wp::uint32 is_zero = ~(((four & low) + low) | four | low);
return last_is_255 & ~is_255 & ~is_zero;
""")
def markers(a: wp.array(dtype=wp.uint8), i: int, begin: int, end: int) -> wp.uint32:
    """The upper bit of each of four bytes from `i` on, a multiple of four, that says which marker is there.

    It is no zero after 255, because that is stuffed, and no further 255. Bytes before `begin` and from `end` on are none.
    """


@wp.func_native("return (bits >> 7) * 0x01010101u >> 24;")
def number_of(bits: wp.uint32) -> int:
    """How many of the four upper bits are set."""


@wp.func_native("return bits & 0x80u ? 0 : bits & 0x8000u ? 1 : bits & 0x800000u ? 2 : 3;")
def first_of(bits: wp.uint32) -> int:
    """The first byte whose upper bit is set."""


@wp.func
def part_of(frames: wp.array2d(dtype=wp.int32), f: int, part: int):
    """The bytes of a part, from the first to the one after the last: multiples of four, so the first and last go beyond the JPEG."""
    first = frames[f, CODED] // 4
    size = (frames[f, END] // 4 - first) // PARTS + 1
    begin = 4 * (first + part * size)
    return begin, wp.min(begin + 4 * size, frames[f, END])


@wp.kernel
def count(
    data: wp.array(dtype=wp.uint8),
    frames: wp.array2d(dtype=wp.int32),
    counts: wp.array(dtype=wp.int32),
    groups: wp.array(dtype=wp.int32),
):
    """Counts the markers in a part, and in its group, where zeros were."""
    f, part = wp.tid()
    i, end = part_of(frames, f, part)
    found = int(0)
    while i < end:
        found += number_of(markers(data, i, frames[f, CODED], frames[f, END]))
        i += 4
    put(counts, f * PARTS + part, found)
    wp.atomic_add(groups, (f * PARTS + part) // GROUP, found)


@wp.kernel
def find(
    data: wp.array(dtype=wp.uint8),
    frames: wp.array2d(dtype=wp.int32),
    counts: wp.array(dtype=wp.int32),
    groups: wp.array(dtype=wp.int32),
    marks: wp.array(dtype=wp.int32),
    declined: wp.array(dtype=wp.int32),
):
    """For each marker of a part: where the tile before it ends, and where the next one begins."""
    f, part = wp.tid()
    tiles = frames[f, TILES]
    number = int(0)
    for group in range(part // GROUP):
        number += at(groups, f * PARTS // GROUP + group)
    for before in range(part - part % GROUP, part):
        number += at(counts, f * PARTS + before)
    i, end = part_of(frames, f, part)
    while i < end:
        # Threads look for their next markers together.
        found = wp.uint32(0)
        while i < end and found == wp.uint32(0):
            found = markers(data, i, frames[f, CODED], frames[f, END])
            i += 4
        while found != wp.uint32(0):
            marker = i - 4 + first_of(found)
            # What follows the end of the image does not count.
            if number < tiles:
                expected = RST0 + number % 8
                if number == tiles - 1:
                    expected = EOI
                if int(at(data, marker)) != expected:
                    declined[f] = 1
                tile_end = marker - 1
                # More 0xFF may precede the marker, and belong to no tile.
                while tile_end > frames[f, CODED] and at(data, tile_end - 1) == wp.uint8(255):
                    tile_end -= 1
                put(marks, 2 * (frames[f, FIRST_TILE] + number), tile_end)
                put(marks, 2 * (frames[f, FIRST_TILE] + number) + 1, marker + 1)
            number += 1
            found = found & (found - wp.uint32(1))
    if part == PARTS - 1 and number < tiles:
        declined[f] = 1
