# type: ignore
# Warp compiles these functions, and its types are not those of Python.
"""Kernels that copy JPEGs between a batch and those that the device keeps.

A way is where a JPEG is, where it goes, and its length. Kept JPEGs are rows of 64 bytes, because an array has fewer than
2^31 rows, and each begins in a row of its own. Threads with the same number `w` share a JPEG.
"""

import warp as wp

wp.set_module_options({"enable_backward": False})

ROW = wp.constant(wp.int64(64))
# Threads that share a JPEG.
THREADS = wp.constant(256)


@wp.func
def row(at: wp.int64):
    return wp.int32(at // ROW)


@wp.func
def column(at: wp.int64):
    return wp.int32(at % ROW)


@wp.kernel
def take(kept: wp.array2d(dtype=wp.uint8), ways: wp.array2d(dtype=wp.int64), jpegs: wp.array(dtype=wp.uint8)):
    w, thread = wp.tid()
    for i in range(thread, wp.int32(ways[w, 2]), THREADS):
        at = ways[w, 0] + wp.int64(i)
        jpegs[wp.int32(ways[w, 1]) + i] = kept[row(at), column(at)]


@wp.kernel
def keep(jpegs: wp.array(dtype=wp.uint8), ways: wp.array2d(dtype=wp.int64), kept: wp.array2d(dtype=wp.uint8)):
    w, thread = wp.tid()
    for i in range(thread, wp.int32(ways[w, 2]), THREADS):
        at = ways[w, 1] + wp.int64(i)
        kept[row(at), column(at)] = jpegs[wp.int32(ways[w, 0]) + i]
