"""Videos and servers for the pages of the documentation."""
import os
import shutil
import sys
import time
import urllib.request
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
sys.path += [str(TESTS / "python"), str(TESTS / "remote"), str(TESTS / "cluster")]
import pages  # noqa: E402
import site_pages  # noqa: E402
import videos as sources  # noqa: E402
from process import Process  # noqa: E402
from skips import pytest_make_collect_report, pytest_runtest_makereport  # noqa: E402, F401

os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1,localhost"
BUCKET = "bucket"


def pytest_addoption(parser):
    parser.addoption("--page", action="append", help="only this page, for example docs/frames.md; may be repeated")


def pytest_generate_tests(metafunc):
    """A test with an argument `path` runs for each page."""
    if "path" in metafunc.fixturenames:
        chosen = metafunc.config.getoption("--page")
        paths = [Path(page).resolve() for page in chosen] if chosen else pages.all_pages()
        metafunc.parametrize("path", paths, ids=pages.name)


@pytest.fixture(scope="session")
def site():
    """The folder of the built site."""
    found = site_pages.folder()
    if not (found / "index.html").is_file():
        pytest.skip(f"no site in {found}: scripts/docs.sh builds it")
    return found


@pytest.fixture
def page(path):
    """What is on the page at `path`."""
    try:
        return pages.read(path)
    except pages.Wrong as wrong:
        pytest.fail(str(wrong), pytrace=False)


def pytest_collection_modifyitems(config, items):
    """With --page, tests of pages alone."""
    if config.getoption("--page"):
        items[:] = [item for item in items if "path" in item.fixturenames]


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """A folder with `videos` and `more-videos`."""
    folder = tmp_path_factory.mktemp("made")
    sources.make_all(folder)
    return folder


@pytest.fixture
def folder(made, tmp_path):
    """What a page begins with."""
    page = tmp_path / "page"
    shutil.copytree(made, page)
    return page


def moto():
    """A Python that has moto: that of scripts/servers.sh, or this one."""
    servers = Path(os.environ.get("VIDREC_SERVERS", pages.ROOT / "target/remote"))
    python = servers / "venv/bin/python"
    return python if python.is_file() else Path(sys.executable)


@pytest.fixture
def s3(tmp_path):
    """Variables of the environment for an S3 server with an empty bucket."""
    command = [moto(), "-m", "moto.server", "-H", "127.0.0.1", "-p"]
    try:
        server = Process(lambda port: [*command, port], tmp_path / "s3.log")
    except RuntimeError as error:
        pytest.skip(f"no S3 server: scripts/servers.sh installs moto: {error}")
    url = f"http://127.0.0.1:{server.port}"
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    opener.open(urllib.request.Request(f"{url}/{BUCKET}", method="PUT"), timeout=60).close()
    yield {"AWS_ACCESS_KEY_ID": "reader", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1",
           "AWS_ENDPOINT_URL": url, "AWS_ALLOW_HTTP": "true"}
    server.stop()


@pytest.fixture
def slurm(tmp_path):
    """Variables of the environment for a Slurm cluster of one node."""
    from slurm import Slurm, cannot_run

    reason = cannot_run()
    if reason:
        pytest.skip(reason)
    (tmp_path / "slurm").mkdir()
    cluster = Slurm(tmp_path / "slurm")
    until = time.monotonic() + 120
    while not cluster.is_up():
        assert time.monotonic() < until, "Slurm does not come up"
        time.sleep(0.1)
    yield {"SLURM_CONF": cluster.environment["SLURM_CONF"]}
    cluster.stop()
