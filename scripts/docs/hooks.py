"""What MkDocs calls while it builds the site: pages that are generated, links into rustdoc's pages, one search for all."""
import logging
import os
import posixpath
import re
from pathlib import Path

import breaks
import commands
import notebooks
import repository
import rust_items
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File

log = logging.getLogger("mkdocs.hooks.vidrec")
RUST = re.compile(r"\[(?P<text>[^\[\]]+)\]\(rust:(?P<item>[\w:]+)(?P<anchor>#[\w.]+)?\)")
# Pages that a search ranks higher or lower than others.
BOOST = {"reference/commands/index.md": 2, "reference/python.md": 1.5, "reference/python-results.md": 0.7, "reference/reader.md": 0.5,
         "reference/notes.md": 0.5, "architecture.md": 0.5, "contributing.md": 0.5, "changelog.md": 0.3, "changelog-python.md": 0.3,
         "changelog-format.md": 0.3}
# A module below a heading of its own name.
MODULE = re.compile(r"^## (?P<name>vidrec\.\w+)\n\n::: (?P=name)$(?!\n    options)", re.M)
WITHOUT_HEADING = "\n    options: {show_root_heading: false, show_root_toc_entry: false}"
# A word for rustdoc, with which the fence is none to Python-Markdown.
NO_RUN = re.compile(r"^( *`{3,}rust) no_run$", re.M)


def rust_docs():
    """rustdoc's pages: scripts/docs.sh says where; without them, links to Rust items are plain text."""
    return os.environ.get("VIDREC_RUST_DOCS", "")


def on_config(config):
    # Its links begin at the root of a server, and a disk has no page for what is not there.
    config.theme.static_templates.discard("404.html")
    if not commands.program():
        log.info("no program vidrec: there are no pages of commands, and links to them are not checked")
        config.validation.links.not_found = config.validation.links.anchors = logging.INFO
    else:
        list_commands(config.nav)
    if not rust_items.items(rust_docs()):
        log.info("no pages of rustdoc: links to Rust items are plain text")


def list_commands(nav):
    """Lists the pages of commands below their index, in the groups of `vidrec --help`."""
    index = [f"{commands.FOLDER}/index.md"]
    below = next(below for entry in nav for below in entry.values() if below == index)
    below += [{group: [{name: commands.page(name)} for name in names]} for group, names in commands.groups().items()]


def on_files(files, config):
    """rustdoc's pages are files of the site, so that links to them are checked. The JSON beside them is for programs."""
    for file in [file for file in files if file.src_uri.endswith(".ipynb")]:
        page = file.src_uri.replace(".ipynb", ".md")
        files.append(File.generated(config, page, content=notebooks.page(Path(file.abs_src_path))))
    if commands.program():
        for page, text in commands.pages().items():
            files.append(File.generated(config, page, content=text))
    if rust_items.items(rust_docs()):
        root = Path(rust_docs())
        for path in sorted(root.rglob("*")):
            if path.is_file() and path.name != ".lock" and path.suffix != ".json":
                files.append(File.generated(config, f"rust/{path.relative_to(root).as_posix()}", abs_src_path=str(path)))


def on_page_markdown(markdown, page, **_):
    name = page.file.src_uri
    if name in BOOST:
        page.meta["search"] = {"boost": BOOST[name]}
    markdown = notebooks.linked(repository.expand(markdown, name))
    markdown = markdown.replace("<!-- words -->", repository.words())
    if "<!-- commands -->" in markdown and commands.program():
        markdown = markdown.replace("<!-- commands -->", commands.index())
    markdown = MODULE.sub(lambda found: found[0] + WITHOUT_HEADING, repository.names(markdown))
    markdown = NO_RUN.sub(r"\1", markdown)
    return RUST.sub(lambda found: rust_link(found, name), markdown)


def on_page_content(html, **_):
    return breaks.placed(html)


def rust_link(found, page):
    items = rust_items.items(rust_docs())
    if not items:
        return found["text"]
    item = found["item"].removeprefix("vidrec::")
    if item not in items:
        log.warning("%s: rustdoc has no page of %s", page, found["item"])
        return found["text"]
    place = posixpath.relpath(f"rust/vidrec/{items[item]}", posixpath.dirname(page) or ".")
    return f"[{found['text']}]({place}{found['anchor'] or ''})"


# Before the plugin writes its index.
@event_priority(50)
def on_post_build(config):
    entries = config.plugins["material/search"].search_index.entries
    entries.extend(rust_items.entries(rust_docs(), "rust/"))
    if commands.program():
        entries.extend(commands.entries())
