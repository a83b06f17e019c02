#!/usr/bin/env python3
"""A reader of the vidrec format in plain Python, written from the text of vidrec-v1.md.

`python3 reader.py PATH` prints all that the indexes say as JSON; PATH is a data set's folder, a .rec, a .vidx or a
dataset.json. track_reader.py, beside it, reads the track files; verify.py proves the data too. All are meant to be read,
and to outlive the tool.
"""
import json
import re
import struct
import sys
from collections import namedtuple
from pathlib import Path
from zlib import crc32

import added
from basics import check, FormatError, json_object, map_file
from track_reader import Track, TrackFile

INDEX_MAGIC = b"\x89VIDX\r\n\x1a"
RECORD_MAGIC = struct.pack("<I", 0xCED7230A)
REQUIRED = (b"FRMS", b"CLPS", b"STRS", b"DATA", b"META")
META_TYPES = {"classes": list, "tool": str, "ffmpeg": str, "settings": dict}
SHARD_TYPES = {"record_file": str, "index_file": str, "clips": int, "frames": int, "bytes": int, "sha256": str}
TRACK_FILE_TYPES = {"file": str, "bytes": int, "sha256": str}
FAILURES_TYPES = {"file": str, "count": int, "sha256": str}
STEM = "[A-Za-z0-9_][A-Za-z0-9._-]*[.]"
SHARD_NAMES = {key: re.compile(STEM + end) for key, end in [("record_file", "rec"), ("index_file", "vidx"), ("file", "vtrk")]}
FAILURES_NAMES = {"file": re.compile("failures(-[0-9a-f]{12})?[.]jsonl")}
LISTING_TYPES = {"format": str, "format_version": int, "clips": int, "frames": int, "bytes": int, "shards": list}

Frame = namedtuple("Frame", "offset pts source_index crc32 length")
CLIP = "label source class_name attributes width height time_base short frames shard first_frame ordinal"

class Clip(namedtuple("Clip", CLIP)):
    """A clip; `attributes` is the text of a JSON object, or empty. No label and no source index are None."""
    def jpeg(self, t: int) -> bytes:
        """The JPEG of frame t, after its CRC-32 was compared."""
        jpeg = self.shard.record(self.frames[t])[1]
        check(crc32(jpeg) == self.frames[t].crc32, "jpeg-crc", f"frame {t}: the CRC-32 differs")
        return jpeg

