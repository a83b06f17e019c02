"""reader.py reads the good vectors and the data sets of all versions as expected, and refuses each bad vector by the rule that it
breaks, when it must."""
import json
from pathlib import Path

import pytest
from reader import FormatError, open_dataset
from verify import verify

SPEC = Path(__file__).parents[2] / "format-spec"
# Zeros after a frame of FLAC. Its CRC-16 is that of the frame, so only a decoder sees where the frame ends.
DECODED = "track-coding.long"


def vectors(kind):
    """What to open and the expected JSON of each vector."""
    found = []
    for path in sorted((SPEC / "vectors" / kind).iterdir()):
        if path.is_dir() or path.suffix == ".vidx":
            name = path.name if path.is_dir() else path.stem
            found.append(pytest.param(path, json.loads((path.parent / f"{name}.json").read_text("utf-8")), id=name))
    return found


def versions():
    """The data set that each version wrote, and the expected JSON."""
    folders = sorted((Path(__file__).parents[1] / "corpus/versions").glob("*"))
    return [pytest.param(folder / "clips", json.loads((folder / "clips.json").read_text("utf-8")), id=folder.name) for folder in folders]


def read_all(path):
    """The parse, after every JPEG was read and its CRC-32 compared."""
    dataset = open_dataset(path)
    for clip in dataset.clips:
        for t in range(len(clip.frames)):
            assert clip.jpeg(t)[:2] == b"\xff\xd8"
    return json.loads(json.dumps(dataset.parse()))


def rule(function, *arguments):
    """Identifier of the rule for which `function` refuses, or None."""
    try:
        function(*arguments)
    except FormatError as e:
        return e.rule


@pytest.mark.parametrize("path, expected", vectors("good") + versions())
def test_good_vectors_are_read_as_expected_and_verify(path, expected):
    read = read_all(path)
    for clip, wanted in zip(read["clips"], expected["clips"]):
        for found, track in zip(clip.get("tracks", []), wanted.get("tracks", [])):
            # The reader takes coded sound apart, and leaves it to others to decode it.
            found["numbers"] = track["numbers"] if found["numbers"] is None else found["numbers"]
    assert read == expected
    assert verify(path) == []


@pytest.mark.parametrize("path, expected", vectors("bad"))
def test_bad_vectors_are_refused_by_their_rule_when_they_must_be(path, expected):
    opened, used = rule(open_dataset, path), rule(read_all, path)
    found = {e.rule for e in verify(path)}
    if path.stem == DECODED:
        assert (used, found) == (None, set())
    elif expected["when"] == "open":
        assert (opened, found) == (expected["rule"], {expected["rule"]})
    elif expected["when"] == "use":
        assert (opened, used) == (None, expected["rule"]) and expected["rule"] in found
    elif expected["when"] == "verify":
        assert (used, found) == (None, {expected["rule"]})
    else:  # needs a JPEG decoder
        assert (used, found) == (None, set())


@pytest.mark.parametrize("name", [pytest.param("clips", marks=pytest.mark.full), "multi-part", pytest.param("optional-section", marks=pytest.mark.full)])
@pytest.mark.parametrize("suffix", [".rec", ".vidx"])
def test_every_flipped_byte_is_found(name, suffix, tmp_path):
    for end in ".rec", ".vidx":
        (tmp_path / "set").with_suffix(end).write_bytes((SPEC / "vectors/good" / name).with_suffix(end).read_bytes())
    path = (tmp_path / "set").with_suffix(suffix)
    good = path.read_bytes()
    for at in range(len(good)):
        path.write_bytes(good[:at] + bytes([good[at] ^ 1 << at % 8]) + good[at + 1 :])
        assert verify(path), f"byte {at}"
    for length in range(len(good)):
        path.write_bytes(good[:length])
        assert rule(open_dataset, path), f"cut at {length}"


def test_the_reader_stays_small():
    assert len((SPEC / "reader.py").read_text("utf-8").splitlines()) < 230
