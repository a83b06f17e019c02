"""Figures of benchmarks live in benches/results: tables in documents have the same, and plots are drawn from them.

A table below `<!-- results: NAME -->` shows benches/results/NAME.json: its rows, and the columns that it names.
"""
import re
from pathlib import Path

import results

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted(p for pattern in ("*.md", "python/*.md", "benches/**/README.md", "docs/**/*.md") for p in ROOT.glob(pattern))
MARKER = re.compile(r"<!-- results: (\S+) -->\s*$")


def plain(cell):
    """The words of a cell, without links, emphasis and code."""
    return re.sub(r"[*`]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", cell)).strip()


def numbers(text):
    found = re.findall(r"(?<![\w.])[-−]?\d[\d,]*(?:\.\d+)?", text)
    return [float(n.replace(",", "").replace("−", "-")) for n in found]


def tables(text):
    """Each table: the results that it is marked with, its heads, and its rows of cells."""
    marker, table = None, []
    for line in [*text.splitlines(), ""]:
        line = line.strip()
        if line.startswith("|"):
            table.append([plain(cell) for cell in line.strip("|").split("|")])
            continue
        if len(table) > 2:
            yield marker, table[0], table[2:]
        if table or line:
            found = MARKER.match(line)
            marker, table = found and found[1], []


def expected(row, column):
    """The numbers that a cell has."""
    value = row.values[column]
    values = value if isinstance(value, tuple) else () if value is None else (value,)
    return [*map(float, values), *numbers(row.notes[column] or "")]


def differences(shown, heads, rows):
    """What a marked table has that the results do not say."""
    by_name, wrong = {row.name: row for row in shown.rows}, []
    columns = [shown.columns.index(head) if head in shown.columns else None for head in heads[1:]]
    if None in columns:
        return [f"no columns {[h for h, c in zip(heads[1:], columns) if c is None]}"]
    for name, *cells in rows:
        if name not in by_name:
            wrong.append(f"no row {name!r}")
            continue
        for column, cell in zip(columns, cells):
            if numbers(cell) != expected(by_name[name], column):
                wrong.append(f"{name}, {shown.columns[column]}: {cell!r} instead of {expected(by_name[name], column)}")
    return wrong


def test_tables_have_the_figures_of_the_results():
    marked = (table for document in DOCUMENTS for table in tables(document.read_text(encoding="utf-8")) if table[0])
    assert [wrong for marker, heads, rows in marked for wrong in differences(results.load(marker), heads, rows)] == []
