"""Eight short videos for the moving picture of a batch: scenes of 40 by 30 units, drawn at each of their eight frames."""
from math import cos, pi, sin

WIDTH, HEIGHT, FRAMES = 40, 30, 8


def mixed(one, other, share):
    """A color between two."""
    parts = [(int(one[i:i + 2], 16), int(other[i:i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in parts)


def n(value):
    return f"{value:.1f}".removesuffix(".0").replace("-0.0", "0")


def rect(x, y, width, height, fill):
    return f'<rect x="{n(x)}" y="{n(y)}" width="{n(width)}" height="{n(height)}" fill="{fill}"/>'


def disc(x, y, r, fill):
    return f'<circle cx="{n(x)}" cy="{n(y)}" r="{n(r)}" fill="{fill}"/>'


def shape(points, fill):
    return f'<path d="M{"L".join(f"{n(x)} {n(y)}" for x, y in points)}Z" fill="{fill}"/>'


def strokes(lines, color, width):
    path = "".join("M" + "L".join(f"{n(x)} {n(y)}" for x, y in line) for line in lines)
    return f'<path d="{path}" fill="none" stroke="{color}" stroke-width="{n(width)}" stroke-linecap="round"/>'


def sheet(fill):
    return f'<path d="M0 0h{WIDTH}v{HEIGHT}H0Z" fill="{fill}"/>'


def sunrise(u):
    return (sheet(mixed("#1d2a52", "#f6b26b", u)) + disc(11 + 17 * u, 27 - 19 * u, 4.6, mixed("#f2683c", "#fff1b8", u))
            + shape([(0, 22), (9, 17), (19, 22), (30, 15), (40, 20), (40, 30), (0, 30)], mixed("#0f2a2a", "#2f6b45", u)))


def ball(u):
    x, y = 5 + 31 * u, 21.5 - 15 * abs(sin(2 * pi * u + 0.35)) * (1 - 0.3 * u)
    floor = rect(0, 25, 40, 5, "#a4744c")
    return sheet("#f3dcbc") + floor + rect(x - 3, 25, 6, 1, "#7c5636") + disc(x, y, 3.5, "#d8402c")


def boat(u):
    x, mast = 5 + 28 * u, 5 + 28 * u + 2 * sin(2 * pi * u)
    hull = shape([(x - 5, 20), (x + 5, 20), (x + 3, 24), (x - 3, 24)], "#8a3b22")
    sails = shape([(x, 19), (mast, 5), (x + 7, 18)], "#ffffff") + shape([(x - 1, 19), (mast - 1, 8), (x - 5, 18)], "#f3c64b")
    waves = [(k, 22 + 0.9 * sin(k / 2.2 + 5 * u)) for k in range(0, 41, 2)]
    return sheet("#bfe4f3") + disc(33, 6, 3, "#fff6d2") + hull + sails + shape([*waves, (40, 30), (0, 30)], "#2c7ba6")


def wheel(u):
    rim = [(20 + 11 * cos(a), 15 + 11 * sin(a)) for a in (pi * (k / 4 + u / 3.4) for k in range(8))]
    colors = ["#e0442a", "#f3c64b", "#2b9a78", "#2b7fc4"] * 2
    cabins = "".join(disc(x, y, 2, color) for (x, y), color in zip(rim, colors))
    stand = strokes([[(13, 29), (20, 15), (27, 29)]], "#5b4a66", 1.6)
    ring = '<circle cx="20" cy="15" r="11" fill="none" stroke="#5b4a66"/>'
    return sheet("#f1e2ef") + stand + ring + strokes([[(20, 15), end] for end in rim], "#5b4a66", 0.6) + cabins


def car(u):
    x = 31 - 31 * u
    houses = "".join(rect(k, y, 7, 24 - y, "#2f2a52") for k, y in ((0, 10), (9, 6), (18, 12), (26, 4), (34, 9)))
    body = [(x, 23), (x, 20), (x + 2, 17.5), (x + 6, 17.5), (x + 9, 20), (x + 12, 20.5), (x + 12, 23)]
    wheels = disc(x + 3, 23.5, 1.8, "#111") + disc(x + 9, 23.5, 1.8, "#111")
    return sheet("#7a6aa8") + houses + rect(0, 24, 40, 6, "#1f1c33") + shape(body, "#f3c64b") + wheels


def plant(u):
    top = 24 - 16 * u
    stem = strokes([[(20, 25), (20, top)]], "#2f7a3f", 1.4)
    leaves = "".join(shape([(20, y), (20 + side * 7 * u, y - 4), (20 + side * 3 * u, y + 1)], "#3c9a4e")
                     for side, y in ((-1, 22 - 3 * u), (1, 21 - 7 * u), (-1, 22 - 11 * u)) if y > top)
    petals = [(20 + 2.8 * u * cos(a), top + 2.8 * u * sin(a)) for a in (2 * pi * k / 5 for k in range(5))]
    flower = "".join(disc(x, y, 2 * u, "#e2568d") for x, y in petals) + disc(20, top, 1.7, "#f3c64b")
    return sheet("#dcefcb") + rect(0, 24, 40, 6, "#6b4a2f") + stem + leaves + (flower if u > 0.5 else "")


def rocket(u):
    y = 19 - 19 * u
    stars = "".join(disc(x, s, 0.5, "#fff") for x, s in ((4, 5), (10, 14), (31, 4), (35, 17), (28, 24), (7, 25)))
    fire = shape([(17.5, y + 9), (22.5, y + 9), (20, y + 12 + 7 * u)], "#ff9a3c")
    body = shape([(20, y - 1), (23, y + 4), (23, y + 9), (17, y + 9), (17, y + 4)], "#e8ebf0")
    fins = "".join(shape([(20 + 3 * side, y + 6), (20 + 5.5 * side, y + 10), (20 + 3 * side, y + 9)], "#d8402c") for side in (-1, 1))
    return sheet("#101a38") + stars + fire + body + disc(20, y + 4.5, 1.4, "#2b7fc4") + fins


def juggler(u):
    balls = ""
    for k, color in enumerate(("#d8402c", "#2b7fc4", "#2b9a78")):
        phase = (u * 7 / 8 + k / 3) % 1
        balls += disc(20 + 9 * cos(pi * phase), 17 - 14 * sin(pi * phase), 2.1, color)
    lift = sin(2 * pi * u)
    body = strokes([[(11.5, 18 + lift), (20, 20), (28.5, 18 - lift)], [(20, 18), (20, 30)]], "#33404d", 1.8)
    return sheet("#f6d9a9") + body + disc(20, 14, 2.8, "#33404d") + balls


SCENES = [sunrise, ball, boat, wheel, car, plant, rocket, juggler]
