"""The references that a reader has without the site are what the program and the package say."""
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts/docs"))
import commands  # noqa: E402


@pytest.mark.skipif(commands.program() is None, reason="there is no vidrec")
def test_references_as_text_are_current():
    run = subprocess.run([sys.executable, ROOT / "scripts/docs/plain.py"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
