"""The example that decodes by DALI makes the loader's pictures: on the CPU, and on the GPU where there is one."""
import re
import subprocess
import sys

import pytest
from conftest import ROOT
from nvidia.dali import backend

pytest.importorskip("vidrec", reason="not asked for: the Python package was not built")


@pytest.mark.parametrize("device", [-1, 0])
def test_its_pictures_are_near_those_of_the_loader(packed, device):
    if device >= backend.GetCUDADeviceCount():
        pytest.skip("another machine: there is no device")
    command = [sys.executable, ROOT / "examples/dali_gpu.py", packed, "--batch-size", "2", "--size", "48"]
    done = subprocess.run([*command, "--device-id", str(device)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    # Other builds of libjpeg, and decoders of GPUs, have an inverse DCT and an upsampling of chroma of their own.
    assert float(re.search(r"([\d.]+) dB", done.stdout)[1]) > 30, done.stdout
    assert re.search(r"frames/s: [\d,]+ from JPEGs", done.stdout), done.stdout
