# type: ignore
# Warp compiles these functions, and its types are not those of Python.
"""Kernels that decode tiles of JPEGs to planes: the arithmetic of the processor's tile decoder, bit for bit.

One thread decodes one tile. What the processor's decoder declines, this one marks as declined.
"""

from typing import List

import warp as wp


def _diagonal(d: int) -> List[int]:
    steps = [(d - step, step) if d % 2 == 0 else (step, d - step) for step in range(d + 1)]
    return [8 * row + column for row, column in steps if row < 8 and column < 8]


wp.set_module_options({"enable_backward": False, "max_unroll": 1, "fast_math": False, "fuse_fp": False})

# The place of each coefficient in coding order (T.81, figure A.6).
ZIGZAG = [place for d in range(15) for place in _diagonal(d)]

Block = wp.types.vector(length=64, dtype=wp.int32)

# Numbers of a frame: `TilePlan::FRAME` of the loader has them.
FIRST_TILE = wp.constant(0)
TILES = wp.constant(1)
COLUMNS = wp.constant(2)
RESTART = wp.constant(3)
SIDE = wp.constant(4)
CODING = wp.constant(5)
TABLE = wp.constant(6)
TABLE_NUMBER = wp.constant(7)
LEFT = wp.constant(8)
TOP = wp.constant(9)
PLACE = wp.constant(10)
PLANES = wp.constant(11)
# Planes begin at multiples of so many samples.
UNIT = wp.constant(64)

# Places in a Huffman code.
INDEX_BITS = wp.constant(10)
LIMITS = wp.constant(1024)
OFFSETS = wp.constant(1024 + 17)
SYMBOLS = wp.constant(1024 + 17 + 17)
# Where the quantizers are in a coding.
QUANTIZERS = wp.constant(6)

# FIX(x) of libjpeg's jidctint.c and jidctred.c: x times 2^13, rounded.
F_0_211 = wp.constant(1730)
F_0_298 = wp.constant(2446)
F_0_390 = wp.constant(3196)
F_0_509 = wp.constant(4176)
F_0_541 = wp.constant(4433)
F_0_601 = wp.constant(4926)
F_0_720 = wp.constant(5906)
F_0_765 = wp.constant(6270)
F_0_850 = wp.constant(6967)
F_0_899 = wp.constant(7373)
F_1_061 = wp.constant(8697)
F_1_175 = wp.constant(9633)
F_1_272 = wp.constant(10426)
F_1_451 = wp.constant(11893)
F_1_501 = wp.constant(12299)
F_1_847 = wp.constant(15137)
F_1_961 = wp.constant(16069)
F_2_053 = wp.constant(16819)
F_2_172 = wp.constant(17799)
F_2_562 = wp.constant(20995)
F_3_072 = wp.constant(25172)
F_3_624 = wp.constant(29692)


@wp.struct
class Bits:
    """Bits of entropy-coded data, most significant first. Zeros follow them."""

    word: wp.uint64  # the next bits, from the top
    count: int  # the number of valid bits in it
    at: int  # the next byte
    end: int
    beyond: int  # bytes that were read beyond the end


@wp.func
def refill(bits: Bits, data: wp.array(dtype=wp.uint8)):
    while bits.count <= 56:
        byte = wp.uint64(0)
        if bits.at < bits.end:
            byte = wp.uint64(data[bits.at])
            if byte == wp.uint64(255):
                # More 0xFF may follow, and then the stuffed zero.
                bits.at += 1
                while bits.at < bits.end and data[bits.at] == wp.uint8(255):
                    bits.at += 1
            bits.at += 1
        else:
            bits.beyond += 1
        bits.word = bits.word | (byte << wp.uint64(56 - bits.count))
        bits.count += 8
    return bits


@wp.func
def peek(bits: Bits, n: int):
    return int(bits.word >> wp.uint64(64 - n))


@wp.func
def skip(bits: Bits, n: int):
    bits.word = bits.word << wp.uint64(n)
    bits.count -= n
    return bits


@wp.func
def symbol_of(bits: Bits, codings: wp.array(dtype=wp.uint16), code: int):
    """The symbol in the upper bits and the length of its code in the lower eight; 0 if there is none."""
    entry = int(codings[code + peek(bits, INDEX_BITS)])
    if entry == 0:
        top = peek(bits, 16)
        length = int(1)
        while length <= 16 and top >= int(codings[code + LIMITS + length]):
            length += 1
        if length <= 16:
            place = (top >> (16 - length)) + int(codings[code + OFFSETS + length])
            entry = (int(codings[code + SYMBOLS + (place & 255)]) << 8) | length
    return entry


@wp.func
def value_of(bits: Bits, n: int):
    """The difference or coefficient of the next n bits, 0 to 15 (T.81, F.2.2.1, EXTEND)."""
    value = int(0)
    if n > 0:
        value = peek(bits, n)
        if value < (1 << (n - 1)):
            value -= (1 << n) - 1
    return value


@wp.func
def low16(value: int):
    """The lower 16 bits, with their sign."""
    return (value << 16) >> 16


