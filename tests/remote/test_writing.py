"""vidrec writes to real servers what it writes to a folder, and reads it back."""
import json

import pytest

import servers
from run import vidrec


@pytest.fixture
def writable(server):
    if not isinstance(server, (servers.S3, servers.Azure)):
        pytest.skip("not asked for: web servers are read-only, and fake-gcs-server has no PUT of the XML interface")
    return server


def done(server, *arguments):
    run = vidrec(*arguments, environment=server.environment)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_a_pushed_data_set_is_read_back_byte_for_byte(writable, data_set, tmp_path):
    location = writable.location("written/pushed")
    report = json.loads(done(writable, "push", data_set, location, "--json"))
    assert report["bytes"] > 0 and not report["found"] and not report["notes"]
    done(writable, "fetch", location, "-o", tmp_path / "back")
    for path in (path for path in data_set.iterdir() if path.is_file()):
        assert (tmp_path / "back" / path.name).read_bytes() == path.read_bytes(), path.name
    assert json.loads(done(writable, "push", data_set, location, "--json"))["found"]


def test_an_edit_replaces_a_data_set_only_if_told(writable, data_set, tmp_path):
    location = writable.location("written/edited")
    edit = ["reshard", data_set, "--shards", "3", "-o", location]
    done(writable, *edit)
    again = vidrec(*edit, environment=writable.environment)
    assert again.returncode == 1 and "--overwrite" in again.stderr, again.stderr
    done(writable, "subset", data_set, "--clips", "1", "-o", location, "--overwrite")
    assert json.loads(done(writable, "inspect", location, "--json"))["clips"] == 1
    assert "1 clip" in done(writable, "verify", location)
