"""A reader of track files (.vtrk), written from the text of vidrec-v1.md. reader.py uses it."""
import json
import math
import struct
from collections import namedtuple
from pathlib import Path
from typing import Iterator
from zlib import crc32

import picture
import sound
from basics import FormatError, align, check, json_object, map_file

ATTRIBUTES = "vidrec.attributes"
TRACK_MAGIC = b"\x89VTRK\r\n\x1a"

# Of each type of numbers: its bytes, and its letter for struct.
NUMBERS = {"f16": (2, "e"), "f32": (4, "f"), "f64": (8, "d"), "i16": (2, "h"), "i32": (4, "i"), "i64": (8, "q"), "u8": (1, "B"),
           "u16": (2, "H"), "bool": (1, "?")}
# Of each coding of sound: the most channels.
MAX_CHANNELS = [None, 8, 2]
TIMES_PER_VALUE = {"frames": 0, "rate": 0, "times": 1, "spans": 2}

# The numbers of coded sound are None: a decoder makes them of its frames of FLAC, or of its packets of Opus, a list for each block.
Track = namedtuple("Track", "schema count numbers texts starts ends first_ns rate start end bytes padding coded lists")

class TrackFile:
    """The track file of a shard. Construction checks the "open" rules, the methods the "use" rules."""
    def __init__(self, path: Path, binding: tuple, clip_count: int):
        self.path, self.clip_count, (length, self.sha256, edge_crc) = path, clip_count, binding
        b = self.bytes = map_file(path)
        check(len(b) == length, "track-length", f"{len(b)} bytes, not {length}")
        check(crc32(b[-4096:], crc32(b[:4096])) == edge_crc, "track-edges", "the CRC-32 of the ends differs")
        check(len(b) >= 128, "track-layout", "too short")
        check(b[:8] == TRACK_MAGIC, "track-magic", "not a track file")
        major, _, required = struct.unpack("<HHI", b[8:16])
        check(major == 1, "track-version", f"version {major}")
        header_crc = crc32(b[:60])
        check(struct.pack("<I", header_crc) == b[60:64], "track-header-crc", "the CRC-32 differs")
        check(required == 0, "track-flags", f"unknown required flags {required:#x}")
        *fields, schema_crc, of_header, footer_crc = struct.unpack("<QQQQIII8xI", b[-64:-8])
        fits = b[-8:] == TRACK_MAGIC and footer_crc == crc32(b[-64:-12]) and of_header == header_crc
        check(fits, "track-footer", "the footer differs")
        length, clips, self.table, schema_at, schema_length = fields
        fits = length == len(b) and clips == clip_count and self.table >= 64 and self.table % 64 == 0
        fits = fits and self.table + 24 * clips == schema_at and schema_at + schema_length == length - 64
        check(fits, "track-layout", "table, schema and footer do not end the file")
        check(crc32(b[schema_at:-64]) == schema_crc, "track-schema", "the CRC-32 differs")
        self.schema = json_object(b[schema_at:-64], "track-schema", {"tracks": list}, ("tracks",))["tracks"]
        check(len(self.schema) <= 1024, "track-schema", f"{len(self.schema)} tracks")
        for track in self.schema:
            check_track_schema(track)
        names = {track["name"] for track in self.schema}
        check(len(names) == len(self.schema), "track-schema", "two tracks of one name")

    def block(self, clip: int) -> tuple:
        """Where the block of a clip begins and ends, and its directory; None if it has none."""
        at = self.table + 24 * clip
        b = self.bytes[at : at + 24]
        fits = struct.pack("<I", crc32(b[:20] + struct.pack("<Q", clip))) == b[20:]
        check(fits, "track-entry-crc", f"clip {clip}: the CRC-32 differs")
        offset, length, directory_crc = struct.unpack("<QQI", b[:20])
        if (offset, length, directory_crc) == (0, 0, 0):
            return None
        fits = offset >= 64 and offset % 64 == 0 and length >= 56 and offset + length <= self.table
        check(fits, "track-block", f"clip {clip}: {length} bytes at {offset}")
        count, of_clip = struct.unpack_from("<II", self.bytes, offset)
        check(8 + 48 * count <= length, "track-block", f"clip {clip}: no room for {count} tracks")
        directory = self.bytes[offset : offset + 8 + 48 * count]
        check(crc32(directory) == directory_crc, "track-directory", f"clip {clip}: the CRC-32 differs")
        check(of_clip == clip, "track-block", f"the tracks of clip {of_clip} in place of {clip}")
        entries, end, least = list(struct.iter_unpack("<HHIQQQqII", directory[8:])), 8 + 48 * count, 0
        for number, coding, _, at, size, values, first_ns, *rate in entries:
            check(least <= number < len(self.schema), "track-directory", f"clip {clip}: track {number}")
            track, least = self.schema[number], number + 1
            no_rate = track["timing"] == "rate" or (first_ns, *rate) == (0, 0, 0)
            check(coding <= 3, "track-directory", f"clip {clip}: coding {coding}")
            fits_length = {0: is_track_length(track, values, size), 3: is_pictures_length(track, values, size)}
            fits_length = fits_length[coding] if coding in fits_length else is_coded_length(track, coding, rate, values, size)
            fits = at == align(end, 64) and fits_length and no_rate
            check(fits, "track-directory", f"clip {clip}: track {number} is {size} bytes at {at}")
            end = at + size
        check(count > 0 and end == length, "track-directory", f"clip {clip}: the block does not end with a track")
        return offset, offset + length, entries

    def tracks(self, clip: int, frames: int) -> list:
        """The tracks of a clip of so many frames."""
        block = self.block(clip)
        return [] if block is None else [self.track(clip, block[0], entry, frames) for entry in block[2]]

    def track(self, clip: int, block: int, entry: tuple, frames: int) -> Track:
        number, coding, crc, at, size, count, first_ns, *rate = entry
        schema, start = self.schema[number], block + at
        b, place = self.bytes[start : start + size], f"clip {clip}, {schema['name']}"
        each = block_values(coding, rate) if coding in (1, 2) else 1
        of_times = 8 * count * TIMES_PER_VALUE[schema["timing"]]
        summed = b[: 8 * blocks(count, each) + (of_times if coding == 3 else 0)] if coding else b
        check(crc32(summed) == crc, "track-crc", f"{place}: the CRC-32 differs")
        coded = None
        if coding in (1, 2):
            of_block = coded_blocks(b, count, each, place)
            if coding == 1:
                channels = math.prod(schema["shape"])
                coded = [sound.flac_frame(block, i, values, channels) for i, (block, values) in enumerate(of_block)]
            else:
                coded = [sound.opus_packets(block, -(-values * 50 // rate[0])) for block, values in of_block]
            b = b""
        elif coding == 3:
            b = pictures(b, count, of_times, schema, place)
        fits = schema["timing"] != "frames" or count == frames
        check(fits, "track-frames", f"{place}: {count} values for {frames} frames")
        lists, texts, numbers, values = None, None, b"" if coded is None else None, 0
        if schema["type"] == "utf-8":
            texts, values = read_texts(b, count, schema["timing"], place)
        elif schema.get("list"):
            lists, items, values = read_lists(b, count, schema, place)
            numbers = b[items:values]
        elif coded is None:
            values = count * value_bytes(schema)
            numbers = b[:values]
        fits = schema["type"] != "bool" or set(numbers) <= {0, 1}
        check(fits, "track-bool", f"{place}: neither 0 nor 1")
        times_at = len(b) - of_times
        times = struct.unpack(f"<{(len(b) - times_at) // 8}q", b[times_at:])
        starts, ends = times[:count], times[count:]
        fits = schema["timing"] != "rate" or all(rate)
        fits = fits and all(x <= y for x, y in zip(starts, starts[1:])) and all(x <= y for x, y in zip(starts, ends))
        check(fits, "track-times", f"{place}: times decrease, or there is no rate")
        padding = b[values:times_at] + (b[4 * (count + 1) : items] if lists is not None else b"")
        return Track(schema, count, numbers, texts, starts, ends, first_ns, rate, start, start + size, b, padding, coded, lists)

def check_track_schema(track: dict) -> None:
    types = {"name": str, "type": str, "shape": list, "timing": str, "nan": bool, "list": bool}
    json_object(json.dumps(track).encode(), "track-schema", types, ("name", "type", "shape", "timing"))
    name, shape = track["name"], track["shape"]
    fits = 1 <= len(name.encode()) <= 255 and not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in name)
    sides = all(type(side) is int and 1 <= side < 1 << 32 for side in shape) and len(shape) <= 8
    known = (track["type"] in NUMBERS or track["type"] == "utf-8" and not shape and not track.get("list")) and track["timing"] in TIMES_PER_VALUE
    check(fits and sides and known, "track-schema", f"{track}")
    check(math.prod(shape) <= 1 << 28, "track-schema", f"{name}: values of shape {shape}")

def value_bytes(track: dict) -> int:
    return NUMBERS[track["type"]][0] * math.prod(track["shape"])

def is_track_length(track: dict, count: int, length: int) -> bool:
    """Whether so many values can take so many bytes. How long texts and lists are is only in the bytes."""
    text = track["type"] == "utf-8" or track.get("list", False)
    values, times = 4 * (count + 1) if text else count * value_bytes(track), TIMES_PER_VALUE[track["timing"]]
    values = align(values, 8) if track.get("list") else values
    least = align(values, 8) + 8 * count * times if times else values
    return least <= length if text else least == length

def block_values(coding: int, rate: list) -> int:
    return 4096 if coding == 1 else rate[0] // 2

def blocks(count: int, each: int) -> int:
    return (count + each - 1) // each

def is_coded_length(track: dict, coding: int, rate: list, count: int, length: int) -> bool:
    """Whether so many coded values can take so many bytes. The ends of their blocks are in the bytes."""
    fits = track["type"] == "i16" and not track.get("list") and track["timing"] == "rate" and math.prod(track["shape"]) <= MAX_CHANNELS[coding]
    fits = fits and (coding == 1 or rate[0] in sound.OPUS_RATES and rate[1] == 1)
    return fits and count * value_bytes(track) < 1 << 32 and 8 * blocks(count, block_values(coding, rate)) <= length

def is_pictures_length(track: dict, count: int, length: int) -> bool:
    """Whether so many pictures can take so many bytes. The ends of their blocks are in the bytes."""
    return picture.is_picture(track) and 8 * count * (1 + TIMES_PER_VALUE[track["timing"]]) <= length

def each_block(list_: bytes, b: bytes, place: str) -> Iterator[bytes]:
    """The blocks in b, whose ends and CRC-32 are in the list."""
    entries = list(struct.iter_unpack("<II", list_))
    ends = [0] + [end for end, _ in entries]
    rises = all(x <= y for x, y in zip(ends, ends[1:])) and ends[-1] == len(b)
    check(rises, "track-coding", f"{place}: the ends of blocks do not rise to the end of the track")
    for i, (start, (end, crc)) in enumerate(zip(ends, entries)):
        check(crc32(b[start:end]) == crc, "track-crc", f"{place}: the CRC-32 of block {i} differs")
        yield b[start:end]

def coded_blocks(b: bytes, count: int, each: int, place: str) -> list:
    """The blocks of coded sound, and how many values each has."""
    at = 8 * blocks(count, each)
    return [(block, min(each, count - i * each)) for i, block in enumerate(each_block(b[:at], b[at:], place))]

def pictures(b: bytes, count: int, of_times: int, schema: dict, place: str) -> bytes:
    """The bytes of coded pictures, as they would be without a coding."""
    found = each_block(b[: 8 * count], b[8 * count + of_times :], place)
    values = b"".join(picture.decode(block, schema) for block in found)
    return values + bytes(-len(values) % 8 if of_times else 0) + b[8 * count : 8 * count + of_times]

def read_offsets(b: bytes, count: int, timing: str, first: int, each: int, rule: str, place: str) -> tuple:
    """The offsets of texts or lists, which begin at a byte and have units of so many bytes, and where these end."""
    offsets, times = struct.unpack_from(f"<{count + 1}I", b), TIMES_PER_VALUE[timing]
    end = first + each * offsets[-1]
    length = align(end, 8) + 8 * count * times if times else end
    rises = offsets[0] == 0 and all(x <= y for x, y in zip(offsets, offsets[1:]))
    check(rises and length == len(b), rule, f"{place}: offsets that do not rise to the end")
    return offsets, end

def read_lists(b: bytes, count: int, schema: dict, place: str) -> tuple:
    """How many items each list has, and where the items begin and end."""
    first = align(4 * (count + 1), 8)
    offsets, end = read_offsets(b, count, schema["timing"], first, value_bytes(schema), "track-list", place)
    return [y - x for x, y in zip(offsets, offsets[1:])], first, end

def read_texts(b: bytes, count: int, timing: str, place: str) -> tuple:
    """The texts, and where they end."""
    start = 4 * (count + 1)
    offsets, end = read_offsets(b, count, timing, start, 1, "track-text", place)
    try:
        return [b[start + x : start + y].decode("utf-8") for x, y in zip(offsets, offsets[1:])], end
    except UnicodeDecodeError as e:
        raise FormatError("track-text", f"{place}: {e}") from e
