"""WebDataset and FFmpeg on what vidrec writes, vidrec on what WebDataset writes."""
import json

import pytest
import webdataset
from conftest import FRAMES, HEIGHT, WIDTH, clips, jpeg


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
