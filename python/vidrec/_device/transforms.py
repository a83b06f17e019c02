# type: ignore
# Warp compiles these functions, and its types are not those of Python.
"""The inverse DCT of libjpeg at four sizes, on integers that wrap around or saturate as in SIMD code."""

import warp as wp

Block = wp.types.vector(length=64, dtype=wp.int32)

# FIX(x) of libjpeg's jidctint.c and jidctred.c: x times 2^13, rounded.
F_0_211 = wp.constant(1730)
F_0_298 = wp.constant(2446)
F_0_390 = wp.constant(3196)
F_0_509 = wp.constant(4176)
F_0_541 = wp.constant(4433)
F_0_601 = wp.constant(4926)
F_0_720 = wp.constant(5906)
F_0_765 = wp.constant(6270)
F_0_850 = wp.constant(6967)
F_0_899 = wp.constant(7373)
F_1_061 = wp.constant(8697)
F_1_175 = wp.constant(9633)
F_1_272 = wp.constant(10426)
F_1_451 = wp.constant(11893)
F_1_501 = wp.constant(12299)
F_1_847 = wp.constant(15137)
F_1_961 = wp.constant(16069)
F_2_053 = wp.constant(16819)
F_2_172 = wp.constant(17799)
F_2_562 = wp.constant(20995)
F_3_072 = wp.constant(25172)
F_3_624 = wp.constant(29692)


@wp.func
def low16(value: int):
    """The lower 16 bits, with their sign."""
    return (value << 16) >> 16


@wp.func
def add(a: int, b: int):
    """A sum that wraps around."""
    return int(wp.uint32(a) + wp.uint32(b))


@wp.func
def sub(a: int, b: int):
    return int(wp.uint32(a) - wp.uint32(b))


@wp.func
def dot(x: int, a: int, y: int, b: int):
    return add(x * a, y * b)


@wp.func
def narrow(value: int):
    """To 16 bits, saturated."""
    return wp.clamp(value, -32768, 32767)


@wp.func
def descale(value: int, shift: int):
    return narrow(add(value, 1 << (shift - 1)) >> shift)


@wp.func
def sample(value: int):
    return wp.clamp(value, -128, 127) + 128


@wp.func
def full_line(v: Block, at: int, step: int, shift: int):
    """The transform of jidctint.c, `jpeg_idct_islow`, of eight values in place."""
    v0 = v[at]
    v1 = v[at + step]
    v2 = v[at + 2 * step]
    v3 = v[at + 3 * step]
    v4 = v[at + 4 * step]
    v5 = v[at + 5 * step]
    v6 = v[at + 6 * step]
    v7 = v[at + 7 * step]
    t3 = dot(v2, F_0_541 + F_0_765, v6, F_0_541)
    t2 = dot(v2, F_0_541, v6, F_0_541 - F_1_847)
    t0 = low16(v0 + v4) << 13
    t1 = low16(v0 - v4) << 13
    e0 = add(t0, t3)
    e1 = add(t1, t2)
    e2 = sub(t1, t2)
    e3 = sub(t0, t3)
    s3 = low16(v7 + v3)
    s4 = low16(v5 + v1)
    z3 = dot(s3, F_1_175 - F_1_961, s4, F_1_175)
    z4 = dot(s3, F_1_175, s4, F_1_175 - F_0_390)
    o0 = add(dot(v7, -F_0_899, v1, F_1_501 - F_0_899), z4)
    o1 = add(dot(v5, -F_2_562, v3, F_3_072 - F_2_562), z3)
    o2 = add(dot(v5, F_2_053 - F_2_562, v3, -F_2_562), z4)
    o3 = add(dot(v7, F_0_298 - F_0_899, v1, -F_0_899), z3)
    v[at] = descale(add(e0, o0), shift)
    v[at + step] = descale(add(e1, o1), shift)
    v[at + 2 * step] = descale(add(e2, o2), shift)
    v[at + 3 * step] = descale(add(e3, o3), shift)
    v[at + 4 * step] = descale(sub(e3, o3), shift)
    v[at + 5 * step] = descale(sub(e2, o2), shift)
    v[at + 6 * step] = descale(sub(e1, o1), shift)
    v[at + 7 * step] = descale(sub(e0, o0), shift)
    return v


@wp.func
def half_line(v: Block, at: int, step: int, shift: int):
    """The transform of jidctred.c, `jpeg_idct_4x4`: the first four of eight values become the result."""
    v1 = v[at + step]
    v3 = v[at + 3 * step]
    v5 = v[at + 5 * step]
    v7 = v[at + 7 * step]
    t0 = v[at] << 14
    t2 = dot(v[at + 2 * step], F_1_847, v[at + 6 * step], -F_0_765)
    first = add(dot(v1, F_2_562, v3, F_0_899), dot(v5, -F_0_601, v7, -F_0_509))
    second = add(dot(v1, F_1_061, v3, -F_2_172), dot(v5, F_1_451, v7, -F_0_211))
    v[at] = descale(add(add(t0, t2), first), shift)
    v[at + step] = descale(add(sub(t0, t2), second), shift)
    v[at + 2 * step] = descale(sub(sub(t0, t2), second), shift)
    v[at + 3 * step] = descale(sub(add(t0, t2), first), shift)
    return v


@wp.func
def quarter_odd(a: int, b: int, c: int, d: int):
    return add(dot(a, F_3_624, b, -F_1_272), dot(c, F_0_850, d, -F_0_720))


@wp.func
def quarter(v: Block):
    """The transform of jidctred.c, `jpeg_idct_2x2`: the samples at 0, 1, 8 and 9."""
    # Columns 0, 1, 3, 5 and 7; two values of each.
    for i in range(5):
        x = wp.max(2 * i - 1, 0)
        even = v[x] << 15
        odd = quarter_odd(v[8 + x], v[24 + x], v[40 + x], v[56 + x])
        v[x] = add(add(even, odd), 1 << 12) >> 13
        v[8 + x] = add(sub(even, odd), 1 << 12) >> 13
    for y in range(2):
        at = 8 * y
        odd = quarter_odd(narrow(v[at + 1]), narrow(v[at + 3]), narrow(v[at + 5]), narrow(v[at + 7]))
        first = int(wp.uint32(v[at]) << wp.uint32(15))
        v[at] = sample(descale(add(first, odd), 20))
        v[at + 1] = sample(descale(sub(first, odd), 20))
    return v


@wp.func
def tiny(v: Block):
    """The transform of jidctred.c, `jpeg_idct_1x1`: a sample for the whole block."""
    # The table of jdmaster.c, `prepare_range_limit_table`, repeats after 1024.
    level = (v[0] + 4) >> 3
    wrapped = level & 1023
    if (level & 512) != 0:
        wrapped -= 1024
    return sample(wrapped)


@wp.func
def flat(v: Block):
    """All samples of a block whose other coefficients are zero."""
    return sample(narrow((low16(v[0] << 2) + 16) >> 5))
