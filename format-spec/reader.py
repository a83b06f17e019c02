#!/usr/bin/env python3
"""A reader of the vidrec format in plain Python, written from the text of vidrec-v1.md.

    python3 reader.py PATH             print everything that the indexes say, as JSON
    python3 reader.py PATH --verify    the same with `problems` that a pass over all the data finds (verify.py)

PATH is a data set's folder, a .rec, a .vidx or a dataset.json. It is meant to be read, and to outlive the tool.
"""
import json
import mmap
import struct
import sys
from pathlib import Path
from typing import Iterator, List, NamedTuple, Optional, Tuple
from zlib import crc32

INDEX_MAGIC = b"\x89VIDX\r\n\x1a"
RECORD_MAGIC = struct.pack("<I", 0xCED7230A)
REQUIRED = (b"FRMS", b"CLPS", b"STRS", b"DATA", b"META")
NONE = 0xFFFFFFFF


class FormatError(Exception):
    """A broken rule: `rule` is its identifier in the table of vidrec-v1.md."""

    def __init__(self, rule: str, message: str):
        super().__init__(f"{message} [{rule}]")
        self.rule = rule


class Frame(NamedTuple):
    offset: int
    pts: int
    source_index: Optional[int]
    crc32: int
    length: int


class Clip(NamedTuple):
    label: Optional[int]
    source: str
    class_name: str
    attributes: str  # the text of a JSON object, or empty
    width: int
    height: int
    time_base: Tuple[int, int]
    short: bool
    frames: List[Frame]
    shard: "Shard"
    first_frame: int

    def jpeg(self, t: int) -> bytes:
        """The JPEG of frame t, after its CRC-32 was compared."""
        frame = self.frames[t]
        jpeg = self.shard.record(frame)[2]
        check(crc32(jpeg) == frame.crc32, "jpeg-crc", f"JPEG at byte {frame.offset}: CRC-32 does not fit")
        return jpeg


def check(holds: bool, rule: str, message: str) -> None:
    if not holds:
        raise FormatError(rule, message)


def refuse(constant: str):
    raise ValueError(constant)


def json_object(data: bytes, rule: str, types: dict, needed: Tuple[str, ...] = ()) -> dict:
    """Parses a JSON object and proves the types of the keys in `types`, which are optional unless `needed`."""
    try:
        value = json.loads(data.decode("utf-8"), parse_constant=refuse)  # RFC 8259 has neither NaN nor Infinity
    except (ValueError, RecursionError) as e:
        raise FormatError(rule, f"not JSON: {e}") from e
    check(isinstance(value, dict), rule, "not a JSON object")
    for key in types:
        check(key in value or key not in needed, rule, f"{key} is missing")
        check(isinstance(value.setdefault(key, types[key]()), types[key]), rule, f"{key} is of the wrong type")
    check("classes" not in types or all(isinstance(s, str) for s in value["classes"]), rule, "classes are not strings")
    return value


META_TYPES = {"classes": list, "tool": str, "ffmpeg": str, "settings": dict}
SHARD_TYPES = {"record_file": str, "index_file": str, "clips": int, "frames": int, "bytes": int, "sha256": str}
LISTING_TYPES = {"format": str, "format_version": int, "clips": int, "frames": int, "bytes": int, "shards": list}


def map_file(path: Path):
    with open(path, "rb") as f:
        return mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) if path.stat().st_size else b""


