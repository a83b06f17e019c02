"""Writes drawings to docs/pictures, or compares them with what is there."""
import sys

from results import ROOT

FOLDER = ROOT / "docs/pictures"


def stale(drawings):
    """The names of the drawings that are not as their functions draw them."""
    def text(path):
        return path.read_text(encoding="utf-8") if path.exists() else None
    return [name for name, draw in drawings.items() if text(FOLDER / f"{name}.svg") != draw().render()]


def finish(drawings):
    """What a script that draws does at its end."""
    if "--check" in sys.argv:
        wrong = stale(drawings)
        sys.exit(f"not as drawn: {', '.join(wrong)}; run {sys.argv[0]}" if wrong else 0)
    FOLDER.mkdir(exist_ok=True)
    for name, draw in drawings.items():
        (FOLDER / f"{name}.svg").write_text(draw().render(), encoding="utf-8")
