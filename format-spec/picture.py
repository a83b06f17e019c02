"""PNG files as blocks of a track, written from "Pictures" in vidrec-v1.md and from the PNG specification."""
import struct
import zlib

from basics import check

COLOR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}

def is_picture(track: dict) -> bool:
    shape = track["shape"]
    return track["type"] in ("u8", "u16") and not track.get("list") and (len(shape) == 2 or len(shape) == 3 and shape[2] <= 4)

def decode(b: bytes, track: dict) -> bytes:
    """The numbers of a value, little-endian."""
    (height, width), channels = track["shape"][:2], (track["shape"] + [1])[2]
    each = 2 if track["type"] == "u16" else 1
    chunks, at = [], 8
    while at + 12 <= len(b):
        (length,) = struct.unpack_from(">I", b, at)
        chunks.append((b[at + 4 : at + 8], b[at + 8 : at + 8 + length]))
        at += 12 + length
    names = [name for name, _ in chunks]
    fits = b[:8] == b"\x89PNG\r\n\x1a\n" and at == len(b) and len(names) >= 3
    fits = fits and names == [b"IHDR", *[b"IDAT"] * (len(names) - 2), b"IEND"]
    check(fits, "track-coding", f"chunks {names}")
    head = struct.pack(">IIBBBBB", width, height, 8 * each, COLOR_TYPES[channels], 0, 0, 0)
    check(chunks[0][1] == head, "track-coding", f"the header {chunks[0][1].hex()}")
    line, pixel = width * channels * each, channels * each
    try:
        rows = zlib.decompressobj().decompress(b"".join(data for name, data in chunks if name == b"IDAT"), height * (line + 1))
    except zlib.error as e:
        check(False, "track-coding", str(e))
    check(len(rows) == height * (line + 1), "track-coding", f"{len(rows)} bytes of rows")
    out, above = bytearray(), bytes(line)
    for y in range(height):
        kind, row = rows[y * (line + 1)], bytearray(rows[y * (line + 1) + 1 : (y + 1) * (line + 1)])
        check(kind <= 4, "track-coding", f"filter {kind}")
        for i in range(line):
            a, u, c = (row[i - pixel], above[i], above[i - pixel]) if i >= pixel else (0, above[i], 0)
            row[i] = (row[i] + (0, a, u, (a + u) // 2, paeth(a, u, c))[kind]) & 255
        out += row
        above = bytes(row)
    if each == 2:
        out[0::2], out[1::2] = out[1::2], out[0::2]
    return bytes(out)

def paeth(a: int, b: int, c: int) -> int:
    p = a + b - c
    return min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
