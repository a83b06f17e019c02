"""What was measured with."""
import os
import re
import shutil
import subprocess
from importlib import metadata
from pathlib import Path

import torch

PACKAGES = ("vidrec", "warp-lang", "torch", "torchvision")


def processor():
    text = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    found = re.search(r"model name\s*: (.*)", text)
    return found[1] if found else "unknown"


def versions():
    found = {}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            pass
    return found


def machine(device):
    told = {"processor": processor(), "cores": len(os.sched_getaffinity(0)), "device": str(device), "versions": versions()}
    if device.type == "cuda":
        told.update(gpu=torch.cuda.get_device_name(device), cuda=torch.version.cuda, driver=driver())
        told["multiprocessors"] = torch.cuda.get_device_properties(device).multi_processor_count
    return told


def driver():
    if not shutil.which("nvidia-smi"):
        return "no nvidia-smi in PATH"
    command = ["nvidia-smi", "--query-gpu=driver_version,clocks.max.sm,power.limit", "--format=csv,noheader"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
