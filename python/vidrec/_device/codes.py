# type: ignore
# Warp compiles these functions, and its types are not those of Python.
"""The kernel that builds tables of Huffman codes from the headers of JPEGs (T.81, annex C).

The loader has checked the headers: all tables are there, and their symbols are in the header.
"""

import warp as wp

from .arrays import at, put
from .bits import INDEX_BITS, LIMITS, OFFSETS, SYMBOLS
from .blocks import QUANTIZERS

wp.set_module_options({"enable_backward": False, "max_unroll": 1})

# Numbers of a code, and of a coding: where the code of each component is, quantizers and codes, DC before AC.
CODE = wp.constant(1024 + 17 + 17 + 256)
CODES = wp.constant(6 + 3 * 64)
CODING = wp.constant(6 + 3 * 64 + 6 * (1024 + 17 + 17 + 256))


@wp.kernel
def build(data: wp.array(dtype=wp.uint8), headers: wp.array2d(dtype=wp.int32), codings: wp.array(dtype=wp.uint16)):
    """Computes an entry of the table of a code of header `h`."""
    h, code, entry = wp.tid()
    start = headers[h, 0]
    coding = h * CODING
    if code < 3 and entry < 64:
        factor = at(data, start + headers[h, 1 + code] + entry)
        put(codings, coding + QUANTIZERS + 64 * code + entry, wp.uint16(factor))
    # Components that share a code share its table.
    owner = code
    for other in range(code % 2, code, 2):
        if owner == code and headers[h, 4 + other] == headers[h, 4 + code]:
            owner = other
    if entry == 0:
        put(codings, coding + code, wp.uint16(CODES + owner * CODE))
    if owner != code:
        return
    to = coding + CODES + code * CODE
    counts = start + headers[h, 4 + code]
    found = int(0)
    limit = int(0)
    offset = int(0)
    first = int(0)  # the first code of a length
    place = int(0)  # of its symbol
    for length in range(1, 17):
        count = int(at(data, counts + length - 1))
        if length <= INDEX_BITS and found == 0:
            top = entry >> (INDEX_BITS - length)
            if top < first + count:
                found = (int(at(data, counts + 16 + place + top - first)) << 8) | length
        if length == entry:
            offset = place - first
            limit = (first + count) << (16 - length)
        first = (first + count) << 1
        place += count
    put(codings, to + entry, wp.uint16(found))
    if entry < 17:
        put(codings, to + LIMITS + entry, wp.uint16(limit))
        put(codings, to + OFFSETS + entry, wp.uint16(offset & 255))
    if entry < 256:
        symbol = wp.uint8(0)
        if entry < place:
            symbol = at(data, counts + 16 + entry)
        put(codings, to + SYMBOLS + entry, wp.uint16(symbol))
