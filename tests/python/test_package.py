"""The package itself: types, documentation, the program, long work with progress."""
import contextlib
import doctest
import importlib
import importlib.metadata
import importlib.util
import inspect
import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from programs import files, program

import vidrec
from vidrec import _vidrec
from vidrec._values import Value

STUB = Path(_vidrec.__file__).with_name("_vidrec.pyi")
NAMES = ["errors", "dataset", "batch", "loader", "tools", "packing", "parts", "edit", "checks", "reports", "mixing", "tracks", "words"]
NAMES += ["frames", "crops", "colors", "orders", "batching", "cameras", "memory"]
NAMES += ["writer", "convert", "results", "results._result", "torch", "vlm", "grain"]
MODULES = ["vidrec", *(f"vidrec.{name}" for name in NAMES), pytest.param("vidrec.transformers", marks=pytest.mark.full)]


def test_it_is_typed_and_versions_agree():
    assert STUB.with_name("py.typed").exists()
    assert vidrec.__version__ == importlib.metadata.version("vidrec") == _vidrec.__version__


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_the_documentation_run(name, train, monkeypatch):
    if name in ("vidrec.torch", "vidrec.transformers", "vidrec.vlm"):
        pytest.importorskip("torch")
    if name == "vidrec.transformers":
        pytest.importorskip("transformers")
    monkeypatch.chdir(train.parent)
    failed, _ = doctest.testmod(
        importlib.import_module(name), extraglobs={"vidrec": vidrec}, optionflags=doctest.ELLIPSIS
    )
    assert failed == 0


@pytest.mark.parametrize("name", vidrec.__all__)
def test_everything_public_is_documented(name):
    value = getattr(vidrec, name)
    assert name == "__version__" or value.__doc__
    fields = value.__dataclass_fields__ if inspect.isclass(value) and issubclass(value, Value) else ()
    assert all(field in value.__doc__ for field in fields)
    for member, function in vars(value).items() if inspect.isclass(value) else ():
        if member not in fields and not member.startswith("_") and not inspect.isdatadescriptor(function) or isinstance(function, property):
            assert inspect.getdoc(function), f"{name}.{member}"
    if callable(value) and not inspect.isclass(value) or value is vidrec.Loader:
        for parameter in inspect.signature(value).parameters:
            assert parameter.strip("*") in value.__doc__, f"{name}: {parameter}"


def test_neither_torch_nor_opencv_is_imported():
    code = "import sys, vidrec; print(sorted({m.split('.')[0] for m in sys.modules} & {'torch', 'cv2', 'tqdm', 'PIL'}))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"


def test_the_program_is_installed(train, damaged):
    assert json.loads(program("inspect", train, "--json").stdout)["clips"] == 12
    program("verify", train)
    program("verify", damaged, status=3)
    program("nonsense", status=2)
    module = subprocess.run([sys.executable, "-m", "vidrec", "--version"], capture_output=True, text=True)
    assert module.stdout.splitlines()[0] == f"vidrec {vidrec.__version__}"


def test_ctrl_c_ends_the_program(train):
    """Once it serves a page."""
    command = [Path(sys.executable).with_name("vidrec"), "browse", train]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    assert running.stdout.readline()
    running.send_signal(signal.SIGINT)
    assert running.wait(60) == 0


def test_verify_reports_all_problems_and_progress(train, damaged, tmp_path):
    def stop(done, total):
        raise ZeroDivisionError

    calls = []
    assert vidrec.verify(train, deep=True, progress=lambda *call: calls.append(call)).ok
    assert calls and calls[-1][0] <= calls[-1][1]
    with pytest.raises(ZeroDivisionError):
        vidrec.verify(train, progress=stop)
    report = vidrec.verify(damaged)
    assert not report.ok and {problem.kind for problem in report.problems} >= {"jpeg-crc"}
    with pytest.raises(vidrec.FileError):
        vidrec.verify(tmp_path / "nothing")


def test_pack_says_what_it_left_out(videos, tmp_path):
    source = tmp_path / "videos" / "a"
    source.mkdir(parents=True)
    shutil.copy(videos / "left/0.mp4", source / "good.mp4")
    (source / "bad.mp4").write_bytes(b"no video")
    calls = []
    report = vidrec.pack(source.parent, tmp_path / "out", frames=3, size=(24, 32), progress=lambda *c: calls.append(c))
    assert (report.clips, report.failed, report.failures[0].source, calls[-1]) == (1, 1, "a/bad.mp4", (2, 2))
    assert vidrec.open(tmp_path / "out")[0].frames().shape == (3, 24, 32, 3)
    with pytest.raises(vidrec.UsageError, match="already"):
        vidrec.pack(source.parent, tmp_path / "out")
    with pytest.raises(vidrec.DecodeError):
        vidrec.pack(source.parent, tmp_path / "other", max_failures=0)
    assert not (tmp_path / "other" / "dataset.json").exists()


def test_processes_that_decode_give_the_same_files(videos, tmp_path, capfd):
    arguments = ["--frames", "3", "--size", "32x24", "-j", "2", "--root", tmp_path]
    program("pack", videos, "-o", tmp_path / "apart", *arguments)
    expected = files(tmp_path / "apart")

    # Also where the current folder has a module of a name that the process imports.
    (tmp_path / "json.py").write_text("raise SystemExit")
    with contextlib.chdir(tmp_path) if hasattr(contextlib, "chdir") else contextlib.nullcontext():
        vidrec.pack(videos, tmp_path / "function", frames=3, size=(24, 32), root=tmp_path, threads=2)
    vidrec.pack(videos, tmp_path / "together", frames=3, size=(24, 32), root=tmp_path, threads=2, isolate=False)
    assert capfd.readouterr().err == ""
    assert files(tmp_path / "function") == files(tmp_path / "together") == expected


def test_true_shows_progress(train, capsys):
    vidrec.verify(train, progress=True)
    shown = capsys.readouterr().err
    # In a line of ours, or one of tqdm.
    assert "96 of 96 frames" in shown or "96/96" in shown and importlib.util.find_spec("tqdm")


def test_without_torch_batches_are_arrays(train):
    code = """
import sys
sys.modules["torch"] = None  # as if it were not installed
import numpy, vidrec
batch = next(iter(vidrec.Loader(sys.argv[1], 4, crop=32)))
assert type(batch.frames) is type(batch.labels) is numpy.ndarray and batch.mask.all()
"""
    subprocess.run([sys.executable, "-c", code, train], check=True)
