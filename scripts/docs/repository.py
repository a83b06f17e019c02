"""Documents of the repository as pages of the site.

A page says `<!-- include: format-spec/vidrec-v1.md -->` for a document without its title, or
`<!-- include: CONTRIBUTING.md#the-format -->` for one of its sections. Links follow to where the site has their target; what it
has not is named by its path.
"""
import posixpath
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r"^<!-- include: (?P<file>[^#\s]+)(#(?P<section>[\w-]+))? -->$", re.M)
LINK = re.compile(r"(?<!!)\[(?P<text>[^\[\]]+)\]\((?P<target>[^)\s]+)\)")
# Where the site has what documents link to.
PAGES = {
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "README.md": "index.md",
    "python/CHANGELOG.md": "changelog-python.md",
    "python/README.md": "reference/python.md",
    "format-spec/CHANGELOG.md": "changelog-format.md",
    "format-spec/vidrec-v1.md": "reference/specification.md",
    "format-spec/notes.md": "reference/notes.md",
    "format-spec/basics.py": "reference/reader.md#basicspy",
    "format-spec/reader.py": "reference/reader.md#readerpy",
    "format-spec/track_reader.py": "reference/reader.md#track_readerpy",
    "format-spec/added.py": "reference/reader.md#addedpy",
    "format-spec/sound.py": "reference/reader.md#soundpy",
    "format-spec/picture.py": "reference/reader.md#picturepy",
    "format-spec/verify.py": "reference/reader.md#verifypy",
}


def expand(markdown, page):
    """A page's text with what it includes; `page` is its path below docs/."""
    return INCLUDE.sub(lambda found: document(found["file"], found["section"], page), markdown)


def document(file, section, page):
    text = (ROOT / file).read_text(encoding="utf-8")
    text = part(text, section) if section else re.sub(r"\A# .*\n", "", text)
    return rewritten(listed(text), file, page)


def part(text, section):
    """The text of a section, without its heading."""
    lines, inside = [], None
    for line in outside_code(text.splitlines()):
        heading = re.match(r"(#+) (.*)", line[1]) if line[0] else None
        if heading and inside and len(heading[1]) <= inside:
            break
        if inside:
            lines.append(line[1])
        elif heading and anchor(heading[2]) == section:
            inside = len(heading[1])
    assert inside, f"there is no section {section}"
    return "\n".join(lines)


def outside_code(lines):
    """Each line, after whether it is text and not code."""
    fenced = False
    for line in lines:
        fence = line.lstrip().startswith("```")
        yield not fenced and not fence, line
        fenced ^= fence


def anchor(heading):
    """The name of a heading in links, as GitHub makes it."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def listed(text):
    """With a blank line before each list, which Python-Markdown wants and GitHub does not."""
    item = re.compile(r" *([*+-]|\d+\.) ")
    lines, last = [], (False, "")
    for is_text, line in outside_code(text.splitlines()):
        begins = is_text and item.match(line) and last[1].strip() and not item.match(last[1]) and not last[1].startswith(" ")
        lines += ["", line] if begins else [line]
        last = is_text, line
    return "\n".join(lines) + "\n"


def rewritten(text, file, page):
    """With links that lead where the site has their targets."""
    lines = []
    for is_text, line in outside_code(text.splitlines()):
        lines.append(LINK.sub(lambda found: link(found["text"], found["target"], file, page), line) if is_text else line)
    return "\n".join(lines) + "\n"


def link(text, target, file, page):
    if re.match(r"[a-z]+:", target):
        return f"[{text}]({target})"
    path, _, section = target.partition("#")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(file), path)) if path else file
    place = PAGES.get(path, path[len("docs/"):] if path.startswith("docs/") else None)
    if place is None:
        return text if path in text else f"{text} (`{path}`)"
    place, _, own = place.partition("#")
    # The index of the site has other sections than the README.
    section = "" if place in ("index.md", "reference/python.md") else section or own
    if place == page and section:
        return f"[{text}](#{section})"
    relative = posixpath.relpath(place, posixpath.dirname(page) or ".")
    return f"[{text}]({relative}{'#' + section if section else ''})"


def words():
    """The glossary: the first two columns of CONTRIBUTING's table."""
    table = [line for line in part((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), "words").splitlines()
             if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    assert rows[0][:2] == ["Term", "Meaning"], "CONTRIBUTING.md's table of words has other columns"
    return "\n".join(f"| {' | '.join(row[:2])} |" for row in rows) + "\n"


def names(text):
    """With a line for each name of a line such as `::: vidrec: open Dataset`, as mkdocstrings takes them."""
    return re.sub(r"^::: vidrec: (.*)$", lambda found: "\n".join(f"::: vidrec.{name}" for name in found[1].split()), text, flags=re.M)
