"""What is on a page of the documentation: what it needs, and its blocks of code.

Standard library of Python 3.9 only: the Python that runs a page may have nothing else.
"""
import re
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
# They run as pages do.
READMES = [ROOT / "README.md", ROOT / "python/README.md"]
# What a newcomer reads first, which the default level of scripts/test.sh runs.
NEWCOMER = ("README.md", "python/README.md", "docs/first-data-set.md", "docs/frames.md", "docs/load.md", "docs/look.md", "docs/resume.md",
            "docs/trouble.md")

# What a page may need that packs of its videos give: they are made before its first block.
PACKED = {"train": "videos", "val": "more-videos"}

RUN = ("sh", "python")
# Documentation tests of the crate: see RUST_PAGES in test_pages.py.
COMPILED = ("rust",)
# Output, contents of files, and programs in languages that nothing here runs.
SHOWN = ("text", "csv", "json", "toml", "ini", "yaml", "html", "xml")

FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}|~{3,})\s*(?P<language>[^\s`]*)\s*(?P<options>[^`]*)$")
HIDDEN = re.compile(r"^ *<!-- run( (?P<language>python))?\s*$")
SNIPPET = re.compile(r'^\s*-+8<-+ "(?P<file>[^"]+)"\s*$', re.M)
# What holds indented text: items of lists, admonitions, tabs, definitions.
CONTAINER = re.compile(r'^ *([*+-] |\d+\. |!!! |\?\?\?\+? |===[!+]? "|: |\[\^)')
# Not the first line that `vidrec inspect` prints: vidrec format 1, ….
COMMAND = re.compile(r"^\s*(\$ )?vidrec( (?!format \d)[^=\d]|$)", re.M)
INSTALL = re.compile(r"^[ \t]*(python3? -m )?pip3? install\b(.*\\\n)*.*$", re.M)
NOT_RUN = "not run: "


class Wrong(Exception):
    """A page that breaks a rule."""


@dataclass
class Block:
    language: str
    options: str
    line: int  # of its first line of text
    text: str = ""
    hidden: bool = False

    @property
    def title(self):
        found = re.search(r'title="([^"]*)"', self.options)
        return found[1] if found else ""

    @property
    def snippets(self):
        """Files that the block includes. Tests of their own run these programs."""
        return [found["file"] for found in SNIPPET.finditer(self.text)]

    @property
    def runs(self):
        return self.language in RUN and not self.snippets


@dataclass
class Page:
    path: Path
    needs: list = field(default_factory=list)
    checked: bool = False  # its outputs are compared with what the blocks print
    blocks: list = field(default_factory=list)

    @property
    def name(self):
        return name(self.path)


def name(path):
    """A page's path as people write it: docs/frames.md."""
    path = Path(path).resolve()
    return path.relative_to(ROOT).as_posix() if ROOT in path.parents else path.name


def all_pages():
    return sorted(DOCS.rglob("*.md"))


def read(path):
    """Parses a page; `Wrong` says where it is none."""
    path = Path(path)
    lines = path.read_text(encoding="utf-8").splitlines()
    begin, needs, checked = front_matter(path, lines)
    packs = "".join(f"vidrec pack {PACKED[need]} -o {need} --size 128\n" for need in needs if need in PACKED)
    made = [Block("sh", "", 1, packs, hidden=True)] if packs else []
    return Page(path, needs, checked, [*made, *blocks(path, lines, begin)])


def front_matter(path, lines):
    """How many lines it takes, the words of `needs`, and whether outputs are checked."""
    if not lines or lines[0] != "---":
        return 0, [], False
    if "---" not in lines[1:]:
        raise Wrong(f"{name(path)}:1: the front matter has no end")
    end = lines.index("---", 1)
    needs = []
    for number, line in enumerate(lines[1:end], 2):
        if line.startswith("needs"):
            found = re.fullmatch(r"needs: \[([\w, .-]*)\]", line)
            if not found:
                raise Wrong(f"{name(path)}:{number}: write `needs: [one, other]`, on one line")
            needs = [word.strip() for word in found[1].split(",") if word.strip()]
    return end + 1, needs, "outputs: checked" in lines[1:end]


