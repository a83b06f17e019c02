"""Makes the JPEGs of this folder and Pillow's pixels for each, also of one resized, as PNG.

Needs Pillow built on libjpeg-turbo.
Written with Pillow 13.0.0 (libjpeg-turbo 3.2.0); its pixels are what `vidrec::jpeg::Decoder` must give, bit for bit.
"""
import math
from pathlib import Path

from PIL import Image, features

HERE = Path(__file__).parent
WIDTH, HEIGHT = 53, 37


def pixel(x, y):
    r = 128 + 100 * math.sin(x / 5) * math.cos(y / 7)
    return int(r), (x * 5 + y * 3) % 256, 255 if (x // 9 + y // 6) % 2 else 30


assert features.check_feature("libjpeg_turbo")
rgb = Image.new("RGB", (WIDTH, HEIGHT))
rgb.putdata([pixel(x, y) for y in range(HEIGHT) for x in range(WIDTH)])
kinds = {
    "s420": dict(subsampling="4:2:0"),
    "s422": dict(subsampling="4:2:2"),
    "s444": dict(subsampling="4:4:4"),
    "gray": dict(),
    "progressive": dict(subsampling="4:2:0", progressive=True),
}
for name, options in kinds.items():
    image = rgb.convert("L") if name == "gray" else rgb
    path = HERE / f"{name}.jpg"
    image.save(path, quality=88, **options)
    Image.open(path).convert("RGB").save(HERE / f"{name}.png", optimize=True)

for size in [(24, 16), (80, 70)]:
    small = Image.open(HERE / "s420.jpg").resize(size, Image.Resampling.BILINEAR)
    small.save(HERE / f"s420-{size[0]}x{size[1]}.png", optimize=True)
