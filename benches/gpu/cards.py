"""GPUs, from NVIDIA's data sheets, and the rule by which registers limit how many warps a multiprocessor runs."""
from typing import NamedTuple


class Card(NamedTuple):
    arch: int
    multiprocessors: int
    gigahertz: float  # the data sheet's FP32 operations a second, divided by twice the lanes
    memory: float     # bytes a second
    bus: float        # bytes a second of PCIe x16 in one direction: 4.0 or 5.0, four fifths of its rate
    warps: int        # that a multiprocessor holds
    cache: int        # bytes of its L1 cache


CARDS = {
    "H100 SXM": Card(90, 132, 66.9e3 / 2 / 128 / 132, 3.35e12, 50e9, 64, 256 << 10),
    "A100 SXM 80 GB": Card(80, 108, 19.5e3 / 2 / 64 / 108, 2.04e12, 25e9, 64, 192 << 10),
    "RTX 4090": Card(89, 128, 82.6e3 / 2 / 128 / 128, 1.01e12, 25e9, 48, 128 << 10),
    "L4": Card(89, 58, 30.3e3 / 2 / 128 / 58, 0.30e12, 25e9, 48, 128 << 10),
}


def resident_warps(card, registers, block):
    """Registers are given to warps in units of 256, and blocks fit as a whole."""
    of_warp = -(-registers * 32 // 256) * 256
    blocks = min(65536 // (of_warp * block // 32), card.warps // (block // 32), 32)
    return blocks * block // 32
