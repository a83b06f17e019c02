"""The public items of the Rust crate, from the pages that rustdoc made: for links, and for the site's search."""
import functools
import html
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ITEM = re.compile(r'<li><a href="([^"]+)">([^<]+)</a></li>')
MEMBER = re.compile(r'<section id="((?:method|tymethod|associatedconstant)\.\w+)"')
FIELD = re.compile(r'<(?:span|section) id="((?:structfield|variant)\.\w+)"')
DESCRIPTION = re.compile(r'<details class="toggle top-doc"[^>]*>.*?<div class="docblock">(.*?)</div></details>', re.S)
# Below guide and Python in the results, where these match as well: a match in a title counts a thousand times.
ITEM_BOOST, MEMBER_BOOST = 0.1, 0.001


def folder(docs):
    """Where rustdoc put the crate's pages, if it did."""
    found = Path(docs) / "vidrec"
    return found if (found / "all.html").is_file() else None


@functools.lru_cache(maxsize=None)
def items(docs):
    """Pages below the folder of the crate by the name of their item: `jpeg::Encoder` is `jpeg/struct.Encoder.html`."""
    found = folder(docs)
    if found is None:
        return {}
    named = {html.unescape(name): page for page, name in ITEM.findall((found / "all.html").read_text(encoding="utf-8"))}
    pages = [path.relative_to(found) for path in found.rglob("index.html")]
    modules = {"::".join(page.parent.parts): page.as_posix() for page in pages if page.parent.parts}
    return {**modules, **named, "vidrec": "index.html"}


def plain(markup):
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", markup))).strip()


def entries(docs, prefix):
    """What the search finds: an entry for each item, and one for each of its methods, fields and variants."""
    for name, page in sorted(items(docs).items()):
        text = (folder(docs) / page).read_text(encoding="utf-8")
        about = DESCRIPTION.search(text)
        yield entry(f"{prefix}vidrec/{page}", f"{name} (Rust)", plain(about[1]) if about else "", ITEM_BOOST)
        own = text.split('id="trait-implementations"')[0].split('id="blanket-implementations"')[0]
        for member in dict.fromkeys(FIELD.findall(own) + MEMBER.findall(own)):
            title = f"{name.rpartition('::')[2]}::{member.partition('.')[2]}"
            yield entry(f"{prefix}vidrec/{page}#{member}", title, "", MEMBER_BOOST)


def entry(location, title, text, boost):
    title, text = (html.escape(part, quote=False) for part in (title, text))
    return {"location": location, "title": title, "text": text, "boost": boost}
