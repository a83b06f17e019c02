"""The colors of the site: text has contrast on all that it stands on, light and dark, and so have the logo and the drawings."""
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts/draw"))
import svg  # noqa: E402

ASSETS = ROOT / "docs/assets"
SCHEMES = {name: dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block)) for name, block in
           re.findall(r'\[data-md-color-scheme="(\w+)"\] \{(.*?)\n\}', (ASSETS / "palette.css").read_text(), re.S)}
PAGE, CODE, HEADER, FOOTER = "md-default-bg-color", "md-code-bg-color", "md-primary-fg-color", "md-footer-bg-color"
# WCAG 2.1, 1.4.3: text on what it may stand on.
TEXT = [(ink, ground) for ground in (PAGE, CODE, "md-typeset-table-color--light") for ink in
        ("md-default-fg-color", "md-default-fg-color--light", "md-typeset-color", "md-typeset-a-color", "md-accent-fg-color")]
TEXT += [(f"md-{name}", CODE) for name in ("code-fg-color", *(f"code-hl-{part}-color" for part in (
    "comment", "generic", "punctuation", "variable", "operator", "name", "function", "constant", "keyword", "string", "number",
    "special")))]
TEXT += [("md-primary-bg-color", HEADER), ("md-primary-bg-color--light", HEADER), ("md-footer-fg-color", FOOTER),
         ("md-footer-fg-color--light", FOOTER), ("md-default-fg-color", "md-typeset-mark-color"), (PAGE, "md-typeset-a-color"),
         ("md-accent-bg-color", "md-accent-fg-color")]
# 1.4.11: symbols and parts of drawings.
PARTS = [("md-default-fg-color--lighter", PAGE), ("md-default-fg-color--lighter", CODE), ("light", PAGE)]


def luminance(color):
    parts = [int(color[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    """https://www.w3.org/TR/WCAG21/#dfn-contrast-ratio"""
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_that_of_the_guidelines():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.478, abs=0.001)


@pytest.mark.parametrize("scheme", ["default", "slate"])
def test_text_and_symbols_have_contrast(scheme):
    colors = SCHEMES[scheme]
    pairs = [(*pair, 4.5) for pair in TEXT] + [(*pair, 3) for pair in PARTS]
    found = {(ink, ground): round(contrast(colors[ink], colors[ground]), 2) for ink, ground, _ in pairs}
    assert {pair: found[pair] for pair, wanted in ((tuple(pair), wanted) for *pair, wanted in pairs) if found[pair] < wanted} == {}


def test_both_schemes_set_the_same_colors():
    text = (ASSETS / "palette.css").read_text()
    light, dark = (re.findall(r"(--[\w-]+): #", block) for block in text.split('[data-md-color-scheme="slate"]'))
    assert light == dark and len(light) > 30


@pytest.mark.parametrize("scheme", ["default", "slate"])
def test_logo_and_drawings_show(scheme):
    logo = re.findall(r'fill="(#\w+)"', (ASSETS / "logo.svg").read_text())
    assert len(logo) == 2
    wrong = {color: contrast(color, SCHEMES[scheme][PAGE]) for color in [*logo, *svg.COLORS.values()]}
    assert {color: ratio for color, ratio in wrong.items() if ratio < 3} == {}


def test_text_on_bars_has_contrast():
    assert min(contrast(svg.INSIDE, color) for color in svg.COLORS.values()) >= 4.5
