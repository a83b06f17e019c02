"""examples/cluster/spark.py on Spark's own local engine."""
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import TEMPLATES, Stopped, digests

pytest.importorskip("pyspark")
if not shutil.which("java"):
    pytest.skip("no Java runtime", allow_module_level=True)

LOOPBACK = ["spark.driver.bindAddress=127.0.0.1", "spark.driver.host=127.0.0.1", "spark.ui.enabled=false"]


def submit(plan, master):
    options = [word for setting in LOOPBACK for word in ("--conf", setting)]
    command = [Path(sys.executable).parent / "spark-submit", "--master", master, *options, TEMPLATES / "spark.py", plan]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_task_that_dies_is_tried_again(plan, expected):
    job = submit(plan, "local[2,2]")
    Stopped(plan).kill()
    told, said = job.communicate()
    assert job.returncode == 0, said
    assert "packed 5 parts: 15 clips" in told and "published 15 clips; 1 videos were skipped" in told
    assert digests(plan) == expected


def test_it_publishes_nothing_while_a_part_is_not_done(plan, expected):
    job = submit(plan, "local[2,1]")
    Stopped(plan).kill()
    _, said = job.communicate()
    assert job.returncode != 0 and not (plan / "dataset.json").exists()
    job = submit(plan, "local[2,1]")
    _, said = job.communicate()
    assert job.returncode == 0, said
    assert digests(plan) == expected
