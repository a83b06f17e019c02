"""Every page is true: its commands and programs run, in order, in a fresh folder. The default level has pages.NEWCOMER."""
import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import environments
import pages
import pytest

# Many times what the slowest page takes: a page that hangs must not hang the suite.
SECONDS = 900
RUNNER = Path(__file__).with_name("run_page.py")


def run(path, python, folder, environment):
    """The status and the output of a page; nothing that it started lives on."""
    command = [python, RUNNER, path]
    with (folder.parent / "output").open("w+b") as output:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        try:
            status = process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            status = f"none after {SECONDS} s"
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        output.seek(0)
        return status, output.read().decode(errors="replace")


def test_the_page_runs(page, request, folder, tmp_path):
    python, reason = environments.choose(page)
    if python is None:
        pytest.skip(reason)
    environment = environments.environment(python, tmp_path)
    for need in environments.SERVERS & set(page.needs):
        environment.update(request.getfixturevalue(need))
    status, output = run(page.path, python, folder, environment)
    if status != 0:
        pytest.fail(f"status {status}\n{output}", pytrace=False)


@pytest.mark.parametrize("blocks, said", [
    ("```sh\necho one\nfalse | true\n```", "page.md:6: failed with status 1"),
    ("```python\none = 1\n\nassert one == 2\n```", "page.md:7: AssertionError"),
    ("```python\nprint('one')\n```\n\n```text\ntwo\n```", "shown: two"),
])  # fmt: skip
def test_a_page_that_is_wrong_fails(blocks, said, tmp_path):
    """And nothing after its mistake runs."""
    (tmp_path / "folder").mkdir()
    path = tmp_path / "page.md"
    path.write_text(f"---\noutputs: checked\n---\n{blocks}\n\n```sh\ntouch later\n```\n")
    status, output = run(path, sys.executable, tmp_path / "folder", environments.environment(sys.executable, tmp_path))
    assert status == 1 and said in output and not (tmp_path / "folder/later").exists()


def test_blocks_follow_the_rules(all_pages):
    assert [mistake for page in all_pages for mistake in pages.mistakes(page)] == []


def test_rustdoc_compiles_the_rust_of_the_pages(all_pages):
    """src/lib.rs hands a page with Rust to rustdoc, which tests its blocks with the crate's."""
    listed = (pages.ROOT / "src/lib.rs").read_text()
    rust = [page.name for page in all_pages if any(block.language == "rust" and not block.snippets for block in page.blocks)]
    assert [name for name in rust if f'include_str!("../{name}")' not in listed] == [], "add them to src/lib.rs"
