"""Pages of `vidrec browse --export` for everybody: contrast, names, keyboard, small windows, no motion."""
from pathlib import Path

import browser
import pytest
from report_page import make, make_two

pytestmark = [pytest.mark.full, pytest.mark.skipif(browser.program() is None, reason="no Chromium (Debian's package chromium)")]

AUDIT = (Path(__file__).parent / "audit.js").read_text()
VIEWS = ("overview", "clips", "findings")
# Roles of what a person can operate.
CONTROLS = {"button", "checkbox", "combobox", "DisclosureTriangle", "link", "listbox", "menuitem", "radio", "searchbox", "slider",
            "spinbutton", "switch", "tab", "textbox"}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = make(tmp_path_factory.mktemp("report"))
    make_two(folder)
    return folder


@pytest.fixture
def window(tmp_path):
    with browser.Browser(tmp_path) as opened:
        opened.size(1280, 900)
        yield opened
        assert opened.requests() == []


@pytest.fixture(params=["page.html", "two.html"])
def page(made, window, request):
    open_audited(window, made / request.param)
    yield window
    assert window.complaints() == []


def open_audited(window, path):
    window.open(path.as_uri())
    window.js(AUDIT)


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


def tabbed(page, most=400):
    """Complaints about what Tab leads to, from the beginning of the page, or of the dialog that is open, to its end."""
    expected, complaints, found = page.js("audit.stops().length"), [], []
    for _ in range(most):
        page.key("Tab")
        place = page.js("audit.place()")
        if place < 0 or place in found:
            break
        found.append(place)
        complaints += page.js("audit.focusRing()")
        expected = page.js("audit.stops().length")
    if found != sorted(found):
        complaints.append(f"not in order: {found}")
    complaints += [f"Tab does not lead to {page.js(f'audit.at({place})')}" for place in range(expected) if place not in found]
    return complaints


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_all_text_has_contrast(page, dark):
    page.size(1280, 900, dark=dark)
    for view in everywhere(page):
        assert page.js("audit.contrast()") == [], view


def test_paper_is_white_and_has_no_controls(page):
    page.size(1280, 900, dark=True, media="print")
    for view in VIEWS:
        page.js(f"show({{view: '{view}'}})")
        assert page.js("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert page.js("audit.contrast()") == [], view
        shown = page.js("[...document.querySelectorAll('button, input, select, summary')].filter(n => n.checkVisibility()).map(n => n.textContent)")
        assert all(name in page.js("report.classes.classes.map(row => row.name)") for name in shown), (view, shown)
    # Of the wall, no card is cut off.
    page.js("show({view: 'clips'})")
    inside = "[...document.querySelectorAll('#wall .card')].every(card => card.getBoundingClientRect().right <= innerWidth)"
    assert page.js("document.querySelectorAll('#wall .card').length") > 0 and page.js(inside)


def test_controls_have_names_and_headings_are_in_order(page):
    for view in everywhere(page):
        assert (page.js("audit.structure()"), unnamed(page)) == ([], []), view


@pytest.mark.parametrize("width", [320, 360, 390, 768])
def test_nothing_is_wider_than_the_window(page, width):
    page.size(width, 740, mobile=True)
    for view in everywhere(page):
        assert page.js("audit.overflow()") == [], view


def test_nothing_moves_for_those_who_want_that(page):
    page.size(1280, 900, still=True)
    for view in everywhere(page):
        assert page.js("audit.motion()") == [], view


def test_tab_leads_to_everything_and_shows_where_it_is(page):
    page.js("flags.set([clips[0]], true)")
    for view in VIEWS:
        page.open(page.js("location.href.split('#')[0]"))
        page.js(AUDIT)
        page.js(f"show({{view: '{view}'}})")
        page.js("document.querySelectorAll('main details').forEach(one => { one.open = true; })")
        assert tabbed(page) == [], view
    page.js("show({view: 'clips'}); show({clip: clips[1].key})")
    # The frames of the clip have the focus first.
    page.js("document.querySelector('dialog').focus()")
    assert tabbed(page) == [], "dialog"


def focus(page, selector):
    """Comes to an element by Tab alone."""
    for _ in range(400):
        if page.js(f"document.activeElement.matches({selector!r})"):
            return
        page.key("Tab")
    raise AssertionError(f"Tab does not lead to {selector}")


def test_everything_works_with_the_keyboard_alone(made, window):
    open_audited(window, made / "page.html")
    focused = "document.activeElement"
    # Past the header.
    window.key("Tab")
    window.key("Enter")
    assert window.js(f"{focused}.id") == "main"
    window.open((made / "page.html").as_uri())
    focus(window, ".tab[href='#clips']")
    window.key("Enter")
    window.wait("!document.querySelector('#clips').hidden")
    # Filters: by words, by a choice, in another direction, back again.
    window.key("/")
    assert window.js(f"{focused}.id") == "query"
    for letter in "width<130":
        window.key(letter)
    some = window.js("clips.filter(c => c.width < 130).length")
    assert 0 < some == window.js("document.querySelectorAll('#wall .card').length") < window.js("clips.length")
    focus(window, "#direction")
    window.key(" ")
    assert window.js(f"{focused}.getAttribute('aria-pressed')") == "true" and "desc=1" in window.js("location.hash")
    focus(window, "#reset")
    window.key("Enter")
    assert window.js("document.querySelectorAll('#wall .card').length === clips.length")
    # The wall: one stop for the frames, one for the link, one for the flag; arrows lead on.
    focus(window, "#wall [role=slider]")
    window.key("Home")
    assert window.js(f"{focused}.getAttribute('aria-valuenow')") == "1"
    window.key("End")
    assert window.js(f"{focused}.getAttribute('aria-valuenow')") == "6"
    window.key("ArrowLeft")
    assert window.js(f"{focused}.getAttribute('aria-valuenow')") == "5"
    assert "frame 4 of 6" in window.js(f"{focused}.getAttribute('aria-valuetext')")
    for key, position in (("j", "1"), ("k", "0"), ("j", "1")):
        window.key(key)
        assert window.js(f"{focused}.closest('.card').dataset.position") == position
    window.key("f")
    assert window.js(f"{focused}.closest('.card').classList.contains('flagged')")
    focus(window, "#wall .flag")
    window.key(" ")
    assert not window.js(f"{focused}.closest('.card').classList.contains('flagged')")
    window.key(" ")
    # A clip: the focus goes into the dialog, stays there, and comes back.
    window.key("Tab", shift=True)
    window.key("Tab", shift=True)
    assert window.js(f"{focused}.role") == "slider"
    window.key("Enter")
    window.wait("document.querySelector('dialog').open")
    for _ in range(40):
        window.key("Tab")
        assert window.js(f"{focused} === document.body || document.querySelector('dialog').contains({focused})")
    focus(window, ".frames button")
    window.key("Enter")
    assert window.js("document.querySelector('dialog [role=slider]').getAttribute('aria-valuenow')") == "1"
    window.key("j")
    assert window.js("document.querySelector('dialog h2').textContent === clips[2].source")
    window.key("Escape")
    # The browser closes the dialog at once and reports it in a later task, in which the page moves the focus.
    window.wait(f"!document.querySelector('dialog').open && {focused}.closest('.card')?.dataset.key === '0.2'")
    # The flags.
    focus(window, "#flags button:last-of-type")
    window.key("Enter")
    assert window.js("document.querySelector('#flags').hidden")
    # Values of a chart.
    focus(window, ".tab[href='#overview']")
    window.key("Enter")
    focus(window, "#overview summary")
    window.key("Enter")
    assert window.js(f"{focused}.parentElement.open")