@wp.func
def add(a: int, b: int):
    """A sum that wraps around."""
    return int(wp.uint32(a) + wp.uint32(b))


@wp.func
def sub(a: int, b: int):
    return int(wp.uint32(a) - wp.uint32(b))


@wp.func
def dot(x: int, a: int, y: int, b: int):
    return add(x * a, y * b)


@wp.func
def narrow(value: int):
    """To 16 bits, saturated."""
    return wp.clamp(value, -32768, 32767)


@wp.func
def descale(value: int, shift: int):
    return narrow(add(value, 1 << (shift - 1)) >> shift)


@wp.func
def sample(value: int):
    return wp.clamp(value, -128, 127) + 128


@wp.func
def full_line(v: Block, at: int, step: int, shift: int):
    """The transform of jidctint.c, `jpeg_idct_islow`, of eight values in place."""
    v0 = v[at]
    v1 = v[at + step]
    v2 = v[at + 2 * step]
    v3 = v[at + 3 * step]
    v4 = v[at + 4 * step]
    v5 = v[at + 5 * step]
    v6 = v[at + 6 * step]
    v7 = v[at + 7 * step]
    t3 = dot(v2, F_0_541 + F_0_765, v6, F_0_541)
    t2 = dot(v2, F_0_541, v6, F_0_541 - F_1_847)
    t0 = low16(v0 + v4) << 13
    t1 = low16(v0 - v4) << 13
    e0 = add(t0, t3)
    e1 = add(t1, t2)
    e2 = sub(t1, t2)
    e3 = sub(t0, t3)
    s3 = low16(v7 + v3)
    s4 = low16(v5 + v1)
    z3 = dot(s3, F_1_175 - F_1_961, s4, F_1_175)
    z4 = dot(s3, F_1_175, s4, F_1_175 - F_0_390)
    o0 = add(dot(v7, -F_0_899, v1, F_1_501 - F_0_899), z4)
    o1 = add(dot(v5, -F_2_562, v3, F_3_072 - F_2_562), z3)
    o2 = add(dot(v5, F_2_053 - F_2_562, v3, -F_2_562), z4)
    o3 = add(dot(v7, F_0_298 - F_0_899, v1, -F_0_899), z3)
    v[at] = descale(add(e0, o0), shift)
    v[at + step] = descale(add(e1, o1), shift)
    v[at + 2 * step] = descale(add(e2, o2), shift)
    v[at + 3 * step] = descale(add(e3, o3), shift)
    v[at + 4 * step] = descale(sub(e3, o3), shift)
    v[at + 5 * step] = descale(sub(e2, o2), shift)
    v[at + 6 * step] = descale(sub(e1, o1), shift)
    v[at + 7 * step] = descale(sub(e0, o0), shift)
    return v


@wp.func
def half_line(v: Block, at: int, step: int, shift: int):
    """The transform of jidctred.c, `jpeg_idct_4x4`: the first four of eight values become the result."""
    v1 = v[at + step]
    v3 = v[at + 3 * step]
    v5 = v[at + 5 * step]
    v7 = v[at + 7 * step]
    t0 = v[at] << 14
    t2 = dot(v[at + 2 * step], F_1_847, v[at + 6 * step], -F_0_765)
    first = add(dot(v1, F_2_562, v3, F_0_899), dot(v5, -F_0_601, v7, -F_0_509))
    second = add(dot(v1, F_1_061, v3, -F_2_172), dot(v5, F_1_451, v7, -F_0_211))
    v[at] = descale(add(add(t0, t2), first), shift)
    v[at + step] = descale(add(sub(t0, t2), second), shift)
    v[at + 2 * step] = descale(sub(sub(t0, t2), second), shift)
    v[at + 3 * step] = descale(sub(add(t0, t2), first), shift)
    return v


@wp.func
def quarter_odd(a: int, b: int, c: int, d: int):
    return add(dot(a, F_3_624, b, -F_1_272), dot(c, F_0_850, d, -F_0_720))


@wp.func
def quarter(v: Block):
    """The transform of jidctred.c, `jpeg_idct_2x2`: the samples at 0, 1, 8 and 9."""
    # Columns 0, 1, 3, 5 and 7; two values of each.
    for i in range(5):
        x = wp.max(2 * i - 1, 0)
        even = v[x] << 15
        odd = quarter_odd(v[8 + x], v[24 + x], v[40 + x], v[56 + x])
        v[x] = add(add(even, odd), 1 << 12) >> 13
        v[8 + x] = add(sub(even, odd), 1 << 12) >> 13
    for y in range(2):
        at = 8 * y
        odd = quarter_odd(narrow(v[at + 1]), narrow(v[at + 3]), narrow(v[at + 5]), narrow(v[at + 7]))
        first = int(wp.uint32(v[at]) << wp.uint32(15))
        v[at] = sample(descale(add(first, odd), 20))
        v[at + 1] = sample(descale(sub(first, odd), 20))
    return v


