"""GulpIO2, WebDataset and FFmpeg on what vidrec writes, vidrec on what the first two write."""
import json

import pytest
import webdataset
from conftest import FRAMES, HEIGHT, WIDTH, clips, jpeg, rgb, run
from gulpio2.fileio import GulpDirectory


class TestGulp:
    def identity(self, picture):
        return picture

    def test_gulpio2_reads_every_frame(self, packed, tmp_path):
        run("export", "gulp", packed, "-o", tmp_path / "out", "--clips-per-chunk", "4")
        expected = clips(packed)
        gulp = GulpDirectory(str(tmp_path / "out"), jpeg_decoder=self.identity)
        assert gulp.num_chunks == 2
        assert list(gulp.merged_meta_dict) == [str(n) for n in range(len(expected))]
        labels = gulp._load_label_dict()
        for n, (source, label, name, _, jpegs) in enumerate(expected):
            frames, meta = gulp[n]
            assert (frames, meta["id"], meta["label"], labels[meta["label"]]) == (jpegs, source, name, label)
        assert GulpDirectory(str(tmp_path / "out"))[3, slice(1, 3)][0][0].shape == (HEIGHT, WIDTH, 3)

    @pytest.fixture
    def gulp(self, tmp_path):
        """What GulpIO2 writes: three chunks of two videos, with names for labels."""
        folder = tmp_path / "gulp"
        folder.mkdir()
        directory = GulpDirectory(str(folder))
        for c, chunk in enumerate(directory.new_chunks(3)):
            with chunk.open("wb"):
                for v in range(2):
                    number = 9 - 2 * c - v
                    frames = [rgb(jpeg(10 * number + t)) for t in range(3 + v)]
                    chunk.append(f"video{number}", {"label": "ab"[v], "take": number}, frames)
        return folder

    def stored(self, folder):
        """(id, label, frames), in the order of the files."""
        chunks = GulpDirectory(str(folder), jpeg_decoder=self.identity)
        return [(id_, chunk.meta_dict[id_]["meta_data"][0]["label"], chunks[id_][0])
                for chunk in chunks for id_ in chunk.meta_dict]

    def test_what_gulpio2_writes_comes_in(self, gulp, tmp_path):
        run("import", "gulp", gulp, "-o", tmp_path / "set")
        expected = [(id_, "ab".index(name), name, frames) for id_, name, frames in self.stored(gulp)]
        assert len(expected) == 6
        assert [(s, label, name, jpegs) for s, label, name, _, jpegs in clips(tmp_path / "set")] == expected
        assert [attributes for *_, attributes, _ in clips(tmp_path / "set")][:2] == [{"take": 9}, {"take": 8}]

    @pytest.mark.parametrize("damage, words, left", [
        (lambda g: (g / "meta_1.gmeta").unlink(), ".gmeta is missing", 4),
        (lambda g: (g / "meta_1.gmeta").write_text(""), "empty", 4),
        (lambda g: (g / "meta_1.gmeta").write_text('{"video7": {"meta'), "not the metadata of a chunk", 4),
        (lambda g: (g / "data_1.gulp").unlink(), ".gulp is missing", 4),
        (lambda g: (g / "data_1.gulp").write_bytes((g / "data_1.gulp").read_bytes()[:-50]), "not in the file", 5),
        (lambda g: (g / "data_1.gulp").write_bytes(b"\0" * 1000 + (g / "data_1.gulp").read_bytes()), "neither a JPEG", 4),
    ])
    def test_damage_is_said_and_the_rest_salvaged(self, gulp, tmp_path, damage, words, left):
        expected = self.stored(gulp)
        damage(gulp)
        assert words in run("import", "gulp", gulp, "-o", tmp_path / "set", status=1)
        run("import", "gulp", gulp, "-o", tmp_path / "set", "--salvage", status=3)
        found = [(source, jpegs) for source, *_, jpegs in clips(tmp_path / "set")]
        assert len(found) == left and all(pair in [(i, f) for i, _, f in expected] for pair in found)


class TestWebdataset:
    vidrec = pytest.importorskip("vidrec", reason="not asked for: the Python package was not built")

    def test_webdataset_reads_every_frame(self, packed, tmp_path):
        self.vidrec.convert.to_webdataset(packed, tmp_path / "out", clips_per_shard=4)
        shards = sorted(str(p) for p in (tmp_path / "out").glob("*.tar"))
        samples = list(webdataset.WebDataset(shards, shardshuffle=False))
        expected = clips(packed)
        assert len(shards) == 2 and len(samples) == len(expected)
        for n, (sample, (source, label, name, _, jpegs)) in enumerate(zip(samples, expected)):
            assert sample["__key__"] == f"{n:06}"
            assert [sample[f"{t:03}.jpg"] for t in range(FRAMES)] == jpegs
            told = json.loads(sample["json"])
            assert (int(sample["cls"]), told["label"], told["source"], told["class"]) == (label, label, source, name)
        decoded = next(iter(webdataset.WebDataset(shards, shardshuffle=False).decode("rgb8")))
        assert decoded["000.jpg"].shape == (HEIGHT, WIDTH, 3)

    def sample(self, n):
        frames = {f"{t}.jpg": jpeg(10 * n + t) for t in reversed(range(12))}
        return {"__key__": f"some/folder/s{n}", **frames, "json": {"caption": f"no {n}"}, "cls": n % 3, "mp3": b"..."}

    @pytest.fixture
    def tar(self, tmp_path):
        with webdataset.TarWriter(str(tmp_path / "w.tar"), encoder=True) as out:
            for n in range(4):
                out.write(self.sample(n))
        return tmp_path / "w.tar"

    def expected(self, n):
        return (f"some/folder/s{n}", n % 3, "", {"caption": f"no {n}"}, [jpeg(10 * n + t) for t in range(12)])

    def test_what_webdataset_writes_comes_in(self, tar, tmp_path):
        report = self.vidrec.convert.from_webdataset(tar, tmp_path / "set")
        assert report.notes == ("ignored .mp3 files: 4",)
        assert clips(tmp_path / "set") == [self.expected(n) for n in range(4)]
