"""``vidrec.pack`` beside the program ``vidrec pack``: the same options, the same files, the same refusals."""
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
import types
from pathlib import Path

import pytest

import vidrec
from vidrec import _progress

ROOT = Path(__file__).parents[2]
# What makes no sense in Python: the report is a dataclass, a part of a plan and the recipe have functions of their own, and
# the rules for frames are values of `frames`.
PROGRAM_ONLY = {"json", "help", "output", "part", "tasks", "write_recipe", "storage", "no_isolate", "fps", "every", "all", "keyframes"}
# What the program takes in other forms: TMPDIR, --no-isolate, and --storage KEY=VALUE several times.
PYTHON_ONLY = {"isolate", "scratch", "storage_options", "storage_timeout", "only_publisher"}


def program(*arguments):
    command = [Path(sys.executable).with_name("vidrec"), "pack", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def files(folder):
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def arguments():
    """All that the function takes by name."""
    own = {name for name, it in inspect.signature(vidrec.pack).parameters.items() if it.kind is it.KEYWORD_ONLY}
    return own | set(vidrec.RecipeOptions.__annotations__)


def flags():
    """The flags that the program's help lists."""
    found = re.findall(r"^ +(?:-\w, +)?--([a-z][a-z-]+)", program("--help").stdout, re.M)
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
    done = program("videos", "--write-recipe", tmp_path / "recipe.toml")
    assert done.returncode == 0, done.stderr
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
    {"frames": "all", "max_frames": 3, "cut": True, "size": "90:enlarge", "quality": vidrec.Psnr(36), "effort": 0, "max_pixels": 10**6},
    {"frames": 2, "sample": "random-clip:3", "draws": 2, "seed": 5, "quality": vidrec.Ssim(0.9), "shards": "40kB", "memory": "64MiB", "threads": 2},
    {"frames": 15, "short": "loop", "decode_all": True, "shuffle_seed": 3, "size": "original", "timeout": 30.5, "max_failures": "50%"},
    {"frames": vidrec.Every(5), "picture_fps": 29.97, "segments": "first-frame", "quality": "original", "shards": "each:5"},
]


@pytest.mark.parametrize("options", TOGETHER, ids=[str(options["frames"]) for options in TOGETHER])
def test_options_do_what_they_do_in_the_program(options, videos, train, tmp_path):
    done = program(videos, "-o", tmp_path / "program", *as_flags(options))
    assert done.returncode == 0, done.stderr
    report = vidrec.pack(videos, tmp_path / "function", **options)
    assert report.failed == 0 and not report.unchanged
    assert files(tmp_path / "function") == files(tmp_path / "program") != files(train)


def test_a_recipe_packs_what_its_options_pack(videos, tmp_path):
    options = {"frames": vidrec.Every(3), "size": (48, 64), "quality": vidrec.Psnr(38), "max_frames": 3, "cut": True}
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(vidrec.recipe(videos, **options))
    vidrec.pack(videos, tmp_path / "options", **options)
    vidrec.pack(recipe, tmp_path / "recipe")
    expected = files(tmp_path / "options")
    assert expected and files(tmp_path / "recipe") == expected
    settings = vidrec.inspect(tmp_path / "recipe").settings
    assert (settings["frames"], settings["size"], settings["quality"]) == ("every:3", "64x48", "psnr:38")
    # What is given replaces what the recipe has.
    changed = {**options, "frames": "all", "size": 32}
    vidrec.pack(recipe, tmp_path / "changed", frames="all", size=32)
    vidrec.pack(videos, tmp_path / "expected", **changed)
    assert files(tmp_path / "changed") == files(tmp_path / "expected") != expected
    assert vidrec.plan(recipe, tmp_path / "plan", shards=2).parts == 2


def test_warnings_about_columns_name_arguments(videos, tmp_path):
    table = tmp_path / "list.csv"
    table.write_text("path,class,begin,finish\nleft/0.mp4,left,0,0.2\nleft/1.mp4,left,soon,\n")
    with pytest.warns(vidrec.PackWarning) as told:
        vidrec.pack(table, tmp_path / "asked", root=videos, frames=1)
    words = " ".join(str(warning.message) for warning in told)
    assert 'pass label_column="class"' in words
    assert 'pass start_column="begin", and pass end_column="finish"' in words
    options = {"label_column": "class", "start_column": "begin", "end_column": "finish"}
    with pytest.warns(vidrec.PackWarning, match="1 of 2 rows"):
        report = vidrec.pack(table, tmp_path / "chosen", root=videos, frames=1, **options)
    assert report.clips == report.labeled == 1
    assert "list.csv, line 3, column \"begin\"" in report.failures[0].error


