"""What examples/cluster/slurm.sh hands to Slurm, with programs in the place of Slurm's and vidrec's."""
import os
import subprocess

from conftest import TEMPLATES

FAKES = {
    # Parts 3, 1003 and 1004 of a plan are not done.
    "vidrec": 'echo "vidrec $*" >> "$CALLS"; case "$*" in *--missing*) printf "3\\n1003\\n1004\\n"; exit 3;; esac',
    "scontrol": 'echo "MaxArraySize            = 1000"',
    "sbatch": 'echo "sbatch $*" >> "$CALLS"; cat >> "$CALLS"; echo 7',
}


def calls(tmp_path, *options):
    for name, text in FAKES.items():
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\n{text}\n")
        program.chmod(0o755)
    log = tmp_path / "calls"
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "CALLS": str(log)}
    command = [TEMPLATES / "slurm.sh", "s3://bucket/plan", *options]
    subprocess.run(command, check=True, env=environment, cwd=tmp_path, stdout=subprocess.DEVNULL)
    return log.read_text()


def test_storage_and_scratch_reach_every_command(tmp_path):
    options = ["--at-a-time", "20", "--tasks", "1000", "--scratch", "/scratch/$USER", "--partition=cpu"]
    told = calls(tmp_path, *options, "--storage", "region=eu-west-1", "--storage", "endpoint=http://a b")
    lines = told.splitlines()
    of = [line for line in lines if line.startswith("vidrec ")]
    assert len(of) == 3 and all("--storage" in line for line in of), told
    assert "vidrec pack s3://bucket/plan --part auto --tasks 1000 --storage region=eu-west-1" in told
    assert "--storage endpoint=http://a\\ b" in told, "quoted for the shell of the task"
    # An array has fewer tasks than there are parts.
    assert "--array=3,4%20 " in told and "--dependency=afterany:7" in told and told.count("--partition=cpu") == 2
    assert 'export TMPDIR="/scratch/$USER"' in lines, "which the shell of the task expands"
