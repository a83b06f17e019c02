"""The kernels that a loader launches for a batch, each run a second time as the machine code of a GPU."""
import ctypes
import hashlib
import math
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import machine_code
import numpy as np
import torch
import warp as wp

import vidrec
from vidrec._device import maker

# Of a kernel with more warps, blocks that are evenly spread.
MOST_WARPS = 8000
BLOCK = maker.BLOCK
PARAMETERS = 0x160  # where sm_80 and sm_89 have a kernel's parameters

COMPILE = """
import importlib, pkgutil, sys, warp
from vidrec import _device
for found in pkgutil.iter_modules(_device.__path__):
    module = importlib.import_module(f"vidrec._device.{found.name}")
    if any(isinstance(v, warp.Kernel) and v.module.name == module.__name__ for v in vars(module).values()):
        warp.compile_aot_module(module, device=None, arch=int(sys.argv[1]), module_dir=sys.argv[2], use_ptx=True)
"""


class Counts(NamedTuple):
    """What the launches of a kernel for one batch take."""

    name: str
    registers: int
    stack: int
    same: bool       # as Warp's own code for this processor
    kinds: dict      # instructions of warps of each class
    lanes: float     # of 32, in the mean of all instructions
    lines: float     # of 128 bytes that loads and stores touch
    touched: int     # bytes of all arrays
    cycles: float    # sum over warps, each of which runs alone
    longest: float   # cycles of the slowest warp

    @property
    def instructions(self):
        return sum(self.kinds.values())


def tool(name):
    """A program of the CUDA toolkit: in PATH, or in the packages nvidia-cuda-nvcc, -cuobjdump and -nvdisasm."""
    found = shutil.which(name)
    if not found:
        found = next((str(p) for entry in sys.path for p in Path(entry).glob(f"nvidia/cu*/bin/{name}")), None)
    if not found:
        sys.exit(f"no {name}: pip install nvidia-cuda-nvcc nvidia-cuda-cuobjdump nvidia-cuda-nvdisasm")
    return found


def compiled(arch, folder):
    """Of each kernel: its disassembled machine code, its registers, and the bytes of its stack."""
    subprocess.run([sys.executable, "-c", COMPILE, str(arch), str(folder)], check=True, stdout=subprocess.DEVNULL)
    found = {}
    for ptx in folder.glob(f"*.sm{arch}.ptx"):
        ptx.write_bytes(ptx.read_bytes().rstrip(b"\0"))
        cubin = ptx.with_suffix(".cubin")
        command = [tool("ptxas"), "-v", f"-arch=sm_{arch}", ptx, "-o", cubin]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        text = subprocess.run([tool("cuobjdump"), "-sass", cubin], check=True, capture_output=True, text=True).stdout
        facts = re.compile(r"entry function '(\w+)'.*?(\d+) bytes stack frame.*?Used (\d+) registers", re.S)
        for function, stack, registers in facts.findall(done.stderr):
            found[function.removesuffix("_cuda_kernel_forward")] = (text, int(registers), int(stack))
    return found


def parameters(dim, inputs):
    """The bytes of a kernel's parameters."""
    out = bytearray(np.array(dim, np.uint32).tobytes())

    def put(data, align):
        out.extend(bytes(-len(out) % align) + data)

    put(np.array([math.prod(dim), 1], np.uint64).tobytes(), 8)
    for value in inputs:
        if isinstance(value, wp.array):
            put(bytes(value.__ctype__()), 8)
        elif isinstance(value, int):
            put(np.int32(value).tobytes(), 4)
        else:
            put(np.array(list(value), np.int64).tobytes(), 8)
    return bytes(out)


def executable(code, folder):
    text, parts = machine_code.translate(code)
    path = folder / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.so"
    if not path.exists():
        source = path.with_suffix(".c")
        source.write_text(text)
        options = ["-O1", "-fwrapv", "-ffp-contract=off", "-w", "-shared", "-fPIC"]
        subprocess.run(["cc", *options, source, "-o", path, "-lm"], check=True)
    return ctypes.CDLL(str(path)), parts