def test_lists_of_videos_and_classes_are_read(videos, tmp_path):
    lists = tmp_path / "list.csv"
    lines = [f"{name},{label},{split}" for name, label, split in
             [("left/0.mp4", "left", "train"), ("right/7.mp4", "right", "train"), ("left/1.mp4", "left", "val")]]
    lists.write_text("\n".join(["path,label,split", *lines]))
    (tmp_path / "classes.txt").write_text("right\nup\nleft\n")
    options = {"root": videos, "classes": tmp_path / "classes.txt", "split": "train", "frames": 1}
    assert vidrec.pack(lists, tmp_path / "function", **options).clips == 2
    assert vidrec.open(tmp_path / "function").classes == ["right", "up", "left"]


def test_what_goes_not_together_is_refused_in_the_same_words(videos, tmp_path):
    options = {"frames": vidrec.Every(2), "sample": "clip"}
    refused = program(videos, "-o", tmp_path / "out", *as_flags(options))
    assert refused.returncode == 2, refused.stderr
    with pytest.raises(vidrec.UsageError) as e:
        vidrec.pack(videos, tmp_path / "out", **options)
    # The program may go on to say which of its options are meant.
    words = str(e.value).split("; ")[0]
    assert refused.stderr.splitlines()[0].startswith(f"error: {words}"), (refused.stderr, e.value)
    assert not (tmp_path / "out").exists()


WRONG = {
    "frames": [0, -1, 2**20 + 1],
    "sample": ["best", "random:2"],
    "short": ["best"],
    "segments": ["best"],
    "draws": [0],
    "max_frames": [0],
    "seed": [-1, 2**64],
    "shuffle_seed": [-1],
    "picture_fps": [0, "-1"],
    "size": [0, 65_501, "32x", "32:smaller"],
    "quality": [0, 101, "high", "ssim:2"],
    "effort": [2],
    "audio": [1, "16000:five"],
    "memory": ["2 apples"],
    "shards": [0, "x", "each:0"],
    "max_pixels": [0],
    "timeout": [-1],
    "max_failures": [-1, "101%"],
    "track": ["x"],
}


def test_values_are_refused_by_name(videos, tmp_path):
    for name, values in WRONG.items():
        more = {"frames": "all"} if name == "max_frames" else {}
        for value in values:
            with pytest.raises(vidrec.UsageError, match=name):
                vidrec.pack(videos, tmp_path / "out", **{name: value}, **more)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("option", "nearest"), [("qualty", "quality"), ("frame", "frames")])
def test_an_unknown_option_names_the_nearest(option, nearest, videos, tmp_path):
    for call in (
        lambda: vidrec.pack(videos, tmp_path / "out", **{option: 9}),
        lambda: vidrec.plan(videos, tmp_path / "out", **{option: 9}),
        lambda: vidrec.recipe(videos, **{option: 9}),
    ):
        with pytest.raises(vidrec.UsageError, match=f"found {option}; did you mean {nearest}\\?"):
            call()
    assert not (tmp_path / "out").exists()


def test_what_to_do_with_an_output_is_one_of_few_words(videos, tmp_path):
    with pytest.raises(vidrec.UsageError, match="if_exists.*fail, resume, replace"):
        vidrec.pack(videos, tmp_path / "out", if_exists="overwrite")


def test_a_dry_run_gives_the_estimate_and_writes_nothing(videos, tmp_path):
    calls = []
    options = {"frames": vidrec.Fps(6), "max_frames": 3}
    out = tmp_path / "out"
    estimate = vidrec.pack(videos, out, dry_run=True, progress=lambda *call: calls.append(call), **options)
    assert not out.exists() and calls[-1] == (12, 12)
    shown = json.loads(program(videos, "-o", out, "--dry-run", "--json", *as_flags(options)).stdout)
    changing = {"seconds", "free_bytes"}
    assert {k: v for k, v in estimate.to_dict().items() if k not in changing} == {
        k: v for k, v in shown.items() if k not in changing
    }
    assert (estimate.videos, estimate.clips, estimate.frames, estimate.probed) == (12, 12, 36, 12)
    assert estimate.seconds > 0 and estimate.free_bytes > 0


