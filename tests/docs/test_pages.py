"""Every page is true: its commands and programs run, in order, in a fresh folder."""
import os
import signal
import subprocess
from pathlib import Path

import environments
import pages
import pytest

# Many times what the slowest page takes: a page that hangs must not hang the suite.
SECONDS = 900
RUNNER = Path(__file__).with_name("run_page.py")


def run(path, python, folder, environment):
    """The status and the output of a page; nothing that it started lives on."""
    with (folder.parent / "output").open("w+b") as output:
        process = subprocess.Popen([python, RUNNER, path], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        try:
            status = process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            status = f"none after {SECONDS} s"
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        output.seek(0)
        return status, output.read().decode(errors="replace")


def test_the_page_runs(path, page, request, folder, tmp_path):
    if not any(block.runs for block in page.blocks):
        return
    python, reason = environments.choose(page)
    if python is None:
        pytest.skip(reason)
    environment = environments.environment(python, tmp_path)
    for need in set(page.needs) & {"s3", "slurm"}:
        environment.update(request.getfixturevalue(need))
    status, output = run(path, python, folder, environment)
    if status != 0:
        pytest.fail(f"status {status}\n{output}", pytrace=False)


def test_blocks_follow_the_rules(path, page):
    assert list(pages.mistakes(page)) == []


def test_rustdoc_compiles_the_rust_of_the_page(path, page):
    """src/lib.rs hands a page with Rust to rustdoc, which tests its blocks with the crate's."""
    if any(block.language == "rust" and not block.snippets for block in page.blocks):
        assert f'include_str!("../{page.name}")' in (pages.ROOT / "src/lib.rs").read_text(), "add the page to src/lib.rs"
