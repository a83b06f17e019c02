"""The reference is complete: commands, Python's public names, the words of the project."""
import ast
import os
import re
import shutil
import subprocess

import pages
import pytest
import site_pages


@pytest.fixture(scope="module")
def man_pages(tmp_path_factory):
    """Man pages by name; clap's own description of the commands, and another way than the page's."""
    folder = tmp_path_factory.mktemp("man")
    program = os.environ.get("VIDREC_PROGRAM") or shutil.which("vidrec")
    if not program:
        pytest.skip("no program vidrec")
    subprocess.run([program, "manual", folder], check=True)
    return {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.1")}


def test_every_command_and_option_is_on_the_page(site, man_pages):
    names = site_pages.document(site / "reference/commands.html").ids
    assert len(man_pages) > 40
    missing = []
    for page, text in man_pages.items():
        command = page[len("vidrec-"):]
        options = re.findall(r"^(?:\\fB\\-\w\\fR, )?\\fB\\-\\-([\w\\-]+)\\fR", text, re.M) if command else []
        wanted = [command] + [f"{command}--{option.replace(chr(92), '')}" for option in options]
        missing += [name for name in wanted if name and name not in names and not name.endswith(("--help", "--version"))]
    assert missing == []


def public_names(path):
    """A module's `__all__`."""
    tree = ast.parse((pages.ROOT / path).read_text(encoding="utf-8"))
    lists = [node.value for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"]
    return ast.literal_eval(lists[0])


def test_every_public_name_of_python_is_on_the_page(site):
    names = site_pages.document(site / "reference/python.html").ids
    public = [name for name in public_names("python/vidrec/__init__.py") if not name.startswith("__")]
    wanted = [f"vidrec.{name}" for name in public]
    wanted += [f"vidrec.ray.{name}" for name in public_names("python/vidrec/ray/__init__.py")]
    wanted += ["vidrec.torch.IterableDataset", "vidrec.torch.MapDataset", "vidrec.Loader.state_dict", "vidrec.Dataset.split_by"]
    assert [name for name in wanted if name not in names] == []


def test_no_markup_of_another_kind_is_left(site):
    """Roles of Sphinx, and includes."""
    left = re.compile(r":(func|class|meth|attr|mod):(`|<code>)|<!-- (include|commands|words)|^--8&lt;--|\]\(rust:", re.M)
    for page in site_pages.guide(site):
        assert not left.search(page.read_text(encoding="utf-8")), page


def test_the_words_are_those_of_contributing(site):
    text = (site / "reference/words.html").read_text(encoding="utf-8")
    assert "<td>shard</td>" in text and "We do not write" not in text
