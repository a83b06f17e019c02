# type: ignore
# Warp compiles these functions, and its types are not those of Python.
"""From sums of samples to values of a picture, in floats, one operation after another without fused ones."""

import warp as wp

from .tables import Table


@wp.struct
class Channel:
    """How a channel is made of three sums."""

    first: float
    second: float
    third: float
    offset: float
    low: float
    high: float


@wp.func
def channel_of(table: Table, c: int):
    found = Channel()
    found.first = table.factors[c, 0]
    found.second = table.factors[c, 1]
    found.third = table.factors[c, 2]
    found.offset = table.offsets[c]
    found.low = table.low[c]
    found.high = table.high[c]
    return found


@wp.func
def level_of(channel: Channel, sums: wp.vec3i, needed: int):
    value = float(sums[0]) * channel.first + channel.offset
    if needed == 3:
        value = float(sums[1]) * channel.second + value
        value = float(sums[2]) * channel.third + value
    return value


@wp.func
def clamped(value: float, channel: Channel):
    if not (value > channel.low):
        value = channel.low
    if not (value < channel.high):
        value = channel.high
    return value


@wp.func
def value_for(value: float, channel: Channel, like: wp.uint8):
    """The nearest whole number from 0 to 255, ties to even."""
    return wp.uint8(wp.rint(wp.clamp(value, 0.0, 255.0)))


@wp.func
def value_for(value: float, channel: Channel, like: wp.float32):  # noqa: F811
    return clamped(value, channel)


@wp.func
def value_for(value: float, channel: Channel, like: wp.float16):  # noqa: F811
    return wp.float16(clamped(value, channel))


@wp.func
def value_for(value: float, channel: Channel, like: wp.uint16):  # noqa: F811
    """The bits of the nearest bfloat16, ties to even."""
    bits = wp.cast(clamped(value, channel), wp.uint32)
    return wp.uint16((bits + wp.uint32(32767) + ((bits >> wp.uint32(16)) & wp.uint32(1))) >> wp.uint32(16))