def blocks(path, lines, begin):
    """Fenced and hidden blocks, in order."""
    block, indent, end = None, 0, None
    allowed, blank = [0], True
    for number, line in enumerate(lines[begin:], begin + 1):
        if block is not None:
            if end(line):
                yield block
                block = None
            else:
                block.text += re.sub(rf"^ {{0,{indent}}}", "", line) + "\n"
            continue
        if not line.strip():
            blank = True
            continue
        indent = len(line) - len(line.lstrip(" "))
        while indent < allowed[-1]:
            allowed.pop()
        fence, hides = FENCE.match(line), HIDDEN.match(line)
        if fence:
            if indent % 4:
                raise Wrong(f"{name(path)}:{number}: a fence that is indented by {indent} is none; in a list, indent by 4")
            block = Block(fence["language"], fence["options"].strip(), number + 1)
            end = closes(fence["fence"])
        elif hides:
            block = Block(hides["language"] or "sh", "", number + 1, hidden=True)
            end = closes_comment
        elif indent >= allowed[-1] + 4 and blank:
            raise Wrong(f"{name(path)}:{number}: an indented block of code, which nobody runs; fence it, with its language")
        elif CONTAINER.match(line):
            allowed.append(indent - indent % 4 + 4)
        blank = False
    if block is not None:
        raise Wrong(f"{name(path)}:{block.line - 1}: this block has no end")


def outputs(page):
    """Each block that runs, with the block after it that shows what it prints, if there is one."""
    for block, after in zip(page.blocks, page.blocks[1:]):
        if block.runs and after.language == "text" and not after.title:
            yield block, after


# What differs between machines, runs, and versions of FFmpeg: digests, decimals, sizes, times, speeds, what a model learned.
VARIES = re.compile(r"\b[0-9a-f]{12}\b|\d[\d,]*\.\d[\d.]*( [kMGT]?B\b)?|\d[\d,]*(?= frames/s| s\b| threads\b| of \d+ held-out)|\d+ B\b")


def differences(shown, printed):
    """The lines that a page shows and a block did not print, in this order. A line "…" stands for any lines."""
    rest = iter(VARIES.sub("#", line.rstrip()) for line in printed.splitlines())
    may_skip = False
    for line in shown.splitlines():
        wanted = VARIES.sub("#", line.rstrip())
        if wanted == "…":
            may_skip = True
            continue
        found = next(rest, None)
        while may_skip and found is not None and found != wanted:
            found = next(rest, None)
        if found != wanted:
            yield f"shown: {line}\n  printed: {found}"
        may_skip = False
    if not may_skip:
        yield from (f"printed, and not shown: {line}" for line in rest if line)


def closes(fence):
    pattern = re.compile(rf"^ *{re.escape(fence[0])}{{{len(fence)},}}\s*$")
    return lambda line: bool(pattern.match(line))


def closes_comment(line):
    return line.strip() == "-->"


def mistakes(page):
    """Where blocks break the rules, as `page:line: what`."""
    for block in page.blocks:
        place = f"{page.name}:{block.line - 1}"
        if block.language not in RUN + COMPILED + SHOWN:
            language = f"the language {block.language!r}" if block.language else "no language"
            yield f"{place}: a block with {language}; there are {', '.join(RUN + COMPILED + SHOWN)}"
        elif block.language == "rust" and block.options not in ("", "no_run") and "title=" not in block.options:
            yield f"{place}: a block of Rust has the option no_run, or none"
        elif block.language in SHOWN and COMMAND.search(block.text) and not block.title.startswith(NOT_RUN):
            yield f"{place}: a command in a block that is not run; make it `sh`, or say why with title=\"{NOT_RUN}…\""
        for file in block.snippets:
            if not (ROOT / file.split(":")[0]).is_file():
                yield f"{place}: there is no {file} to include"


def without_installs(text):
    """The lines of a shell block but `pip install`: what a page needs is there."""
    return INSTALL.sub(lambda found: "\n" * found[0].count("\n"), text)
