"""``vidrec bench`` with the loader's option ``device``: its kernels are those of this package."""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from typing import Any, Dict, List, Sequence, Tuple

import vidrec

# The options that the program measures if no others are given.
_USUAL = dict(crop=vidrec.RandomResizedCrop(224), flip=0.5, shuffle=True, dtype="float32", normalize=vidrec.IMAGENET)


def is_asked(arguments: Sequence[str]) -> bool:
    """Whether these arguments of the program ask for it."""
    return arguments[:1] == ["bench"] and any(each.startswith("device=") for each in arguments)


def main(arguments: Sequence[str]) -> int:
    """Measure, and print what was found; the program's exit status."""
    try:
        args = _parser().parse_intermixed_args(arguments)
        report = _measured(args.dataset, _options(args.loader), args.seconds)
    except (vidrec.Error, ValueError) as e:
        print(f"vidrec: {e}", file=sys.stderr)
        return 1
    if args.json:
        print(json.dumps(report))
        return 0
    print(
        f"{report['frames_per_second']:.0f} frames/s, {report['clips_per_second']:.1f} clips/s on {report['device']}; "
        f"batches of {report['shape']}, {report['bytes_per_frame'] / 1e3:.1f} kB per frame\n"
        f"first batch after {report['first_batch_ms']:.1f} ms; "
        f"{report['cpu_seconds_per_1000_frames']:.3f} CPU seconds per 1000 frames"
    )
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="vidrec bench", description="Measure a loader whose frames a device makes.")
    parser.add_argument("dataset")
    parser.add_argument("loader", nargs="*", metavar="NAME=VALUE", help="options of the loader, with values in JSON")
    parser.add_argument("--seconds", type=float, default=5.0, help="how long to measure, after a second of warming up")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    return parser


def _options(given: List[str]) -> Dict[str, Any]:
    options = dict(_given(each) for each in given)
    if all(name.startswith("device") for name in options):
        options = {**_USUAL, **options}
    return options


def _given(text: str) -> Tuple[str, Any]:
    """A name and its value: JSON, in which a word needs no quotes, and a class is an object with its name."""
    name, _, value = text.partition("=")
    try:
        read = json.loads(value)
    except ValueError:
        read = value
    if isinstance(read, dict) and len(read) == 1 and [*read][0] in vidrec.__all__:
        [(kind, fields)] = read.items()
        read = getattr(vidrec, kind)(**fields)
    return name, getattr(vidrec, value.upper()) if name == "normalize" and isinstance(read, str) else read


def _measured(path: str, options: Dict[str, Any], seconds: float) -> Dict[str, Any]:
    began = time.perf_counter()
    loader = vidrec.Loader(path, **options)
    batches = itertools.chain.from_iterable(itertools.repeat(loader))
    first = next(batches)
    _wait(first)
    first_batch_ms = (time.perf_counter() - began) * 1e3
    _count(batches, min(seconds, 1.0))
    before, cpu = loader.stats(), time.process_time()
    frames, clips, elapsed = _count(batches, seconds)
    cpu, after = time.process_time() - cpu, loader.stats()
    return {
        "device": str(first.frames.device),
        "frames_per_second": frames / elapsed,
        "clips_per_second": clips / elapsed,
        "first_batch_ms": first_batch_ms,
        "cpu_seconds_per_1000_frames": cpu / frames * 1e3,
        "shape": [*first.frames.shape],
        "bytes_per_frame": first.frames.numel() * first.frames.element_size() / first.frame_mask.numel(),
        "seconds": elapsed,
        "read_bytes": after.bytes - before.bytes,
        "stats": after.to_dict(),
    }


def _count(batches: Any, seconds: float) -> Any:
    """Frames and clips of the batches in this time, at least of one, and the time."""
    began, frames, clips = time.perf_counter(), 0, 0
    while True:
        batch = next(batches)
        frames, clips = frames + batch.frame_mask.numel(), clips + len(batch.labels)
        if time.perf_counter() - began >= seconds:
            _wait(batch)
            return frames, clips, time.perf_counter() - began


def _wait(batch: Any) -> None:
    """Until a device has made the frames."""
    if batch.frames.is_cuda:
        import torch

        torch.cuda.synchronize(batch.frames.device)
