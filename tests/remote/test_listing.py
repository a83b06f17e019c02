"""A location in object storage as an input: the videos below it, and their versions as the list of the server has them."""
import json
import subprocess

import pytest

import servers
from run import fails, vidrec


@pytest.fixture(scope="module")
def video(tmp_path_factory):
    path = tmp_path_factory.mktemp("video") / "a.mp4"
    source = "testsrc2=size=64x48:rate=10:duration=1"
    subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", source, "-c:v", "mpeg4", path], check=True)
    return path.read_bytes()


def test_videos_below_a_location_are_planned_and_packed(server, video, tmp_path):
    location = server.location("listed/videos/")
    if not isinstance(server, (servers.S3, servers.Azure, servers.Gcs)):
        run = vidrec("plan", location, "-o", tmp_path / "plan", environment=server.environment)
        fails(run, "do not list")
        return
    for key in ["b/2.mp4", "a/1 & more.mp4", "a/notes.txt", "c/deep/3.mp4"]:
        server.put(f"listed/videos/{key}", video)
    plan = vidrec("plan", location, "-o", tmp_path / "plan", "--shards", "2", "--json", environment=server.environment)
    assert plan.returncode == 0, plan.stderr
    assert json.loads(plan.stdout)["bytes"] == 3 * len(video) and ".txt" in plan.stderr
    (listed,) = (tmp_path / "plan/.vidrec.pack").glob("jobs-*.jsonl")
    jobs = [json.loads(line) for line in listed.read_text().splitlines()]
    assert [job["job"]["source"] for job in jobs] == ["a/1 & more.mp4", "b/2.mp4", "c/deep/3.mp4"]
    # A part asks for the version of each video, and refuses one that differs.
    for part in range(2):
        done = vidrec("pack", tmp_path / "plan", "--part", part, "--no-isolate", environment=server.environment)
        assert done.returncode == 0, done.stderr
    done = vidrec("publish", tmp_path / "plan", "--json", environment=server.environment)
    assert done.returncode == 0 and json.loads(done.stdout)["clips"] == 3, done.stderr
