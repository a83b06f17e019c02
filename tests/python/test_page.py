"""vidrec.report: the page and its figures, as the program makes them."""
import pytest

import vidrec


def test_a_page_is_the_same_for_paths_and_data_sets(train, ds, tmp_path):
    seen = []
    told = vidrec.report({"a": train, "b": ds}, tmp_path / "page.html", title="T", budget="2MB", threads=1,
                         progress=lambda done, total: seen.append((done, total)))
    page = (tmp_path / "page.html").read_bytes()
    assert (told.title, told.page_bytes, told.shown.clips) == ("T", len(page), 24)
    assert [s.name for s in told.sets] == ["a", "b"] and told.sets[0].stats.frames == 96
    assert told.findings["leak"] > 0
    assert seen[-1] == (24, 24)
    again = vidrec.report({"a": ds, "b": train}, tmp_path / "again.html", title="T", budget=2_000_000)
    assert again == told and (tmp_path / "again.html").read_bytes() == page


def test_figures_need_no_page(train, ds):
    told = vidrec.report(train, check=False)
    assert (told.sets[0].name, told.shown, told.findings) == (str(train), None, None)
    assert vidrec.report([ds], check=False) == told
    with pytest.raises(vidrec.UsageError, match="selections"):
        vidrec.report(ds[:3])
    with pytest.raises(vidrec.UsageError, match="larger budget"):
        vidrec.report(train, "never.html", budget="1kB", check=False)