def bits(values):
    """The bytes of an array. Memory that no kernel wrote may have numbers that are not equal to themselves."""
    return np.ascontiguousarray(values).view(np.uint8)


def counted(kernel, dim, inputs, compiled, folder, launch):
    """Launches a kernel, then runs its machine code on the same inputs."""
    arrays = [value for value in inputs if isinstance(value, wp.array)]
    before = [array.numpy().copy() for array in arrays]
    launch()
    after = [array.numpy().copy() for array in arrays]
    for array, values in zip(arrays, before):
        array.numpy()[...] = values
    if kernel.is_generic:
        kernel = kernel.add_overload(kernel.infer_argument_types(inputs))
    text, registers, stack = compiled[kernel.get_mangled_name()]
    function = f"{kernel.get_mangled_name()}_cuda_kernel_forward"
    library, parts = executable(machine_code.instructions(text, function), folder)
    blocks = -(-math.prod(dim) // BLOCK)
    chosen = np.unique(np.linspace(0, blocks - 1, min(blocks, MOST_WARPS * 32 // BLOCK)).astype(int))
    counts, lanes, memory = np.zeros(len(parts)), np.zeros(len(parts)), np.zeros(30)
    times = np.zeros((len(chosen), BLOCK // 32))
    given = parameters(dim, inputs)

    def pointer(array):
        return array.ctypes.data_as(ctypes.c_void_p)

    for block, of_block in zip(chosen, times):
        first, per = int(block) * BLOCK // 32, BLOCK // 32
        library.run(
            given, len(given), PARAMETERS, BLOCK, ctypes.c_long(first), ctypes.c_long(first + per), ctypes.c_long(blocks),
            pointer(counts), pointer(lanes), pointer(memory), pointer(of_block), 33, 250,
        )
    # All that ran wrote what Warp's code wrote.
    found = [tuple(map(bits, (now.numpy(), want, was))) for now, want, was in zip(arrays, after, before)]
    same = all(bool(np.all((now == want) | (now == was))) for now, want, was in found)
    if len(chosen) == blocks:
        same = same and all(np.array_equal(now, want) for now, want, _ in found)
    for array, values in zip(arrays, after):
        array.numpy()[...] = values
    up = blocks / len(chosen)
    kinds = {}
    for part, count in zip(parts, counts):
        for i in part:
            kinds[i.kind] = kinds.get(i.kind, 0) + count * up
    of_kind = memory.reshape(3, 2, 5) * up
    all_lanes = sum(len(part) * count for part, count in zip(parts, lanes)) * up / sum(kinds.values())
    lines, touched = of_kind[:2, :, 2].sum(), sum(values.nbytes for values in after)
    return Counts(kernel.key, registers, stack, same, kinds, all_lanes, lines, touched, times.sum() * up, times.max())


def of_a_batch(dataset, options, arch, folder):
    """Counts for each kernel of the first batch, and the number of its frames and of the bytes sent for them."""
    known, found, sent = compiled(arch, folder), [], []
    real, copy = maker.Maker._run, maker.Maker._copy

    def run(self, kernel, dim, inputs):
        # The loader is a batch ahead. Doubles, in which `weigh` computes, are not translated.
        if len(sent) > 1 or 0 in dim or kernel.key == "weigh":
            return real(self, kernel, dim, inputs)
        found.append(counted(kernel, dim, inputs, known, folder, lambda: real(self, kernel, dim, inputs)))

    def copied(self, data, length):
        sent.append(len(np.asarray(data)))
        return copy(self, data, length)

    maker.Maker._run, maker.Maker._copy = run, copied
    try:
        batch = next(iter(vidrec.Loader(dataset, device="cpu", seed=1, **options)))
    finally:
        maker.Maker._run, maker.Maker._copy = real, copy
    assert isinstance(batch.frames, torch.Tensor) and batch.frame_mask.all()
    return found, batch.frame_mask.numel(), sent[0], batch.frames.numel() * batch.frames.element_size()
