"""The commands of examples/cluster/kubernetes.yaml, run as its pods would run them, without Kubernetes."""
import os
import subprocess

import pytest
from conftest import PARTS, TEMPLATES, digests

yaml = pytest.importorskip("yaml")


@pytest.fixture(scope="module")
def jobs():
    documents = yaml.safe_load_all((TEMPLATES / "kubernetes.yaml").read_text())
    return {job["metadata"]["name"]: job["spec"] for job in documents}


def pod(job, plan, part=None):
    """Starts the container of a pod."""
    (container,) = job["template"]["spec"]["containers"]
    (script,) = container["args"]
    environment = {**os.environ, **({} if part is None else {"JOB_COMPLETION_INDEX": str(part)})}
    command = [*container["command"], script.replace("/shared/train", str(plan))]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_pods_pack_and_the_last_one_publishes(jobs, plan, expected):
    parts, publish = jobs["vidrec-parts"], jobs["vidrec-publish"]
    assert parts["completionMode"] == "Indexed" and parts["completions"] > 1
    (script,) = parts["template"]["spec"]["containers"][0]["args"]
    assert f"--tasks {parts['completions']} " in script
    for part in reversed(range(PARTS)):
        refused = pod(publish, plan)
        assert refused.wait() == 1 and "not done" in refused.stderr.read()
        packed = pod(parts, plan, part)
        assert packed.wait() == 0, packed.stderr.read()
    published = pod(publish, plan)
    assert published.wait() == 0, published.stderr.read()
    assert digests(plan) == expected
