"""`vidrec.ray` on a cluster of nodes that die, all on the loopback."""
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from conftest import PARTS, TEMPLATES, Stopped, digests, vidrec, wait_for

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
# As on a laptop: the nodes are on the loopback, and not on the machine's address.
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
# Beside other work, as fast as the tests themselves.
os.environ["RAY_worker_niceness"] = "0"
# A node is found dead within seconds.
os.environ["RAY_health_check_period_ms"] = "500"
os.environ["RAY_health_check_failure_threshold"] = "4"
ray = pytest.importorskip("ray", exc_type=ImportError)
cluster_utils = pytest.importorskip("ray.cluster_utils", exc_type=ImportError)

sys.path.append(str(Path(__file__).parents[1] / "remote"))
from program import built  # noqa: E402
from proxy import Proxy  # noqa: E402

import vidrec as package  # noqa: E402
import vidrec.ray as on_ray  # noqa: E402


@pytest.fixture(scope="module")
def cluster():
    """A head that packs nothing, and two nodes of one core."""
    memory = {"object_store_memory": 100 << 20, "node_ip_address": "127.0.0.1"}
    head = {"num_cpus": 0, "include_dashboard": False, **memory}
    cluster = cluster_utils.Cluster(initialize_head=True, head_node_args=head)
    for _ in range(2):
        cluster.add_node(num_cpus=1, **memory)
    cluster.node_arguments = {"num_cpus": 1, **memory}
    ray.init(address=cluster.address, log_to_driver=False)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


def in_background(call):
    """Runs `call` in a thread; what waits for its result."""
    results = []
    thread = threading.Thread(target=lambda: results.append(call()), daemon=True)
    thread.start()

    def result():
        thread.join()
        return results[0]

    return result


def test_a_pack_is_that_of_one_machine(cluster, videos, expected, tmp_path):
    seen = []
    report = on_ray.pack(videos, tmp_path / "set", shards=PARTS, progress=lambda done, of: seen.append((done, of)))
    assert digests(tmp_path / "set") == expected
    assert (report.clips, report.failed) == (15, 1)
    assert seen[0] == (0, 16) and seen[-1] == (16, 16)
    with pytest.raises(package.UsageError, match="overwrite=True"):
        on_ray.pack(videos, tmp_path / "set", shards=PARTS)
    assert on_ray.pack(videos, tmp_path / "set", shards=PARTS, overwrite=True, memory=200 << 20).clips == 15
    assert digests(tmp_path / "set") == expected and not (tmp_path / "set/.vidrec.pack").exists()


@pytest.fixture
def bucket(tmp_path):
    """The folder of a bucket, and how it is reached."""
    try:
        program = built("fault-proxy")
    except FileNotFoundError as error:
        pytest.skip(str(error))
    folder = tmp_path / "store/bucket"
    folder.mkdir(parents=True)
    server = Proxy(program, "--folder", folder.parent, "--writable")
    keys = {"access_key_id": "me", "secret_access_key": "hunter2"}
    yield folder, {"storage_options": {"endpoint": server.url, "region": "us-east-1", **keys}}
    server.stop()


def test_the_data_set_may_be_in_a_bucket(cluster, videos, expected, bucket, tmp_path):
    folder, there = bucket
    there.update(shards=PARTS, scratch=tmp_path / "scratch", storage_timeout=60)
    assert on_ray.pack(videos, "s3://bucket/set", **there).clips == 15
    assert digests(folder / "set") == expected
    assert not list((tmp_path / "scratch").iterdir())
    assert not [path for path in (folder / "set/.vidrec.pack").rglob("*") if path.is_file()]
    with pytest.raises(package.UsageError, match="overwrite=True"):
        on_ray.pack(videos, "s3://bucket/set", **there)


def test_a_task_is_tried_again_when_its_node_dies(cluster, videos, expected, tmp_path):
    result = in_background(lambda: on_ray.pack(videos, tmp_path / "set", shards=PARTS))
    stopped = Stopped(tmp_path / "set")
    # The stopped process is of one of the two nodes. Both die, and others come.
    for node in list(cluster.worker_nodes):
        cluster.remove_node(node, allow_graceful=False)
    wait_for(stopped.is_gone, "the process outlives its node")
    for _ in range(2):
        cluster.add_node(**cluster.node_arguments)
    assert result().clips == 15
    assert digests(tmp_path / "set") == expected


def test_the_same_call_continues_when_the_driver_died(cluster, videos, expected, tmp_path):
    out = tmp_path / "set"
    command = [sys.executable, TEMPLATES / "ray_pack.py", videos, out, "--shards", str(PARTS)]
    driver = subprocess.Popen(command, env={**os.environ, "RAY_ADDRESS": cluster.address}, stderr=subprocess.DEVNULL)
    stopped = Stopped(out)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    wait_for(stopped.is_gone, "the process outlives its driver")
    assert not (out / "dataset.json").exists()
    subprocess.run(command, env={**os.environ, "RAY_ADDRESS": cluster.address}, check=True)
    assert digests(out) == expected


def test_errors_name_their_parts_and_keep_the_others(cluster, videos, tmp_path):
    with pytest.raises(package.Error, match=rf"1 of {PARTS} parts ended with errors") as error:
        on_ray.pack(videos, tmp_path / "set", shards=PARTS, max_failures=0)
    broken = f"part {PARTS - 1}: "
    assert broken in str(error.value) and "right/broken.mp4" in str(error.value)
    assert json.loads(vidrec("status", tmp_path / "set", "--json", status=3))["missing"] == [PARTS - 1]
    assert not (tmp_path / "set/dataset.json").exists()


@pytest.fixture(scope="module")
def packed(videos, tmp_path_factory):
    out = tmp_path_factory.mktemp("packed") / "set"
    vidrec("pack", videos, "-o", out, "--shards", PARTS, status=3)
    return out


def test_rows_are_the_clips(cluster, packed):
    ds = package.open(packed)
    rows = on_ray.read(packed, override_num_blocks=4)
    assert rows.count() == len(ds)
    rows = sorted(rows.take_all(), key=lambda row: row["clip"])
    for clip, row in zip(ds, rows):
        facts = (clip.index, clip.source, clip.label, clip.class_name)
        assert (row["clip"], row["source"], row["label"], row["class"]) == facts
        assert json.loads(row["attributes"]) == clip.attributes
        assert list(row["frames"]) == [clip.jpeg(t) for t in range(len(clip))]
    for clip, row in zip(ds, on_ray.read(ds[:3], frames="rgb", override_num_blocks=1).take_all()):
        assert np.array_equal(row["frames"], clip.frames())
