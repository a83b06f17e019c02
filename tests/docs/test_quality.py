"""The picture that shows what quality costs is what vidrec makes of the scene, and its figures are those in the table."""
import os
import shutil
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.full
numpy = pytest.importorskip("numpy")
Image = pytest.importorskip("PIL.Image")

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts/draw"))
import quality  # noqa: E402
import results  # noqa: E402


def program():
    built = [ROOT / "target" / profile / "vidrec" for profile in ("debug", "release")]
    found = os.environ.get("VIDREC_PROGRAM") or shutil.which("vidrec") or next((str(p) for p in built if p.is_file()), None)
    return found or pytest.skip("there is no vidrec")


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    quality.PROGRAM = program()
    original, jpegs = quality.packed_scene(tmp_path_factory.mktemp("scene"))
    return original, jpegs, quality.picture_rows(original, jpegs)


def test_the_figures_are_those_of_the_picture(packed):
    """Up to what other versions of NumPy, Pillow and their libraries draw and decode."""
    compare(packed[2], results.load("quality-picture"))


def compare(rows, shown):
    assert [row["name"] for row in rows] == [row.name for row in shown.rows]
    for measured, row in zip(rows, shown.rows):
        size, *decibels = row.values
        assert measured["values"] == [pytest.approx(size, rel=0.01), *(pytest.approx(each, abs=0.2) for each in decibels)]


def test_the_picture_is_drawn_from_them(packed):
    is_drawn(quality.PICTURE, quality.draw(*packed))


def is_drawn(path, drawn):
    there = Image.open(path)
    assert there.size == drawn.size and path.stat().st_size <= 200_000
    difference = numpy.abs(numpy.asarray(there.convert("RGB"), dtype=int) - numpy.asarray(drawn, dtype=int))
    assert difference.mean() < 1


def test_what_color_at_half_the_resolution_costs(tmp_path):
    quality.PROGRAM = program()
    cells, rows = quality.simulated(tmp_path)
    compare(rows, results.load("quality-chroma"))
    is_drawn(quality.CHROMA, quality.sheet_of(cells))
