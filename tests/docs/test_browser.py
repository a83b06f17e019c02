"""The site in Chromium, from the disk: every page without a message or a request, as wide as the window and readable; and the
search."""
from pathlib import Path

import browser as chromium
import pytest
import site_pages

pytestmark = pytest.mark.full
DESKTOP, PHONE = (1280, 900), (390, 844)
# Parts of the page that are wider than the window and do not scroll by themselves.
WIDE = """(() => {
    const width = document.documentElement.clientWidth
    return [...document.querySelectorAll("main *")].filter(e => {
        const box = e.getBoundingClientRect()
        if (box.width === 0 || box.right <= width + 1) return false
        for (let parent = e.parentElement; parent; parent = parent.parentElement)
            if (getComputedStyle(parent).overflowX !== "visible") return false
        return true
    }).map(e => e.outerHTML.slice(0, 120))
})()"""
# What scrolls and does not say so, copy buttons that cover code, and texts of drawings that are too small to read.
HIDDEN = """new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))).then(() => {
    const shown = selector => [...document.querySelectorAll("main " + selector)].filter(e => e.checkVisibility() && e.getBoundingClientRect().width > 0)
    const all = (what, found) => found.map(e => what + e.outerHTML.slice(0, 120))
    const scrolls = e => e.scrollWidth > e.clientWidth + 1 && ["auto", "scroll"].includes(getComputedStyle(e).overflowX)
    const covers = e => {
        const code = e.parentElement.querySelector(":scope > code")
        return code && code.getBoundingClientRect().right > e.getBoundingClientRect().left + 1
    }
    const size = e => parseFloat(getComputedStyle(e).fontSize) * e.getScreenCTM().a
    return [...all("scrolls without a cue: ", shown("*").filter(e => scrolls(e) && !e.matches(".more-right"))),
            ...all("covers code: ", shown(".md-code__nav").filter(covers)),
            ...all("too small: ", shown("svg.vidrec text").filter(e => size(e) < 10))]
})"""
RESULTS = """[...document.querySelectorAll(".md-search-result__item")].map(item =>
    [...item.querySelectorAll("a.md-search-result__link")].map(a => a.href.replace(/[?]h=[^#]*/, "")))"""
AUDIT = Path(chromium.__file__).with_name("audit.js")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if chromium.program() is None:
        pytest.skip("no Chromium")
    with chromium.Browser(tmp_path_factory.mktemp("downloads")) as browser:
        yield browser


def messages(browser):
    return [*browser.requests(), *map(str, browser.complaints())]


def overflow(browser):
    page = browser.js("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    return browser.js(WIDE) + ([f"the page is {page[0]} wide in a window of {page[1]}"] if page[0] > page[1] else [])


def test_every_page_opens_quietly_and_fits(browser, site):
    wrong = {}
    for page in site_pages.guide(site):
        browser.size(*DESKTOP)
        browser.open(page.as_uri())
        found = messages(browser) + [f"desktop: {part}" for part in overflow(browser)]
        browser.size(*PHONE, mobile=True)
        found += [f"phone: {part}" for part in overflow(browser) + browser.js(HIDDEN)]
        if found:
            wrong[str(page.relative_to(site))] = found
    assert wrong == {}


@pytest.mark.parametrize("scheme", ["default", "slate"])
@pytest.mark.parametrize("name", ["index", "speed", "load", "reference/commands/pack", "reference/python-results"])
def test_text_has_contrast(browser, site, name, scheme):
    """Pages that have all kinds of text. What stands on a bar of a plot is white on the dark colors of scripts/draw/svg.py."""
    browser.size(*DESKTOP, still=True)
    browser.open((site / f"{name}.html").as_uri())
    browser.js("document.head.append(Object.assign(document.createElement('style'), {textContent: '*, ::placeholder { transition: none !important }'}))")
    browser.js(f"document.body.dataset.mdColorScheme = '{scheme}'")
    assert browser.js("document.querySelectorAll('main h1').length") == 1
    browser.js(AUDIT.read_text(encoding="utf-8") + "; null")
    assert [found for found in browser.js("audit.contrast()") if "text.inside" not in found] == []


def search(browser, site, query):
    """Addresses of the results below the site, each a list: that of the page, then those of its sections."""
    browser.open((site / "index.html").as_uri())
    browser.js("document.querySelector('input[data-md-component=search-query]').focus()")
    browser.call("Input.insertText", text=query)
    browser.wait("document.querySelectorAll('.md-search-result__item').length > 0")
    assert messages(browser) == []
    root = site.as_uri() + "/"
    return [[address[len(root):] for address in result] for result in browser.js(RESULTS)]


@pytest.mark.parametrize("query, wanted", [
    ("resume", "resume.html"),
    ("vidrec.Loader", "reference/python.html#vidrec.Loader"),
    ("vidrec pack", "reference/commands/pack.html"),
    ("LoaderOptions", "rust/vidrec/struct.LoaderOptions.html"),
    ("state_dict", "reference/python.html#vidrec.Loader.state_dict"),
    ("--retile", "reference/commands/import.html"),
])
def test_one_search_finds_guide_commands_python_and_rust(browser, site, query, wanted):
    browser.size(*DESKTOP)
    found = search(browser, site, query)
    assert wanted in [address for result in found for address in result], found
