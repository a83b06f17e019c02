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
    spec = importlib.util.spec_from_file_location("build_backend", BACKEND)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.find = lambda found: (tmp_path / "status").write_text("0" if found else "1")
    return module


@pytest.mark.parametrize(
    ("found", "given", "asked", "expected"),
    [
        (True, None, "", PACK),
        (True, {"editable-mode": "x"}, "--profile dev", ["--profile", "dev", *PACK]),
        (False, None, "", []),
        (False, {"maturin.build-args": "--features static-ffmpeg"}, "", ["--features", "static-ffmpeg"]),
        (False, None, "--features=pack", ["--features=pack"]),
    ],
)
def test_it_packs_where_the_development_files_are_and_says_how_to_get_them(backend, monkeypatch, capsys, found, given, asked, expected):
    backend.find(found)
    monkeypatch.setenv("MATURIN_PEP517_ARGS", asked)
    backend.build_wheel("wheels", given)
    assert backend.maturin.given["maturin.build-args"] == expected
    said = capsys.readouterr().err
    assert ("cannot pack videos" in said and "apt-get install" in said and "libavcodec-dev" in said) == (expected == [])


def test_the_error_has_the_same_packages(backend):
    """What a build that cannot pack says at run time, in Python and in the program."""
    for place in ("python/vidrec/_pack_options.py", "src/cli/no_packing.rs"):
        text = (BACKEND.parents[2] / place).read_text(encoding="utf-8")
        assert backend.ADVICE in re.sub(r'"\n\s*"', "", text), place
