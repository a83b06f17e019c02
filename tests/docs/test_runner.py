"""The runner of pages notices what is wrong with a page."""
import sys
import textwrap

import environments
import pages
import pytest
from test_pages import run


@pytest.fixture
def execute(tmp_path, folder):
    """Runs the text of a page: its status and what it prints."""
    def execute(text):
        path = tmp_path / "page.md"
        path.write_text(textwrap.dedent(text))
        return run(path, sys.executable, folder, environments.environment(sys.executable, tmp_path))

    return execute


@pytest.fixture
def page(tmp_path):
    """Parses the text of a page."""
    def page(text):
        path = tmp_path / "page.md"
        path.write_text(textwrap.dedent(text))
        return pages.read(path)

    return page


GOOD = """\
    # A page

    <!-- run
    mkdir -p sub/folder && cd sub
    -->

    ```sh
    export WORD=kept
    echo $PWD > folder/where
    ```

    * An item, with code:

        ```python
        import os
        words = {"a": os.environ["WORD"]}
        ```

    <!-- run python
    hidden = len(words)
    -->

    ```python
    assert hidden == 1 and words["a"] == "kept" and open("folder/where").read().endswith("/page/sub\\n")
    assert len(os.listdir("../videos/juggling")) == 3 and len(os.listdir("../more-videos/running")) == 3
    import pickle
    class Word: pass
    assert isinstance(pickle.loads(pickle.dumps(Word())), Word)
    ```

    ```sh
    pip install nothing-of-this-name \\
      --quiet
    echo $WORD > last
    sleep 1000 &
    ```
    """


def test_blocks_share_folder_variables_and_names(execute, folder):
    status, output = execute(GOOD)
    assert status == 0, output
    assert (folder / "sub/last").read_text() == "kept\n"


@pytest.mark.parametrize("lines, place", [
    ("```sh\ntrue\nfalse\n```", "page.md:5: failed with status 1: false"),
    ("```sh\nfalse | true\n```", "page.md:4: failed with status 1"),
    ("```sh\necho $NOT_SET\n```", "page.md:4: the commands from here fail"),
    ("```sh\nexit 7\n```", "page.md:4: the commands from here fail, with status 7"),
    ("<!-- run\nfalse\n-->", "page.md:4: failed with status 1"),
    ("```python\nx = 1\nassert x == 2\n```", "page.md:5: AssertionError"),
    ("```python\nx = 1\n\nx +\n```", "page.md:6: SyntaxError"),
    ("```python\nimport sys\nsys.exit(0)\n```", "page.md:5: SystemExit"),
    ("```python\ndef f():\n    return 1 / 0\n\nf()\n```", "page.md:5: ZeroDivisionError"),
])
def test_failures_name_page_and_line(execute, lines, place):
    status, output = execute(f"# Title\n\n{lines}\n\n```sh\ntouch later\n```\n")
    assert status == 1 and place in output, output


def test_nothing_runs_after_a_failure(execute, folder):
    status, _ = execute("```sh\nfalse\n```\n\n```sh\ntouch later\n```\n")
    assert status == 1 and not (folder / "later").exists()


@pytest.mark.parametrize("lines, mistake", [
    ("```pyhton\nx\n```", "page.md:3: a block with the language 'pyhton'"),
    ("```\nx\n```", "page.md:3: a block with no language"),
    ("```text\nvidrec pack videos -o train\n```", "page.md:3: a command in a block that is not run"),
    ("```text\nthen\n  $ vidrec inspect train\n```", "page.md:3: a command in a block that is not run"),
    ("```rust,no_run\nx\n```", "page.md:3: a block with the language 'rust,no_run'"),
    ("```rust ignore\nx\n```", "page.md:3: a block of Rust has the option no_run"),
    ('```python\n--8<-- "examples/none.py"\n```', "page.md:3: there is no examples/none.py to include"),
])
def test_rules_of_blocks(page, lines, mistake):
    (found,) = pages.mistakes(page(f"# Title\n\n{lines}\n"))
    assert mistake in found