class Shard:
    """One record file with its index. Construction checks the "open" rules, the methods the "use" rules."""
    def __init__(self, index_path: Path, record_path: Path = None, listed: dict = {}, track_path: Path = None):
        self.index_path, self.record_path = index_path, record_path
        b = self.index = map_file(self.index_path)
        check(len(b) >= 64 + 24, "index-length", "too short")
        check(b[:8] == INDEX_MAGIC, "index-magic", "not a vidrec index")
        fields = struct.unpack("<HHIIIQQQQII", b[8:64])
        major, _, required, _, count, table, length, self.clip_count, self.frame_count, table_crc, self.crc32 = fields
        check(major == 1, "index-version", f"version {major}")
        check(crc32(b[:60]) == self.crc32, "index-header-crc", "the CRC-32 differs")
        check(required == 0, "index-flags", f"unknown required flags {required:#x}")
        check(len(b) == length, "index-file-length", f"{len(b)} bytes, not {length}")
        footer = struct.pack("<QI", length, self.crc32)
        check(b[-24:] == footer + struct.pack("<I", crc32(footer)) + INDEX_MAGIC, "index-footer", "the footer differs")
        check(table + 32 * count == length - 24, "index-table-bounds", "not before the footer")
        check(crc32(b[table:-24]) == table_crc, "index-table-crc", "the CRC-32 differs")
        self.table, self.sections, end = table, {}, 64
        for name, flags, offset, length, crc, _ in struct.iter_unpack("<4sIQQII", b[table:-24]):
            check(offset == end, "section-bounds", f"{name} is not where the one before ends")
            end = (offset + length + 7) // 8 * 8
            check(name in (*REQUIRED, b"TRKS") or not flags & 1, "section-unknown", f"{name} is required, but not known")
            check(name not in self.sections, "section-duplicate", f"{name} occurs twice")
            self.sections[name] = (offset, length, crc)
        check(end == table, "section-bounds", "the last section does not end where the table begins")
        check(all(name in self.sections for name in REQUIRED), "section-missing", f"only {list(self.sections)}")
        for name, size in (b"FRMS", 32 * self.frame_count), (b"CLPS", 80 * self.clip_count), (b"DATA", 48), (b"TRKS", 48):
            check(name not in self.sections or self.sections[name][1] == size, "section-size", f"{name} has not {size} bytes")
        self.data_length, self.sha256, edge_crc = struct.unpack("<Q32sI4x", self.section(b"DATA"))
        self.meta = json_object(self.section(b"META"), "meta-json", META_TYPES)
        check(self.meta.setdefault("draws", 1) in range(1 << 32), "meta-json", "draws is of the wrong type")
        if record_path is None:
            self.record_path = self.beside(".rec", self.sha256)
        self.track_path, self.tracks = track_path, None
        self.added, self.listed_added = [], listed.get("added")
        if b"TRKS" in self.sections:
            self.track_binding = struct.unpack("<Q32sI4x", self.section(b"TRKS"))
            self.track_path = track_path or self.beside(".vtrk", self.track_binding[1])
        r = self.records = map_file(self.record_path)
        check(len(r) == self.data_length, "data-length", f"{len(r)} bytes, not {self.data_length}")
        check(crc32(r[-4096:], crc32(r[:4096])) == edge_crc, "data-edges", "the CRC-32 of the ends differs")
        differ = [key for key, value in self.listing().items() if listed.get(key, value) != value]
        check(not differ, "dataset-shard", f"{index_path} is not what dataset.json lists: {differ}")
        listed_tracks = listed.get("track_file") is not None and "track_file" not in self.listing()
        check(not listed_tracks, "dataset-shard", f"{index_path} has no track file")
        if b"TRKS" in self.sections:
            self.tracks = TrackFile(self.track_path, self.track_binding, self.clip_count)

    def beside(self, ending: str, sha256: bytes) -> Path:
        """The file of an index that was given by itself: see "Names of files"."""
        path = self.index_path.with_suffix(ending)
        if not path.exists() and re.search("-[0-9a-f]{12}$", self.index_path.stem):
            return self.index_path.with_name(f"{self.index_path.stem[:-12]}{sha256.hex()[:12]}{ending}")
        return path

    def section(self, name: bytes) -> bytes:
        offset, length, crc = self.sections[name]
        check(crc32(self.index[offset : offset + length]) == crc, "section-crc", f"{name}: the CRC-32 differs")
        return self.index[offset : offset + length]

    def entry(self, table: bytes, size: int, ordinal: int, rule: str) -> bytes:
        start = self.sections[table][0] + size * ordinal
        b = self.index[start : start + size]
        fits = struct.pack("<I", crc32(b[:-4] + struct.pack("<Q", ordinal))) == b[-4:]
        check(fits, rule, f"entry {ordinal}: the CRC-32 differs")
        return b[:-4]

    def clip(self, ordinal: int) -> Clip:
        b = self.entry(b"CLPS", 80, ordinal, "clip-crc")
        (first, count, label, width, height, flags, numerator, denominator, *places,
         strings_crc) = struct.unpack("<QIiHHIIIQQQIIII4x", b)
        check(first + count <= self.frame_count, "clip-frames", f"clip {ordinal}: frames outside the table")
        check(-1 <= label <= 1 << 24, "clip-label", f"clip {ordinal}: label {label}")
        check(numerator > 0 and denominator > 0, "clip-time-base", f"clip {ordinal}: {numerator}/{denominator}")
        (pool, size, _), strings = self.sections[b"STRS"], []
        for at, n in zip(places[:3], places[3:]):
            check(n == 0 or at + n <= size, "clip-string", f"clip {ordinal}: a string outside the pool")
            strings.append(self.index[pool + at : pool + at + n] if n else b"")
        check(crc32(b"".join(strings)) == strings_crc, "clip-string", f"clip {ordinal}: strings' CRC-32")
        try:
            strings = [s.decode("utf-8") for s in strings]
        except UnicodeDecodeError as e:
            raise FormatError("clip-string", f"clip {ordinal}: {e}") from e
        frames = [self.frame(i) for i in range(first, first + count)]
        strings[2] = added.attributes(self, ordinal, count, strings[2])
        return Clip(None if label < 0 else label, *strings, width, height, (numerator, denominator), bool(flags & 1),
                    frames, self, first, ordinal)

    def frame(self, ordinal: int) -> Frame:
        b = self.entry(b"FRMS", 32, ordinal, "frame-crc")
        offset, pts, length, jpeg_crc, source_index = struct.unpack("<QqIII", b)
        return Frame(offset, pts, None if source_index == 0xFFFFFFFF else source_index, jpeg_crc, length)

    def record(self, frame: Frame) -> tuple:
        """(flag, label, id, id2), JPEG, and where the next record begins."""
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
            payload, at = payload + (b"" if first else RECORD_MAGIC) + self.records[at + 8 : at + 8 + length], end
        check(len(payload) >= 24, "record-header", f"the record at byte {frame.offset} is too short")
        header = struct.unpack_from("<IfQQ", payload)
        jpeg_at = 24 + 4 * header[0]  # after the label vector, if there is one
        check(len(payload) >= jpeg_at, "record-header", f"no room for {header[0]} labels at byte {frame.offset}")
        check(len(payload) - jpeg_at == frame.length, "record-length", f"at byte {frame.offset}: not {frame.length}")
        return header, payload[jpeg_at:], at

    def listing(self) -> dict:
        listing = {"record_file": self.record_path.name, "index_file": self.index_path.name, "clips": self.clip_count,
                   "frames": self.frame_count, "bytes": self.data_length,
                   "sha256": self.sha256.hex(), "index_crc32": self.crc32}
        if b"TRKS" in self.sections:
            length, sha256, _ = self.track_binding
            listing["track_file"] = {"file": self.track_path.name, "bytes": length, "sha256": sha256.hex()}
        return listing

