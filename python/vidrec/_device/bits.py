# type: ignore
# Warp compiles these functions, and its types are not those of Python.
"""Bits of entropy-coded data, and the symbols and values in them."""

import warp as wp

from .arrays import at, four_at

# Places in a Huffman code.
INDEX_BITS = wp.constant(10)
LIMITS = wp.constant(1024)
OFFSETS = wp.constant(1024 + 17)
SYMBOLS = wp.constant(1024 + 17 + 17)

# The lowest and the highest bit of each of four bytes.
LOWEST = wp.constant(wp.uint32(0x01010101))
HIGHEST = wp.constant(wp.uint32(0x80808080))


@wp.struct
class Bits:
    """Bits of entropy-coded data, most significant first. Zeros follow them."""

    word: wp.uint64  # the next bits, from the top
    count: int  # the number of valid bits in it
    at: int  # the next byte
    end: int
    beyond: int  # bytes that were read beyond the end
    wrong: bool  # whether there was something that no encoder writes


@wp.func
def bits_of(begin: int, end: int):
    bits = Bits()
    bits.at = begin
    bits.end = end
    return bits


@wp.func
def refill_bytes(bits: Bits, data: wp.array(dtype=wp.uint8), most: int):
    """Reads byte by byte, until there are more bits than `most`."""
    while bits.count <= most:
        byte = wp.uint64(0)
        if bits.at < bits.end:
            byte = wp.uint64(at(data, bits.at))
            if byte == wp.uint64(255):
                # More 0xFF may follow, and then the stuffed zero.
                bits.at += 1
                while bits.at < bits.end and at(data, bits.at) == wp.uint8(255):
                    bits.at += 1
            bits.at += 1
        else:
            bits.beyond += 1
        bits.word = bits.word | (byte << wp.uint64(56 - bits.count))
        bits.count += 8
    return bits


@wp.func
def refill(bits: Bits, data: wp.array(dtype=wp.uint8)):
    """Reads more than 32 bits, enough for a symbol of up to 16 and a value of up to 15."""
    if bits.count <= 32:
        four = wp.uint32(0)
        is_plain = bits.end - bits.at >= 4
        if is_plain:
            four = four_at(data, bits.at)
            # None of the bytes is 0xFF: none of their complements is zero.
            is_plain = ((~four - LOWEST) & four & HIGHEST) == wp.uint32(0)
        if is_plain:
            bits.word = bits.word | (wp.uint64(four) << wp.uint64(32 - bits.count))
            bits.at += 4
            bits.count += 32
        else:
            bits = refill_bytes(bits, data, 32)
    return bits


@wp.func
def is_used_up(bits: Bits, data: wp.array(dtype=wp.uint8)):
    """Whether all was read, except for less than a byte."""
    bits = refill_bytes(bits, data, 56)
    left = bits.count - 8 * bits.beyond
    return bits.at >= bits.end and left >= 0 and left < 8


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
    entry = int(at(codings, code + peek(bits, INDEX_BITS)))
    if entry == 0:
        top = peek(bits, 16)
        length = int(1)
        while length <= 16 and top >= int(at(codings, code + LIMITS + length)):
            length += 1
        if length <= 16:
            place = (top >> (16 - length)) + int(at(codings, code + OFFSETS + length))
            entry = (int(at(codings, code + SYMBOLS + (place & 255))) << 8) | length
    return entry


@wp.func
def value_of(bits: Bits, n: int):
    """The difference or coefficient of the next n bits, 0 to 15 (T.81, F.2.2.1, EXTEND)."""
    value = int((bits.word >> wp.uint64(1)) >> wp.uint64(63 - n))
    if value < ((1 << n) >> 1):
        value -= (1 << n) - 1
    return value
