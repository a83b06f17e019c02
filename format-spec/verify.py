"""The rules of vidrec-v1.md that need a pass over all the data, but for those that need a JPEG decoder.

`python3 verify.py PATH` prints what is broken; the exit status is then 3.
"""
import hashlib
import math
import struct
import sys
from pathlib import Path
from typing import Iterator, List

from basics import FormatError, align, check, json_object
from reader import META_TYPES, Clip, Shard, open_dataset, read_listing
from track_reader import NUMBERS, TrackFile


def verify(path) -> List[FormatError]:
    """Every broken rule that is found. What breaks a rule at open is the only thing that is."""
    try:
        dataset = open_dataset(path)
    except FormatError as e:
        return [e]
    problems = [e for shard in dataset.shards for e in verify_shard(shard)] + verify_added(dataset)
    path = Path(path)
    listing_path = path / "dataset.json" if path.is_dir() else path
    if listing_path.suffix == ".json":
        listing = read_listing(listing_path)
        problems += caught(verify_listing, listing, dataset) + caught(verify_failures, listing_path, listing)
    return problems


def verify_listing(listing: dict, dataset) -> None:
    for key in META_TYPES:
        check(listing[key] == dataset.meta[key], "dataset-json", f"{key} is not that of the indexes")


def verify_failures(path: Path, listing: dict) -> None:
    failures = listing.get("failures")
    if failures:
        found = hashlib.sha256(path.with_name(failures["file"]).read_bytes()).hexdigest()
        check(found == failures["sha256"], "failures-digest", "the list of failures is another one")


def verify_shard(shard: Shard) -> List[FormatError]:
    problems = list(verify_sections(shard))
    if hashlib.sha256(shard.records).digest() != shard.sha256:
        problems.append(FormatError("data-digest", "the SHA-256 of the record file differs"))
    problems += caught(verify_draws, shard)
    next_frame = next_record = 0
    for c in range(shard.clip_count):
        try:
            clip = shard.clip(c)
        except FormatError as e:
            problems.append(e)
            continue
        problems += caught(verify_clip, shard, c, clip, next_frame)
        next_frame = clip.first_frame + len(clip.frames)
        for t, frame in enumerate(clip.frames):
            problems += caught(verify_frame, c, clip, t, next_record)
            next_record = end_of_record(shard, frame, next_record)
    # After another problem these two would only say it again.
    if not problems and next_frame != shard.frame_count:
        problems.append(FormatError("clip-order", "frames that belong to no clip"))
    elif not problems and next_record != len(shard.records):
        problems.append(FormatError("record-trailing", f"something after byte {next_record}"))
    return problems + (verify_tracks(shard.tracks, {0: shard}) if shard.tracks else [])


def verify_added(dataset) -> List[FormatError]:
    """What is broken in the files that were added."""
    files = {}
    for shard in dataset.shards:
        for file, first in shard.added:
            files.setdefault(file, {})[first] = shard
    return [e for file, shards in files.items() for e in verify_tracks(file, shards)]


def verify_tracks(file: TrackFile, shards: dict) -> List[FormatError]:
    """What is broken in a track file. `shards` has the shard whose first clip is at each place."""
    problems, end = [], 64
    if hashlib.sha256(file.bytes).digest() != file.sha256:
        problems.append(FormatError("track-digest", "the SHA-256 of the track file differs"))
    for c in range(file.clip_count):
        try:
            block = file.block(c)
            if block is not None:
                start, block_end, entries = block
                check(start == align(end, 64), "track-order", f"clip {c}: its tracks are not at {align(end, 64)}")
                check(not any(file.bytes[end:start]), "track-padding", f"not zero before byte {start}")
                end = block_end
                verify_block(file, shards, c, start, entries)
        except FormatError as e:
            problems.append(e)
    if not problems:
        problems += caught(check, file.table == align(end, 64), "track-order", f"the table is at {file.table}")
        problems += caught(check, not any(file.bytes[end : file.table]), "track-padding", "not zero before the table")
    return problems


def verify_block(file: TrackFile, shards: dict, c: int, start: int, entries: list) -> None:
    end, first = start + 8 + 48 * len(entries), max((first for first in shards if first <= c), default=None)
    shard = None if first is None or c - first >= shards[first].clip_count else shards[first]
    for entry in entries:
        # A clip that no shard has any more has as many frames as values.
        track = file.track(c, start, entry, entry[5] if shard is None else len(shard.clip(c - first).frames))
        check(not any(file.bytes[end : track.start]), "track-padding", f"not zero before byte {track.start}")
        check(not any(track.padding), "track-padding", f"not zero after the values, before byte {track.end}")
        end, kind = track.end, track.schema["type"]
        if kind in ("f16", "f32", "f64") and not track.schema.get("nan"):
            size, letter = NUMBERS[kind]
            finite = all(map(math.isfinite, struct.unpack(f"<{len(track.numbers) // size}{letter}", track.numbers)))
            check(finite, "track-finite", f"clip {c}, {track.schema['name']}: not finite")


def verify_sections(shard: Shard) -> Iterator[FormatError]:
    starts = [offset for offset, _, _ in shard.sections.values()] + [shard.table]
    for name, (offset, length, _) in shard.sections.items():
        yield from caught(shard.section, name)
        end = offset + length
        if any(shard.index[end : min(s for s in starts if s >= end)]):
            yield FormatError("section-padding", f"not zero after {name}")


def verify_draws(shard: Shard) -> None:
    draws = shard.meta["draws"]
    check(draws > 0 and shard.clip_count % draws == 0, "clip-draws", f"{shard.clip_count} clips in draws of {draws}")


def verify_clip(shard: Shard, c: int, clip: Clip, next_frame: int) -> None:
    check(clip.first_frame == next_frame, "clip-order", f"clip {c}: not from frame {next_frame}")
    if clip.attributes:
        json_object(clip.attributes.encode(), "clip-attributes", {})
    classes = shard.meta["classes"]
    if classes and clip.label is not None:
        right = clip.label < len(classes) and clip.class_name in ("", classes[clip.label])
        check(right, "clip-class", f"clip {c}: {clip.class_name!r} is not the class of label {clip.label}")


def verify_frame(c: int, clip: Clip, t: int, next_record: int) -> None:
    place, frame = f"clip {c}, frame {t}", clip.frames[t]
    (flag, label, *ids), _, _ = clip.shard.record(frame)
    check(frame.offset == next_record, "record-order", f"{place}: not at byte {next_record}")
    if clip.shard.meta.get("records") == "foreign":  # another program's ids and labels
        flag, label, ids = 0, -1 if clip.label is None else clip.label, [clip.first_frame + t, c << 32 | t]
    check(ids == [clip.first_frame + t, c << 32 | t], "record-id", f"{place}: {ids}")
    fits = flag == 0 and label == (-1 if clip.label is None else clip.label)
    check(fits, "record-label", f"{place}: flag {flag}, label {label}")
    clip.jpeg(t)


def end_of_record(shard: Shard, frame, otherwise: int) -> int:
    try:
        return shard.record(frame)[2]
    except FormatError:
        return otherwise


def caught(rule_check, *arguments) -> List[FormatError]:
    try:
        rule_check(*arguments)
    except FormatError as e:
        return [e]
    return []


if __name__ == "__main__":
    found = verify(sys.argv[1])
    print(*found, sep="\n", end="\n" if found else "")
    sys.exit(3 if found else 0)
