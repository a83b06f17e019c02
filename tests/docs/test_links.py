"""Links in the documents of the repository lead to files, sections and items that exist. So they do in the pages of the site, but
for places in pages that are generated: MkDocs and test_site.py check those."""
import functools
import re

import pages

LINK = re.compile(r"(?<!!)\[[^\[\]]*\]\(([^()\s]+)\)|!\[[^\[\]]*\]\(([^()\s]+)\)")


# What docs/ has only in the site; the references as text have the same commands.
COMMANDS = pages.DOCS / "reference/commands"
GENERATED = re.compile(r"^(::: |<!-- (include|words|commands)|--8<-- )", re.M)


def documents():
    """All but what builds and tools leave."""
    folders = [path for path in pages.ROOT.iterdir() if path.is_dir() and path.name[0] != "." and path.name != "target"]
    found = [*pages.ROOT.glob("*.md"), *(file for folder in folders for file in folder.rglob("*.md"))]
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
    """The names of sections: as Python-Markdown makes them in docs/, and as GitHub does elsewhere."""
    found = set()
    for line in text_lines(path):
        heading = re.match(r"#{1,6} (.*?)(?: \{ ?#([\w-]+).*\})?$", line)
        if heading:
            plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).strip().lower()
            name = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
            if pages.DOCS in path.parents:
                name, joint = heading[2] or re.sub(r"-+", "-", name).strip("-"), "_"
            else:
                joint = "-"
            number = next(n for n in range(1000) if (f"{name}{joint}{n}" if n else name) not in found)
            found.add(f"{name}{joint}{number}" if number else name)
        found |= set(re.findall(r'<[a-z]+ [^>]*(?:id|name)="([^"]+)"', line))
    return found


@functools.lru_cache(maxsize=None)
def text(path):
    return path.read_text(encoding="utf-8")


def mistakes(path):
    for line in text_lines(path):
        for address in filter(None, (address for found in LINK.findall(re.sub(r"`[^`]*`", "``", line)) for address in found)):
            item = re.match(r"rust:([\w:]+)", address)
            if item:
                if item[1] != "vidrec" and not re.search(rf"^vidrec::{item[1]}:", text(pages.ROOT / "public-api.txt"), re.M):
                    yield f"{address}: no such item"
                continue
            if re.match(r"[a-z]+:", address):
                if not re.match(r"https://[\w-]+(\.[\w-]+)+(/|$|#)", address):
                    yield f"{address}: not https"
                continue
            file, _, place = address.partition("#")
            target = (path.parent / file).resolve() if file else path
            if target.parent == COMMANDS and target.stem != "index":
                name = target.stem.replace(".", " ")
                if f"$ vidrec {name} --help" not in text(COMMANDS.with_suffix(".txt")):
                    yield f"{address}: no such command"
            elif not target.exists():
                yield f"{address}: no such file"
            elif place and target.suffix == ".md" and place not in anchors(target) and not GENERATED.search(text(target)):
                yield f"{address}: no such section"


def test_links_lead_somewhere():
    found = {name: list(mistakes(pages.ROOT / name)) for name in documents()}
    assert len(found) > 100 and {name: links for name, links in found.items() if links} == {}


# Documents about the code, and the files and folders that they name: `disk/{map,sigbus}.rs`, `pack/work/confine/`.
MAPS = [pages.ROOT / "ARCHITECTURE.md", *sorted((pages.DOCS / "dev").glob("*.md")), *sorted((pages.DOCS / "design").glob("*.md"))]
SOURCE = re.compile(r"`([\w./{},-]+(?:\.(?:rs|py|js)|/))(?:::\w+)?`")


def expanded(name):
    """`a/{b,c}.rs` as `a/b.rs` and `a/c.rs`."""
    braces = re.search(r"\{([^{}]*)\}", name)
    return [one for word in braces[1].split(",") for one in expanded(name[:braces.start()] + word + name[braces.end():])] if braces else [name]


def test_sources_that_documents_name_exist():
    """By the end of their paths, or after the last word of a crate's name: `jpeg/tiles.rs`."""
    folders = [pages.ROOT / name for name in ("crates", "src", "tests", "python", "scripts", "benches", "examples", "fuzz", "docs", "format-spec")]
    sources = {f"/{file.relative_to(pages.ROOT).as_posix()}/" for folder in folders for file in [folder, *folder.rglob("*")] if "target" not in file.parts}
    short = {re.sub(r"^/crates/vidrec-(\w+)/src/", r"/\1/", path) for path in sources}

    def exists(name):
        return any(path.endswith(f"/{name.strip('/')}/") for path in sources | short)

    named = {(document.name, name) for document in MAPS for found in SOURCE.findall(text(document)) for name in expanded(found)}
    assert len(named) > 150
    assert [(document, name) for document, name in sorted(named) if not exists(name) and not re.search("videos/|^target/", name)] == []
