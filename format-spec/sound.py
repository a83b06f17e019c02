"""Takes blocks of coded sound apart, written from the text of vidrec-v1.md. track_reader.py uses it, and decodes nothing: the frames
are for any decoder of FLAC (RFC 9639), the packets for any decoder of Opus (RFC 6716)."""
from basics import check

OPUS_RATES = [8000, 12000, 16000, 24000, 48000]

def flac_frame(block: bytes, number: int, count: int, channels: int) -> bytes:
    """The block, if it is the frame of this number in its stream, with so many values and channels."""
    code = block[3] >> 4 if len(block) > 3 else 0
    fits = block.startswith(flac_header(number, count, code)) and (code == channels - 1 or channels == 2 and 8 <= code <= 10)
    check(fits, "track-coding", "a block begins with another header")
    check(crc(block, 16, 0x8005) == 0, "track-coding", "the CRC-16 of a frame differs")
    return block

def flac_header(number: int, count: int, channel_code: int) -> bytes:
    full = count == 4096
    head = bytes([0xFF, 0xF8, (12 if full else 7) << 4, channel_code << 4 | 4 << 1])
    # UTF-8, but for the numbers that are no characters.
    more = 0 if number < 0x80 else next(n for n in range(1, 6) if number < 1 << 5 * n + 6)
    head += bytes([number if more == 0 else 0xFF80 >> more & 0xFF | number >> 6 * more])
    head += bytes(0x80 | number >> 6 * i & 0x3F for i in reversed(range(more)))
    head += b"" if full else (count - 1).to_bytes(2, "big")
    return head + bytes([crc(head, 8, 7)])

def crc(data: bytes, width: int, polynomial: int) -> int:
    found = 0
    for byte in data:
        found ^= byte << width - 8
        for _ in range(8):
            found = found << 1 ^ (polynomial | 1 << width if found >> width - 1 else 0)
    return found

def opus_packets(block: bytes, count: int) -> list:
    """The packets of a block that holds so many times 20 ms, or part of the last: one more, whose sound is dropped."""
    found, at = [], 0
    for _ in range(count + 1):
        head = block[at : at + 3]
        check(len(head) > 1, "track-coding", "a block ends early")
        config, two_bytes = head[0] >> 3, head[1] >= 252
        is_20_ms = config % 4 == 1 if config < 12 else config % 2 == 1 if config < 16 else config % 4 == 3
        check(len(head) > 2 and head[0] & 3 == 0 and is_20_ms, "track-coding", "a packet is not one frame of 20 ms")
        length, start = (head[1] + 4 * head[2], at + 3) if two_bytes else (head[1], at + 2)
        at = start + length
        check(2 <= length <= 1275 and at <= len(block), "track-coding", f"a frame of {length} bytes")
        found.append(head[:1] + block[start:at])
    check(at == len(block), "track-coding", "a block ends late")
    return found
