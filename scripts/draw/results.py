#!/usr/bin/env python3
"""The measured figures in benches/results, a file for each run on one machine. benches/README.md describes the runs.

    BENCHMARK | scripts/draw/results.py NAME     puts the rows that a benchmark prints into benches/results/NAME.json
"""
import datetime
import json
import os
import shlex
import sys
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
    command: str
    date: str             # when the figures were written down
    units: tuple = ()     # of columns that have a unit of their own
    reference: str = ""   # the row that the others are compared with

    def row(self, name):
        return next(row for row in self.rows if row.name == name)

    @property
    def machine(self):
        return f"{self.processor}, {'one core' if self.cores == 1 else f'{self.cores} cores'}"

    def unit_of(self, column):
        return (self.units[column] if self.units else None) or self.unit


def load(name):
    return parse(json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8")))


def parse(given):
    given = dict(given)
    rows = tuple(row(len(given["columns"]), **each) for each in given.pop("rows"))
    lists = {key: tuple(given.pop(key)) for key in ("columns", "units") if key in given}
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


def write(path, title, columns, rows, **more):
    """Writes a file of results, measured today on this machine. `more` has data, command and unit, and other fields of `Results`."""
    head = {"title": title, "processor": processor(), "cores": len(os.sched_getaffinity(0)), "date": f"{datetime.date.today()}", "better": "more"}
    head |= {**more, "columns": columns}
    lines = [f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in head.items()]
    table = ",\n".join("    " + json.dumps(row, ensure_ascii=False) for row in rows)
    Path(path).write_text("{\n" + ",\n".join(lines) + ',\n  "rows": [\n' + table + "\n  ]\n}\n", encoding="utf-8")


def put_rows(path, printed):
    """Rows of another run, of today on this machine, replace those of a file."""
    head = json.loads(path.read_text(encoding="utf-8"))
    rows = [json.loads(line.strip().rstrip(",")) for line in printed.splitlines() if line.strip().startswith('{"name"')]
    assert rows, "no rows"
    write(path, head["title"], head["columns"], rows, **{key: head[key] for key in head if key not in ("title", "processor", "date", "columns", "rows")})


def called(given):
    """The command of this run, without options that name files. `given` stands for the files and folders that it was given."""
    words = [str(Path(sys.argv[0]).resolve().relative_to(ROOT))]
    for before, word in zip(sys.argv, sys.argv[1:]):
        is_path = Path(word).exists()
        if before == "--json" or is_path and before.startswith("--"):
            words.pop()
        elif not (is_path and words[-1] == given):
            words.append(given if is_path else shlex.quote(word))
    return " ".join(words)


def processor():
    """Its name. What the names of servers' processors do not say is their generation: Linux has family and model."""
    try:
        lines = Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines()
    except OSError:
        return "unknown"
    facts = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    family, model = int(facts.get("cpu family", 0)), int(facts.get("model", 0))
    intel = {85: "Skylake", 106: "Ice Lake", 143: "Sapphire Rapids", 173: "Granite Rapids", 207: "Emerald Rapids"}
    amd = {25: "Zen 3" if model < 16 else "Zen 4", 26: "Zen 5"}
    generation = intel.get(model) if family == 6 else amd.get(family)
    name = facts.get("model name", "unknown").replace("(R)", "").replace(" Processor", "").split(" 9")[0]
    return f"{name} ({generation})" if generation else name


if __name__ == "__main__":
    put_rows(FOLDER / f"{sys.argv[1]}.json", sys.stdin.read())
