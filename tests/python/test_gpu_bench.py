"""benches/gpu/run.py works without a GPU, too, and its results have the form of files in benches/results."""
import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.full
ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts/draw"))
import results  # noqa: E402


def test_a_try_without_a_gpu_writes_all_results(tmp_path):
    for module in ("torch", "torchvision", "warp"):
        pytest.importorskip(module)
    out = tmp_path / "gpu.json"
    command = [sys.executable, ROOT / "benches/gpu/run.py", "--device", "cpu", "--quick", "--out", out]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(out.read_text())
    assert report["machine"]["device"] == "cpu" and {"vidrec", "torch", "warp-lang"} & set(report["machine"]["versions"])
    shown = {name: results.parse(given) for name, given in report["results"].items()}
    assert set(shown) == {"batches", "processor", "steps"}
    for each in ("batches", "processor"):
        for name in ("vidrec, device", "vidrec, threads and a copy", "torchvision (nvJPEG)"):
            for middle, least, most in shown[each].row(name).values:
                assert 0 < least <= middle <= most
    assert [row.name for row in shown["steps"].rows] == ["loader's threads", "loader's device", "one batch again and again"]
    # Who has no figure has a reason.
    assert {each["name"] for each in report["failed"]} >= {"DALI, mixed", "nvImageCodec"}
    assert all(each["why"] for each in report["failed"])
    assert report["tests"]["passed"] and " passed" in report["tests"]["told"]
    assert report["sanitizer"] == "it needs a GPU"
