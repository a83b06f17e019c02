#!/usr/bin/env python3
"""Decode the frames of a packed data set in a pipeline of DALI, on a GPU.

    python examples/dali_gpu.py train                     a data set, from `vidrec pack`
    python examples/dali_gpu.py train --device-id -1      the same on the CPU alone

The loader gives JPEGs and what was drawn for each: which part of the frame becomes the picture, and whether it is mirrored.
DALI decodes, crops, resizes, mirrors and normalizes. It prints how near the pictures are to those that the loader makes by
itself, and how many frames a second both give. It needs no torch.
"""
import argparse
import math
import time
from typing import Any, Dict, Iterable, Iterator, List, Tuple

import numpy as np
from nvidia.dali import fn, pipeline_def, types

import vidrec

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def inputs(loader: vidrec.Loader, taken: List[vidrec.Batch]) -> Iterator[Tuple[Any, ...]]:
    """What the pipeline takes of each batch of an epoch: a sample for each frame. Appends the batch to `taken`."""
    for batch in loader:
        jpegs = batch.jpegs
        bounds, windows, flip = (np.asarray(values) for values in (jpegs.bounds, jpegs.windows, jpegs.flip))
        # Nothing outside of the bounds counts, so the frame is cut to them first; the window is then counted from there.
        start, size = bounds[:, :2], bounds[:, 2:] - bounds[:, :2]
        left, top, width, height = (windows - np.concatenate([start, 0 * start], 1)).astype(np.float32).T
        begin, end = np.stack([top, left], 1), np.stack([top + height, left + width], 1)
        taken.append(batch)
        yield jpegs.arrays(), start.astype(np.int32), size.astype(np.int32), begin, end, flip.astype(np.int32)


def pipeline(source: Iterator[Tuple[Any, ...]], side: int, most: int, device_id: int) -> Any:
    """Pictures as the loader's options say: float32, channels first."""
    on_gpu = device_id >= 0

    @pipeline_def(batch_size=most, num_threads=2, device_id=device_id if on_gpu else None)  # type: ignore[untyped-decorator, unused-ignore]
    def made() -> Any:
        jpegs, start, size, begin, end, flip = fn.external_source(source=source, num_outputs=6)
        frames = fn.decoders.image(jpegs, device="mixed" if on_gpu else "cpu", output_type=types.RGB)
        cut = fn.slice(frames, start=start, shape=size, axis_names="WH")
        resized = fn.resize(
            cut,
            size=(side, side),
            roi_start=begin,
            roi_end=end,
            interp_type=types.INTERP_LINEAR,
            antialias=True,
        )
        levels = dict(mean=[255 * x for x in MEAN], std=[255 * x for x in STD])
        return fn.crop_mirror_normalize(resized, mirror=flip, dtype=types.FLOAT, output_layout="CHW", **levels)

    built = made()
    built.build()
    return built


def epoch(loader: vidrec.Loader, args: argparse.Namespace) -> Iterator[Tuple[vidrec.Batch, Any]]:
    """The batches of an epoch with DALI's list of their pictures."""
    taken: List[vidrec.Batch] = []
    frames = args.batch_size * loader.shape[1]
    running = pipeline(inputs(loader, taken), args.size, frames, args.device_id)
    while True:
        try:
            (pictures,) = running.run()
        except StopIteration:
            return
        # DALI asks for batches ahead.
        yield taken.pop(0), pictures


def rate(batches: Iterable[Any], frames: int) -> float:
    """Frames a second of batches of so many, without the first one, before which pipeline and threads begin."""
    iterator = iter(batches)
    next(iterator)
    started = time.perf_counter()
    return sum(frames for _ in iterator) / (time.perf_counter() - started)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="a packed data set")
    parser.add_argument("--batch-size", type=int, default=16, help="clips of a batch")
    parser.add_argument("--size", type=int, default=224, help="side of the pictures")
    parser.add_argument("--threads", type=int, help="of the loader")
    parser.add_argument("--device-id", type=int, default=0, help="number of the GPU; -1 for the CPU alone")
    args = parser.parse_args()

    options: Dict[str, Any] = dict(
        batch_size=args.batch_size,
        crop=vidrec.RandomResizedCrop(args.size),
        flip=0.5,
        dtype="float32",
        normalize=vidrec.Normalize(MEAN, STD),
        shuffle=True,
        # A pipeline of DALI takes batches of one size.
        last="pad",
        threads=args.threads,
    )
    loader = vidrec.Loader(args.data, output="jpeg", **options)
    by_itself = vidrec.Loader(args.data, output="numpy", **options)

    # The same clips, crops and flips come in the same order, so pictures can be compared.
    total, count = 0.0, 0
    for (batch, pictures), expected in zip(epoch(loader, args), by_itself):
        assert np.array_equal(batch.clips, expected.clips)
        pictures = pictures.as_cpu() if args.device_id >= 0 else pictures
        found = np.asarray(pictures.as_array()).reshape(expected.frames.shape)
        levels = np.array(STD)[:, None, None] * 255
        total += float((((found - expected.frames) * levels) ** 2).sum())
        count += found.size
    psnr = 10 * math.log10(255**2 * count / max(total, 1e-9))
    where = f"GPU {args.device_id}" if args.device_id >= 0 else "the CPU"
    print(f"decoded by DALI on {where}: {psnr:.1f} dB from the loader's own pictures")

    stats, frames = loader.stats(), args.batch_size * loader.shape[1]
    print(f"{stats.bytes / stats.frames:,.0f} bytes of JPEG a frame, {3 * args.size**2 * 4:,} as float32")
    rates = rate(epoch(loader, args), frames), rate(by_itself, frames)
    print(f"frames/s: {rates[0]:,.0f} from JPEGs, {rates[1]:,.0f} from the loader's own decoder")


if __name__ == "__main__":
    main()
