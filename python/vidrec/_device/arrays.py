# type: ignore
# Warp compiles these functions, and its types are not those of Python.
"""Reads and writes of arrays of one dimension, without the negative indexes and the strides of Warp's own.

That takes far fewer instructions. Kernels that are compiled to check bounds (Warp's mode "debug") check them here, too.
"""

import warp as wp

_READ = "assert(i >= 0 && i < a.shape[0]); return a.data[i];"
_WRITE = "assert(i >= 0 && i < a.shape[0]); a.data[i] = value;"

# One function of each for all types of values; 64 bits count what all pictures of a batch have together.
for _type in (wp.uint8, wp.int16, wp.uint16, wp.int32, wp.float16, wp.float32):
    for _index in (wp.int32, wp.int64):

        @wp.func_native(_READ)
        def at(a: wp.array(dtype=_type), i: _index) -> _type: ...

        @wp.func_native(_WRITE)
        def put(a: wp.array(dtype=_type), i: _index, value: _type): ...


@wp.func
def four_at(a: wp.array(dtype=wp.uint8), i: int):
    """Four bytes, the first one on top."""
    upper = (wp.uint32(at(a, i)) << wp.uint32(24)) | (wp.uint32(at(a, i + 1)) << wp.uint32(16))
    return upper | (wp.uint32(at(a, i + 2)) << wp.uint32(8)) | wp.uint32(at(a, i + 3))


@wp.func_native("""
assert(i >= 0 && i % 4 == 0 && i + 3 < a.shape[0]);
*(wp::uint32*)(a.data + i) = b0 | b1 << 8 | b2 << 16 | b3 << 24;
""")
def put_four(a: wp.array(dtype=wp.uint8), i: wp.int64, b0: int, b1: int, b2: int, b3: int):
    """Writes four bytes at once, to a multiple of four."""


# What a GPU prefetches need not be there, so this cannot go wrong.
@wp.func_native("""
#if defined(__CUDA_ARCH__)
for (int i = begin & ~31; i < end; i += 32) asm volatile("prefetch.global.L1 [%0];" :: "l"(a.data + i));
#endif
""")
def fetch(a: wp.array(dtype=wp.uint8), begin: int, end: int):
    """Has a GPU bring bytes near, so that threads do not wait for each line when they come to it."""
