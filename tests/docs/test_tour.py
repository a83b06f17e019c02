"""The notebook docs/tour.ipynb is true: its cells run in a fresh folder, and show what it holds."""
import json
import re
import subprocess

import environments
import pages
import pytest

TOUR = pages.DOCS / "tour.ipynb"
NEEDS = ["vidrec", "torch", "PIL", "ffmpeg"]
# Readers of GitHub wait for the whole of it.
BYTES = 400_000
SECONDS = 900
# Pictures, and counts of bytes and bits, differ between versions of FFmpeg.
VARIES = re.compile(r"data:image/png;base64,[\w+/=]+|\b\d{5,}\b|\b\d+(?= of 256 bits)")


def cells(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def outputs(cell):
    """What a cell shows, by kind; of a picture, that it is there. Its size is in the text beside it."""
    for output in cell["outputs"]:
        for kind, content in output.get("data", {"stdout": output.get("text")}).items():
            text = "" if kind.startswith("image/") else "".join(content)
            yield kind, pages.VARIES.sub("#", VARIES.sub("#", text)).splitlines()


@pytest.mark.full
def test_the_cells_show_what_the_notebook_holds(tmp_path):
    python, reason = environments.choose(pages.Page(TOUR, NEEDS))
    if python is None:
        pytest.skip(reason)
    again = tmp_path / "again.ipynb"
    done = subprocess.run([python, pages.ROOT / "scripts/docs/tour.py", "--to", again], stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS,
                          env=environments.environment(python, tmp_path))
    if done.returncode != 0:
        pytest.fail(f"status {done.returncode}\n{done.stdout}", pytrace=False)
    held, shown = cells(TOUR), cells(again)
    assert len(shown) > 10
    for number, (old, new) in enumerate(zip(held, shown), 1):
        assert list(outputs(old)) == list(outputs(new)), f"cell {number} shows something else: run scripts/docs/tour.py"


def test_the_notebook_is_small_and_names_no_folder_of_a_machine():
    assert TOUR.stat().st_size < BYTES
    shown = [line for cell in cells(TOUR) for _, lines in outputs(cell) for line in lines]
    assert len(shown) > 20 and [line for line in shown if re.search(r"/\w+/\w+/", line)] == []
