"""The pictures that show what quality costs are what vidrec makes of the scenes, and their figures are those in the tables: up to
what other versions of NumPy, Pillow and their libraries draw and decode."""
import commands
import pytest
import results

pytestmark = pytest.mark.full


@pytest.fixture
def quality():
    import quality  # which needs NumPy and Pillow

    quality.PROGRAM = commands.program()
    return quality


def test_what_quality_costs(quality, tmp_path):
    original, jpegs = quality.packed_scene(tmp_path)
    rows = quality.picture_rows(original, jpegs)
    compare(rows, results.load("quality-picture"))
    is_drawn(quality.PICTURE, quality.draw(original, jpegs, rows))


def test_what_color_at_half_the_resolution_costs(quality, tmp_path):
    cells, rows = quality.simulated(tmp_path)
    compare(rows, results.load("quality-chroma"))
    is_drawn(quality.CHROMA, quality.sheet_of(cells))


def compare(rows, shown):
    assert [row["name"] for row in rows] == [row.name for row in shown.rows]
    for measured, row in zip(rows, shown.rows):
        size, *decibels = row.values
        assert measured["values"] == [pytest.approx(size, rel=0.01), *(pytest.approx(each, abs=0.2) for each in decibels)]


def is_drawn(path, drawn):
    import numpy
    from PIL import Image

    there = Image.open(path)
    assert there.size == drawn.size and path.stat().st_size <= 200_000
    difference = numpy.abs(numpy.asarray(there.convert("RGB"), dtype=int) - numpy.asarray(drawn, dtype=int))
    assert difference.mean() < 1
