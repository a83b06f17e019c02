"""Links in the documents of the repository lead to files and sections that exist, as GitHub names them."""
import functools
import re

import pages
import pytest

LINK = re.compile(r"(?<!!)\[[^\[\]]*\]\(([^()\s]+)\)|!\[[^\[\]]*\]\(([^()\s]+)\)")


def documents():
    """All but those of the site, which MkDocs checks, and what builds and tools leave."""
    folders = [path for path in pages.ROOT.iterdir() if path.is_dir() and path.name not in ("docs", "target")]
    found = [*pages.ROOT.glob("*.md"), *(file for path in folders if path.name[0] != "." for file in path.rglob("*.md"))]
    return sorted(name for name in map(pages.name, found) if "/target/" not in name and "/." not in name)


def text_lines(path):
    """Lines that are no code."""
    fenced = False
    for line in path.read_text(encoding="utf-8").splitlines():
        if re.match(r" *(```|~~~)", line):
            fenced = not fenced
        elif not fenced:
            yield line


@functools.lru_cache(maxsize=None)
def anchors(path):
    found = set()
    for line in text_lines(path):
        heading = re.match(r"#{1,6} (.*)", line)
        if heading:
            plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).strip().lower()
            name = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
            number = next(n for n in range(1000) if (f"{name}-{n}" if n else name) not in found)
            found.add(f"{name}-{number}" if number else name)
        found |= set(re.findall(r'<a (?:id|name)="([^"]+)"', line))
    return found


def mistakes(path):
    for line in text_lines(path):
        for address in filter(None, (address for found in LINK.findall(re.sub(r"`[^`]*`", "", line)) for address in found)):
            if re.match(r"[a-z]+:", address):
                if not re.match(r"https://[\w-]+(\.[\w-]+)+(/|$|#)", address):
                    yield f"{address}: not https"
                continue
            file, _, place = address.partition("#")
            target = (path.parent / file).resolve() if file else path
            if not target.exists():
                yield f"{address}: no such file"
            elif place and target.suffix == ".md" and place not in anchors(target):
                yield f"{address}: no such section"


@pytest.mark.parametrize("name", documents())
def test_links_lead_somewhere(name):
    assert list(mistakes(pages.ROOT / name)) == []


def test_broken_links_are_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# One, two\n## One two\n[a](page.md#one-two-1) [b](#one-two) [c](https://a.org/b)\n"
                    "[d](none.md) [e](#three) ![f](none.png) [g](http://a.org) [h](page.md#one-two-2)\n")
    assert [found.split(":")[0] for found in mistakes(page)] == ["none.md", "#three", "none.png", "http", "page.md#one-two-2"]
