"""The pages of the built site: what has a name there, and where links lead."""
import functools
import os
import posixpath
import urllib.parse
from html.parser import HTMLParser
from pathlib import Path

from pages import ROOT

# Where an address may be; all else is a file of the site.
NAMED = {"a": "href", "link": "href", "object": "data", **dict.fromkeys(["img", "script", "source", "iframe", "video"], "src")}


def folder():
    """VIDREC_DOCS_SITE, or where scripts/docs.sh builds the site."""
    return Path(os.environ.get("VIDREC_DOCS_SITE", ROOT / "target/docs/site"))


class Document(HTMLParser):
    """Names of places in a page, and addresses that it links to or loads."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loads = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.ids |= {given[key] for key in ("id", "name") if given.get(key)}
        address = given.get(NAMED.get(tag, ""))
        if address is not None:
            only_named = tag == "link" and given.get("rel") in ("canonical", "prev", "next", "alternate")
            (self.links if tag == "a" or only_named else self.loads).append(address)

    handle_startendtag = handle_starttag


@functools.lru_cache(maxsize=None)
def document(path):
    return Document(path.read_text(encoding="utf-8"))


def guide(site):
    """The pages of guide and reference, without rustdoc's."""
    return sorted(path for path in site.rglob("*.html") if path.relative_to(site).parts[0] != "rust")


def target(site, page, address):
    """The file and the place in it that a relative address names; None for one elsewhere."""
    parts = urllib.parse.urlsplit(address)
    if parts.scheme or parts.netloc:
        return None
    path = urllib.parse.unquote(parts.path)
    name = posixpath.normpath(posixpath.join(page.relative_to(site).parent.as_posix(), path)) if path else None
    return (site / name if name else page), urllib.parse.unquote(parts.fragment)
