#!/usr/bin/env python3
"""Writes the Python package's options of a pack from the JSON Schema of recipes, or says that they differ.

    scripts/python_options.py [--update]
"""

import json
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).parent.parent
SCHEMA = ROOT / "docs/recipe.schema.json"
TARGET = ROOT / "python/vidrec/_recipe.py"
# Options that Python takes in more forms than a recipe has.
FORMS = {
    "frames": "FrameChoice",
    "size": "FrameSize",
    "root": "Path",
    "classes": "Path",
    "track": "Union[str, Sequence[str]]",
}
TYPES = {"boolean": "bool", "integer": "int", "string": "str", "number": "float"}
HEAD = '''"""The options of a recipe, as types. ``scripts/python_options.py --update`` writes this file."""

from __future__ import annotations

from typing import Literal, Optional, Sequence, TypedDict, Union

from ._storage import Path
from .packing import FrameChoice, FrameSize


class RecipeOptions(TypedDict, total=False):
    """Options of :func:`vidrec.pack` and :func:`vidrec.plan` that determine a data set.

    They have the names and defaults of the program and of recipes. None is as if it were not given.

    Attributes
    ----------
'''


def annotation(name, option):
    if name in FORMS:
        return f"Optional[{FORMS[name]}]"
    if "enum" in option:
        return f"Optional[Literal[{', '.join(json.dumps(word) for word in option['enum'])}]]"
    kinds = option["type"] if isinstance(option["type"], list) else [option["type"]]
    kinds = [TYPES[kind] for kind in kinds if kind != "null"]
    return f"Optional[{kinds[0]}]" if len(kinds) == 1 else f"Union[{', '.join(kinds)}, None]"


def described(name, option):
    default = option.get("default")
    shown = "" if default in (None, []) else f", default {default!r}"
    text = " ".join(option["description"].split()).replace(" [default: ", " Default: ").replace("]", "")
    lines = textwrap.wrap(text, 112, initial_indent=" " * 8, subsequent_indent=" " * 8)
    return "\n".join([f"    {name}{' :' + shown[1:] if shown else ''}", *lines])


def made():
    options = json.loads(SCHEMA.read_text())["properties"]
    options = {name: option for name, option in options.items() if name not in ("inputs", "parts")}
    text = HEAD + "\n".join(described(name, option) for name, option in options.items())
    fields = "\n".join(f"    {name}: {annotation(name, option)}" for name, option in options.items())
    return f'{text}\n    """\n\n{fields}\n'


if __name__ == "__main__":
    if "--update" in sys.argv:
        TARGET.write_text(made())
    elif TARGET.read_text() != made():
        sys.exit(f"{TARGET} differs from {SCHEMA}: scripts/python_options.py --update writes it")
