"""The pages of commands, from what the program says of itself: `vidrec --help`, and of each subcommand.

Each command that `vidrec --help` lists has a page of its own, with its subcommands; the index lists them in the same groups.
"""
import functools
import html
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Where the pages are below docs/.
FOLDER = "reference/commands"
# The same in each command, so that its page shows it folded.
FOLDED = "Object storage"
# Commands that `vidrec --help` does not list.
HIDDEN = ["completions"]
# The non-breaking hyphen.
HYPHEN = "\u2011"


@dataclass
class Option:
    """An option, an argument or a subcommand."""
    name: str
    paragraphs: list = field(default_factory=list)


@dataclass
class Command:
    words: list  # without the program
    about: list = field(default_factory=list)
    usage: str = ""
    groups: dict = field(default_factory=dict)
    examples: list = field(default_factory=list)

    @property
    def anchor(self):
        """The name of a subcommand on the page of its command, which is empty for the command itself."""
        return "-".join(self.words[1:])

    @property
    def flags(self):
        """Long options, each with the name of its place on the page."""
        for option in (option for options in self.groups.values() for option in options):
            found = re.search(r"--[\w-]+", option.name)
            if found:
                yield option, found[0], self.anchor + found[0]

    @property
    def subcommands(self):
        found = [option.name for options in self.groups.values() if of_commands(options) for option in options]
        return found if self.words else found + HIDDEN


def page(name):
    """The page of a command, and of its subcommands."""
    return f"{FOLDER}/{name}.md"


def of_commands(options):
    """Whether these are subcommands, which have names without marks. The program shows them in groups."""
    return bool(options) and all(re.fullmatch(r"[a-z][a-z0-9-]*", option.name) for option in options)


def program():
    """The program: VIDREC_PROGRAM, what was built here, or what is on PATH; or None."""
    built = [ROOT / "target" / profile / "vidrec" for profile in ("release", "debug")]
    newest = sorted((path for path in built if path.is_file()), key=lambda path: path.stat().st_mtime)
    found = os.environ.get("VIDREC_PROGRAM") or (newest[-1] if newest else shutil.which("vidrec"))
    return found and str(found)


def help_text(words):
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}
    command = [program(), *words, "--help"]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment, cwd=ROOT).stdout


def parse(words, text):
    """A command from its help, as clap lays it out."""
    about, _, rest = text.partition("\nUsage: ")
    usage, _, rest = rest.partition("\n\n")
    # Each form begins with the program.
    usage = re.sub(r"\s*\n\s*(vidrec )?", lambda found: "\nvidrec " if found[1] else " ", usage)
    command = Command(words, paragraphs(about.splitlines()), usage)
    for heading, lines in sections(rest.splitlines()):
        if heading == "Examples":
            command.examples = [line.strip() for line in lines if line.strip()]
        else:
            command.groups[heading] = options(lines)
    return command


def sections(lines):
    """Headings, and the lines below each."""
    heading, found = None, {}
    for line in lines:
        if line and not line.startswith(" ") and line.endswith(":"):
            heading = line[:-1]
            found[heading] = []
        elif heading:
            found[heading].append(line)
    return found.items()


def options(lines):
    """Names stand at the left; what they are about, beside them or deeper."""
    found, about = [], []
    for line in [*lines, "  end"]:
        depth = len(line) - len(line.lstrip())
        if line.strip() and depth < 8:
            if found:
                found[-1].paragraphs = paragraphs(about)
            name, _, beside = line.strip().partition("  ")
            found.append(Option(name))
            about = [beside]
        else:
            about.append(line)
    return [option for option in found[:-1] if option.name not in ("-h, --help", "-V, --version", "help")]


def paragraphs(lines):
    """Lines joined to paragraphs. A line in brackets, and one of a list, is a paragraph of its own."""
    found, last = [], ""
    for line in map(str.strip, lines):
        begins = not last or last.endswith("]") and last.startswith("[") or line.startswith(("[default", "[possible", "- "))
        if line and begins:
            found.append(line)
        elif line:
            found[-1] += " " + line
        last = line
    return found


@functools.lru_cache(maxsize=1)
def tree():
    """All commands, in the order of the program's help, subcommands after theirs."""
    def below(command):
        for name in command.subcommands:
            words = [*command.words, name]
            inner = parse(words, help_text(words))
            yield inner
            yield from below(inner)

    main = parse([], help_text([]))
    return [main, *below(main)]


def inline(text):
    """Text as HTML, with options and what is quoted as code."""
    text = html.escape(text, quote=False)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    return re.sub(r"(?<![\w<>/-])(--?[a-z][a-z-]*[a-z]|-[a-z])\b(?![^<]*</code>)", r"<code>\1</code>", text)