@pytest.mark.parametrize("lines", [
    "```text title=\"not run: needs a cluster\"\nvidrec pack videos -o train\n```",
    "```text\nvidrec 0.1.0 is here no command\n```".replace("vidrec 0.1.0", "The program vidrec"),
    "```rust no_run\nx\n```",
    '```python\n--8<-- "tests/docs/pages.py"\n```',
    "* item\n\n    continued\n\n    ```json\n    {}\n    ```\n",
    "!!! note\n    text\n\n    more text\n",
    "text\n    that goes on\n",
])
def test_good_blocks(page, lines):
    assert list(pages.mistakes(page(f"# Title\n\n{lines}\n"))) == []


@pytest.mark.parametrize("lines, wrong", [
    ("text\n\n    vidrec pack videos\n", "page.md:5: an indented block"),
    ("* item\n\n        vidrec pack videos\n", "page.md:5: an indented block"),
    ("```sh\ntrue\n", "page.md:3: this block has no end"),
    ("<!-- run\ntrue\n", "page.md:3: this block has no end"),
    ("* item\n\n  ```sh\n  true\n  ```\n", "page.md:5: a fence that is indented by 2"),
])
def test_what_is_no_page(page, lines, wrong):
    with pytest.raises(pages.Wrong, match=wrong):
        page(f"# Title\n\n{lines}\n")


def test_needs(page):
    assert page("---\nneeds: [torch, s3]\n---\n# Title\n").needs == ["torch", "s3"]
    with pytest.raises(pages.Wrong, match="page.md:2"):
        page("---\nneeds: torch\n---\n# Title\n")


def test_a_page_without_what_it_needs_is_skipped(page, monkeypatch):
    monkeypatch.setenv("VIDREC_PROGRAM", "/bin/true")
    monkeypatch.delenv("VIDREC_DOCS_PYTHONS", raising=False)
    python, reason = environments.choose(page("---\nneeds: [no_such_module, s3, bash, json]\n---\n```sh\ntrue\n```\n"))
    assert python is None and reason.endswith("lacks no_such_module")
    python, _ = environments.choose(page("---\nneeds: [s3, bash, json]\n---\n```sh\ntrue\n```\n"))
    assert python == sys.executable


def test_a_folder_with_the_name_of_a_module_is_none(tmp_path, monkeypatch):
    # Ray leaves such a folder where temporary files are.
    (tmp_path / "left_by_ray").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert environments.has_modules(sys.executable, ("left_by_ray", "json")) == {"json"}


def test_options_of_a_skipped_page_do_not_hide_its_rules(page):
    (found,) = pages.mistakes(page("---\nneeds: [no_such_module]\n---\n```\nx\n```\n"))
    assert "page.md:4" in found


CHECKED = """\
    ---
    outputs: checked
    ---

    ```sh
    echo "made 3 clips, 24 frames, 12.5 kB in 0.1 s"
    echo intact; echo "not shown"
    ```

    ```text
    made 3 clips, 24 frames, 1.2 MB in 7.5 s
    intact
    …
    ```

    ```python
    print("done")
    ```

    ```text
    done
    ```
    """


@pytest.mark.parametrize("shown, other, fine", [
    ("done", "done", True), ("3 clips", "4 clips", False), ("intact\n", "whole\n", False), ("…", "and more", False),
    ("    done\n", "    gone\n", False),
])  # fmt: skip
def test_outputs_of_a_page_are_what_its_blocks_print(execute, shown, other, fine):
    before, after = CHECKED.rsplit(shown, 1)
    status, output = execute(before + other + after)
    assert (status == 0) == fine and ("the program prints something else" in output) != fine, output


def test_without_the_word_nobody_compares(execute):
    assert execute(CHECKED.replace("outputs: checked", "needs: []").replace("24 frames, 1.2", "9 frames, 1.2"))[0] == 0
