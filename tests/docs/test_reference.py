"""The reference is complete: commands, Python's public names, the words of the project."""
import ast
import re
import subprocess
import sys

import commands
import pages
import pytest
import site_pages


@pytest.fixture(scope="module")
def man_pages(tmp_path_factory):
    """Man pages by name; clap's own description of the commands, and another way than the page's."""
    folder = tmp_path_factory.mktemp("man")
    subprocess.run([commands.program(), "manual", folder], check=True)
    return {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.1")}


@pytest.mark.full
def test_every_command_and_option_is_on_its_page(site, man_pages):
    assert len(man_pages) > 40
    missing = []
    for name, text in man_pages.items():
        command, _, subcommand = name[len("vidrec-"):].partition("-")
        page = f"reference/commands/{command or 'index'}.html"
        if not (site / page).is_file():
            missing.append(page)
            continue
        options = re.findall(r"^(?:\\fB\\-\w\\fR, )?\\fB\\-\\-([\w\\-]+)\\fR", text, re.M) if command else []
        wanted = [subcommand] + [f"{subcommand}--{option.replace(chr(92), '')}" for option in options]
        names = site_pages.document(site / page).ids
        missing += [f"{page}#{name}" for name in wanted if name and name not in names and not name.endswith(("--help", "--version"))]
    assert missing == []


def test_references_as_text_are_current():
    """For readers who have no site."""
    run = subprocess.run([sys.executable, pages.ROOT / "scripts/docs/plain.py"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


MODULES = ("torch", "transformers", "vlm", "ray", "grain", "results", "words")


def public_names(module):
    """A module's `__all__`; without one, what it defines."""
    path = pages.ROOT / module
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    body = ast.parse(path.read_text(encoding="utf-8")).body
    assigned = {node.targets[0].id: node.value for node in body if isinstance(node, ast.Assign)}
    if "__all__" in assigned:
        return ast.literal_eval(assigned["__all__"])
    defined = [node.name for node in body if isinstance(node, (ast.ClassDef, ast.FunctionDef))]
    return [name for name in [*assigned, *defined] if not name.startswith("_")]


def test_every_public_name_of_python_is_in_the_reference():
    """As the package says of itself."""
    listed = set(re.findall(r"^(?:class )?(vidrec[\w.]*)", (pages.DOCS / "reference/python.txt").read_text(encoding="utf-8"), re.M))
    public = [name for name in public_names("python/vidrec") if not name.startswith("__")]
    wanted = [f"vidrec.{name}" for name in public if name not in MODULES]
    for module in MODULES:
        wanted += [f"vidrec.{module}.{name}" for name in public_names(f"python/vidrec/{module}")]
    assert len(wanted) > 110 and [name for name in wanted if name not in listed] == []
