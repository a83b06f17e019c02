"""docs/reference/errors.md has a row for every code that the sources and the specification have, and no others."""
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reference/errors.md").read_text(encoding="utf-8")


def source(path):
    return (ROOT / path).read_text(encoding="utf-8")


def rows(heading):
    """The rows of the tables under a heading of any level, up to the next heading: code, cause, remedy."""
    section = re.split(r"\n#+ ", PAGE.split(f"# {heading}\n", 1)[1], maxsplit=1)[0]
    lines = [line for line in section.splitlines() if line.startswith("| `")]
    assert lines, heading
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def codes(*headings):
    """The codes in the first column, each once. Codes with the same remedy may share a row."""
    found = [code for heading in headings for cells in rows(heading) for code in re.findall(r"`([^`]+)`", cells[0])]
    assert len(found) == len(set(found)), "a code has two rows"
    return set(found)


def between(text, start, end="}"):
    return text.split(start, 1)[1].split(end, 1)[0]


def variants(text, enum):
    body = re.sub(r"//[^\n]*|#\[[^\]]*\]", "", between(text, f"enum {enum} {{", "\n}"))
    return set(re.findall(r"^\s*(\w+)", body, re.M))


RULE_TABLES = ["dataset.json", "The index (.vidx)", "The record file (.rec)", "The track file (.vtrk)"]


def rules():
    table = between(source("format-spec/vidrec-v1.md"), "\n## Rules\n", "\n## ")
    first = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    return {rule for cell in first for rule in re.findall("`([^`]+)`", cell)}


def verify_kinds():
    arms = between(source("crates/vidrec-core/src/dataset/verify/mod.rs"), "match e.kind() {", "});")
    return set(re.findall(r'=> "([\w-]+)"', arms)) - rules()


def statuses():
    said = between(source("src/cli/mod.rs"), "/// Exit status: ", ".\n")
    return set(re.findall(r"(?:^|; )(\d+) ", said))


def stages():
    words = {stage.lower() for stage in variants(source("crates/vidrec-pack/src/video/error.rs"), "Stage")}
    return words | {re.search(r'const MISSING: &str = "(\w+)"', source("crates/vidrec-pack/src/shards/publish.rs"))[1]}


def counts():
    report = between(source("crates/vidrec-pack/src/shards/report.rs"), "frames: clips.iter()", "notes: whole")
    return set(re.findall(r"^        (\w+)[:,]", report, re.M))


def findings():
    kinds = variants(source("src/report/check/finding.rs"), "FindingKind")
    return {re.sub(r"(?<!^)(?=[A-Z])", "-", kind).lower() for kind in kinds}


def shortages():
    return variants(source("crates/vidrec-format/src/machine.rs"), "Shortage")


@pytest.mark.parametrize(
    ("headings", "expected"),
    [
        (RULE_TABLES, rules),
        (["Kinds that are no rules"], verify_kinds),
        (["Exit statuses"], statuses),
        (["Videos that were not packed"], stages),
        (["What was odd about videos that were packed"], counts),
        (["What a person should look at"], findings),
        (["When the machine runs out"], shortages),
    ],
)
def test_the_page_has_the_codes_of_the_sources(headings, expected):
    assert codes(*headings) == expected()


def test_exceptions_and_kinds():
    table = rows("Exceptions and kinds")
    python = {re.search(r"`(\w+)`", cells[0])[1] for cells in table}
    rust = {found[1] for cells in table if (found := re.search(r"`(\w+)`", cells[1]))}
    assert python == set(re.findall(r"^class (\w+)", source("python/vidrec/errors.py"), re.M))
    assert rust == variants(source("crates/vidrec-format/src/error.rs"), "ErrorKind") | {"Error"}
    raised = dict(re.findall(r'ErrorKind::(\w+) => "(\w+)"', source("python/src/error.rs")))
    for cells in table:
        kind = re.search(r"`(\w+)`", cells[1])
        assert kind is None or raised.get(kind[1], re.search(r"`(\w+)`", cells[0])[1]) in cells[0]


def test_every_row_has_a_cause_and_a_remedy():
    for line in PAGE.splitlines():
        if line.startswith("| `") and not line.startswith("| `0`"):
            assert all(cell.strip() for cell in line.strip().strip("|").split("|")[-2:]), line
