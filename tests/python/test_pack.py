"""``vidrec.pack`` beside the program ``vidrec pack``: the same options, the same files, the same refusals."""
import inspect
import json
import re
import subprocess
import sys
import types
from pathlib import Path
from unittest import mock

import pytest
from programs import files, program

import vidrec
from vidrec import _progress

ROOT = Path(__file__).parents[2]
# What makes no sense in Python: the report is a dataclass, a part of a plan and the recipe have functions of their own, and
# the rules for frames are values of `frames`.
PROGRAM_ONLY = {"json", "help", "output", "part", "tasks", "write_recipe", "storage", "no_isolate", "fps", "every", "all", "keyframes"}
# What the program takes in other forms: TMPDIR, --no-isolate, and --storage KEY=VALUE several times.
PYTHON_ONLY = {"isolate", "scratch", "storage_options", "storage_timeout"}


def arguments():
    """All that the function takes by name."""
    own = {name for name, it in inspect.signature(vidrec.pack).parameters.items() if it.kind is it.KEYWORD_ONLY}
    return own | set(vidrec.RecipeOptions.__annotations__)


def flags():
    """The flags that the program's help lists."""
    found = re.findall(r"^ +(?:-\w, +)?--([a-z][a-z-]+)", program("pack", "--help").stdout, re.M)
    assert len(found) > 40 and len(set(found)) == len(found)
    return {flag.replace("-", "_") for flag in found}


def as_flags(options):
    """Arguments of the function as those of the program."""
    flags = []
    for name, value in options.items():
        if name == "frames" and not isinstance(value, int):
            name, _, value = str(value).partition(":")
        elif name == "isolate":
            name, value = "no-isolate", True
        flags.append("--" + name.replace("_", "-"))
        if value is not True and value != "":
            flags.append("x".join(map(str, value[::-1])) if isinstance(value, tuple) else str(value))
    return flags


def test_the_program_and_the_function_have_the_same_options():
    assert flags() - PROGRAM_ONLY == arguments() - PYTHON_ONLY


def test_the_options_of_python_are_those_of_the_schema():
    subprocess.run([sys.executable, ROOT / "scripts/python_options.py"], check=True)


def test_the_schema_has_the_defaults_of_the_program(tmp_path):
    """Those that a recipe is written with."""
    program("pack", "videos", "--write-recipe", tmp_path / "recipe.toml")
    written = (tmp_path / "recipe.toml").read_text()
    schema = json.loads((ROOT / "docs/recipe.schema.json").read_text())["properties"]
    defaults = {name: option["default"] for name, option in schema.items()}
    # What is off or not there is not written.
    set_ = {name: value for name, value in defaults.items() if isinstance(value, (int, str)) and value is not False}
    lines = [f"{name} = {json.dumps(value)}" for name, value in sorted({**set_, "inputs": ["videos"]}.items())]
    assert sorted(line for line in written.splitlines() if line) == lines
    assert vidrec.recipe("videos") == vidrec.recipe(["videos"]) == written


# Each option is in one of these.
TOGETHER = [
    {"frames": vidrec.Fps("30000/1001"), "max_frames": 4, "size": (24, 32), "quality": 50, "shards": 3, "isolate": False},
    {"frames": "all", "max_frames": 3, "cut": True, "size": "90:enlarge", "quality": 80, "effort": 0, "max_pixels": 10**6},
    {"frames": 2, "sample": "random-clip:3", "draws": 2, "seed": 5, "quality": 70, "shards": "40kB", "memory": "64MiB", "threads": 2},
    {"frames": 15, "short": "loop", "decode_all": True, "shuffle_seed": 3, "size": "original", "timeout": 30.5, "max_failures": "50%"},
    {"frames": vidrec.Every(5), "picture_fps": 29.97, "segments": "first-frame", "shards": "each:5"},
]


@pytest.mark.parametrize("options", TOGETHER, ids=[str(options["frames"]) for options in TOGETHER])
def test_options_do_what_they_do_in_the_program(options, videos, train, tmp_path):
    program("pack", videos, "-o", tmp_path / "program", *as_flags(options))
    report = vidrec.pack(videos, tmp_path / "function", **options)
    assert report.failed == 0 and not report.unchanged
    assert files(tmp_path / "function") == files(tmp_path / "program") != files(train)


