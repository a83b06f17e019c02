"""Every page is true: its commands and programs run, in order, in a fresh folder. The default level has pages.NEWCOMER."""
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import environments
import pages
import pytest

# Many times what the slowest page takes: a page that hangs must not hang the suite.
SECONDS = 900
RUNNER = Path(__file__).with_name("run_page.py")


# The world's size where a page's loops run in several processes, and the pages with such loops.
RANKS = 2
LOOPS = ("docs/frameworks/accelerate.md", "docs/frameworks/lightning.md", "docs/frameworks/pytorch.md",
         "docs/frameworks/transformers.md", "docs/load.md",
         "docs/lengths.md", "docs/mixes.md", "docs/resume.md", "docs/scale.md", "docs/tracks.md")
# Folders that one of the processes writes for all.
SHARED = ("checkpoint", "checkpoints")


def start(path, python, folder, environment, output):
    return subprocess.Popen([python, RUNNER, path], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                            stderr=subprocess.STDOUT, start_new_session=True)


def end(process, output):
    """The status and the output of a page; nothing that it started lives on."""
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


def run(path, python, folder, environment):
    with (folder.parent / "output").open("w+b") as output:
        return end(start(path, python, folder, environment, output), output)


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


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@pytest.mark.full
@pytest.mark.parametrize("loops", LOOPS)
def test_the_loops_run_in_two_processes(loops, made, tmp_path):
    """A loop whose processes had different numbers of batches, or a batch without a clip, would hang or fail."""
    page = pages.read(pages.ROOT / loops)
    page.needs.append("torch")
    python, reason = environments.choose(page)
    if python is None:
        pytest.skip(reason)
    shared = {"WORLD_SIZE": str(RANKS), "LOCAL_WORLD_SIZE": str(RANKS), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()),
              "GROUP_RANK": "0", "TORCHELASTIC_RUN_ID": "pages", "ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1",
              "PL_TRAINER_ACCELERATOR": "cpu", "PL_TRAINER_DEVICES": str(RANKS), "PL_TRAINER_STRATEGY": "ddp"}
    running = []
    for name in SHARED:
        (tmp_path / name).mkdir()
    for rank in map(str, range(RANKS)):
        place = tmp_path / rank
        folder = place / "folder"
        shutil.copytree(made, folder)
        for video in [*filter(Path.is_file, folder.rglob("*"))]:
            for copy in range(1, RANKS):  # as many clips for each as one process has
                shutil.copy(video, video.with_stem(f"{video.stem}{copy}"))
        for name in SHARED:
            (folder / name).symlink_to(tmp_path / name)
        variables = {**environments.environment(python, place), **shared, "RANK": rank, "LOCAL_RANK": rank}
        output = (place / "output").open("w+b")
        running.append((rank, start(page.path, python, folder, variables, output), output))
    ended = [(rank, *end(process, output)) for rank, process, output in running]
    if any(status for _, status, _ in ended):
        pytest.fail("\n".join(f"rank {rank}: status {status}\n{text}" for rank, status, text in ended), pytrace=False)


@pytest.mark.full
def test_the_first_program_for_pytorch_counts_all_clips_on_two_ranks(folder, tmp_path):
    page = pages.read(pages.DOCS / "frameworks/pytorch.md")
    python, reason = environments.choose(page)
    if python is None:
        pytest.skip(reason)
    packs, first, *rest = (block.text for block in page.blocks if block.runs)
    (alone,) = [text for text in rest if "rank=(0, 1)" in text]
    (folder / "train.py").write_text(first + alone)
    variables = {**environments.environment(python, tmp_path), "OMP_NUM_THREADS": "1"}
    # As torchrun does, which Debian's does not on Python 3.11.
    variables.update({"WORLD_SIZE": str(RANKS), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())})
    ranks = "".join(f"RANK={rank} {python} train.py &\n" for rank in range(RANKS))
    # torch 2.15 may abort after the last line, with or without vidrec, so this looks at what is printed.
    command = f"{packs}{ranks}wait"
    done = subprocess.run(["bash", "-euc", command], cwd=folder, env=variables, stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS)
    found = re.findall(r"(\d+) of (\d+) clips of val right", done.stdout)
    assert len(found) == 3, done.stdout
    assert found[1] == found[2] and found[0][1] == found[1][1] == "6", "all ranks together, and one alone with all clips"


def test_blocks_follow_the_rules(all_pages):
    assert [mistake for page in all_pages for mistake in pages.mistakes(page)] == []


def test_rustdoc_compiles_the_rust_of_the_pages(all_pages):
    """src/lib.rs hands a page with Rust to rustdoc, which tests its blocks with the crate's."""
    listed = (pages.ROOT / "src/lib.rs").read_text()
    rust = [page.name for page in all_pages if any(block.language == "rust" and not block.snippets for block in page.blocks)]
    assert [name for name in rust if f'include_str!("../{name}")' not in listed] == [], "add them to src/lib.rs"