def sentence(text):
    return text if text.endswith((".", ":", "?", "]")) else f"{text}."


def code(text):
    return f"<code>{html.escape(text, quote=False)}</code>"


def description(option):
    """What an option does: text, then its default, then its values."""
    parts, facts, values = [], [], []
    for paragraph in option.paragraphs:
        inside = paragraph[1:-1].partition(": ")[2]
        if paragraph.startswith("- "):
            value, _, about = paragraph[2:].partition(":")
            values.append(f"<li>{code(value)}: {inline(about.strip())}</li>")
        elif paragraph.startswith("[possible values:"):
            facts.append(f"One of {', '.join(map(code, inside.split(', ')))}.")
        elif paragraph.startswith("[default:"):
            facts.append(f"Default: {inline(inside) if ' ' in inside else code(inside)}.")
        elif paragraph != "Possible values:":
            text, _, default = paragraph.partition(" [default: ")
            parts.append(f"<p>{inline(sentence(text))}</p>")
            if default:
                facts.append(f"Default: {inline(default[:-1]) if ' ' in default else code(default[:-1])}.")
    parts += [f"<p>{' '.join(facts)}</p>"] if facts else []
    return "".join(parts) + (f"<ul>{''.join(values)}</ul>" if values else "")


def definitions(command, options):
    anchors = {option.name: anchor for option, _, anchor in command.flags}
    lines = []
    for option in options:
        anchor = f' id="{anchors[option.name]}"' if option.name in anchors else ""
        lines.append(f"<dt{anchor}>{code(option.name)}</dt><dd>{description(option)}</dd>")
    return f'<dl class="options">{"".join(lines)}</dl>'


def section(command):
    """The Markdown of one command, below its heading."""
    level = "#" * (1 + len(command.words))
    lines = []
    for paragraph in command.about:
        lines += [f"<p>{inline(sentence(paragraph))}</p>", ""]
    lines += ["```text", command.usage, "```", ""]
    for heading, found in command.groups.items():
        if of_commands(found):
            lines += [links(found, "#" + "-".join([*command.words[1:], "{}"])), ""]
        elif found and heading.startswith(FOLDED):
            summary = f"<summary>{html.escape(heading)}</summary>"
            lines += [f'<details class="options-folded">{summary}{definitions(command, found)}</details>', ""]
        elif found:
            lines += [f"{level} {heading}", "", definitions(command, found), ""]
    if command.examples:
        lines += [f"{level} Examples", "", "```sh", *command.examples, "```", ""]
    return "\n".join(lines)


def links(options, address):
    """A table of commands."""
    rows = []
    for option in options:
        about = inline(" ".join(option.paragraphs))
        rows.append(f'<tr><td><a href="{address.format(option.name)}"><code>{option.name}</code></a></td><td>{about}</td></tr>')
    return f'<table class="commands"><tbody>{"".join(rows)}</tbody></table>'


def groups():
    """The names of all commands, by the headings of `vidrec --help`."""
    listed = {heading: [option.name for option in found] for heading, found in tree()[0].groups.items() if of_commands(found)}
    return {**listed, "Shells": HIDDEN}


def index():
    """What stands on the index below its introduction."""
    main, *others = tree()
    about = {command.words[0]: command.about[:1] for command in others if len(command.words) == 1}
    lines = ["```text", main.usage, "```", ""]
    for heading, names in groups().items():
        lines += [f"## {heading}", "", links([Option(name, about[name]) for name in names], "{}.html"), ""]
    return "\n".join(lines)


def pages():
    """The Markdown of each command's page, by its path below docs/."""
    found = {}
    for command in tree()[1:]:
        own = len(command.words) == 1
        heading = "#" * len(command.words) + f" vidrec {' '.join(command.words)}" + ("" if own else f" {{#{command.anchor}}}")
        path = page(command.words[0])
        found[path] = found.get(path, "") + f"{heading}\n\n{section(command)}\n"
    return found


def entries():
    """What the search finds besides: each option, by its name alone. Its title has hyphens at which no word ends, as
    assets/search.js asks for them, so that it comes first if somebody types an option and never otherwise."""
    for command in tree()[1:]:
        for option, flag, anchor in command.flags:
            title = f"{flag.replace('-', HYPHEN)} (vidrec {' '.join(command.words)})"
            location = f"{FOLDER}/{command.words[0]}.html#{anchor}"
            about = option.paragraphs[0].partition(" [")[0] if option.paragraphs else ""
            text = f"{code(option.name)} {inline(about)}"
            yield {"location": location, "title": title, "text": text}
