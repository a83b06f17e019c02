"""Data sets of other Python projects, in files that are made here. What the projects' own packages make of them is in tests/interop."""
import gzip
import io
import json
import random
import struct
import tarfile

import numpy as np
import pytest
from PIL import Image
from programs import files
from test_writer import clip, jpeg

import vidrec
from vidrec import convert


def tar(path, members, end=True):
    with tarfile.open(path, "w") as out:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            out.addfile(info, io.BytesIO(data))
    if not end:
        whole = path.read_bytes().rstrip(b"\0")
        path.write_bytes(whole + bytes(-len(whole) % 512))
    return path


def png(shape=(48, 64, 3)):
    file = io.BytesIO()
    Image.fromarray(np.full(shape, 77, np.uint8)).save(file, "PNG")
    return file.getvalue()


def test_webdataset_comes_in(tmp_path):
    a, b, c = jpeg(0), jpeg(1), jpeg(2)
    members = {
        **{"x/k1.10.jpg": a, "x/k1.9.JPG": b, "x/k1.cls": b" 3\n", "x/k1.json": b'{"label": 7, "n": [1, null]}'},
        **{"x/k1.txt": "dö ".encode(), "x/k1.mp3": b"none", "k.2.jpg": c, "k.json": b"[1]", "README": b"no dot", "k2.jpeg": a},
        **{"k2.json": b'{"label": 5}', "k2.track.a.npy": b"x", "k2.track.b.json": b"[]"},
    }
    path = tar(tmp_path / "a.tar", members)
    report = convert.from_webdataset(path, tmp_path / "set", fps="30000/1001")
    ds = vidrec.open(tmp_path / "set")
    assert [[c.jpeg(t) for t in range(len(c))] for c in ds] == [[b, a], [c], [a]]
    assert [(c.source, c.label) for c in ds] == [("x/k1", 3), ("k", None), ("k2", 5)]
    assert [c.attributes for c in ds] == [{"label": 7, "n": [1, None], "txt": "dö"}, {"json": [1]}, {"label": 5}]
    assert str(ds[0].time_base) == "1001/30000" and ds[0].pts.tolist() == [0, 1]
    assert report.notes == ("ignored . files: 1", "ignored .json files: 1", "ignored .mp3 files: 1", "ignored .npy files: 1")
    assert ds.meta.settings == {"imported_from": "webdataset"}
    packed = tmp_path / "a.tar.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    convert.from_webdataset([packed], tmp_path / "again", fps="30000/1001")
    assert files(tmp_path / "again") == files(tmp_path / "set")


def test_faults_of_webdataset_are_named_or_skipped(tmp_path):
    good = {"a.jpg": jpeg(0), "b.jpg": jpeg(1)}
    for n, (members, words) in enumerate([
        ({"n.txt": b"x"}, "sample n: the sample has no images"),
        ({"n.jpg": b"none"}, "sample n"),
        ({"n.jpg": jpeg(0), "n.cls": b"x"}, "not a whole number"),
        ({"n.jpg": jpeg(0), "n.json": b"{"}, "sample n"),
        ({"n.png": png()}, "png_quality"),
        ({"n.0.png": png(), "n.1.jpg": jpeg(0)}, "PNG"),
    ]):
        path = tar(tmp_path / "a.tar", {**members, **good})
        with pytest.raises(vidrec.DecodeError) as refused:
            convert.from_webdataset(path, tmp_path / "set")
        assert words in str(refused.value) and "salvage=True" in str(refused.value) and not (tmp_path / "set").exists()
        report = convert.from_webdataset(path, tmp_path / "set", salvage=True)
        assert (report.clips, [skipped.source for skipped in report.skipped]) == (2, ["a.tar, sample n"])
        (tmp_path / "set").rename(tmp_path / str(n))
    tar(tmp_path / "a.tar", good, end=False)
    with pytest.raises(vidrec.DecodeError, match="its end is missing"):
        convert.from_webdataset(tmp_path / "a.tar", tmp_path / "set")
    report = convert.from_webdataset(tmp_path / "a.tar", tmp_path / "set", salvage=True)
    assert (report.clips, len(report.skipped)) == (1, 1)
    tar(tmp_path / "a.tar", {"n.png": png(), "m.jpg": jpeg(0)})
    convert.from_webdataset(tmp_path / "a.tar", tmp_path / "set", png_quality=95, if_exists="replace")
    assert np.abs(vidrec.open(tmp_path / "set")[0].frames().astype(int) - 77).max() <= 2