class Dataset:
    def __init__(self, shards):
        self.shards, self.meta = shards, {**shards[0].meta, "classes": shards[-1].meta["classes"]}
        for shard, names, more in ((b, a.meta["classes"], b.meta["classes"]) for a, b in zip(shards, shards[1:])):
            begins = more[: len(names)] == names and bool(more) == bool(names)
            check(begins, "dataset-classes", f"those of {shard.index_path} do not begin with those of the shard before")
        added.check_schemas(shards)

    def __len__(self) -> int:
        return sum(s.clip_count for s in self.shards)
    @property
    def clips(self):
        return (s.clip(c) for s in self.shards for c in range(s.clip_count))

    def parse(self) -> dict:
        """Everything but the pictures, ready for JSON."""
        def clip(c: Clip) -> dict:
            tracks = {}
            if added.track_files(c.shard):
                tracks["tracks"] = [track(t) for t in added.tracks(c.shard, c.ordinal, len(c.frames))]
            return {**dict(list(c._asdict().items())[:-3]), "frames": [f._asdict() for f in c.frames], **tracks}
        def track(t: Track) -> dict:
            return {"name": t.schema["name"], "count": t.count, "numbers": None if t.numbers is None else t.numbers.hex(), "texts": t.texts,
                    "starts": t.starts, "ends": t.ends, "first_ns": t.first_ns, "rate": t.rate, **({"lists": t.lists} if t.lists is not None else {})}
        return {**{k: self.meta[k] for k in META_TYPES}, "shards": [{**s.listing(), **added.listed(s)} for s in self.shards],
                "clips": [clip(c) for c in self.clips]}

def read_listing(path: Path) -> dict:
    listing = json_object(path.read_bytes(), "dataset-json", {**LISTING_TYPES, **META_TYPES}, tuple(LISTING_TYPES))
    added.check_version(listing)
    check(len(listing["shards"]) > 0, "dataset-json", "no shards")
    failures = listing.get("failures")
    for part in listing["shards"] + ([] if failures is None else [failures]):
        types, shapes = (FAILURES_TYPES, FAILURES_NAMES) if part is failures else (SHARD_TYPES, SHARD_NAMES)
        part = json_object(json.dumps(part).encode(), "dataset-json", types, tuple(types))
        tracks = part.get("track_file")
        if tracks is not None:
            part = {**part, **json_object(json.dumps(tracks).encode(), "dataset-json", TRACK_FILE_TYPES, tuple(TRACK_FILE_TYPES))}
        for name, shape in ((part[key], shape) for key, shape in shapes.items() if key in part):
            is_name = shape.fullmatch(name) and len(name.encode(errors="replace")) <= 255
            check(is_name, "dataset-json", f"{name!r} is not the name of such a file")
    for key in "clips", "frames", "bytes":
        check(listing[key] == sum(s[key] for s in listing["shards"]), "dataset-json", f"{key} is not the sum")
    added.check_places(listing)
    return listing

def open_dataset(path) -> Dataset:
    path = Path(path)
    if (listing := path / "dataset.json" if path.is_dir() else path).suffix == ".json":
        at = listing.with_name
        tracks = lambda s: at(s["track_file"]["file"]) if s.get("track_file") else None
        read = read_listing(listing)
        shards = [Shard(at(s["index_file"]), at(s["record_file"]), s, tracks(s)) for s in read["shards"]]
        return Dataset(added.opened(read, shards, at))
    index, record = path.with_suffix(".vidx"), path if path.suffix == ".rec" else None
    if record and not index.exists():
        listed = read_listing(path.with_name("dataset.json"))["shards"]
        index = next(path.with_name(s["index_file"]) for s in listed if s["record_file"] == path.name)
    return Dataset([Shard(index, record)])

if __name__ == "__main__":
    try:
        print(json.dumps(open_dataset(sys.argv[1]).parse(), indent=1, ensure_ascii=False))
    except (FormatError, OSError) as e:
        sys.exit(f"{sys.argv[1]}: {e}")
