"""mypy and pyright find nothing in the package, in the examples, and in the Python of the guide."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import vidrec

pytest.importorskip("torch")
ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", ROOT / "python/README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# Pages define functions without types, and use names again. Packages that are not installed are not looked at.
MYPY = """
[mypy]
strict = true
ignore_missing_imports = true
explicit_package_bases = true
disallow_subclassing_any = false
allow_redefinition = true

[mypy-guide.*]
disallow_untyped_defs = false
disallow_incomplete_defs = false
disallow_untyped_calls = false
"""
PYRIGHT = """{"reportMissingImports": false, "reportMissingModuleSource": false, "pythonVersion": "3.9"}"""


def python_of(page):
    """The blocks of a page, one after another, at their lines."""
    text, lines, inside = page.read_text("utf-8"), [], False
    for line in text.splitlines():
        inside = inside and not line.startswith("```")
        lines.append(line if inside and not line.startswith("--8<--") else "")
        inside = inside or re.fullmatch("```python( .*)?", line) is not None
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Copies of the examples, and the guide's pages as modules. Those that take for granted what `import vidrec` gives get it."""
    folder = tmp_path_factory.mktemp("types")
    shutil.copytree(ROOT / "examples", folder / "examples", ignore=lambda _, names: [n for n in names if n.endswith(".rs")])
    for page in PAGES:
        code = python_of(page)
        if code.strip():
            name = "_".join(page.relative_to(ROOT).with_suffix("").parts).replace("-", "_")
            (folder / "guide").mkdir(exist_ok=True)
            (folder / "guide" / f"{name}.py").write_text(code if "import vidrec" in code else "import vidrec  " + code)
    (folder / "mypy.ini").write_text(MYPY)
    (folder / "pyrightconfig.json").write_text(PYRIGHT)
    return folder


def run(folder, tool, *arguments):
    """Runs a checker, which must find nothing."""
    cache = {**os.environ, "MYPY_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run([sys.executable, "-m", tool, *arguments], cwd=folder, env=cache, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_mypy_finds_nothing_in_the_package(folder):
    run(folder, "mypy", "--package", "vidrec")


def test_mypy_finds_nothing_in_examples_and_guide(folder):
    run(folder, "mypy", "examples", "guide")


def test_pyright_finds_nothing(folder):
    run(folder, "pyright", Path(vidrec.__file__).parent, "examples", "guide")
