"""Pages of `vidrec browse --export` in a browser: they ask for nothing, their clips play, and flagged clips can be excluded."""
import json
import re
import time

import browser
import pytest
from programs import run
from report_page import LAVFI, make, make_two

pytestmark = [pytest.mark.full, pytest.mark.skipif(browser.program() is None, reason="no Chromium (Debian's package chromium)")]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make(tmp_path_factory.mktemp("report"))


@pytest.fixture
def page(made, tmp_path):
    with browser.Browser(tmp_path) as opened:
        opened.size(1280, 900)
        opened.open((made / "page.html").as_uri())
        yield opened
        assert (opened.requests(), opened.complaints()) == ([], [])


def test_the_figures_are_there_and_what_is_hostile_is_text(page):
    assert page.js("document.querySelectorAll('#overview .chart').length") >= 4
    assert "<img src=x onerror=alert(1)>" in page.js("document.querySelector('#overview').textContent")
    assert page.js("document.querySelectorAll('img').length") == 0
    years = page.js("[...document.querySelectorAll('#overview .chart')].find(c => c.textContent.startsWith('Year')).textContent")
    assert all(str(2011 + 4 * i) in years for i in range(len(LAVFI))) and "median 2019" in years, years


def test_the_first_screen_has_findings_and_clips(page, made, tmp_path):
    shown = "[...document.querySelectorAll('main > section:not([hidden])')].map(s => s.id).join()"
    found = "document.querySelector('#found')"
    assert page.js(shown) == "clips" and page.js(f"{found}.getBoundingClientRect().height") > 10
    assert page.js(f"{found}.querySelector('a').textContent").startswith("Black")
    page.js(f"{found}.querySelector('a').click()")
    page.wait(f"({shown}) === 'findings'")
    assert "kind=black" in page.js("location.hash")
    run("vidrec", "subset", made / "set", "--clips", "1", "-o", tmp_path / "clean")
    run("vidrec", "browse", tmp_path / "clean", "--export", tmp_path / "clean.html")
    page.open((tmp_path / "clean.html").as_uri())
    assert page.js("report.findings.length") == 0 and page.js(shown) == "clips" and page.js(f"{found}.hidden")


def test_settings_that_are_equal_are_folded_and_names_stay_whole(page, made, tmp_path):
    names = [str(tmp_path / f"a_folder_of_experiments-{'x' * 20}/a-data_set-{i}-{'y' * 20}") for i in range(3)]
    for i, name in enumerate(names):
        run("vidrec", "pack", made / "videos", "-o", name, "-n", str(1 + i), "--size", "120")
    run("vidrec", "browse", *names, "--export", tmp_path / "three.html")
    page.size(900, 900)
    page.open((tmp_path / "three.html").as_uri() + "#overview")
    rows = page.js("[...document.querySelectorAll('.facts > tbody > tr > th')].map(th => th.textContent)")
    assert "Setting: frames" in rows and "Setting: quality" not in rows and rows[-1] == "Equal settings"
    assert not page.js("document.querySelector('.facts details').open")
    folded = page.js("[...document.querySelectorAll('.facts details tr')].map(tr => tr.textContent)")
    assert "Quality90" in folded and not any("ramesperclip" in row for row in folded)
    # Each folder of a path is on one line.
    parts = [part for name in names for part in re.findall("[^/]*/|[^/]+$", name)]
    assert page.js("[...document.querySelectorAll('.facts .part')].map(p => p.textContent)") == parts
    assert page.js("[...document.querySelectorAll('#overview .part')].every(p => p.getClientRects().length === 1 && p.offsetHeight < 30)")
    assert page.js("document.querySelector('.legend').textContent") == "".join(name.split("/")[-1] for name in names)


