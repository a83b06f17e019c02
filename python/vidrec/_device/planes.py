# type: ignore
# Warp compiles these functions, and its types are not those of Python.
"""Where the planes of a frame are."""

import warp as wp

from .arrays import at

# Numbers of a frame: `TilePlan::FRAME` of the loader has them.
LINES = wp.constant(0)
TILES = wp.constant(1)
COLUMNS = wp.constant(2)
RESTART = wp.constant(3)
SIDE = wp.constant(4)
CODING = wp.constant(5)
TABLE = wp.constant(6)
TABLE_NUMBER = wp.constant(7)
LEFT = wp.constant(8)
TOP = wp.constant(9)
PLACE = wp.constant(10)
PLANES = wp.constant(11)
# Planes and lines begin at multiples of so many samples.
UNIT = wp.constant(wp.int64(64))


@wp.struct
class Plane:
    start: wp.int64
    pitch: int
    left: int
    top: int


@wp.struct
class Planes:
    luma: Plane
    blue: Plane
    red: Plane


@wp.func
def planes_of(frames: wp.array2d(dtype=wp.int32), f: int):
    side = frames[f, SIDE]
    across = frames[f, COLUMNS]
    pitch = across * frames[f, RESTART] * 2 * side
    size = wp.int64(pitch) * wp.int64((frames[f, TILES] // across) * 2 * side)
    found = Planes()
    found.luma.start = wp.int64(frames[f, PLANES]) * UNIT
    found.luma.pitch = pitch
    found.luma.left = frames[f, LEFT]
    found.luma.top = frames[f, TOP]
    found.blue.start = found.luma.start + size
    found.blue.pitch = pitch // 2
    found.blue.left = frames[f, LEFT] // 2
    found.blue.top = frames[f, TOP] // 2
    found.red = found.blue
    found.red.start = found.blue.start + size // wp.int64(4)
    return found


@wp.func
def sample_at(planes: wp.array(dtype=wp.uint8), plane: Plane, x: int, y: int):
    to_it = (y - plane.top) * plane.pitch + x - plane.left
    return int(at(planes, plane.start + wp.int64(to_it)))
