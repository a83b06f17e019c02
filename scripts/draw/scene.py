"""Pictures for comparing JPEGs: one with what photographs have (soft shades, skin, hair, grass, noise) and text, and two as
simulators draw them, with flat colors and thin lines. No camera took them."""
import numpy
from PIL import Image, ImageDraw, ImageFilter, ImageFont

SIZE = (384, 256)
FINE = 4  # drawn at this many times the size


def waves(random, size, steps):
    """Smooth noise from -1 to 1: random grids of `steps` points across, enlarged and added, the finer the weaker."""
    total = numpy.zeros((size[1], size[0]))
    for n, points in enumerate(steps):
        grid = random.uniform(-1, 1, (points * size[1] // size[0] + 2, points + 2)).astype(numpy.float32)
        total += numpy.asarray(Image.fromarray(grid).resize(size, Image.Resampling.BICUBIC)) / 1.6**n
    return total / numpy.abs(total).max()


def shade(base, amount, strength):
    """A color, lighter and darker by an array."""
    return numpy.clip(numpy.array(base) * (1 + strength * amount[..., None]), 0, 255)


def field(random, size):
    """Sky over hills and grass."""
    height = numpy.linspace(0, 1, size[1])[:, None, None]
    sky = (1 - height) * numpy.array([86, 134, 196]) + height * numpy.array([214, 222, 226])
    picture = numpy.broadcast_to(sky, (size[1], size[0], 3)).copy()
    picture += 10 * waves(random, size, (3, 6, 12))[..., None]
    x, y = numpy.arange(size[0]), numpy.arange(size[1])[:, None]
    for base, level, color in ((0.50, 0.06, (92, 118, 104)), (0.64, 0.04, (88, 112, 58))):
        edge = size[1] * (base + level * numpy.sin(x / size[0] * 9 + 5 * base))
        hill = shade(color, waves(random, size, (20, 60, 180)), 0.3)
        picture = numpy.where((y > edge)[..., None], hill, picture)
    return picture


def blades(random, draw, size):
    """Grass, blade by blade."""
    for _ in range(5200):
        x, y = random.uniform(0, size[0]), size[1] * random.uniform(0.72, 1.03)
        tip = (x + random.normal(0, 14), y - random.uniform(18, 60))
        green = random.uniform(60, 175)
        draw.line([(x, y), tip], fill=(int(green * 0.62), int(green), int(green * 0.28)), width=int(random.integers(2, 5)))


def face(random, picture):
    """Skin in soft light, hair strand by strand, eyes and a mouth."""
    x, y = numpy.meshgrid(numpy.arange(picture.width), numpy.arange(picture.height))
    across, down = (x - 560) / 180, (y - 520) / 240
    inside = across**2 + down**2 < 1
    light = 0.28 * -across + 0.22 * -down - 0.34 * (across**2 + down**2) + 0.16
    skin = shade((214, 160, 132), light + 0.04 * waves(random, picture.size, (80, 200)), 1.0)
    pixels = numpy.where(inside[..., None], skin, numpy.asarray(picture))
    picture = Image.fromarray(pixels.astype(numpy.uint8))
    draw = ImageDraw.Draw(picture)
    for left in (470, 610):
        draw.ellipse((left, 470, left + 64, 508), fill=(238, 234, 228))
        draw.ellipse((left + 20, 470, left + 52, 506), fill=(66, 92, 84))
        draw.ellipse((left + 29, 480, left + 43, 496), fill=(14, 12, 12))
        draw.arc((left - 8, 440, left + 74, 500), 200, 340, fill=(70, 44, 30), width=8)
    draw.polygon([(556, 500), (534, 590), (578, 594)], fill=(196, 140, 112))
    draw.chord((500, 610, 618, 680), 0, 180, fill=(168, 62, 66))
    for _ in range(1500):
        start = random.uniform(-2.9, -0.2)
        at = (560 + 176 * numpy.cos(start), 510 + 236 * numpy.sin(start))
        end = (at[0] + random.normal(34 * numpy.cos(start), 26), at[1] + random.uniform(-50, 120))
        brown = random.uniform(26, 120)
        draw.line([at, end], fill=(int(brown), int(brown * 0.66), int(brown * 0.42)), width=int(random.integers(2, 5)))
    return picture


def signs(picture):
    """Text: red on blue, which 4:2:0 blurs, and black on white."""
    draw = ImageDraw.Draw(picture)
    draw.rounded_rectangle((760, 380, 1130, 600), 20, fill=(28, 52, 140))
    draw.text((784, 398), "STOP 12", font=ImageFont.load_default(80), fill=(226, 40, 36))
    draw.rectangle((780, 500, 1110, 584), fill=(246, 246, 242))
    draw.text((792, 508), "exit & tickets", font=ImageFont.load_default(50), fill=(16, 16, 18))
    draw.rectangle((930, 600, 956, 860), fill=(118, 122, 126))


def scene():
    """The picture, 384x256 pixels, the same each time."""
    random = numpy.random.default_rng(18)
    size = (SIZE[0] * FINE, SIZE[1] * FINE)
    picture = Image.fromarray(numpy.clip(field(random, size), 0, 255).astype(numpy.uint8))
    picture = face(random, picture)
    signs(picture)
    blades(random, ImageDraw.Draw(picture), size)
    small = picture.filter(ImageFilter.GaussianBlur(1.4)).resize(SIZE, Image.Resampling.LANCZOS)
    noisy = numpy.asarray(small) + random.normal(0, 2.2, (SIZE[1], SIZE[0], 3))
    return Image.fromarray(numpy.clip(noisy + 0.5, 0, 255).astype(numpy.uint8))


def arm():
    """A robot's arm over a checkered floor, as physics simulators draw it: without noise, and hardly smoothed."""
    picture = Image.new("RGB", SIZE, (118, 156, 198))
    draw = ImageDraw.Draw(picture)
    for row in range(12):
        top, bottom = (120 + 136 * (row / 12) ** 1.7, 120 + 136 * ((row + 1) / 12) ** 1.7)
        for column in range(-14, 14):
            edges = [(192 + x * (12 + 0.2 * (y - 120)), y) for x, y in ((column, top), (column + 1, top), (column + 1, bottom), (column, bottom))]
            draw.polygon(edges, fill=((30, 60, 110), (52, 92, 150))[(row + column) % 2])
    joints = [(96, 214), (120, 120), (206, 84), (262, 150)]
    for color, width in (((190, 20, 20), 17), ((255, 72, 48), 9)):
        draw.line(joints, fill=color, width=width, joint="curve")
    for x, y in joints:
        draw.ellipse((x - 9, y - 9, x + 9, y + 9), fill=(255, 220, 0), outline=(0, 0, 0))
    draw.rectangle((248, 176, 280, 208), fill=(0, 200, 60), outline=(0, 0, 0))
    draw.rectangle((300, 186, 322, 208), fill=(230, 0, 200))
    for color, end in (((255, 0, 0), (302, 150)), ((0, 255, 0), (262, 110)), ((0, 0, 255), (234, 170))):
        draw.line((262, 150, *end), fill=color)
    return picture


def streets():
    """Cars on a map, as planners of driving see them: lanes of a pixel, boxes and labels in full colors."""
    picture = Image.new("RGB", SIZE, (12, 12, 16))
    draw = ImageDraw.Draw(picture)
    for n, color in enumerate(((255, 0, 0), (255, 255, 0), (0, 255, 255), (255, 0, 255), (0, 255, 0), (0, 96, 255))):
        draw.line([(x, 70 + 13 * n + 26 * numpy.sin(x / 61 + n / 9)) for x in range(SIZE[0])], fill=color)
    font = ImageFont.load_default(11)
    for x, y, color in ((70, 96, (255, 40, 40)), (168, 128, (60, 120, 255)), (250, 82, (0, 230, 90)), (300, 150, (255, 160, 0))):
        draw.polygon([(x, y), (x + 26, y + 4), (x + 24, y + 16), (x - 2, y + 12)], fill=color)
        draw.text((x, y + 18), f"{x / 10:.1f} m/s", font=font, fill=color)
    for x in range(0, SIZE[0], 4):
        draw.line((x, 196, x, 240), fill=((255, 0, 0), (0, 0, 255))[x // 4 % 2])
    return picture
