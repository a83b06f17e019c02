"""The measured figures in benches/results, a file for each run on one machine. benches/README.md describes the runs."""
import json
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "benches/results"


@dataclass(frozen=True)
class Row:
    name: str
    values: tuple  # for each column: a number, a tuple of numbers (see `spread`), or None where nothing was measured
    notes: tuple   # for each column: what its cell says besides, or None


@dataclass(frozen=True)
class Results:
    """What one benchmark measured on one machine."""

    title: str
    processor: str
    cores: int
    data: str
    unit: str
    better: str           # "more" or "less"
    columns: tuple
    rows: tuple
    command: str = ""     # empty: not recorded
    date: str = ""        # when the figures were written down; empty: unknown
    units: tuple = ()     # of columns that have a unit of their own
    workloads: tuple = () # short names of the columns
    reference: str = ""   # the row that the others are compared with
    runs: tuple = ()      # single runs that the rows are means of

    def row(self, name):
        return next(row for row in self.rows if row.name == name)

    def unit_of(self, column):
        return (self.units[column] if self.units else None) or self.unit


def load(name):
    return parse(json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8")))


def parse(given):
    given = dict(given)
    rows = tuple(row(len(given["columns"]), **each) for each in given.pop("rows"))
    lists = {key: tuple(given.pop(key)) for key in ("columns", "units", "workloads", "runs") if key in given}
    return Results(rows=rows, **lists, **given)


def row(columns, name, values, notes=None):
    notes = notes or [None] * columns
    assert len(values) == len(notes) == columns, f"{name}: {columns} columns"
    return Row(name, tuple(tuple(v) if isinstance(v, list) else v for v in values), tuple(notes))


def names():
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def main_value(value):
    """The number that a bar shows: of several, the first, which is the median."""
    return value[0] if isinstance(value, tuple) else value


def as_text(value):
    """A number as tables and bars show it: 14,474 or 62.1."""
    return f"{value:,}" if isinstance(value, int) else f"{value:.3g}" if value < 1 else f"{value:,}"
