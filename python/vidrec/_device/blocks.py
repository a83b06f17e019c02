# type: ignore
# Warp compiles these functions, and its types are not those of Python.
"""Blocks of tiles: their coefficients, and their samples in planes."""

from typing import List

import warp as wp

from .arrays import at, put, put_four
from .bits import Bits, refill, skip, symbol_of, value_of
from .planes import Planes
from .transforms import Block, flat, full_line, half_line, low16, quarter, sample, tiny


def _diagonal(d: int) -> List[int]:
    steps = [(d - step, step) if d % 2 == 0 else (step, d - step) for step in range(d + 1)]
    return [8 * row + column for row, column in steps if row < 8 and column < 8]


# The place in a block of each coefficient in coding order (T.81, figure A.6).
_ZIGZAG = [place for d in range(15) for place in _diagonal(d)]

# Where the quantizers are in a coding.
QUANTIZERS = wp.constant(6)


@wp.func
def block_of(
    bits: Bits, data: wp.array(dtype=wp.uint8), codings: wp.array(dtype=wp.uint16), coding: int, component: int
):
    """The coefficients of a block in coding order, and whether there are any but the first, which is a difference."""
    v = Block()
    dc = coding + int(at(codings, coding + 2 * component))
    ac = coding + int(at(codings, coding + 2 * component + 1))
    bits = refill(bits, data)
    entry = symbol_of(bits, codings, dc)
    bits.wrong = bits.wrong or entry == 0
    extra = (entry >> 8) & 15
    bits = skip(bits, entry & 255)
    v[0] = value_of(bits, extra)
    bits = skip(bits, extra)
    last = int(0)
    any_ac = int(0)
    while last < 63:
        bits = refill(bits, data)
        # What is not a symbol ends the block, too.
        entry = symbol_of(bits, codings, ac)
        bits.wrong = bits.wrong or entry == 0
        run = entry >> 12
        extra = (entry >> 8) & 15
        bits = skip(bits, entry & 255)
        value = value_of(bits, extra)
        bits = skip(bits, extra)
        last += run + 1
        if extra == 0 and run < 15:
            last = 63
        elif last < 64:
            any_ac = any_ac | value
            v[last] = value
        else:
            bits.wrong = True
    return bits, v, any_ac != 0


# The loop has to be unrolled for the block to stay in registers, and Warp would unroll the others with it.
@wp.func_native(f"""
constexpr int order[64] = {{{", ".join(str(_ZIGZAG.index(place)) for place in range(64))}}};
assert(factors >= 0 && factors + 63 < codings.shape[0]);
wp::vec_t<64, wp::int32> w;
#pragma unroll
for (int i = 0; i < 64; ++i) w[i] = (wp::int16)(v[order[i]] * (wp::int16)codings.data[factors + order[i]]);
return w;
""")
def dequantized(v: Block, codings: wp.array(dtype=wp.uint16), factors: int) -> Block:
    """Coefficients in rows, times their quantizers, in 16 bits."""


@wp.func
def is_large(v: Block):
    """Whether a coefficient of the first row has more than 14 bits."""
    large = bool(False)
    for x in range(8):
        large = large or ((v[x] << 18) >> 18) != v[x]
    return large


@wp.func
def place_of(planes: Planes, side: int, column: int, row: int, b: int):
    """Where block `b` of an MCU begins, and the pitch of its plane."""
    if b < 4:
        start = planes.luma.start
        pitch = wp.int64(planes.luma.pitch)
        column = 2 * column + b % 2
        row = 2 * row + b // 2
    else:
        start = planes.blue.start
        if b == 5:
            start = planes.red.start
        pitch = wp.int64(planes.blue.pitch)
    return start + wp.int64(row * side) * pitch + wp.int64(column * side), pitch


@wp.func
def write_row(planes: wp.array(dtype=wp.uint8), to: wp.int64, v: Block, y: int, side: int):
    first = 8 * y
    put_four(planes, to, sample(v[first]), sample(v[first + 1]), sample(v[first + 2]), sample(v[first + 3]))
    if side == 8:
        to += wp.int64(4)
        put_four(planes, to, sample(v[first + 4]), sample(v[first + 5]), sample(v[first + 6]), sample(v[first + 7]))


@wp.func
def write(planes: wp.array(dtype=wp.uint8), to: wp.int64, pitch: wp.int64, v: Block, side: int, has_ac: bool):
    """Transforms a block, and writes its samples to their plane."""
    if side == 1:
        put(planes, to, wp.uint8(tiny(v)))
    elif side == 2:
        v = quarter(v)
        put(planes, to, wp.uint8(v[0]))
        put(planes, to + wp.int64(1), wp.uint8(v[1]))
        put(planes, to + pitch, wp.uint8(v[8]))
        put(planes, to + pitch + wp.int64(1), wp.uint8(v[9]))
    elif not has_ac:
        level = flat(v)
        for _y in range(side):
            put_four(planes, to, level, level, level, level)
            if side == 8:
                put_four(planes, to + wp.int64(4), level, level, level, level)
            to += pitch
    elif side == 4:
        for x in range(8):
            v = half_line(v, x, 8, 12)
        for y in range(4):
            v = half_line(v, 8 * y, 1, 19)
            write_row(planes, to, v, y, 4)
            to += pitch
    else:
        for x in range(8):
            v = full_line(v, x, 8, 11)
        for y in range(8):
            v = full_line(v, 8 * y, 1, 18)
            write_row(planes, to, v, y, 8)
            to += pitch
