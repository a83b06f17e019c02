"""examples/cluster/slurm.sh on a Slurm cluster of one node."""
import subprocess

import pytest
from conftest import TEMPLATES, Stopped, digests, vidrec, wait_for
from slurm import Slurm, cannot_run

if cannot_run():
    pytest.skip(cannot_run(), allow_module_level=True)


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    slurm = Slurm(tmp_path_factory.mktemp("slurm"))
    try:
        wait_for(slurm.is_up, "Slurm does not come up")
        yield slurm
    finally:
        slurm.stop()


def submit(slurm, plan, *options):
    command = [TEMPLATES / "slurm.sh", plan, *options, "--cpus-per-task=1", "--mem=100M"]
    return subprocess.run(command, env=slurm.environment, capture_output=True, text=True)


def test_what_is_missing_is_submitted_again(slurm, plan, expected):
    assert submit(slurm, plan).returncode == 0
    stopped = Stopped(plan)
    stopped.kill()
    wait_for(slurm.is_idle, "jobs do not end")
    # The publishing job refused.
    (said,) = [log.read_text() for log in (plan / "logs").glob("publish-*.log")]
    assert f"1 of 5 parts are not done: found no receipts of {stopped.part};" in said
    assert not (plan / "dataset.json").exists()
    # The nodes are this machine, which knows that the attempt is dead.
    assert vidrec("status", plan, "--missing", status=3) == f"{stopped.part}\n"
    assert submit(slurm, plan).returncode == 0
    wait_for(slurm.is_idle, "jobs do not end")
    assert digests(plan) == expected
    # Only the part that died has a second log.
    tried = [log.name.partition("-")[0] for log in (plan / "logs").glob("[0-9]*.log")]
    assert sorted(tried) == sorted(["0", "1", "2", "3", "4", str(stopped.part)])
    assert vidrec("status", plan, "--missing") == ""


def test_a_few_tasks_pack_all_parts(slurm, plan, expected):
    done = submit(slurm, plan, "--tasks", "2", "--at-a-time", "1")
    assert done.returncode == 0, done.stderr
    wait_for(slurm.is_idle, "jobs do not end")
    assert digests(plan) == expected
    assert sorted(log.name.partition("-")[0] for log in (plan / "logs").glob("[0-9]*.log")) == ["0", "1"]
