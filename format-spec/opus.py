"""Takes blocks of Opus apart into packets, written from RFC 6716 and the text of vidrec-v1.md. track_reader.py uses it."""
from basics import check

RATES = [8000, 12000, 16000, 24000, 48000]

def packets(block: bytes, count: int) -> list:
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
