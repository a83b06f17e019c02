"""Videos and servers for the pages of the documentation."""
import fcntl
import os
import shutil
import sys
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / name) for name in ("tests/python", "tests/remote", "scripts/docs", "scripts/draw")]
import pages  # noqa: E402
import site_pages  # noqa: E402
import videos as sources  # noqa: E402
from process import Process  # noqa: E402
from skips import pytest_make_collect_report, pytest_runtest_makereport  # noqa: E402, F401

os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1,localhost"
BUCKET = "bucket"
BUCKET_VIDEOS = ["juggling/a.mp4", "juggling/c.mp4", "running/d.mp4", "running/f.mp4"]


def pytest_addoption(parser):
    parser.addoption("--page", action="append", help="only this page, for example docs/frames.md; may be repeated")


def pytest_configure(config):
    config.addinivalue_line("markers", "full: only the full level of scripts/test.sh runs it")


def chosen(config):
    """The pages that `--page` names, or all of them, with the READMEs."""
    named = config.getoption("--page")
    return [Path(page).resolve() for page in named] if named else [*pages.READMES, *pages.all_pages()]


def pytest_generate_tests(metafunc):
    """A test with an argument `page` runs for each page with blocks that run."""
    if "page" in metafunc.fixturenames:
        found = [page for page in map(pages.read, chosen(metafunc.config)) if any(block.runs for block in page.blocks)]
        metafunc.parametrize("page", [pytest.param(page, id=page.name, marks=() if page.name in pages.NEWCOMER else pytest.mark.full)
                                      for page in found])


@pytest.fixture(scope="session")
def site():
    """The folder of the built site."""
    found = site_pages.folder()
    if not (found / "index.html").is_file():
        pytest.skip(f"no site in {found}: scripts/docs.sh builds it")
    return found


@pytest.fixture
def all_pages(pytestconfig):
    return map(pages.read, chosen(pytestconfig))


def pytest_collection_modifyitems(config, items):
    """With --page, tests of pages alone."""
    if config.getoption("--page"):
        items[:] = [item for item in items if {"page", "all_pages"} & set(item.fixturenames)]


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """A folder with `videos` and `more-videos`, which pytest-xdist's processes share."""
    shared = "PYTEST_XDIST_WORKER" in os.environ
    folder = (tmp_path_factory.getbasetemp().parent if shared else tmp_path_factory.getbasetemp()) / "made"
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            sources.make_all(folder)
    return folder


@pytest.fixture
def folder(made, tmp_path):
    """What a page begins with."""
    page = tmp_path / "page"
    shutil.copytree(made, page)
    return page


@pytest.fixture
def s3(made, tmp_path):
    """Variables of the environment for an S3 server with a bucket that has videos below `videos/`."""
    pytest.importorskip("moto", reason="no S3 server: tests/remote/requirements.txt has moto")
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p"]
    server = Process(lambda port: [*command, port], tmp_path / "s3.log")
    url = f"http://127.0.0.1:{server.port}"
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    for name in ["", *BUCKET_VIDEOS]:
        body = (made / "videos" / name).read_bytes() if name else None
        kind = {"Content-Type": "video/mp4"} if name else {}
        put = urllib.request.Request(f"{url}/{BUCKET}/videos/{name}" if name else f"{url}/{BUCKET}", body, kind, method="PUT")
        opener.open(put, timeout=60).close()
    yield {"AWS_ACCESS_KEY_ID": "reader", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1",
           "AWS_ENDPOINT_URL": url, "AWS_ALLOW_HTTP": "true"}
    server.stop()
