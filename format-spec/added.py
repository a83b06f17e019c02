"""What clips got after they were packed: "Added tracks and attributes" of vidrec-v1.md. reader.py uses it."""
import json
import re
from typing import Callable, List, Tuple

from basics import check, json_object
from track_reader import ATTRIBUTES, Track, TrackFile

FILE_TYPES = {"file": str, "clips": int, "bytes": int, "sha256": str, "edge_crc32": int}
FILE_NAME = re.compile("[A-Za-z0-9_][A-Za-z0-9._-]{,249}[.]vtrk")
ADDED_TYPES = {"tracks": list, "hidden": list}
PLACE_TYPES = {"file": str, "first_clip": int}

def check_version(listing: dict) -> None:
    of_shards = (isinstance(shard, dict) and shard.get("added") is not None for shard in listing["shards"])
    version = 2 if listing.get("added_files") or any(of_shards) else 1
    is_known = (listing["format"], listing["format_version"]) == ("vidrec", version)
    check(is_known, "dataset-version", f"not version {version}")

def check_places(listing: dict) -> None:
    """The added files, and that the clips of shards are in them, in order."""
    passed, used = {}, set()
    for file in listing.get("added_files", []):
        file = json_object(json.dumps(file).encode(), "dataset-json", FILE_TYPES, tuple(FILE_TYPES))
        fits = FILE_NAME.fullmatch(file["file"]) and re.fullmatch("[0-9a-fA-F]{64}", file["sha256"])
        check(fits and file["file"] not in passed and file["clips"] <= 1 << 31, "dataset-json", f"{file}")
        passed[file["file"]] = (0, file["clips"])
    for shard in listing["shards"]:
        added = {} if shard.get("added") is None else shard["added"]
        for place in json_object(json.dumps(added).encode(), "dataset-json", ADDED_TYPES)["tracks"]:
            place = json_object(json.dumps(place).encode(), "dataset-json", PLACE_TYPES, tuple(PLACE_TYPES))
            check(place["file"] in passed, "dataset-json", f"{place['file']} is not in added_files")
            (least, most), end = passed[place["file"]], place["first_clip"] + shard["clips"]
            check(least <= place["first_clip"] and end <= most, "dataset-json", f"{place}: not the clips of the shard")
            passed[place["file"]] = (end, most)
            used.add(place["file"])
    check(used == set(passed), "dataset-json", f"nobody's files: {set(passed) - used}")

def opened(listing: dict, shards: list, at: Callable) -> list:
    """The shards, each with where its clips are in the added files, which are opened."""
    binding = lambda file: (file["bytes"], bytes.fromhex(file["sha256"]), file["edge_crc32"])
    files = {f["file"]: TrackFile(at(f["file"]), binding(f), f["clips"]) for f in listing.get("added_files", [])}
    for shard in shards:
        places = (shard.listed_added or {}).get("tracks", [])
        shard.added = [(files[place["file"]], place["first_clip"]) for place in places]
    return shards

def listed(shard) -> dict:
    """What dataset.json says of it."""
    return {} if shard.listed_added is None else {"added": shard.listed_added}

def track_files(shard) -> List[Tuple[TrackFile, int, set]]:
    """The files with tracks of a shard's clips, the newest first, where its clips begin in each, and the names that count."""
    found, gone = [], set((shard.listed_added or {}).get("hidden", []))
    for file, first in [*shard.added[::-1], *([(shard.tracks, 0)] if shard.tracks else [])]:
        names = {track["name"] for track in file.schema}
        found.append((file, first, names - gone))
        gone |= names
    return found

def check_schemas(shards: list) -> None:
    """Tracks of one name are of one kind, wherever they count."""
    known = {}
    for file, names in ((file, names) for shard in shards for file, _, names in track_files(shard)):
        for track in (track for track in file.schema if track["name"] in names - {ATTRIBUTES}):
            kind = track["type"], track["shape"], track["timing"], track.get("list", False)
            same = known.setdefault(track["name"], kind) == kind
            check(same, "dataset-tracks", f"{file.path}: {track['name']} is another track elsewhere")

def tracks(shard, ordinal: int, frames: int) -> List[Track]:
    """The tracks of a clip: its own, and then those that were added."""
    return [track for file, first, names in track_files(shard)[::-1]
            for track in file.tracks(first + ordinal, frames) if track.schema["name"] in names - {ATTRIBUTES}]

def attributes(shard, ordinal: int, frames: int, stored: str) -> str:
    """The attributes of a clip, as JSON, with those that were added."""
    if not shard.added:
        return stored
    merged = json.loads(stored or "{}")
    for file, first, names in track_files(shard):
        for track in file.tracks(first + ordinal, frames) if ATTRIBUTES in names else []:
            if track.schema["name"] == ATTRIBUTES:
                check(track.texts is not None and len(track.texts) == 1, "clip-attributes", f"clip {ordinal}: not one text")
                merged.update(json_object(track.texts[0].encode(), "clip-attributes", {}))
    return json.dumps({k: v for k, v in sorted(merged.items()) if v is not None}, separators=(",", ":"), ensure_ascii=False)