def test_what_is_done_already_is_told(videos, tmp_path):
    out, options = tmp_path / "out", {"frames": 2, "size": 32}
    assert vidrec.pack(videos, out, **options).unchanged is False
    assert vidrec.pack(videos, out, if_exists="resume", **options).unchanged is True
    assert vidrec.pack(videos, out, if_exists="replace", **options).unchanged is False


class Screen:
    """Stands in for tqdm."""

    made: list = []

    def __init__(self, initial, total, unit):
        self.n, self.initial, self.total, self.unit = initial, initial, total, unit
        self.start_t = 0.0
        self.closed = False
        self.refreshed = 0
        Screen.made.append(self)

    def update(self, n):
        assert n > 0
        self.n += n

    def refresh(self):
        self.refreshed += 1

    def close(self):
        self.closed = True


@pytest.fixture
def screens(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    auto = types.ModuleType("tqdm.auto")
    auto.tqdm = Screen
    monkeypatch.setitem(sys.modules, "tqdm.auto", auto)
    monkeypatch.setattr(Screen, "made", [])
    return Screen.made


def test_true_shows_tqdms_bar(screens, videos, tmp_path, capsys):
    vidrec.pack(videos, tmp_path / "out", frames=2, progress=True)
    (bar,) = screens
    assert (bar.n, bar.total, bar.unit, bar.closed) == (12, 12, " videos", True)
    assert bar.initial < 12 and bar.start_t < 0  # it has worked since before the first video was done
    assert capsys.readouterr().err == ""


def test_the_bar_is_closed_when_the_pack_fails(screens, videos, tmp_path):
    broken = tmp_path / "videos" / "a"
    broken.mkdir(parents=True)
    shutil.copy(videos / "left/0.mp4", broken / "0.mp4")
    (broken / "1.mp4").write_bytes(b"no video")
    with pytest.raises(vidrec.DecodeError):
        vidrec.pack(broken.parent, tmp_path / "out", max_failures=0, progress=True)
    assert all(bar.closed for bar in screens)


def test_a_bar_does_not_take_what_was_done_before_for_its_own_work(screens):
    with _progress.Shown(True, "videos") as show:
        for done in (5, 5, 8, 12):
            show(done, 12)
    (bar,) = screens
    assert (bar.initial, bar.n) == (5, 12)


def test_a_bar_moves_on_while_nothing_is_done(screens, monkeypatch):
    now = 100.0
    monkeypatch.setattr(_progress.time, "monotonic", lambda: now)
    with _progress.Shown(True, "videos") as show:
        for now in (100.0, 100.1, 101.2, 101.3, 102.5):
            show(1, 12)
    (bar,) = screens
    assert bar.refreshed == 2


@pytest.mark.full
def test_tqdm_can_be_turned_off(videos, tmp_path):
    pytest.importorskip("tqdm")
    code = "import sys, vidrec; vidrec.pack(sys.argv[1], sys.argv[2], frames=1, progress=True)"
    for off, shown in (("", "12/12 "), ("1", "")):
        environment = {**os.environ, "TQDM_DISABLE": off}
        command = [sys.executable, "-c", code, videos, tmp_path / f"out{off}"]
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        assert shown in done.stderr if shown else done.stderr == ""


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


def test_a_pack_without_tqdm_shows_the_line(no_tqdm, videos, tmp_path, capsys):
    vidrec.pack(videos, tmp_path / "out", frames=2, progress=True, threads=1)
    last = capsys.readouterr().err.rstrip().split("\r")[-1]
    assert re.fullmatch(r"12 of 12 videos, [\d.]+ videos/s", last.rstrip()), last


def test_times_are_readable():
    assert [_progress.clock(s) for s in (0.2, 61, 3600, 90_061)] == ["0:00", "1:01", "1:00:00", "25:01:01"]