class Shard:
    """One record file with its index. Construction checks the "open" rules, the methods the "use" rules."""

    def __init__(self, path: Path):
        self.record_path, self.index_path = path.with_suffix(".rec"), path.with_suffix(".vidx")
        b = self.index = map_file(self.index_path)
        check(len(b) >= 64 + 24, "index-length", "too short")
        check(b[:8] == INDEX_MAGIC, "index-magic", "not a vidrec index")
        (major, self.minor, required, _, count, table, length, self.clip_count, self.frame_count, table_crc,
         crc) = struct.unpack("<HHIIIQQQQII", b[8:64])
        check(major == 1, "index-version", f"version {major}")
        check(crc32(b[:60]) == crc, "index-header-crc", "CRC-32 does not fit")
        check(required == 0, "index-flags", f"unknown required flags {required:#x}")
        check(len(b) == length, "index-file-length", f"{len(b)} bytes, not {length}")
        footer = struct.pack("<QI", length, crc)
        check(b[-24:] == footer + struct.pack("<I", crc32(footer)) + INDEX_MAGIC, "index-footer", "does not fit")
        check(table + 32 * count == length - 24, "index-table-bounds", "not before the footer")
        check(crc32(b[table:-24]) == table_crc, "index-table-crc", "CRC-32 does not fit")

        self.table, self.sections, end = table, {}, 64
        entries = list(struct.iter_unpack("<4sIQQII", b[table:-24]))
        for name, _, offset, length, _, _ in entries:
            check(offset == end, "section-bounds", f"{name} is not where the one before ends")
            end = (offset + length + 7) // 8 * 8
        check(end == table, "section-bounds", "the last section does not end where the table begins")
        for name, flags, offset, length, crc, _ in entries:
            check(name in REQUIRED or not flags & 1, "section-unknown", f"{name} is required, but not known")
            check(name not in self.sections, "section-duplicate", f"{name} occurs twice")
            self.sections[name] = (offset, length, crc)
        for name in REQUIRED:
            check(name in self.sections, "section-missing", f"{name} is missing")
        for name, size in (b"FRMS", 32 * self.frame_count), (b"CLPS", 80 * self.clip_count), (b"DATA", 48):
            check(self.sections[name][1] == size, "section-size", f"{name} has not {size} bytes")
        self.data_length, self.sha256, edge_crc = struct.unpack("<Q32sI4x", self.section(b"DATA", proven=True))
        self.meta = json_object(self.section(b"META", proven=True), "meta-json", META_TYPES)

        r = self.records = map_file(self.record_path)
        check(len(r) == self.data_length, "data-length", f"{len(r)} bytes, not {self.data_length}")
        check(crc32(r[-4096:], crc32(r[:4096])) == edge_crc, "data-edges", "the ends' CRC-32 does not fit")

    def section(self, name: bytes, proven: bool = False) -> bytes:
        offset, length, crc = self.sections[name]
        data = self.index[offset : offset + length]
        check(not proven or crc32(data) == crc, "section-crc", f"{name}: CRC-32 does not fit")
        return data

    def clip(self, ordinal: int) -> Clip:
        start = self.sections[b"CLPS"][0] + 80 * ordinal
        b = self.index[start : start + 80]
        check(crc32(b[:76]) == struct.unpack("<I", b[76:])[0], "clip-crc", f"clip {ordinal}: CRC-32 does not fit")
        (first, count, label, width, height, flags, numerator, denominator, *places,
         strings_crc) = struct.unpack("<QIiHHIIIQQQIIII", b[:72])
        check(first + count <= self.frame_count, "clip-frames", f"clip {ordinal}: frames outside the table")
        check(-1 <= label <= 1 << 24, "clip-label", f"clip {ordinal}: label {label}")
        check(numerator > 0 and denominator > 0, "clip-time-base", f"clip {ordinal}: {numerator}/{denominator}")
        pool = self.sections[b"STRS"]
        strings = []
        for at, n in zip(places[:3], places[3:]):
            check(n == 0 or at + n <= pool[1], "clip-string", f"clip {ordinal}: a string outside the pool")
            strings.append(self.index[pool[0] + at : pool[0] + at + n] if n else b"")
        check(crc32(b"".join(strings)) == strings_crc, "clip-string", f"clip {ordinal}: strings' CRC-32")
        try:
            source, class_name, attributes = (s.decode("utf-8") for s in strings)
        except UnicodeDecodeError as e:
            raise FormatError("clip-string", f"clip {ordinal}: {e}") from e
        frames = [self.frame(i) for i in range(first, first + count)]
        return Clip(None if label < 0 else label, source, class_name, attributes, width, height,
                    (numerator, denominator), bool(flags & 1), frames, self, first)

    def frame(self, ordinal: int) -> Frame:
        start = self.sections[b"FRMS"][0] + 32 * ordinal
        b = self.index[start : start + 32]
        offset, pts, length, jpeg_crc, source_index, crc = struct.unpack("<QqIIII", b)
        check(crc32(b[:28]) == crc, "frame-crc", f"frame {ordinal}: CRC-32 does not fit")
        return Frame(offset, pts, None if source_index == NONE else source_index, jpeg_crc, length)

    def record(self, frame: Frame) -> Tuple[tuple, List[float], bytes, int]:
        """(flag, label, id, id2), label vector, JPEG, and where the next record begins."""
        payload, at, flag = b"", frame.offset, None
        while flag not in (0, 3):
            check(at + 8 <= len(self.records), "record-bounds", f"no room for a record at byte {at}")
            magic, lrec = struct.unpack_from("<4sI", self.records, at)
            check(magic == RECORD_MAGIC, "record-magic", f"no record at byte {at}")
            first, flag, length = flag is None, lrec >> 29, lrec & ((1 << 29) - 1)
            end = at + 8 + (length + 3) // 4 * 4
            check(end <= len(self.records), "record-bounds", f"the record at byte {at} runs past the end")
            check(not any(self.records[at + 8 + length : end]), "record-padding", f"not zero before byte {end}")
            check(flag in ((0, 1) if first else (2, 3)), "record-parts", f"flag {flag} at byte {at}")
            payload += (b"" if first else RECORD_MAGIC) + self.records[at + 8 : at + 8 + length]
            at = end
        check(len(payload) >= 24, "record-header", f"the record at byte {frame.offset} is too short")
        header = struct.unpack_from("<IfQQ", payload)
        jpeg_at = 24 + 4 * header[0]
        check(len(payload) >= jpeg_at, "record-header", f"no room for {header[0]} labels at byte {frame.offset}")
        check(len(payload) - jpeg_at == frame.length, "record-length", f"at byte {frame.offset}: not {frame.length}")
        return header, list(struct.unpack_from(f"<{header[0]}f", payload, 24)), payload[jpeg_at:], at

    def listing(self) -> dict:
        return {"record_file": self.record_path.name, "index_file": self.index_path.name, "clips": self.clip_count,
                "frames": self.frame_count, "bytes": self.data_length, "sha256": self.sha256.hex()}


