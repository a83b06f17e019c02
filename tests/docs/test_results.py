"""Figures of benchmarks live in benches/results: tables in documents have the same, and plots are drawn from them."""
import tables


def test_documents_have_the_figures_of_the_results():
    assert [*tables.stale()] == [], "run scripts/draw/tables.py"


def test_a_table_gets_the_figures_of_its_results(monkeypatch):
    rows = [{"name": "a", "values": [1500, [3, 2, 4], None]}, {"name": "b, c", "values": [0.5, None, 7]}]
    given = {"title": "", "processor": "P", "cores": 1, "command": "", "date": "", "data": "", "unit": "", "better": "more"}
    found = tables.load.__globals__["parse"]({**given, "columns": ["x", "y", "z"], "rows": rows})
    monkeypatch.setattr(tables, "load", lambda name: found)
    old = "On <!-- processor: n -->?<!-- -->\n\n<!-- results: n -->\n| | y | x |\n|---|---|---|\n| **b, c** (d) | | **9 s** |\n| `a` | 1 | 2 |\n\n| a | 5 |\n|---|---|\n"
    new = "On <!-- processor: n -->P<!-- -->\n\n<!-- results: n -->\n| | y | x |\n|---|---|---|\n| **b, c** (d) | | **0.5 s** |\n| `a` | 3 (2–4) | 1,500 |\n\n| a | 5 |\n|---|---|\n"
    assert tables.updated(old) == new
