"""Finding clips that a person should look at: Python and the program find the same."""
import json

import pytest
from programs import program

import vidrec


def test_python_and_the_program_find_the_same(train, damaged):
    report = vidrec.check([train, vidrec.open(damaged)], threads=2)
    assert report.to_dict() == json.loads(program("check", train, damaged, "--json", status=3).stdout)
    (corrupt,) = [found for found in report.findings if found.kind == "corrupt"]
    assert (corrupt.frames, corrupt.clips[0].set, corrupt.clips[0].clip) == ((3,), 1, 5)
    assert "CRC-32" in corrupt.text
    assert report.counts["leak"] >= 1 and len(report.sets) == 2 and report.clips == 24


def test_leaks_can_be_left_out(ds):
    rest = ds.select(range(6))
    only = {"only": "leak"}
    report = vidrec.check([ds, rest], **only)
    leaked = {clip.clip for found in report.findings for clip in found.clips if clip.set == 0}
    # Not each of them: some of the generated videos have hardly any contrast, and nothing is said of such clips.
    assert leaked & set(range(6))
    assert vidrec.check([ds.subset(exclude=leaked), rest], **only).findings == ()
    assert "leak" not in vidrec.check([ds, rest], skip=["leak"]).counts


def test_progress_is_in_clips_and_wrong_words_are_refused(ds):
    seen = []
    vidrec.check(ds, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (12, 12)
    for wrong, words in (({"only": ["blue"]}, "FindingKind: unknown value.*near-duplicate"), ({"distance": 1000}, "out of range")):
        with pytest.raises(vidrec.UsageError, match=words):
            vidrec.check(ds, **wrong)


def test_a_page_is_the_same_for_paths_and_data_sets(train, ds, tmp_path):
    told = vidrec.report({"a": train, "b": ds}, tmp_path / "page.html", title="T", budget="2MB", threads=1)
    page = (tmp_path / "page.html").read_bytes()
    assert (told.title, told.page_bytes, told.shown.clips) == ("T", len(page), 24) and told.findings["leak"] > 0
    again = vidrec.report({"a": ds, "b": train}, tmp_path / "again.html", title="T", budget=2_000_000)
    assert again == told and (tmp_path / "again.html").read_bytes() == page
    assert vidrec.report([ds], check=False).shown is None
    with pytest.raises(vidrec.UsageError, match="selections"):
        vidrec.report(ds[:3])
