"""mypy and pyright find nothing in the package, in the examples, and in the Python of the guide."""
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import vidrec

sys.path.append(str(Path(__file__).parents[1] / "docs"))
import pages  # noqa: E402

pytestmark = pytest.mark.full
ROOT = Path(__file__).parents[2]
PACKAGE = Path(vidrec.__file__).parent
# Pages use names again, and define functions without types. Packages that are not installed are not looked at. Torch has
# functions without types.
MYPY = """
[mypy]
strict = true
explicit_package_bases = true
ignore_missing_imports = true
disallow_subclassing_any = false
allow_redefinition = true
untyped_calls_exclude = torch

[mypy-guide.*]
disallow_untyped_defs = false
disallow_incomplete_defs = false
disallow_untyped_calls = false
disable_error_code = var-annotated
"""
# Packages without types of their own are not looked into. What a loop over batches sets is used after it. Pages name what a
# batch has.
PYRIGHT = {
    "useLibraryCodeForTypes": False,
    "reportMissingImports": False,
    "reportMissingModuleSource": False,
    "reportPossiblyUnboundVariable": False,
    "reportUnusedExpression": False,
    "pythonVersion": "3.9",
}
WRONG = """
import vidrec

vidrec.Loader("train", crop="center")
vidrec.pack("videos", "train").klips
vidrec.pack("videos", "train", dry_run=True).failures
for batch in vidrec.Loader("train"):
    batch.frame
for arrays in vidrec.Loader("train", output="numpy"):
    arrays.frames.cuda()
for pair in vidrec.Loader("train").map(lambda batch: (batch.frames, batch.sources)):
    pair[2]
vidrec.Loader("train", size=224)
"""


def python_of(path):
    """The Python of a page at its lines, after the import that it may take for granted."""
    lines = ["import vidrec"]
    for block in pages.read(path).blocks:
        if block.language == "python" and block.runs:
            lines += [""] * (block.line - 1 - len(lines)) + block.text.splitlines()
    return "\n".join([*map(as_torch_has_it, lines), ""])


def as_torch_has_it(line):
    """What torch documents and does not declare is right."""
    return line + "  # type: ignore[call-overload, unused-ignore]" if ".to(" in line and "memory_format=" in line else line


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Copies of the examples, and the guide's pages as modules."""
    for name in ("torch", "mypy", "pyright"):
        pytest.importorskip(name)
    folder = tmp_path_factory.mktemp("types")
    shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("*.rs", "rust-frameworks"))
    (folder / "guide").mkdir()
    for path in (ROOT / "README.md", ROOT / "python/README.md", *pages.all_pages()):
        name = "_".join(path.relative_to(ROOT).with_suffix("").parts).replace("-", "_")
        (folder / "guide" / f"{name}.py").write_text(python_of(path), "utf-8")
    (folder / "mypy.ini").write_text(MYPY)
    (folder / "pyrightconfig.json").write_text(json.dumps(PYRIGHT))
    (folder / "wrong.py").write_text(WRONG)
    return folder


def mypy(folder, *what):
    return checked(folder, "mypy", *what, MYPY_CACHE_DIR=str(folder / "cache"))


def pyright(folder, *what):
    return checked(folder, "pyright", "--pythonpath", sys.executable, *what)


def checked(folder, tool, *arguments, **environment):
    """What a checker says."""
    command = [sys.executable, "-m", tool, *arguments]
    done = subprocess.run(command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout if done.returncode else ""


def test_mypy_finds_nothing(folder):
    assert mypy(folder, "--package", "vidrec") == ""
    assert mypy(folder, "examples", "guide") == ""


def test_pyright_finds_nothing(folder):
    assert pyright(folder, PACKAGE, "examples", "guide") == ""


def test_the_stub_is_that_of_the_compiled_module(folder):
    (folder / "allowed").write_text("vidrec._vidrec.__all__\n")
    assert checked(folder, "mypy.stubtest", "--ignore-disjoint-bases", "--allowlist", "allowed", "vidrec._vidrec") == ""


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_mistakes_are_found(folder, checker):
    found = checker(folder, "wrong.py")
    assert {int(line) for line in re.findall(r"wrong\.py:(\d+)(?::\d+)?(?: -|:) error", found)} == {4, 5, 6, 8, 10, 12, 13}, found
