"""docs/reference/errors.md has a row for every code that the sources and the specification have, and no others."""
import re
import shutil
import subprocess
from pathlib import Path

import commands
import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reference/errors.md").read_text(encoding="utf-8")
VECTORS = ROOT / "format-spec/vectors/bad"


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


def test_rules_of_the_format():
    assert codes(*RULE_TABLES) == rules()


def test_rules_in_the_code():
    """Those that errors are made with, however the specification lists them."""
    code = "\n".join(path.read_text(encoding="utf-8") for path in ROOT.glob("crates/*/src/**/*.rs"))
    used = set(re.findall(r'Error::format\(\s*"([a-z]+(?:-[a-z]+)+)"', code))
    assert len(used) > 20 and used <= codes(*RULE_TABLES)


def test_kinds_of_verify():
    arms = between(source("crates/vidrec-core/src/dataset/verify/mod.rs"), "match e.kind() {", "});")
    assert codes("Kinds that are no rules") == set(re.findall(r'=> "([\w-]+)"', arms)) - rules()


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


def test_exit_statuses():
    said = between(source("src/cli/mod.rs"), "/// Exit status: ", ".\n")
    assert codes("Exit statuses") == set(re.findall(r"(?:^|; )(\d+) ", said))


def test_stages_of_a_pack():
    words = {stage.lower() for stage in variants(source("crates/vidrec-pack/src/video/error.rs"), "Stage")}
    missing = re.search(r'const MISSING: &str = "(\w+)"', source("crates/vidrec-pack/src/shards/publish.rs"))[1]
    assert codes("Videos that were not packed") == {*words, missing}


def test_counts_of_a_pack():
    report = between(source("crates/vidrec-pack/src/shards/report.rs"), "frames: clips.iter()", "least_quality:")
    assert codes("What was odd about videos that were packed") == set(re.findall(r"^        (\w+)[:,]", report, re.M))


def test_words_of_a_repair():
    fields = between(source("crates/vidrec-core/src/dataset/repair/salvage.rs"), "struct Losses {")
    words = re.findall(r'losses\.lost\.extend\(.*', source("crates/vidrec-core/src/dataset/repair/salvage.rs"))
    found = re.findall(r"pub (\w+):", fields) + re.findall(r'"(\w+)"', " ".join(words))
    assert codes("What a repair could not save") == set(found) - {"lost"}


def test_warnings_of_a_loader():
    fields = set(re.findall(r"pub (\w+): ", source("crates/vidrec-core/src/loader/counters.rs") + source("crates/vidrec-core/src/store/storage.rs")))
    engine = re.sub(r'\\\n\s*', "", source("crates/vidrec-core/src/loader/feed/warnings.rs"))
    for code in codes("Warnings of a loader"):
        assert code in fields or code in engine
    # A warning that is new: each has a row, by its words or by what it counts.
    texts = between(engine, "pub fn warnings(&self)", "\n    }\n")
    assert len(re.findall(r"warnings\s*\.(?:push|extend)\(", texts)) == 7


def test_kinds_of_a_check():
    kinds = variants(source("src/report/check/finding.rs"), "FindingKind")
    assert codes("What a person should look at") == {re.sub(r"(?<!^)(?=[A-Z])", "-", kind).lower() for kind in kinds}


def test_what_runs_out():
    assert codes("When the machine runs out") == variants(source("crates/vidrec-format/src/machine.rs"), "Shortage")


def test_every_row_has_a_cause_and_a_remedy():
    for line in PAGE.splitlines():
        if line.startswith("| `") and not line.startswith("| `0`"):
            assert all(cell.strip() for cell in line.strip().strip("|").split("|")[-2:]), line


def status(*arguments):
    return subprocess.run([commands.program(), *map(str, arguments)], capture_output=True).returncode


@pytest.mark.full
@pytest.mark.parametrize("rule, remedy", [(rule, cells[-1]) for heading in RULE_TABLES for cells in rows(heading)
                                          for rule in re.findall("`([^`]+)`", cells[0])])
def test_repairs_do_what_the_page_says(rule, remedy, tmp_path):
    """On the file of the specification that breaks the rule."""
    others = sorted(VECTORS.glob(f"{rule}.*.vidx")) + sorted(VECTORS.glob(f"{rule}.*/"))
    given = next(path for path in [VECTORS / rule, VECTORS / f"{rule}.vidx", *others] if path.exists())
    for path in VECTORS.glob(f"{given.stem if given.suffix == '.vidx' else given.name}.*"):
        if path.is_file():
            shutil.copy(path, tmp_path)
    if given.is_dir():
        shutil.copytree(given, tmp_path / given.name)
    broken, saved = tmp_path / given.name, tmp_path / "saved"
    assert status("verify", broken, "--deep") == 3
    if re.match("repair|copy", remedy):
        assert status("repair", broken if given.is_dir() else tmp_path, "-o", saved) in (0, 3)
        assert status("verify", saved, "--deep") == 0
    else:
        assert remedy.startswith(("newer", "without", "pack again", "`vidrec subset", "open each"))
