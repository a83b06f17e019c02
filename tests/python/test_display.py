"""What data sets, clips, batches and loaders show in notebooks and terminals."""
import base64
import html
import io
import re

import numpy as np
import pytest
from PIL import Image

import vidrec


class Page:
    """The pictures and the text of a page."""

    def __init__(self, page):
        pictures = re.findall(r'<img [^>]*src="data:image/png;base64,([^"]+)"', page)
        self.pictures = [np.asarray(Image.open(io.BytesIO(base64.b64decode(picture)))) for picture in pictures]
        self.text = html.unescape(re.sub("<[^>]*>", "\n", page))


def test_a_data_set_shows_its_size_and_some_clips(ds):
    page = Page(ds._repr_html_())
    assert "96" in page.text and "left, right" in page.text and "left/1.mp4" in page.text
    assert [picture.shape for picture in page.pictures] == [(72, 96, 3)] * 6
    assert len(ds._repr_html_()) < 150_000
    assert len(Page(ds[:2]._repr_html_()).pictures) == 2


def test_a_clip_shows_its_frames(ds):
    page = Page(ds[7]._repr_html_())
    assert "right/7.mp4" in page.text and "1 right" in page.text
    (picture,) = page.pictures
    assert picture.shape == (72, 8 * 96 + 7 * 2, 3)
    assert np.array_equal(picture[:, -96:], ds[7].frames()[7])


def test_a_damaged_clip_is_said_in_its_place(damaged):
    page = Page(vidrec.open(damaged)[5]._repr_html_())
    assert not page.pictures and "frame 3" in page.text


@pytest.mark.parametrize("layout, dtype", [("BTCHW", "float32"), ("BCTHW", "uint8"), ("BTHWC", "float16")])
def test_a_batch_shows_what_is_trained_on(ds, layout, dtype):
    normalize = None if dtype == "uint8" else vidrec.Normalize((0.5, 0.4, 0.3), 0.2)
    options = dict(layout=layout, dtype=dtype, normalize=normalize, output="numpy")
    loader = vidrec.Loader(ds, batch_size=5, frames=4, crop=(32, 40), **options)
    batch = next(iter(loader))
    page = Page(batch._repr_html_())
    assert dtype in page.text and batch.sources[0] in page.text
    assert [picture.shape for picture in page.pictures] == [(32, 4 * 40 + 3 * 2, 3)] * 4
    if dtype == "uint8":
        plain = vidrec.Loader(ds, batch_size=5, frames=4, crop=(32, 40), layout="BTHWC", output="numpy")
        assert np.array_equal(page.pictures[2][:, -40:], next(iter(plain)).frames[2, 3])
    table = Page(loader._repr_html_())
    assert "32" in table.text and not table.pictures


def test_show_writes_letters_in_a_terminal(ds, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    ds[0].show(frames=2)
    name, *lines = capsys.readouterr().out.splitlines()
    assert name == "0 · left · left/0.mp4"
    assert all(line.count("▀") <= 100 and line.endswith("\x1b[0m") for line in lines) and len(lines) > 10
    next(iter(vidrec.Loader(ds, batch_size=3, frames=2, crop=32))).show(clips=2)
    out = capsys.readouterr().out
    assert len(re.findall(r"^[01] · (left|right)/", out, re.MULTILINE)) == 2
