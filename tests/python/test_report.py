"""Pages of `vidrec browse --export` in a browser: they ask for nothing, flagged clips can be excluded, and everybody can use them."""
import time
from pathlib import Path

import browse_page
import browser
import pytest
from programs import run

import vidrec

pytestmark = [pytest.mark.full, pytest.mark.skipif(browser.program() is None, reason="no Chromium (Debian's package chromium)")]

AUDIT = (Path(__file__).parent / "audit.js").read_text()
VIEWS = ("overview", "clips", "findings")
# Roles of what a person can operate.
CONTROLS = {"button", "checkbox", "combobox", "DisclosureTriangle", "link", "listbox", "menuitem", "radio", "searchbox", "slider",
            "spinbutton", "switch", "tab", "textbox"}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return browse_page.export(browse_page.make(tmp_path_factory.mktemp("report")))


@pytest.fixture
def window(tmp_path):
    with browser.Browser(tmp_path) as opened:
        opened.size(1280, 900)
        yield opened
        assert (opened.requests(), opened.complaints()) == ([], [])


def open_audited(window, path):
    window.open(path.as_uri())
    window.js(AUDIT)


@pytest.fixture
def page(window, made):
    open_audited(window, made / "page.html")
    return window


@pytest.fixture(params=["page.html", "two.html"])
def any_page(window, made, request):
    open_audited(window, made / request.param)
    return window


def test_the_first_screen_has_findings_and_clips_and_the_figures_are_there(page):
    shown = "[...document.querySelectorAll('main > section:not([hidden])')].map(s => s.id).join()"
    found = "document.querySelector('#found')"
    assert page.js(shown) == "clips" and page.js(f"{found}.getBoundingClientRect().height") > 10
    page.js(f"[...{found}.querySelectorAll('a')].find(a => a.textContent.startsWith('Black')).click()")
    page.wait(f"({shown}) === 'findings'")
    assert "kind=black" in page.js("location.hash")
    assert page.js("document.querySelectorAll('#overview .chart').length") >= 3
    assert browse_page.HOSTILE in page.js("document.querySelector('#overview').textContent")
    assert page.js("document.querySelectorAll('img').length") == 0


def test_the_address_holds_filter_order_and_clip(made, window):
    window.open((made / "page.html").as_uri() + "#clips?q=width%3C130+-mandel&class=plain&sort=source&desc=1&clip=0.1")
    assert window.js("document.querySelector('dialog h2').textContent") == window.js("clipByKey.get('0.1').source")
    window.js("document.querySelector('dialog').close()")
    window.wait("!document.querySelector('dialog').open")
    wanted = "clips.filter(c => c.width < 130 && c.class === 'plain').map(c => c.key).sort().join()"
    shown = "[...document.querySelectorAll('#wall .card')].map(c => c.dataset.key).sort().join()"
    assert window.js(shown) == window.js(wanted) != ""
    assert window.js("document.querySelector('#sort').value") == "source"
    # An address that was made by hand shows something, too.
    for odd in ("#nothing", "#clips?clip=9.9", "#findings?kind=x", "#clips?only=x&sort=y&set=z", "#?=&&"):
        window.js(f"location.hash = '{odd}'")
        window.wait("document.querySelectorAll('main > section:not([hidden])').length === 1")


def test_flags_survive_a_reload_and_exclude_clips(page, made, tmp_path):
    page.js("show({view: 'findings', kind: 'black'})")
    black = page.js("report.findings.find(g => g.kind === 'black').findings[0].clips[0][1]")
    page.js(f"flags.set([clipByKey.get('0.{black}')], true)")
    page.js("show({view: 'clips'})")
    page.js(f"document.querySelector('#wall .card:not([data-key=\"0.{black}\"]) .flag').click()")
    flagged = page.js("[...document.querySelectorAll('#wall .card.flagged')].map(c => Number(c.dataset.key.slice(2)))")
    assert len(flagged) == 2 and black in flagged
    page.open((made / "page.html").as_uri() + "#clips?only=flagged")
    assert page.js("document.querySelectorAll('#wall .card.flagged').length") == 2
    page.js("[...document.querySelectorAll('#flags button')].find(b => b.textContent === 'Download list').click()")
    path, until = tmp_path / "flagged.jsonl", time.monotonic() + 60
    while not path.exists():
        page.js("0")
        assert time.monotonic() < until, "nothing was downloaded"
        time.sleep(0.02)
    assert path.read_text() == page.js("flags.list(0)")
    run("vidrec", "subset", made / "set", "--exclude", path, "-o", tmp_path / "cleaned")
    sources = [clip.source for clip in vidrec.open(tmp_path / "cleaned")]
    assert sources == [source for i, source in enumerate(page.js("clips.map(c => c.source)")) if i not in flagged]