def test_a_recipe_packs_what_its_options_pack(videos, tmp_path):
    options = {"frames": vidrec.Every(3), "size": (48, 64), "quality": 75, "max_frames": 3, "cut": True}
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(vidrec.recipe(videos, **options))
    vidrec.pack(videos, tmp_path / "options", **options)
    vidrec.pack(recipe, tmp_path / "recipe")
    expected = files(tmp_path / "options")
    assert expected and files(tmp_path / "recipe") == expected
    settings = vidrec.inspect(tmp_path / "recipe").settings
    assert (settings["frames"], settings["size"], settings["quality"]) == ("every:3", "64x48", 75)
    # What is given replaces what the recipe has.
    changed = {**options, "frames": "all", "size": 32}
    vidrec.pack(recipe, tmp_path / "changed", frames="all", size=32)
    vidrec.pack(videos, tmp_path / "expected", **changed)
    assert files(tmp_path / "changed") == files(tmp_path / "expected") != expected
    assert vidrec.plan(recipe, tmp_path / "plan", shards=2).parts == 2


def test_warnings_about_columns_name_arguments(videos, tmp_path):
    table = tmp_path / "list.csv"
    table.write_text("path,class,begin,finish\nleft/0.mp4,left,0,0.2\nleft/1.mp4,left,soon,\n")
    with pytest.warns(vidrec.PackWarning, match='set label_column = "class"'):
        vidrec.pack(table, tmp_path / "asked", root=videos, frames=1)
    options = {"label_column": "class", "start_column": "begin", "end_column": "finish"}
    with pytest.warns(vidrec.PackWarning, match="1 of 2 rows"):
        report = vidrec.pack(table, tmp_path / "chosen", root=videos, frames=1, **options)
    assert report.clips == report.labeled == 1 and 'list.csv, line 3, column "begin"' in report.failures[0].error


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("frames", 0, "frames"),
        ("seed", -1, "seed"),
        ("quality", "psnr:40", "quality"),
        ("memory", "2 apples", "memory"),
        ("threads", 0, "threads"),
        ("if_exists", "overwrite", "if_exists.*fail, resume, retry-failed, replace"),
        ("sample", "best", "sample"),
        ("qualty", 9, r"found qualty; did you mean quality\?"),
    ],
)
def test_a_wrong_option_is_refused_by_name(option, value, words, videos, tmp_path):
    with pytest.raises(vidrec.UsageError, match=words):
        vidrec.pack(videos, tmp_path / "out", **{option: value})
    assert not (tmp_path / "out").exists()


def test_a_dry_run_gives_the_estimate_and_writes_nothing(videos, tmp_path):
    out, options = tmp_path / "out", {"frames": vidrec.Fps(6), "max_frames": 3}
    estimate = vidrec.pack(videos, out, dry_run=True, **options)
    shown = json.loads(program("pack", videos, "-o", out, "--dry-run", "--json", *as_flags(options)).stdout)
    changing = {"seconds": 0, "free_bytes": 0}
    assert {**estimate.to_dict(), **changing} == {**shown, **changing} and not out.exists()


def test_what_is_done_already_is_told(videos, tmp_path):
    for if_exists, unchanged in (("fail", False), ("resume", True), ("replace", False)):
        assert vidrec.pack(videos, tmp_path / "out", frames=2, size=32, if_exists=if_exists).unchanged is unchanged


def test_true_shows_tqdms_bar(monkeypatch, videos, tmp_path, capsys):
    bar, given = mock.Mock(start_t=0.0), {}

    def start(**options):
        given.update(options)
        bar.n = options["initial"]
        return bar

    bar.update.side_effect = lambda n: setattr(bar, "n", bar.n + n)
    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", types.SimpleNamespace(tqdm=start))
    vidrec.pack(videos, tmp_path / "out", frames=2, progress=True)
    assert (given["total"], given["unit"], bar.n, bar.close.called) == (12, " videos", 12, True)
    assert capsys.readouterr().err == ""


@pytest.fixture
def no_tqdm(monkeypatch):
    for module in ("tqdm", "tqdm.auto"):
        monkeypatch.setitem(sys.modules, module, None)


def test_without_tqdm_a_line_has_rate_and_remaining_time(no_tqdm, monkeypatch, capsys):
    now = 100.0
    monkeypatch.setattr(_progress.time, "monotonic", lambda: now)
    with _progress.Shown(True, "videos") as show:
        # Two were done before. The third call is too soon after the second for a line of its own.
        for now, done in ((100.0, 2), (110.0, 12), (110.2, 13), (130.0, 22), (140.0, 402)):
            show(done, 402)
    lines = capsys.readouterr().err.split("\r")
    assert [line.rstrip() for line in lines] == [
        "",
        "2 of 402 videos",
        "12 of 402 videos, 1 videos/s, 6:30 left",
        "22 of 402 videos, 0.667 videos/s, 9:30 left",
        "402 of 402 videos, 10 videos/s",
        "402 of 402 videos, 10 videos/s",
    ]
    assert len(lines[4]) == len(lines[3]) and lines[-1].endswith("\n")


def test_times_are_readable():
    assert [_progress.clock(s) for s in (0.2, 61, 3600, 90_061)] == ["0:00", "1:01", "1:00:00", "25:01:01"]
