"""Figures of benchmarks live in benches/results: tables in documents have the same, and plots are drawn from them."""
import results
import tables


def test_documents_have_the_figures_of_the_results():
    assert [*tables.stale()] == [], "run scripts/draw/tables.py"


OLD = """On <!-- processor: n -->?<!-- -->

<!-- results: n -->
| | y | x | z |
|---|---|---|---|
| **b, c** (d) | | **9 s** | 7, not finished |
| `a` | 1 | 2 | 1 s |

| a | 5 |
|---|---|
"""
NEW = """On <!-- processor: n -->P<!-- -->

<!-- results: n -->
| | y | x | z |
|---|---|---|---|
| **b, c** (d) | | **0.5 s** | 7 |
| `a` | 3 (2–4) | 1,500 | not finished |

| a | 5 |
|---|---|
"""


def test_a_table_gets_the_figures_of_its_results(monkeypatch):
    rows = [{"name": "a", "values": [1500, [3, 2, 4], None], "notes": [None, None, "not finished"]}, {"name": "b, c", "values": [0.5, None, 7]}]
    head = {"title": "", "processor": "P", "cores": 1, "command": "", "date": "", "data": "", "unit": "", "better": "more"}
    monkeypatch.setattr(tables, "load", lambda name: results.parse({**head, "columns": ["x", "y", "z"], "rows": rows}))
    assert tables.updated(OLD) == NEW