class Dataset:
    def __init__(self, shards: List[Shard]):
        self.shards, self.meta = shards, shards[0].meta
        for other in shards[1:]:
            same = other.meta["classes"] == self.meta["classes"]
            check(same, "dataset-classes", f"{other.index_path}: other class names than the first shard")

    def __len__(self) -> int:
        return sum(s.clip_count for s in self.shards)

    @property
    def clips(self) -> Iterator[Clip]:
        return (s.clip(c) for s in self.shards for c in range(s.clip_count))

    def parse(self) -> dict:
        """Everything but the pictures, ready for JSON."""
        def clip(c: Clip) -> dict:
            plain = {k: v for k, v in c._asdict().items() if k not in ("shard", "first_frame")}
            return {**plain, "frames": [f._asdict() for f in c.frames]}
        return {**{k: self.meta[k] for k in META_TYPES}, "shards": [s.listing() for s in self.shards],
                "clips": [clip(c) for c in self.clips]}


def read_listing(path: Path) -> dict:
    listing = json_object(path.read_bytes(), "dataset-json", {**LISTING_TYPES, **META_TYPES}, tuple(LISTING_TYPES))
    known = (listing["format"], listing["format_version"]) == ("vidrec", 1)
    check(known, "dataset-version", "not version 1 of vidrec")
    check(len(listing["shards"]) > 0, "dataset-json", "no shards")
    for shard in listing["shards"]:
        shard = json_object(json.dumps(shard).encode(), "dataset-json", SHARD_TYPES, tuple(SHARD_TYPES))
        for name in shard["record_file"], shard["index_file"]:
            check(name == Path(name).name and name != "..", "dataset-json", f"{name!r} is not a plain file name")
    return listing


def open_dataset(path) -> Dataset:
    path = Path(path)
    if path.is_dir():
        listing = path / "dataset.json"
        if not listing.exists():
            loose = sorted(path.glob("[!.]*.vidx"), key=lambda p: p.name.encode())
            if not loose:
                raise FileNotFoundError("neither dataset.json nor .vidx files")
            return Dataset([Shard(p) for p in loose])
        path = listing
    if path.suffix == ".json":
        return Dataset([Shard(path.with_name(s["index_file"])) for s in read_listing(path)["shards"]])
    return Dataset([Shard(path)])


def main() -> int:
    paths = [a for a in sys.argv[1:] if a != "--verify"]
    if len(paths) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        parse = open_dataset(paths[0]).parse()
    except (FormatError, OSError) as e:
        print(f"{paths[0]}: {e}", file=sys.stderr)
        return 1
    if "--verify" in sys.argv:
        from verify import verify
        parse["problems"] = [{"rule": e.rule, "message": str(e)} for e in verify(paths[0])]
    print(json.dumps(parse, indent=1, ensure_ascii=False))
    return 3 if parse.get("problems") else 0


if __name__ == "__main__":
    sys.exit(main())
