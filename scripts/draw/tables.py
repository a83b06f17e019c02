#!/usr/bin/env python3
"""Writes the figures of benches/results into documents.

    scripts/draw/tables.py            into each table below `<!-- results: NAME -->`, and the processor after `<!-- processor: NAME -->`
    scripts/draw/tables.py --check    says which documents have other figures; the status is then 1

A table names rows and columns of benches/results/NAME.json. It need not have all of them, and its cells may have words of their own.
A remark in parentheses may follow the name of a row.
"""
import re
import sys

from results import ROOT, as_text, load

DOCUMENTS = sorted(p for pattern in ("*.md", "python/*.md", "benches/**/README.md", "docs/**/*.md") for p in ROOT.glob(pattern))
MARKER = re.compile(r"\s*<!-- results: (\S+) -->\s*$")
PROCESSOR = re.compile(r"(<!-- processor: (\S+) -->)[^<]*(?=<!-- -->)")
NUMBER = re.compile(r"(?<![\w.])[-−]?\d[\d,]*(?:\.\d+)?")


def plain(cell):
    """The words of a cell, without links, emphasis and code."""
    return re.sub(r"[*`]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", cell)).strip()


def numbers(text):
    return [float(n.replace(",", "").replace("−", "-")) for n in NUMBER.findall(text)]


def filled(cell, value, note):
    """A cell with a value and its note. Units and emphasis of the cell stay."""
    values = value if isinstance(value, tuple) else () if value is None else (value,)
    texts = [as_text(each) for each in values]
    if not note and not re.search("[a-z]{4}", cell) and len(texts) == len(NUMBER.findall(cell)):
        return cell if numbers(cell) == [*map(float, values)] else NUMBER.sub(lambda _: texts.pop(0), cell)
    words = f"{texts[0]} ({'–'.join(texts[1:])})" if len(texts) == 3 else ", ".join(filter(None, [*texts, note]))
    return cell if plain(cell) == words else f" {words} " if words else " "


def row_of(results, name):
    try:
        return results.row(name)
    except StopIteration:
        return results.row(name.rpartition(" (")[0])


def updated(text):
    """The text with the figures of the results."""
    lines, results, columns = [], None, None
    for line in PROCESSOR.sub(lambda found: found[1] + load(found[2]).processor, text).splitlines(keepends=True):
        if results and line.lstrip().startswith("|"):
            before, head, *cells, after = line.split("|")
            if columns is None:
                columns = [results.columns.index(plain(cell)) for cell in cells]
            elif head.strip(" -:"):
                row = row_of(results, plain(head))
                cells = [filled(cell, row.values[c], row.notes[c]) for cell, c in zip(cells, columns, strict=True)]
            lines.append("|".join([before, head, *cells, after]))
            continue
        found = MARKER.match(line)
        if found or line.strip() or columns:
            results, columns = found and load(found[1]), None
        lines.append(line)
    return "".join(lines)


def stale():
    """The documents that have other figures, and what they should be."""
    texts = {document: document.read_text(encoding="utf-8") for document in DOCUMENTS}
    return {document: after for document, text in texts.items() if (after := updated(text)) != text}


if __name__ == "__main__":
    wrong = stale()
    if "--check" in sys.argv:
        sys.exit(f"other figures: {', '.join(str(each.relative_to(ROOT)) for each in wrong)}; run {sys.argv[0]}" if wrong else 0)
    for document, after in wrong.items():
        document.write_text(after, encoding="utf-8")
