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

# What makes no sense in Python: the report is a dict, and a part of a plan has a function of its own.
PROGRAM_ONLY = {"json", "help", "plan", "part", "storage"}
# `overwrite` is what every function of the package calls the program's --force, which pack takes too.
# Its --storage, given several times, is the dict that it is for every function.
PYTHON_ONLY = {"inputs", "overwrite", "progress", "storage_options"}


def program(*arguments):
    command = [Path(sys.executable).with_name("vidrec"), "pack", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def files(folder):
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def signature():
    return inspect.signature(vidrec.pack).parameters


def flags():
    """The flags that the program's help lists."""
    found = re.findall(r"^ +(?:-\w, +)?--([a-z][a-z-]+)", program("--help").stdout, re.M)
    assert len(found) > 40 and len(set(found)) == len(found)
    return {flag.replace("-", "_") for flag in found}


def as_flags(options):
    """Arguments of the function as those of the program."""
    arguments = []
    for name, value in options.items():
        arguments.append("--" + name.replace("_", "-"))
        if value is not True:
            arguments.append(str(value))
    return arguments


def test_the_program_and_the_function_have_the_same_options():
    assert flags() - PROGRAM_ONLY == set(signature()) - PYTHON_ONLY


def test_the_function_is_documented_with_the_librarys_defaults():
    library = vidrec._vidrec.pack_defaults()
    found = dict(re.findall(r"^ {4}(\w+) : .*, default (.+)$", vidrec.pack.__doc__, re.M))
    assert set(library) <= set(found)
    for name, default in found.items():
        expected = eval(default, {"__builtins__": {}})  # such as 2**28
        assert library.get(name, False) == expected, name
        # None stands for the library's default.
        assert signature()[name].default in ((False,) if expected is False else (None, vidrec.tools._DEFAULT)), name


def test_the_program_has_the_librarys_defaults():
    shown = re.sub(r"\s+", " ", program("--help").stdout)
    for name, default in vidrec._vidrec.pack_defaults().items():
        if default is not False:
            text = {"max_pixels": "2^28"}.get(name, str(default).removesuffix(".0") if name != "sample" else default)
            flag = "--" + name.replace("_", "-") + " <"
            after = shown[shown.index(flag) :]
            assert re.search(r"\[default: ([^\]]+)\]", after).group(1) == text, name


@pytest.mark.parametrize(
    "options",
    [
        {"fps": 6, "max_frames": 3},
        {"fps": "30000/1001", "max_frames": 4},
        {"every": 5},
        {"all": True},
        {"keyframes": True},
        {"frames": 3, "sample": "clip", "stride": 2},
        {"frames": 2, "sample": "random-clip", "stride": 3, "draws": 2, "seed": 5},
        {"frames": 15, "short": "loop", "decode_all": True, "shuffle_seed": 3},
        {"size": "32x24", "quality": 50, "optimize": True},
        {"quality": 80, "effort": 0},
        {"target_quality": "psnr:36", "effort": 0},
        {"original": True, "timeout": 30.5, "commit_every": 0.5, "max_failures": "50%", "on_error": "stop"},
        {"short_side": 90, "enlarge": True, "max_pixels": 10**6, "max_duration": 5.5},
        {"picture_fps": 29.97, "segment_clock": "first-frame", "whole_files": True, "pass_through": True},
        {"shard_size": "40kB", "memory": "64MiB", "threads": 2, "io_threads": 0},
        {"shards": 3, "no_isolate": True, "mxnet": True},
    ],
    ids=lambda options: "-".join(options),
)
def test_each_option_does_what_it_does_in_the_program(options, videos, tmp_path):
    plain = program(videos, "-o", tmp_path / "plain")
    done = program(videos, "-o", tmp_path / "program", *as_flags(options))
    assert (plain.returncode, done.returncode) == (0, 0), done.stderr
    report = vidrec.pack(videos, tmp_path / "function", **options)
    assert report.failed == 0 and not report.unchanged
    assert files(tmp_path / "function") == files(tmp_path / "program")
    if not set(options) & {"original"}:  # at their size, these videos are as they are by default
        assert files(tmp_path / "function") != files(tmp_path / "plain")


def test_inputs_are_read_with_the_same_options(videos, tmp_path):
    lists = tmp_path / "list.csv"
    lines = [f"{name},{label},{split}" for name, label, split in
             [("left/0.mp4", "left", "train"), ("right/7.mp4", "right", "train"), ("left/1.mp4", "left", "val")]]
    lists.write_text("\n".join(["path,label,split", *lines]))
    (tmp_path / "classes.txt").write_text("right\nup\nleft\n")
    options = {"root": videos, "classes": tmp_path / "classes.txt", "split": "train", "frames": 1}
    assert program(lists, "-o", tmp_path / "program", *as_flags(options)).returncode == 0
    assert vidrec.pack(lists, tmp_path / "function", **options).clips == 2
    assert files(tmp_path / "function") == files(tmp_path / "program")
    assert vidrec.open(tmp_path / "function").classes == ["right", "up", "left"]


@pytest.mark.parametrize(
    "options",
    [
        {"fps": 6, "frames": 8},
        {"every": 2, "sample": "uniform"},
        {"all": True, "keyframes": True},
        {"fps": 6, "every": 2},
        {"keyframes": True, "stride": 2},
        {"all": True, "draws": 2},
        {"max_frames": 3},
        {"max_frames": 3, "frames": 8},
        {"stride": 2},
        {"sample": "random", "stride": 2},
        {"sample": "clip:3", "stride": 2},
        {"short_side": 64, "size": "32x24"},
        {"short_side": 64, "original": True},
        {"size": "32x24", "original": True},
        {"size": "32x24", "enlarge": True},
        {"original": True, "enlarge": True},
        {"resume": True, "restart": True},
        {"shards": 2, "shard_size": "1GB"},
    ],
    ids=lambda options: "-".join(options),
)
def test_what_goes_not_together_is_refused_in_the_same_words(options, videos, tmp_path):
    refused = program(videos, "-o", tmp_path / "out", *as_flags(options))
    assert refused.returncode == 2, refused.stderr
    with pytest.raises(vidrec.UsageError) as e:
        vidrec.pack(videos, tmp_path / "out", **options)
    first = refused.stderr.splitlines()[0]
    named = re.sub(r"--([a-z-]+)", lambda flag: flag[1].replace("-", "_"), first)
    assert named == f"error: {e.value}"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("frames", [0, -1, 2**20 + 1, 1.5]),
        ("stride", [0, 2**32]),
        ("every", [0]),
        ("draws", [0, 10_001]),
        ("max_frames", [0]),
        ("seed", [-1, 2**64]),
        ("shuffle_seed", [-1]),
        ("fps", [0, "x", "1/0"]),
        ("picture_fps", [0, "-1"]),
        ("short_side", [0, 65_501]),
        ("size", ["0x5", "32", "original"]),
        ("quality", [0, 101, 300, "high"]),
        ("threads", [0, 1025]),
        ("io_threads", [-1, 65]),
        ("memory", [0, "2 apples", "1.5GiB"]),
        ("shards", [0]),
        ("shard_size", [0, "x"]),
        ("max_pixels", [0]),
        ("max_duration", [0, -1, "nan"]),
        ("timeout", [0, -1]),
        ("commit_every", [-1, "x"]),
        ("max_failures", [-1, "101%"]),
    ],
)
def test_values_are_refused_in_the_same_words(name, values, videos, tmp_path):
    more = {"all": True} if name == "max_frames" else {}
    for value in values:
        flag = f"--{name.replace('_', '-')}={value}"
        refused = program(videos, "-o", tmp_path / "out", flag, *as_flags(more))
        assert refused.returncode == 2, refused.stderr
        with pytest.raises(vidrec.UsageError) as e:
            vidrec.pack(videos, tmp_path / "out", **{name: value}, **more)
        argument, words = str(e.value).split(": ", 1)
        assert argument == name and refused.stderr.splitlines()[0].endswith(": " + words), (refused.stderr, words)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["sample", "short", "segment_clock", "on_error"])
