"""The README of the project and that of the package are true: their commands and their Python run, in order."""
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def blocks(guide):
    return re.findall(r"^```(python|sh)\n(.*?)^```$", guide.read_text("utf-8"), re.M | re.S)


@pytest.mark.parametrize("guide, programs", [(ROOT / "README.md", 1), (ROOT / "python/README.md", 4)], ids=["project", "package"])
def test_the_guide_runs(videos, tmp_path, monkeypatch, guide, programs):
    pytest.importorskip("torch")
    (tmp_path / "videos").symlink_to(videos)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    names, ran = {}, []
    for language, code in blocks(guide):
        if language == "sh":
            for line in code.splitlines():
                if not line.startswith("pip "):
                    subprocess.run(line, shell=True, check=True)
        else:
            exec(compile(code, str(guide), "exec"), names)
            ran.append(code)
    assert len(ran) == programs and (tmp_path / "sheet.png").stat().st_size > 1000
