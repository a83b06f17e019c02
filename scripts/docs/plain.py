#!/usr/bin/env python3
"""Writes the references of commands and of Python as text, for readers who have no site of the documentation; or says that they differ.

    scripts/docs/plain.py [--update]

The commands are what `--help` prints, and Python is signatures and docstrings of what docs/reference/python.md and
python-results.md list.
"""
import ast
import re
import sys
import textwrap
from pathlib import Path

import commands
import repository

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs/reference"
PACKAGE = ROOT / "python/vidrec"
LISTS = ("python.md", "python-results.md")


def of_commands():
    texts = [f"$ {' '.join(['vidrec', *each.words, '--help'])}\n\n{commands.help_text(each.words)}" for each in commands.tree()]
    folded = re.compile(rf"^({commands.FOLDED}.*:)\n(?:  .*\n|\n(?=  ))+", re.M)
    # Options that many commands have are shown once.
    first = next(at for at, text in enumerate(texts) if folded.search(text))
    return "\n".join(folded.sub(r"\1\n  as above\n", text) if at > first else text for at, text in enumerate(texts))


def of_python():
    listed = re.findall(r"^::: (vidrec[\w.]*)", repository.names("\n".join((FOLDER / name).read_text() for name in LISTS)), re.M)
    return "\n".join("\n".join(described(name.split(".")[1:])) for name in listed)


def body(path):
    """A module's statements. A package's are those of its __init__.py."""
    file = PACKAGE.joinpath(*path)
    file = file / "__init__.py" if file.is_dir() else file.with_suffix(".py")
    return ast.parse(file.read_text()).body if file.is_file() else None


def described(path):
    """A module with all that it offers, which is what it lists or defines, or what one of them defines."""
    whole = ".".join(["vidrec", *path])
    if (statements := body(path)) is not None:
        tree = ast.Module(statements, [])
        yield from (whole, *indented(ast.get_docstring(tree)))
        listed = next((ast.literal_eval(each.value) for each in statements if targets(each) == ["__all__"]), None)
        own = (name for each in statements for name in (getattr(each, "name", None), *targets(each)) if name and name[0] != "_")
        for name in own if listed is None else listed:
            yield from described([*path, name])
        return
    *module, name = path
    found, source = defined(module, name)
    yield ""
    yield from entry(whole, found, source)


def defined(module, name):
    """The statement that defines a name, and the text behind it, which says what a constant is."""
    statements = body(module) or []
    for at, each in enumerate(statements):
        if getattr(each, "name", None) == name or name in targets(each):
            return each, statements[at + 1:at + 2]
        if isinstance(each, ast.ImportFrom) and each.level == 1 and name in (alias.name for alias in each.names):
            return defined([*module, *(each.module or "").split(".")], name)
    sys.exit(f"scripts/docs/plain.py: vidrec.{'.'.join([*module, name])} is not defined")


def targets(statement):
    each = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return [target.id for target in each if isinstance(target, ast.Name)]


def entry(name, found, behind):
    """A class with its public members, a function, or a constant."""
    if isinstance(found, ast.ClassDef):
        bases = ", ".join(map(ast.unparse, found.bases))
        yield f"class {name}({bases})" if bases else f"class {name}"
        yield from indented(ast.get_docstring(found))
        for at, member in enumerate(found.body):
            names = [getattr(member, "name", ""), *targets(member)]
            if any(each == "__init__" or each and not each.startswith("_") for each in names):
                yield from textwrap.indent("\n".join(["", *entry(names[-1], member, found.body[at + 1:at + 2])]), "    ").split("\n")
    elif isinstance(found, ast.FunctionDef):
        result = f" -> {ast.unparse(found.returns)}" if found.returns else ""
        arguments = re.sub(r"^(self|cls)(, )?", "", ast.unparse(found.args))
        is_property = any(ast.unparse(each).endswith("property") for each in found.decorator_list)
        signature = f"{name}{result}" if is_property else f"{name}({arguments}){result}"
        yield from textwrap.wrap(signature, 110, subsequent_indent="        ")
        yield from indented(ast.get_docstring(found))
    else:
        yield name if not getattr(found, "annotation", None) else f"{name}: {ast.unparse(found.annotation)}"
        if behind and isinstance(behind[0], ast.Expr) and isinstance(behind[0].value, ast.Constant):
            yield from indented(textwrap.dedent("    " + str(behind[0].value.value)))


def indented(text):
    return textwrap.indent(text or "", "    ").split("\n")


def main():
    differ = []
    for name, text in (("commands.txt", of_commands()), ("python.txt", of_python())):
        text = re.sub(r"[ \t]+$", "", text, flags=re.M).strip() + "\n"
        if "--update" in sys.argv[1:]:
            (FOLDER / name).write_text(text)
        elif (FOLDER / name).read_text() != text:
            differ.append(name)
    if differ:
        sys.exit(f"{' and '.join(differ)} in docs/reference are not current: scripts/docs/plain.py --update")


if __name__ == "__main__":
    main()
