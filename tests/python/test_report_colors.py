"""The colors of `vidrec browse --export` that mean something: told apart by everybody, on all that they stand on."""
import itertools
import math
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "src/report/page"
STYLE = (PAGE / "base.css").read_text() + (PAGE / "print.css").read_text()
# The blocks of variables: light, dark (which changes the light ones), and on paper.
LIGHT, DARK, PRINT = ({name: value for name, value in re.findall(r"--([\w-]+): (#[0-9a-f]+)", block)}
                      for block in re.findall(r":root \{(.*?)\n *\}", STYLE, re.DOTALL))
SCHEMES = {"light": LIGHT, "dark": {**LIGHT, **DARK}, "print": {**LIGHT, **PRINT}}
SETS = ["s0", "s1", "s2", "s3", "s4", "s5"]

# Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency", IEEE
# Transactions on Visualization and Computer Graphics 15 (6), 2009, table 1: no L, M or S cones at all (severity 1.0). For
# linear RGB.
EYES = {
    "all cones": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
# The least difference of two data sets, in CIEDE2000: several times as much as one sees side by side, which is 1 to 2.
APART = 12
# The same of the first two, which nearly all comparisons have.
FIRST_APART = 20


def linear(color):
    """Linear RGB of `#rgb` or `#rrggbb` (IEC 61966-2-1)."""
    digits = color[1:] if len(color) == 7 else "".join(2 * digit for digit in color[1:])
    parts = [int(digits[i:i + 2], 16) / 255 for i in (0, 2, 4)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]


def times(matrix, vector):
    return [sum(m * v for m, v in zip(row, vector)) for row in matrix]


def lab(rgb):
    """CIELAB under D65."""
    xyz = times([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]], rgb)
    x, y, z = (v ** (1 / 3) if v > 216 / 24389 else (24389 / 27 * v + 16) / 116 for v in map(lambda v, white: v / white, xyz, (0.95047, 1, 1.08883)))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def difference(one, other):
    """CIEDE2000: Sharma, Wu and Dalal, "The CIEDE2000 Color-Difference Formula", Color Research and Application 30 (1), 2005."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    mean = ((math.hypot(a1, b1) + math.hypot(a2, b2)) / 2) ** 7
    g = 0.5 * (1 - math.sqrt(mean / (mean + 25 ** 7)))
    a1, a2 = a1 * (1 + g), a2 * (1 + g)
    c1, c2 = math.hypot(a1, b1), math.hypot(a2, b2)
    h1, h2 = math.degrees(math.atan2(b1, a1)) % 360, math.degrees(math.atan2(b2, a2)) % 360
    turn, both = h2 - h1, c1 * c2 > 0
    turn = 0 if not both else turn - 360 if turn > 180 else turn + 360 if turn < -180 else turn
    light, chroma, hue = l2 - l1, c2 - c1, 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn / 2))
    lm, cm, hm = (l1 + l2) / 2, (c1 + c2) / 2, h1 + h2
    if both:
        hm = hm / 2 if abs(h1 - h2) <= 180 else (hm + 360) / 2 if hm < 360 else (hm - 360) / 2
    cos = [math.cos(math.radians(angle)) for angle in (hm - 30, 2 * hm, 3 * hm + 6, 4 * hm - 63)]
    t = 1 - 0.17 * cos[0] + 0.24 * cos[1] + 0.32 * cos[2] - 0.2 * cos[3]
    sl, sc, sh = 1 + 0.015 * (lm - 50) ** 2 / math.sqrt(20 + (lm - 50) ** 2), 1 + 0.045 * cm, 1 + 0.015 * cm * t
    rotation = -2 * math.sqrt(cm ** 7 / (cm ** 7 + 25 ** 7)) * math.sin(math.radians(60 * math.exp(-(((hm - 275) / 25) ** 2))))
    return math.sqrt((light / sl) ** 2 + (chroma / sc) ** 2 + (hue / sh) ** 2 + rotation * chroma / sc * hue / sh)


def seen(color, eyes):
    return lab([min(max(c, 0), 1) for c in times(EYES[eyes], linear(color))])


def contrast(one, other):
    low, high = sorted(sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear(color))) for color in (one, other))
    return (high + 0.05) / (low + 0.05)


def test_the_formula_gives_the_values_of_its_paper():
    # Four pairs of table 1 there.
    for one, other, expected in [((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425), ((50, 0, 0), (50, -1, 2), 2.3669),
                                 ((50, 2.5, 0), (73, 25, -18), 27.1492), ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644)]:
        assert abs(difference(one, other) - expected) < 1e-4
    assert abs(contrast("#777", "#fff") - 4.48) < 0.005


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("eyes", EYES)
def test_data_sets_can_be_told_apart(scheme, eyes):
    colors = SCHEMES[scheme]
    apart = {(a, b): difference(seen(colors[a], eyes), seen(colors[b], eyes)) for a, b in itertools.combinations(SETS, 2)}
    closest = min(apart, key=apart.get)
    assert apart[closest] >= APART, (closest, apart[closest])
    assert apart["s0", "s1"] >= FIRST_APART, apart["s0", "s1"]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_what_is_no_text_stands_out(scheme):
    """WCAG 2.1, 1.4.11: a contrast of 3 of bars, rings, flags and the edges of fields."""
    colors = SCHEMES[scheme]
    for name, ground in itertools.product([*SETS, "accent", "flag", "edge"], ("paper", "sheet")):
        assert contrast(colors[name], colors[ground]) >= 3, (name, ground, contrast(colors[name], colors[ground]))