def test_copies_are_flagged_but_for_the_first(window, made):
    window.open((made / "two.html").as_uri() + "#findings?kind=leak")
    window.js("[...document.querySelectorAll('#findings .group-head button')].find(b => b.textContent.startsWith('Flag all')).click()")
    leaks = "report.findings.find(g => g.kind === 'leak').findings"
    firsts = window.js(f"{leaks}.map(f => f.clips[0].slice(0, 2).join('.'))")
    others = window.js(f"{leaks}.flatMap(f => f.clips.slice(1).map(c => c.slice(0, 2).join('.')))")
    assert len(others) >= 2 and all(window.js(f"flags.has('{key}')") for key in others)
    assert not any(window.js(f"flags.has('{key}')") for key in firsts)


def everywhere(page):
    """Each view of the page, with all that can be opened there, and the dialog of a clip."""
    page.js("flags.set([clips[0]], true)")
    for view in VIEWS:
        page.js(f"show({{view: '{view}'}})")
        page.js("document.querySelectorAll('main details').forEach(one => { one.open = true; })")
        yield view
    page.js("show({view: 'clips'}); show({clip: clips[1].key})")
    page.js("document.querySelectorAll('dialog details').forEach(one => { one.open = true; })")
    yield "dialog"
    page.js("document.querySelector('dialog').close()")
    page.wait("!location.hash.includes('clip=')")


def unnamed(page):
    """Controls without a name, as a screen reader hears them."""
    nodes = page.call("Accessibility.getFullAXTree")["nodes"]
    controls = [node for node in nodes if not node["ignored"] and node.get("role", {}).get("value") in CONTROLS]
    assert controls, "the page has controls"
    return [node["role"]["value"] for node in controls if not node.get("name", {}).get("value", "").strip()]


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (1280, True), (320, False), (390, True), (768, False)])
def test_everybody_can_read_every_view(any_page, width, dark):
    """Contrast, names, order of headings, nothing wider than the window, and no motion for those who want none."""
    any_page.size(width, 800, dark=dark, mobile=width < 800, still=True)
    for view in everywhere(any_page):
        for what in ("contrast", "structure", "overflow", "motion"):
            assert any_page.js(f"audit.{what}()") == [], (view, what)
        assert unnamed(any_page) == [], view


def focus(page, selector):
    """Comes to an element by Tab alone."""
    for _ in range(400):
        if page.js(f"document.activeElement.matches({selector!r})"):
            return
        page.key("Tab")
    raise AssertionError(f"Tab does not lead to {selector}")


def test_everything_works_with_the_keyboard_alone(page):
    focused = "document.activeElement"
    cards = "document.querySelectorAll('#wall .card').length"
    # Filters: by words, and back again.
    page.key("/")
    assert page.js(f"{focused}.id") == "query"
    for letter in "width<130":
        page.key(letter)
    assert 0 < page.js("clips.filter(c => c.width < 130).length") == page.js(cards) < page.js("clips.length")
    focus(page, "#reset")
    page.key("Enter")
    assert page.js(f"{cards} === clips.length")
    focus(page, "#wall [role=slider]")
    for key, frame in (("Home", "1"), ("End", "12"), ("ArrowLeft", "11")):
        page.key(key)
        assert page.js(f"{focused}.getAttribute('aria-valuenow')") == frame
    page.key("j")
    page.key("f")
    assert page.js(f"{focused}.closest('.card').matches('.flagged[data-position=\"1\"]')")
    # A clip: the focus goes into the dialog, stays there, and comes back.
    page.key("Enter")
    page.wait("document.querySelector('dialog').open")
    for _ in range(40):
        page.key("Tab")
        assert page.js(f"{focused} === document.body || document.querySelector('dialog').contains({focused})")
    page.key("j")
    assert page.js("document.querySelector('dialog h2').textContent === clips[2].source")
    page.key("Escape")
    # The browser closes the dialog at once and reports it in a later task, in which the page moves the focus.
    page.wait(f"!document.querySelector('dialog').open && {focused}.closest('.card')?.dataset.key === '0.2'")
    focus(page, "#flags button:last-of-type")
    page.key("Enter")
    assert page.js("document.querySelector('#flags').hidden")
