"""vidrec writes to real servers what it writes to a folder, and reads it back."""
import json
from pathlib import Path

import pytest

from conftest import OPTIONS
from run import vidrec


# Web servers are read-only, and fake-gcs-server has no PUT of the XML interface.
pytestmark = pytest.mark.parametrize("server", ["s3", pytest.param("azure", marks=pytest.mark.full)], indirect=True)


def done(server, *arguments):
    run = vidrec(*arguments, environment=server.environment)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_what_is_packed_or_pushed_there_is_read_back_byte_for_byte(server, data_set, tmp_path):
    pushed, packed = map(server.location, ("written/pushed", "written/packed"))
    report = json.loads(done(server, "push", data_set, pushed, "--json"))
    assert report["bytes"] > 0 and not report["found"] and not report["notes"]
    done(server, "pack", data_set.parent / "videos", "-o", packed, *OPTIONS)
    for name, location in (("pushed", pushed), ("packed", packed)):
        done(server, "fetch", location, "-o", tmp_path / name)
        for path in filter(Path.is_file, data_set.iterdir()):
            assert (tmp_path / name / path.name).read_bytes() == path.read_bytes(), path
    assert json.loads(done(server, "push", data_set, pushed, "--json"))["found"]


def test_an_edit_replaces_a_data_set_only_if_told(server, data_set, tmp_path):
    location = server.location("written/edited")
    edit = ["subset", data_set, "--shards", "3", "-o", location]
    done(server, *edit)
    again = vidrec(*edit, environment=server.environment)
    assert again.returncode == 1 and "--overwrite" in again.stderr, again.stderr
    done(server, "subset", data_set, "--clips", "1", "-o", location, "--overwrite")
    assert json.loads(done(server, "inspect", location, "--json"))["clips"] == 1
    assert "1 clip" in done(server, "verify", location)
