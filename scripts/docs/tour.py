#!/usr/bin/env python3
"""Runs docs/tour.ipynb in a fresh folder, and writes the notebook with what its cells show.

    scripts/docs/tour.py             writes docs/tour.ipynb; needs a Python with vidrec, torch and Pillow, and ffmpeg
    scripts/docs/tour.py --to FILE   writes another file

It does what Jupyter does with cells of plain Python, lines that begin with `!`, and a last line that is a value. A failing
command ends it, though.
"""
import argparse
import ast
import base64
import contextlib
import io
import json
import os
import re
import subprocess
import tempfile
import types
from pathlib import Path

TOUR = Path(__file__).resolve().parents[2] / "docs/tour.ipynb"


def run(notebook):
    """Fills in the outputs of all cells."""
    main = types.ModuleType("__main__")
    main.__dict__["_command"] = command
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(cells, 1):
        cell["execution_count"] = number
        cell["outputs"] = list(outputs("".join(cell["source"]), f"cell {number}", main.__dict__))


def outputs(source, name, namespace):
    """What a cell prints, and its last value."""
    body = ast.parse(re.sub(r"^!(.*)$", lambda found: f"_command({found[1]!r})", source, flags=re.M), name).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    value = None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(ast.Module(body, []), name, "exec"), namespace)
        if last:
            value = eval(compile(ast.Expression(last.value), name, "eval"), namespace)
    if text := printed.getvalue():
        yield {"name": "stdout", "output_type": "stream", "text": lines(text)}
    if value is not None:
        yield {"data": shown(value), "metadata": {}, "output_type": "display_data"}


def command(line):
    print(subprocess.run(["bash", "-c", line], check=True, stdout=subprocess.PIPE, text=True).stdout, end="")


def shown(value):
    """A value as text, and as what a notebook prefers to it."""
    data = {"text/plain": lines(re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value)))}
    if hasattr(value, "_repr_html_"):
        data["text/html"] = lines(value._repr_html_())
    elif hasattr(value, "_repr_jpeg_"):
        data["image/jpeg"] = base64.b64encode(value._repr_jpeg_()).decode()
    return data


def lines(text):
    """As notebooks hold text; files of the current folder have no folder."""
    return text.replace(f"{os.getcwd()}/", "").splitlines(keepends=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=Path, default=TOUR)
    to = parser.parse_args().to.resolve()
    notebook = json.loads(TOUR.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        run(notebook)
        os.chdir("/")
    to.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
