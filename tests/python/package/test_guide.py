"""python/README.md is true: its commands and its Python run, in order."""
import ast
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import patch_lightning

GUIDE = Path(__file__).parents[3] / "python/README.md"


def blocks():
    return re.findall(r"^```(python|sh)\n(.*?)^```$", GUIDE.read_text("utf-8"), re.M | re.S)


def missing(code):
    """Modules that it imports and that are not installed."""
    found = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module)
    return {name.split(".")[0] for name in found if importlib.util.find_spec(name.split(".")[0]) is None}


def test_the_guide_runs(videos, tmp_path, monkeypatch):
    pytest.importorskip("torch")
    (tmp_path / "videos").symlink_to(videos)
    monkeypatch.chdir(tmp_path)
    programs = Path(sys.executable).parent
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    patch_lightning(monkeypatch)
    names, ran = {}, []
    for language, code in blocks():
        if language == "sh":
            for line in code.splitlines():
                if not line.startswith("pip "):
                    subprocess.run(line, shell=True, check=True)
        elif not missing(code):
            exec(compile(code, str(GUIDE), "exec"), names)
            ran.append(code)
        else:
            assert missing(code) <= {"torchvision", "pytorch_lightning", "accelerate", "torchdata"}
    assert len(ran) >= 9 and (tmp_path / "sheet.png").stat().st_size > 1000
