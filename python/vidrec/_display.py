"""Pages and pictures as notebooks and terminals show them."""

from __future__ import annotations

import base64
import html
import shutil
import sys
from typing import Any, Iterable, Mapping, Sequence, Tuple

from ._pictures import Picture, blocks, png

# What a page shows without being asked for more.
HEIGHT = 64
FRAMES = 8
PARTS = 10


def page(title: str, rows: Iterable[Tuple[str, Any]], below: Iterable[str] = ()) -> str:
    """A title, a table of names and values, and what comes below them."""
    cells = "".join(
        f'<tr><th style="text-align:left">{_text(name)}</th><td style="text-align:left">{_text(value)}</td></tr>'
        for name, value in rows
    )
    return f"<div><b>{_text(title)}</b><table>{cells}</table>{''.join(below)}</div>"


def figure(picture: Picture, name: str) -> str:
    """A picture with its name."""
    data = base64.b64encode(png(picture)).decode()
    image = f'<img alt="{_text(name)}" src="data:image/png;base64,{data}" style="max-width:100%">'
    caption = f'<figcaption style="font-size:smaller">{_text(name)}</figcaption>' if name else ""
    return f'<figure style="display:inline-block;margin:4px">{image}{caption}</figure>'


def no_figure(name: str, why: object) -> str:
    """What stands in the place of a picture."""
    return f"<p>{_text(name)}: {_text(why)}</p>"


def parts(name: str, first: Sequence[Mapping[str, Any]], count: int) -> str:
    """A table of the first of ``count`` parts, one a row."""
    columns = list(dict.fromkeys(column for row in first for column in row))
    head = "".join(f"<th>{_text(column)}</th>" for column in columns)
    cells = ("".join(f"<td>{_text(row.get(column, ''))}</td>" for column in columns) for row in first)
    body = "".join(f"<tr>{row}</tr>" for row in cells)
    rest = f"<p>and {count - len(first):,} more</p>" if count > len(first) else ""
    return f"<p><b>{_text(name)}</b></p><table><tr>{head}</tr>{body}</table>{rest}"


def some(names: Sequence[str], most: int) -> str:
    """The first names, and how many more there are."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest:,} more" if rest > 0 else "")


def show(page: str, pictures: Sequence[Tuple[str, Picture]]) -> None:
    """Shows a page in a notebook, and pictures elsewhere, as text."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if hasattr(shell, "kernel"):
        from IPython.display import HTML, display  # pyright: ignore[reportPrivateImportUsage]

        display(HTML(page))
        return
    columns = shutil.get_terminal_size().columns
    for name, picture in pictures:
        print(name)
        print(blocks(picture, columns))


def _text(value: Any) -> str:
    text = str(value)
    return html.escape(text if len(text) <= 300 else text[:299] + "…")
