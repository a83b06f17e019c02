"""The example that decodes by torchvision: on the GPU where there is one, else on the CPU. DALI's is in `tests/interop`."""
import re
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.full
EXAMPLE = Path(__file__).parents[2] / "examples/torchvision_gpu.py"


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_its_pictures_are_near_those_of_the_loader(train, device):
    pytest.importorskip("torchvision")
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("another machine: there is no device")
    command = [sys.executable, EXAMPLE, train, "--batch-size", "4", "--size", "56", "--device", device]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    decibels = float(re.search(rf"decoded on {device}: ([\d.]+) dB", told)[1])
    # Decoders of GPUs have an inverse DCT and an upsampling of chroma of their own.
    assert decibels > (45 if device == "cpu" else 30), told
    assert re.search(r"frames/s: [\d,]+ from JPEGs", told), told