@wp.func
def transform(v: Block, side: int, only_dc: bool):
    """From coefficients to side x side samples, in rows of eight."""
    if side == 1:
        # The table of jdmaster.c, `prepare_range_limit_table`, repeats after 1024.
        level = (v[0] + 4) >> 3
        wrapped = level & 1023
        if (level & 512) != 0:
            wrapped -= 1024
        v[0] = sample(wrapped)
    elif side == 2:
        v = quarter(v)
    elif only_dc:
        level = sample(narrow((low16(v[0] << 2) + 16) >> 5))
        for i in range(64):
            v[i] = level
    elif side == 4:
        for x in range(8):
            v = half_line(v, x, 8, 12)
        for y in range(4):
            v = half_line(v, 8 * y, 1, 19)
            for x in range(4):
                v[8 * y + x] = sample(v[8 * y + x])
    else:
        for x in range(8):
            v = full_line(v, x, 8, 11)
        for y in range(8):
            v = full_line(v, 8 * y, 1, 18)
            for x in range(8):
                v[8 * y + x] = sample(v[8 * y + x])
    return v


@wp.kernel
def decode(
    data: wp.array(dtype=wp.uint8),
    tiles: wp.array(dtype=wp.int32),
    frames: wp.array2d(dtype=wp.int32),
    codings: wp.array(dtype=wp.uint16),
    zigzag: wp.array(dtype=wp.int32),
    planes: wp.array(dtype=wp.uint8),
    declined: wp.array(dtype=wp.int32),
):
    """Decodes tile `t` of frame `f` to its planes."""
    f, t = wp.tid()
    if t >= frames[f, TILES]:
        return
    tile = frames[f, FIRST_TILE] + t
    bits = Bits()
    bits.word = wp.uint64(0)
    bits.count = 0
    bits.at = tiles[2 * tile]
    bits.end = tiles[2 * tile + 1]
    bits.beyond = 0
    side = frames[f, SIDE]
    coding = frames[f, CODING]
    across = frames[f, COLUMNS]
    restart = frames[f, RESTART]
    pitch = wp.int64(across * restart * 2 * side)
    luma = wp.int64(frames[f, PLANES]) * wp.int64(UNIT)
    size = pitch * wp.int64((frames[f, TILES] // across) * 2 * side)
    ok = bool(True)
    predictions = wp.vec3i(0, 0, 0)
    was_only = bool(False)
    was_large = bool(False)
    for mcu in range(restart):
        column = (t % across) * restart + mcu
        row = t // across
        for b in range(6):
            component = wp.max(b - 3, 0)
            dc = coding + int(codings[coding + 2 * component])
            ac = coding + int(codings[coding + 2 * component + 1])
            factors = coding + QUANTIZERS + 64 * component
            v = Block()
            bits = refill(bits, data)
            entry = symbol_of(bits, codings, dc)
            ok = ok and entry != 0
            bits = skip(bits, entry & 255)
            extra = (entry >> 8) & 15
            predictions[component] = low16(predictions[component] + low16(value_of(bits, extra)))
            bits = skip(bits, extra)
            # The processor's arithmetic at the smallest size has 32 bits.
            v[0] = predictions[component] * low16(int(codings[factors]))
            if side != 1:
                v[0] = low16(v[0])
            last = int(0)
            any_ac = int(0)
            while last < 63 and ok:
                bits = refill(bits, data)
                entry = symbol_of(bits, codings, ac)
                if entry == 0:
                    ok = False
                else:
                    run = entry >> 12
                    extra = (entry >> 8) & 15
                    bits = skip(bits, entry & 255)
                    if extra == 0 and run < 15:
                        last = 63
                    else:
                        last += run + 1
                        if last > 63:
                            ok = False
                        else:
                            value = low16(value_of(bits, extra))
                            bits = skip(bits, extra)
                            place = zigzag[last]
                            any_ac = any_ac | value
                            v[place] = low16(value * low16(int(codings[factors + place])))
            # Two blocks at a time have no other coefficients, or they are transformed.
            only = any_ac == 0
            large = bool(False)
            for x in range(8):
                large = large or ((v[x] << 18) >> 18) != v[x]
            if b % 2 == 1 and side >= 4 and (large or was_large) and not (only and was_only):
                ok = False
            was_only = only
            was_large = large
            v = transform(v, side, only)
            if b < 4:
                x0 = column * 2 * side + (b % 2) * side
                y0 = row * 2 * side + (b // 2) * side
                at = luma + wp.int64(y0) * pitch + wp.int64(x0)
                for y in range(side):
                    for x in range(side):
                        planes[at + wp.int64(y) * pitch + wp.int64(x)] = wp.uint8(v[8 * y + x])
            else:
                half = pitch // wp.int64(2)
                at = luma + size + wp.int64(b - 4) * (size // wp.int64(4))
                at += wp.int64(row * side) * half + wp.int64(column * side)
                for y in range(side):
                    for x in range(side):
                        planes[at + wp.int64(y) * half + wp.int64(x)] = wp.uint8(v[8 * y + x])
    left = bits.count - 8 * bits.beyond
    # All of the tile was read, except for less than a byte.
    if bits.at < bits.end or left < 0 or left >= 8:
        ok = False
    if not ok:
        declined[f] = 1
