"""Pictures of the documents are as the scripts in scripts/draw make them, and stand where they are named."""
import re
from pathlib import Path

import batch
import diagrams
import plots
import write

ROOT = Path(__file__).parents[2]
DRAWN = {**plots.PLOTS, **diagrams.DIAGRAMS, **batch.MOVING}
PICTURES = ROOT / "docs/pictures"


def test_pictures_are_as_they_are_drawn():
    assert write.stale(DRAWN) == [], "run scripts/draw/plots.py, diagrams.py and batch.py"


def test_every_picture_has_a_script_and_a_page():
    assert {path.stem for path in PICTURES.glob("*.svg")} == set(DRAWN)
    pages = "\n".join(path.read_text(encoding="utf-8") for path in ROOT.glob("docs/**/*.md"))
    named = set(re.findall(r"pictures/([\w-]+\.\w+)", pages))
    assert named == {path.name for path in PICTURES.iterdir()}


def test_the_way_of_a_frame_has_the_steps_of_the_text():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").split("\n## Life of a frame\n")[1].split("\n## ")[0]
    steps = [f"{number}. {name.lower()}" for number, name in re.findall(r"^(\d+)\. \*\*([^.*]+)", text, re.M)]
    drawn = [name for name, *_ in diagrams.PACKING + diagrams.LOADING]
    assert len(steps) == len(drawn) and all(step.startswith(name) for step, name in zip(steps, drawn))


def test_the_index_is_drawn_with_the_sections_of_the_specification():
    spec = (ROOT / "format-spec/vidrec-v1.md").read_text(encoding="utf-8")
    named = re.search(r"^ *index file +:= +(.*)$", spec, re.M)[1]
    order = re.findall(r"header|[A-Z]{4}|section-table|footer", named)
    assert [name.replace(" ", "-") for name, *_ in diagrams.SECTIONS] == order
