"""`pip install ./python` packs where FFmpeg's development files are."""
import importlib.util
import re
import sys
import types
from pathlib import Path

import pytest

BACKEND = Path(__file__).resolve().parents[2] / "python/build_backend/build_backend.py"
HOOKS = ("build_sdist", "get_requires_for_build_editable", "get_requires_for_build_sdist", "get_requires_for_build_wheel")
PACK = ["--features", "pack"]


@pytest.fixture
def backend(monkeypatch, tmp_path):
    """The backend, with a `pkg-config` whose status is in a file; what hooks were given is in `backend.maturin.given`."""
    maturin = types.ModuleType("maturin")
    for hook in HOOKS:
        setattr(maturin, hook, None)
    maturin.build_wheel = lambda folder, given, metadata: maturin.__dict__.update(given=given)
    monkeypatch.setitem(sys.modules, "maturin", maturin)
    program = tmp_path / "pkg-config"
    program.write_text(f"#!/bin/sh\nexit $(cat {tmp_path}/status)\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("LIBCLANG_PATH", "/usr/lib")
    monkeypatch.delenv("MATURIN_PEP517_ARGS", raising=False)
    spec = importlib.util.spec_from_file_location("build_backend", BACKEND)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.find = lambda found: (tmp_path / "status").write_text("0" if found else "1")
    return module


def args(backend, given=None):
    backend.build_wheel("wheels", given)
    return backend.maturin.given["maturin.build-args"]


def test_with_the_development_files_it_packs(backend, monkeypatch, capsys):
    backend.find(True)
    assert args(backend) == PACK
    assert args(backend, {"editable-mode": "x"}) == PACK
    monkeypatch.setenv("MATURIN_PEP517_ARGS", "--profile dev")
    assert args(backend) == ["--profile", "dev", *PACK]
    assert capsys.readouterr().err == ""


def test_without_them_it_says_how_to_get_them(backend, capsys):
    backend.find(False)
    assert args(backend) == []
    said = capsys.readouterr().err
    assert "cannot pack videos" in said and "apt-get install" in said and "libavcodec-dev" in said


def test_features_that_are_named_are_taken_as_they_are(backend, monkeypatch, capsys):
    backend.find(False)
    assert args(backend, {"maturin.build-args": "--features static-ffmpeg"}) == ["--features", "static-ffmpeg"]
    monkeypatch.setenv("MATURIN_PEP517_ARGS", "--profile dev --features=pack")
    assert args(backend) == ["--profile", "dev", "--features=pack"]
    assert capsys.readouterr().err == ""


def test_the_error_has_the_same_packages(backend):
    """What a build that cannot pack says at run time, in Python and in the program."""
    for place in ("python/vidrec/_pack_options.py", "src/cli/no_packing.rs"):
        text = (BACKEND.parents[2] / place).read_text(encoding="utf-8")
        assert backend.ADVICE in re.sub(r'"\n\s*"', "", text), place
