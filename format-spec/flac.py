"""Decodes FLAC frames of 16-bit numbers, written from RFC 9639 and the text of vidrec-v1.md. track_reader.py uses it."""
from basics import check

FIXED = [[], [1], [2, -1], [3, -3, 1], [4, -6, 4, -1]]

class Bits:
    """Reads bits, the highest of each byte first."""
    def __init__(self, data: bytes):
        self.data, self.at = data, 0

    def take(self, count: int) -> int:
        end = self.at + count
        check(end <= 8 * len(self.data), "track-coding", "a block ends early")
        chunk = int.from_bytes(self.data[self.at // 8 : (end + 7) // 8], "big")
        self.at = end
        return chunk >> -end % 8 & (1 << count) - 1

    def signed(self, count: int) -> int:
        number = self.take(count)
        return number - (1 << count) if count and number >> count - 1 else number

    def unary(self) -> int:
        zeros = 0
        while not self.take(1):
            zeros += 1
        return zeros

    def rice(self, parameter: int) -> int:
        folded = self.unary() << parameter | self.take(parameter)
        return folded >> 1 ^ -(folded & 1)

def decode(frame: bytes, number: int, count: int, channels: int) -> list:
    """The values of a frame, which has this number in its stream: a list of `count` tuples."""
    channel_code = frame[3] >> 4 if len(frame) > 3 else 0
    head = header(number, count, channel_code)
    fits = frame.startswith(head) and (channel_code == channels - 1 or channels == 2 and 8 <= channel_code <= 10)
    check(fits, "track-coding", "a block begins with another header")
    bits = Bits(frame[len(head) : -2])
    side = {8: 1, 9: 0, 10: 1}.get(channel_code)
    stored = [subframe(bits, count, 17 if i == side else 16) for i in range(channels)]
    check((bits.at + 7) // 8 == len(bits.data), "track-coding", "a block ends late")
    if channel_code == 8:
        stored[1] = [left - side for left, side in zip(*stored)]
    elif channel_code == 9:
        stored[0] = [side + right for side, right in zip(*stored)]
    elif channel_code == 10:
        both = [(2 * mid | side & 1, side) for mid, side in zip(*stored)]
        stored = [[mid + side >> 1 for mid, side in both], [mid - side >> 1 for mid, side in both]]
    check(all(-32768 <= x < 32768 for channel in stored for x in channel), "track-coding", "more than 16 bits")
    return list(zip(*stored))

def header(number: int, count: int, channel_code: int) -> bytes:
    full = count == 4096
    head = bytes([0xFF, 0xF8, (12 if full else 7) << 4, channel_code << 4 | 4 << 1])
    # UTF-8, but for the numbers that are no characters.
    more = 0 if number < 0x80 else next(n for n in range(1, 6) if number < 1 << 5 * n + 6)
    head += bytes([number if more == 0 else 0xFF80 >> more + 1 & 0xFF | number >> 6 * more])
    head += bytes(0x80 | number >> 6 * i & 0x3F for i in reversed(range(more)))
    head += b"" if full else (count - 1).to_bytes(2, "big")
    crc = 0
    for byte in head:
        crc ^= byte
        for _ in range(8):
            crc = crc << 1 & 0xFF ^ (7 if crc & 0x80 else 0)
    return head + bytes([crc])

def subframe(bits: Bits, count: int, depth: int) -> list:
    padding, kind, wasted = bits.take(1), bits.take(6), bits.take(1)
    wasted += bits.unary() if wasted else 0
    depth -= wasted
    check(padding == 0 and depth > 0, "track-coding", "a channel begins wrongly")
    if kind == 0:
        numbers = [bits.signed(depth)] * count
    elif kind == 1:
        numbers = [bits.signed(depth) for _ in range(count)]
    else:
        check(8 <= kind <= 12 or kind >= 32, "track-coding", f"a channel of the unknown kind {kind}")
        order = kind - 8 if kind < 32 else kind - 31
        check(order <= count, "track-coding", f"{order} numbers before {count}")
        numbers, coefficients, shift = [bits.signed(depth) for _ in range(order)], FIXED[order] if kind < 32 else None, 0
        if coefficients is None:
            precision, shift = bits.take(4) + 1, bits.signed(5)
            check(precision < 16 and shift >= 0, "track-coding", "a predictor that FLAC forbids")
            coefficients = [bits.signed(precision) for _ in range(order)]
        for rest in residual(bits, count, order):
            before = numbers[: -order - 1 : -1]
            numbers.append((sum(c * x for c, x in zip(coefficients, before)) >> shift) + rest)
    return [number << wasted for number in numbers]

def residual(bits: Bits, count: int, order: int) -> list:
    method, parts = bits.take(2), bits.take(4)
    fits = method < 2 and count % (1 << parts) == 0 and count >> parts >= order
    check(fits, "track-coding", "differences in impossible parts")
    found = []
    for part in range(1 << parts):
        width, numbers = 4 + method, (count >> parts) - (0 if part else order)
        parameter = bits.take(width)
        if parameter == (1 << width) - 1:
            depth = bits.take(5)
            found += [bits.signed(depth) for _ in range(numbers)]
        else:
            found += [bits.rice(parameter) for _ in range(numbers)]
    return found
