# type: ignore
# Warp compiles these functions, and its types are not those of Python.
"""Where the planes of a frame are."""

import warp as wp

from .arrays import at

# Numbers of a frame: `TilePlan::FRAME` of the loader has them.
START = wp.constant(0)
CODED = wp.constant(1)
END = wp.constant(2)
FIRST_TILE = wp.constant(3)
TILES = wp.constant(4)
ACROSS = wp.constant(5)
RESTART = wp.constant(6)
LEFT = wp.constant(7)
COLUMNS = wp.constant(8)
TOP = wp.constant(9)
ROWS = wp.constant(10)
HEADER = wp.constant(11)
TABLE = wp.constant(12)
PLACE = wp.constant(13)
PLANES = wp.constant(14)
LINES = wp.constant(15)
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
def planes_of(frames: wp.array2d(dtype=wp.int32), f: int, step: int):
    """The planes of frame `f`, which has a sample for `step` pixels."""
    tile = frames[f, RESTART] * 16 // step
    pitch = frames[f, COLUMNS] * tile
    size = wp.int64(pitch) * wp.int64(frames[f, ROWS] * 16 // step)
    found = Planes()
    found.luma.start = wp.int64(frames[f, PLANES]) * UNIT
    found.luma.pitch = pitch
    found.luma.left = frames[f, LEFT] * tile
    found.luma.top = frames[f, TOP] * 16 // step
    found.blue.start = found.luma.start + size
    found.blue.pitch = pitch // 2
    found.blue.left = found.luma.left // 2
    found.blue.top = found.luma.top // 2
    found.red = found.blue
    found.red.start = found.blue.start + size // wp.int64(4)
    return found


@wp.func
def sample_at(planes: wp.array(dtype=wp.uint8), plane: Plane, x: int, y: int):
    to_it = (y - plane.top) * plane.pitch + x - plane.left
    return int(at(planes, plane.start + wp.int64(to_it)))
