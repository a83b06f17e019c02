"""The tests of vidrec's kernels on a device, and NVIDIA's checkers of their memory accesses."""
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
ONE_BATCH = """
import sys, vidrec
loader = vidrec.Loader(sys.argv[1], 4, crop=vidrec.RandomResizedCrop(112), dtype="float32", device=sys.argv[2], threads=1)
print(next(iter(loader)).frames.float().mean().item())
"""


def last_line(command, **more):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    lines = done.stdout.strip().splitlines() or ["no output"]
    return {"passed": done.returncode == 0, "told": lines[-1] if done.returncode == 0 else "\n".join(lines[-20:])}


def tests(device, quick):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/python/test_device.py"]
    command += ["-k", "a_run_moves"] if quick else []
    command += ["-n", "6"] if importlib.util.find_spec("xdist") and not quick else []
    return last_line(command, cwd=REPOSITORY, env={**os.environ, "VIDREC_DEVICE": str(device)})


def sanitizer(dataset, device):
    """What each tool of compute-sanitizer says about a batch; or why it did not run."""
    program = shutil.which("compute-sanitizer")
    if device.type != "cuda" or not program:
        return "it needs a GPU" if device.type != "cuda" else "no compute-sanitizer in PATH"
    options = ["--error-exitcode", "9", sys.executable, "-c", ONE_BATCH, dataset, device]
    return {tool: last_line([program, "--tool", tool, *options]) for tool in ("memcheck", "racecheck")}