def test_webdataset_goes_out_and_comes_in_again(tmp_path):
    rng = random.Random(5)
    with vidrec.Writer(tmp_path / "set", classes=["left", "right"], nan=["plain f4"], lists=["lists", "flags"]) as writer:
        for number in range(9):
            writer.add(**clip(rng, number))
        names = {"action": [1, 2], "Action": [1, 2], "a.times/../x": [1, 2], "動": [1, 2], "plain f4": np.float32([np.nan, 1])}
        writer.add([jpeg(0), jpeg(1)], tracks={name: np.asarray(values) for name, values in names.items() if name != "plain f4"})
    report = convert.to_webdataset(tmp_path / "set", tmp_path / "tars", clips_per_shard=4)
    tars = sorted((tmp_path / "tars").glob("*.tar"))
    assert (report.clips, report.files, len(tars)) == (10, 4, 3)
    with tarfile.open(tars[2]) as last:
        names = {name.split(".", 1)[1] for name in last.getnames() if name.startswith("000009.track")}
    assert names == {"track.action.npy", "track.action-2.npy", "track.a_times____x.npy", "track._.npy"}
    convert.from_webdataset(tars, tmp_path / "again")
    assert files(tmp_path / "again") == files(tmp_path / "set")
    with pytest.raises(vidrec.UsageError, match="exists already"):
        convert.to_webdataset(tmp_path / "set", tmp_path / "tars")
    # A damaged data set leaves nothing.
    before = sorted(tmp_path.iterdir())
    (record,) = (tmp_path / "again").glob("*.rec")
    record.write_bytes(record.read_bytes()[:200] + bytes(8) + record.read_bytes()[208:])
    with pytest.raises(vidrec.Error):
        convert.to_webdataset(tmp_path / "again", tmp_path / "none")
    assert sorted(tmp_path.iterdir()) == before


def mds(folder, kinds, samples, pack=None):
    """A shard as MosaicML's writer makes it, of columns with their encodings and the bytes of each sample."""
    folder.mkdir()
    sizes = [8 if kind in ("int", "float64") else None for kind in kinds.values()]
    def sample(values):
        return np.array([len(v) for v, size in zip(values, sizes) if size is None], "<u4").tobytes() + b"".join(values)
    config = {"column_names": list(kinds), "column_encodings": list(kinds.values()), "column_sizes": sizes, "compression": "gz:6" if pack else None}
    made, head = [sample(values) for values in samples], json.dumps(config).encode()
    offsets = 4 + 4 * (len(made) + 1) + len(head) + np.cumsum([0, *map(len, made)])
    data = struct.pack("<I", len(made)) + offsets.astype("<u4").tobytes() + head + b"".join(made)
    name = "shard.00000.mds"
    (folder / (name + (".gz" if pack else ""))).write_bytes(gzip.compress(data) if pack else data)
    zipped = {"basename": name + ".gz"} if pack else None
    shard = {**config, "samples": len(made), "raw_data": {"basename": name, "bytes": len(data)}, "zip_data": zipped}
    (folder / "index.json").write_text(json.dumps({"version": 2, "shards": [shard]}))
    return folder / name


def test_mds_comes_in(tmp_path):
    def array(pictures):
        return np.array([len(pictures), *map(len, pictures)], "<u4").tobytes() + b"".join(pictures)

    kinds = {"class": "int", "caption": "str", "extra": "json", "imgs": "jpeg_array", "xy": "ndarray:int16", "w": "float64", "x": "pkl"}
    pictures = [[jpeg(0), jpeg(1)], [], [jpeg(2)]]
    xy = bytes([2 << 2, 1, 2]) + np.array([[3, -4]], "<i2").tobytes()
    samples = [[struct.pack("<q", n - 1), f"ö{n}".encode(), b'{"a": [1]}', array(of), xy, struct.pack("<d", n / 2), b"?"] for n, of in enumerate(pictures)]
    for pack in (False, True):
        shard = mds(tmp_path / f"mds{pack}", kinds, samples, pack)
        report = convert.from_mds(tmp_path / f"mds{pack}", tmp_path / f"set{pack}", label="class")
        ds = vidrec.open(tmp_path / f"set{pack}")
        assert [[c.jpeg(t) for t in range(len(c))] for c in ds] == pictures and [c.label for c in ds] == [None, 0, 1]
        assert ds[2].attributes == {"caption": "ö2", "extra": {"a": [1]}, "xy": [[3, -4]], "w": 1.0}
        assert report.notes == ("column 'x' of encoding 'pkl' is left out",)
        if not pack:
            shard.write_bytes(shard.read_bytes()[:-9])
            with pytest.raises(vidrec.DecodeError, match="shard.00000.mds: the shard is damaged.*salvage=True"):
                convert.from_mds(tmp_path / "mdsFalse", tmp_path / "damaged", label="class")
    with pytest.raises(vidrec.UsageError, match="name the columns"):
        convert.from_mds(tmp_path / "mdsTrue", tmp_path / "none", label="caption", frames="nothing")
    bad = [[struct.pack("<q", 1), b"", b"{", array([jpeg(0)]), xy, struct.pack("<d", 0), b""], samples[0]]
    mds(tmp_path / "bad", kinds, bad)
    report = convert.from_mds(tmp_path / "bad", tmp_path / "rest", label="class", salvage=True)
    assert (report.clips, [skipped.source for skipped in report.skipped]) == (1, ["shard.00000.mds, sample 0"])


def test_lerobot_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(vidrec.UsageError, match=r"pip install vidrec\[lerobot\]"):
        convert.from_lerobot(tmp_path, tmp_path / "set")
