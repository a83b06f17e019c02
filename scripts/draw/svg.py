"""A drawing as SVG: texts, boxes and lines, the same bytes each time.

A drawing stands in a page as part of it, or alone as a picture. Lines and texts take the color of the page's text; the
colors of `COLORS` can be told apart by color-blind people (Okabe and Ito, darkened or lightened until they show on white
and on dark gray), and none of them is the only sign of anything.
"""
from html import escape

COLORS = {"ours": "#2b7fc4", "limit": "#c06a0a", "green": "#16896a", "pink": "#b8659a", "sky": "#3f93ad"}
INSIDE = "#000000"  # text on these
FONT = "-apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', Arial, sans-serif"
MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
# Part of a page, the drawing has the page's text color; alone, one that suits what the system asks for.
STYLE = """\
svg.vidrec { color: #1c1e24; font: 13px FONT; max-width: 100%; height: auto; }
@media (prefers-color-scheme: dark) { svg.vidrec { color: #e4e6ee; } }
[data-md-color-scheme] svg.vidrec { color: inherit; }
figure:has(> svg.vidrec) { overflow-x: auto; max-width: 100%; }
svg.vidrec.both { width: 100%; max-width: 690px; aspect-ratio: var(--wide); }
svg.vidrec.both > .narrow { display: none; }
@media (max-width: 640px) {
figure > svg.vidrec.wide { max-width: none; }
svg.vidrec.both { max-width: 360px; aspect-ratio: var(--narrow); }
svg.vidrec.both > .wide { display: none; }
svg.vidrec.both > .narrow { display: inline; }
}
svg.vidrec text { fill: currentColor; }
svg.vidrec .small { font-size: 11.5px; }
svg.vidrec .mono { font: 11.5px MONO; }
svg.vidrec .bold { font-weight: 600; }
svg.vidrec .quiet { opacity: 0.72; }
svg.vidrec .line { stroke: currentColor; fill: none; stroke-width: 1; opacity: 0.55; }
svg.vidrec .box { stroke: currentColor; fill: currentColor; fill-opacity: 0.05; stroke-opacity: 0.5; }
svg.vidrec .other { fill: currentColor; opacity: 0.36; }
""".replace("FONT", FONT).replace("MONO", MONO)

# How wide drawings are, and how wide those are that fit a phone.
WIDE, NARROW = 690, 360


def number(value):
    """A coordinate: two decimals at most, without zeros at the end."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def attributes(values):
    texts = ((name.rstrip("_").replace("_", "-"), value) for name, value in values.items() if value is not None)
    return "".join(f' {name}="{escape(number(v) if isinstance(v, (int, float)) else v)}"' for name, v in texts)


def width_of(text, size=13.0, bold=False, mono=False):
    """About how wide a text is, in pixels, in a wide typeface such as DejaVu Sans."""
    if mono:
        return 0.602 * size * len(text)
    narrow, wide = "iljtfrI.,:;'|()[]- ", "mwMW@%—"
    widths = (0.37 if c in narrow else 0.95 if c in wide else 0.7 if c.isupper() else 0.635 for c in text)
    return sum(widths) * size * (1.1 if bold else 1)


class Drawing:
    """Shapes on a sheet of `width` pixels; `title` and `description` are for those who do not see it. With a `narrow` drawing of
    the same, that one stands on a phone; without, a drawing wider than a phone scrolls there."""

    def __init__(self, width, height, title, description=""):
        self.size, self.title, self.description, self.parts = (width, height), title, description, []
        self.narrow = None

    def add(self, tag, text=None, tip=None, **values):
        inside = (f"<title>{escape(tip)}</title>" if tip else "") + (escape(text, quote=False) if text else "")
        self.parts.append(f"<{tag}{attributes(values)}>{inside}</{tag}>" if inside else f"<{tag}{attributes(values)}/>")

    def text(self, x, y, text, anchor=None, class_=None, **values):
        self.add("text", text, x=x, y=y, text_anchor=anchor, class_=class_, **values)

    def box(self, x, y, width, height, class_="box", round_=0, **values):
        self.add("rect", x=x, y=y, width=width, height=height, rx=round_ or None, class_=class_, **values)

    def line(self, *points, class_="line", **values):
        path = "M" + " L".join(f"{number(x)} {number(y)}" for x, y in points)
        self.add("path", d=path, class_=class_, **values)

    def arrow(self, *points, class_="line", **values):
        """A line with a head at its end, which has to be horizontal or vertical."""
        self.line(*points, class_=class_, **values)
        (x, y), (from_x, from_y) = points[-1], points[-2]
        dx, dy = (x > from_x) - (x < from_x), (y > from_y) - (y < from_y)
        sides = [(x - 6 * dx - 3.5 * dy, y - 6 * dy - 3.5 * dx), (x, y), (x - 6 * dx + 3.5 * dy, y - 6 * dy + 3.5 * dx)]
        self.line(*sides, class_=class_, **values)

    def render(self):
        width, height = map(number, self.size)
        named = f"<title>{escape(self.title)}</title>"
        if self.description:
            named += f"\n<desc>{escape(self.description)}</desc>"
        begin = '<svg xmlns="http://www.w3.org/2000/svg" role="img" '
        if self.narrow:
            ratios = " ".join(f"--{name}:{number(one.size[0])}/{number(one.size[1])};" for name, one in (("wide", self), ("narrow", self.narrow)))
            begin += f'class="vidrec both" width="{width}" height="{height}" style="{ratios}">'
            parts = [*self.inner("wide"), *self.narrow.inner("narrow")]
        else:
            wide = " wide" if self.size[0] > NARROW else ""
            begin += f'class="vidrec{wide}" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
            parts = self.parts
        return "\n".join([begin, named, f"<style>\n{STYLE}</style>", *parts, "</svg>"]) + "\n"

    def inner(self, name):
        return [f'<svg class="{name}" viewBox="0 0 {number(self.size[0])} {number(self.size[1])}">', *self.parts, "</svg>"]


def both(draw):
    """A drawing of a function of its width, with its narrow layout for phones."""
    def drawn():
        drawing = draw(WIDE)
        drawing.narrow = draw(NARROW)
        return drawing
    return drawn
