#!/usr/bin/env python3
"""How fast GPUs could make batches: a model, for those who have none. It measures nothing.

    pip install 'vidrec[gpu]' nvidia-cuda-nvcc nvidia-cuda-cuobjdump nvidia-cuda-nvdisasm
    python benches/gpu/model.py DATASET [--json FILE]

It compiles the kernels for compute capability 8.0, runs the machine code on this processor with a real batch, warp by warp, and
compares what it wrote with what the kernels wrote. From the counts and the data sheets of some cards it computes the least time
that each kernel takes: docs/design/0032-model-of-a-gpu.md.
"""
import argparse
import sys
import tempfile
from pathlib import Path

import kernels
from cards import CARDS, resident_warps
from workloads import workloads

sys.path.append(str(Path(__file__).resolve().parents[2] / "scripts/draw"))
from results import called, write  # noqa: E402

# Machine code of 8.9 and 9.0 is not run. It has as many registers, and is at most 5 % longer.
ARCH = 80

WORKLOADS = workloads(16, 224)


def bounds(card, counts):
    """The least milliseconds of a kernel on a card, by what limits it."""
    kinds, warps = counts.kinds, resident_warps(card, counts.registers, kernels.BLOCK)
    hertz, all_hertz = card.gigahertz * 1e9, card.gigahertz * 1e9 * card.multiprocessors
    return {
        "issue": 1e3 * counts.instructions / 4 / all_hertz,
        "integers": 1e3 * max(kinds.get("alu", 0), kinds.get("mad", 0)) / 2 / all_hertz,
        "slow units": 1e3 * kinds.get("slow", 0) * 2 / all_hertz,
        "L1 cache": 1e3 * counts.lines / all_hertz,
        "memory": 1e3 * counts.touched / card.memory,
        "latency": 1e3 * counts.cycles / warps / all_hertz,
        "slowest warp": 1e3 * counts.longest / hertz,
    }


def predicted(card, found, frames, sent):
    """Frames a second if batches follow each other, and what limits each step."""
    steps = {}
    for counts in found:
        limits = bounds(card, counts)
        limit = max(limits, key=limits.get)
        steps[counts.name] = {"limit": limit, "ms": limits[limit], "all": limits}
    seconds = max(sum(step["ms"] for step in steps.values()) / 1e3, sent / card.bus)
    return {"frames_per_second": frames / seconds, "bus_frames_per_second": frames / (sent / card.bus), "steps": steps}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("dataset", type=Path)
    p.add_argument("--workloads", type=lambda text: text.split(","), default=list(WORKLOADS), help=", ".join(WORKLOADS))
    p.add_argument("--json", type=Path, metavar="FILE", help="writes frames a second as files of benches/results have them")
    a = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = {name: of_workload(name, *kernels.of_a_batch(a.dataset, WORKLOADS[name], ARCH, Path(folder))) for name in a.workloads}
    if a.json:
        rows = [{"name": card, "values": [round(of_cards[card], -3) for of_cards in found.values()]} for card in CARDS]
        write(a.json, "A model of GPUs", list(found), rows, processor="none: computed from machine code and data sheets", cores=0,
              data="the first batch of 16 clips of 8 frames; nothing was measured", command=called("SET"), unit="frames/s")


def of_workload(name, counts, frames, sent, made):
    print(f"\n{name}: {sent / frames:,.0f} bytes of a frame over the bus, {made / frames:,.0f} made")
    for c in counts:
        print(
            f"  {c.name}: {c.registers} registers, {c.stack} bytes of stack, {c.instructions / frames:,.0f} instructions of warps a"
            f" frame, {c.lanes:.1f} of 32 lanes, slowest warp {c.longest:,.0f} cycles, {'the same bits' if c.same else 'OTHER BITS'}"
        )
    if not all(c.same for c in counts):
        sys.exit("the machine code wrote other bits: machine_code.py gets an instruction wrong")
    cards = {card: predicted(CARDS[card], counts, frames, sent) for card in CARDS}
    for card, told in cards.items():
        steps = ", ".join(f"{step} {s['ms']:.3f} ms ({s['limit']})" for step, s in told["steps"].items())
        print(f"  {card}: {told['frames_per_second']:,.0f} frames/s; the bus allows {told['bus_frames_per_second']:,.0f}; {steps}")
    return {card: int(told["frames_per_second"]) for card, told in cards.items()}


if __name__ == "__main__":
    main()