def test_unknown_words_are_refused_with_the_known_ones(name, videos, tmp_path):
    refused = program(videos, "-o", tmp_path / "out", f"--{name.replace('_', '-')}", "best")
    assert refused.returncode == 2
    with pytest.raises(vidrec.UsageError) as e:
        vidrec.pack(videos, tmp_path / "out", **{name: "best"})
    known = re.search(r"possible values: (.*)\]", refused.stderr)[1].split(", ")
    found = re.search(r"expected one of (.*), found best", str(e.value))[1].split(", ")
    assert str(e.value).startswith(name) and [word.split("[")[0] for word in found] == known


def test_a_dry_run_gives_the_estimate_and_writes_nothing(videos, tmp_path):
    calls = []
    options = {"fps": 6, "max_frames": 3}
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
    out, options = tmp_path / "out", {"frames": 2, "short_side": 32}
    assert vidrec.pack(videos, out, **options).unchanged is False
    assert vidrec.pack(videos, out, resume=True, **options).unchanged is True
    assert vidrec.pack(videos, out, retry_failed=True, **options).unchanged is True
    assert vidrec.pack(videos, out, force=True, **options).unchanged is False


@pytest.mark.parametrize("options", [{"retry_failed": True}, {"draws": 2}], ids=lambda options: "-".join(options))
def test_what_the_library_refuses_is_refused_in_its_words(options, videos, tmp_path):
    refused = program(videos, "-o", tmp_path / "out", *as_flags(options))
    with pytest.raises(vidrec.UsageError) as e:
        vidrec.pack(videos, tmp_path / "out", **options)
    assert refused.stderr == f"vidrec: {e.value}\n"


def test_an_export_for_mxnet_is_replaced(videos, tmp_path):
    out, options = tmp_path / "out", {"frames": 2, "mxnet": True}
    calls = []
    for shards in (1, 2):
        vidrec.pack(videos, out, shards=shards, overwrite=True, progress=lambda *call: calls.append(call), **options)
        assert len(list((out / "mxnet").glob("*.rec"))) == shards
    # An export counts clips; what the caller gets are videos.
    assert calls[-1] == (12, 12) and calls.count((0, 12)) <= 2


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
        vidrec.pack(broken.parent, tmp_path / "out", on_error="stop", progress=True)
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
