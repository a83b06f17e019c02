"""The built site is whole: links lead somewhere, and one search has all. test_browser.py sees whether something comes from elsewhere."""
import json

import pages
import pytest
import site_pages

pytestmark = pytest.mark.full


def broken(site, page):
    """Links of a page that lead nowhere, and why."""
    document = site_pages.document(page)
    for address in document.links + document.loads:
        found = site_pages.target(site, page, address)
        if found is None:
            continue
        file, place = found
        if not file.is_file():
            yield f"{address}: no such file"
        elif place and file.suffix == ".html" and place not in site_pages.document(file).ids:
            yield f"{address}: no such place in the page"


def test_links_lead_somewhere(site):
    found = {str(page.relative_to(site)): list(broken(site, page)) for page in site_pages.guide(site)}
    assert {page: links for page, links in found.items() if links} == {}


def test_every_page_is_in_the_site(site):
    for path in pages.all_pages():
        assert (site / path.relative_to(pages.DOCS)).with_suffix(".html").is_file(), path


@pytest.fixture(scope="module")
def index(site):
    """Titles by location in the site's search."""
    found = json.loads((site / "search/search_index.json").read_text(encoding="utf-8"))
    return {entry["location"]: entry["title"] for entry in found["docs"]}


def test_what_the_search_finds_is_there(site, index):
    for location in index:
        file, _, place = location.partition("#")
        page = site / (file or "index.html")
        assert page.is_file(), location
        assert not place or place in site_pages.document(page).ids, location
