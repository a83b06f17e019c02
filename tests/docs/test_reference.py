"""The reference is complete: commands, Python's public names, the words of the project."""
import ast
import builtins
import re
import subprocess
import sys

import pages


def test_references_as_text_are_current():
    """For readers who have no site."""
    run = subprocess.run([sys.executable, pages.ROOT / "scripts/docs/plain.py"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


MODULES = ("torch", "transformers", "vlm", "ray", "lerobot", "grain", "results", "words")


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


ROLE = re.compile(r":(?:func|meth|class|attr|data|mod):`~?(?:\w+\.)*(\w+)`")


def test_docstrings_name_only_what_there_is():
    """A name in a role such as `:func:` is defined somewhere in the package, or is Python's."""
    sources = [path for kind in ("*.py", "*.pyi") for path in (pages.ROOT / "python/vidrec").rglob(kind)]
    texts = [path.read_text(encoding="utf-8") for path in sources]
    nodes = [node for text in texts for node in ast.walk(ast.parse(text))]
    known = {name for path in sources for name in (path.stem, path.parent.name)}.union(dir(builtins))
    known |= {node.name for node in nodes if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.alias))}
    known |= {node.id for node in nodes if isinstance(node, ast.Name)}
    named = [name for text in texts for name in ROLE.findall(text)]
    assert len(named) > 200 and [name for name in named if name not in known] == []