def test_the_address_holds_filter_order_and_clip(made, tmp_path):
    with browser.Browser(tmp_path) as page:
        page.open((made / "page.html").as_uri() + "#clips?q=width%3C130+-mandel&class=plain&sort=source&desc=1&clip=0.1")
        assert page.js("document.querySelector('dialog h2').textContent") == page.js("clipByKey.get('0.1').source")
        page.js("document.querySelector('dialog').close()")
        page.wait("!document.querySelector('dialog').open")
        wanted = "clips.filter(c => c.width < 130 && c.class === 'plain').map(c => c.key).sort().join()"
        shown = "[...document.querySelectorAll('#wall .card')].map(c => c.dataset.key).sort().join()"
        assert page.js(shown) == page.js(wanted) != ""
        assert page.js("document.querySelector('#sort').value") == "source"
        # An address that was made by hand shows something, too.
        for odd in ("#nothing", "#clips?clip=9.9", "#findings?kind=x", "#clips?only=x&sort=y&set=z", "#?=&&"):
            page.js(f"location.hash = '{odd}'")
            page.wait("document.querySelectorAll('main > section:not([hidden])').length === 1")
        assert page.complaints() == []


def test_flags_survive_a_reload_and_exclude_clips(page, made, tmp_path):
    page.js("show({view: 'findings'})")
    assert "black" in page.js("document.querySelector('#findings').textContent").lower()
    black = page.js("report.findings.find(g => g.kind === 'black').findings[0].clips[0][1]")
    page.js("document.querySelector('#findings .flag').click()")
    page.js("show({view: 'clips'})")
    page.js(f"document.querySelector('#wall .card:not([data-key=\"0.{black}\"]) .flag').click()")
    flagged = page.js("[...document.querySelectorAll('#wall .card.flagged')].map(c => Number(c.dataset.key.slice(2)))")
    assert len(flagged) == 2 and black in flagged
    page.open((made / "page.html").as_uri() + "#clips?only=flagged")
    assert page.js("document.querySelectorAll('#wall .card.flagged').length") == 2
    page.js("[...document.querySelectorAll('#flags button')].find(b => b.textContent === 'Download list').click()")
    path, until = tmp_path / "flagged.json", time.monotonic() + 60
    while not path.exists():
        page.js("0")
        assert time.monotonic() < until, "nothing was downloaded"
        time.sleep(0.02)
    assert path.read_text() == page.js("flags.list(0)")
    told = json.loads(run("vidrec", "subset", made / "set", "--exclude", path, "-o", tmp_path / "cleaned", "--json"))
    assert told["clips"] == len(LAVFI) - 2
    kept = json.loads(run("vidrec", "export", "metadata", tmp_path / "cleaned", "-o", tmp_path / "kept.jsonl", "--json"))
    assert kept["clips"] == len(LAVFI) - 2
    sources = [json.loads(line)["source"] for line in (tmp_path / "kept.jsonl").read_text().splitlines()]
    all_sources = page.js("clips.map(c => c.source)")
    assert sources == [source for i, source in enumerate(all_sources) if i not in flagged]
    page.js("[...document.querySelectorAll('#flags button')].find(b => b.textContent === 'Clear').click()")
    assert page.js("document.querySelector('#flags').hidden")


def test_copies_are_flagged_but_for_the_first(page, made):
    page.js("show({view: 'findings'})")
    assert page.js("[...document.querySelectorAll('#findings .group-head button')].map(b => b.textContent)") == ["Flag this clip"]
    page.open(make_two(made).as_uri() + "#findings?kind=leak")
    page.js("[...document.querySelectorAll('#findings .group-head button')].find(b => b.textContent.startsWith('Flag all')).click()")
    firsts = page.js("report.findings.find(g => g.kind === 'leak').findings.map(f => f.clips[0].slice(0, 2).join('.'))")
    others = page.js("report.findings.find(g => g.kind === 'leak').findings.flatMap(f => f.clips.slice(1).map(c => c.slice(0, 2).join('.')))")
    assert len(others) == 2 and all(page.js(f"flags.has('{key}')") for key in others)
    assert not any(page.js(f"flags.has('{key}')") for key in firsts)
    page.js("flags.set(clips, false)")
