#!/usr/bin/env python3
"""Decode the frames of a packed data set on a GPU, by torchvision.

    python examples/torchvision_gpu.py train              a data set, from `vidrec pack`
    python examples/torchvision_gpu.py train --device cpu the same without a GPU

The loader gives JPEGs, torchvision decodes them, and vidrec.torch.finish makes the batches that the loader would have made by
itself: their crops, their flips, their type. It prints how many frames a second both ways give, and how near their pictures
are to each other.
"""
import argparse
import time
from typing import Any, Dict, List

import torch
from torchvision.io import ImageReadMode, decode_jpeg

import vidrec
import vidrec.torch


def decoded(jpegs: vidrec.Jpegs, device: torch.device) -> List[torch.Tensor]:
    """All frames of a batch: uint8 of shape (3, height, width) each."""
    if device.type == "cuda":
        # All at once, where the GPU has decoders for it.
        frames: List[torch.Tensor] = decode_jpeg(list(jpegs), mode=ImageReadMode.RGB, device=device)
        return frames
    return [decode_jpeg(jpeg, mode=ImageReadMode.RGB) for jpeg in jpegs]


def rate(loader: vidrec.Loader, device: torch.device) -> float:
    """Frames a second, without the first batch, before which threads begin."""
    iterator, frames = iter(loader), 0
    next(iterator)
    started = time.perf_counter()
    for batch in iterator:
        frames += batch.frame_mask.numel()
    if device.type == "cuda":
        torch.cuda.synchronize()
    return frames / (time.perf_counter() - started)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="a packed data set")
    parser.add_argument("--batch-size", type=int, default=16, help="clips of a batch")
    parser.add_argument("--size", type=int, default=224, help="side of the pictures")
    parser.add_argument("--threads", type=int, help="of the loader")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    args = parser.parse_args()
    device = torch.device(args.device)

    options: Dict[str, Any] = dict(
        batch_size=args.batch_size,
        crop=vidrec.RandomResizedCrop(args.size),
        flip=0.5,
        dtype="float32",
        normalize=vidrec.IMAGENET,
        shuffle=True,
        threads=args.threads,
        pin_memory=device.type == "cuda",
    )
    # What a training loop would take: frames on the device.
    loader = vidrec.Loader(args.data, output="jpeg", **options).map(
        lambda batch: vidrec.torch.finish(batch, decoded(batch.jpegs, device))
    )
    by_itself = vidrec.Loader(args.data, **options).map(lambda batch: batch.to(device, non_blocking=True))

    # The same clips, crops and flips come in the same order, so pictures can be compared.
    total, count = 0.0, 0
    for found, expected in zip(loader, by_itself):
        assert found.clips.tolist() == expected.clips.tolist()
        assert found.frames.shape == expected.frames.shape
        levels = torch.tensor(vidrec.IMAGENET.std, device=device)[:, None, None] * 255
        total += float((((found.frames - expected.frames) * levels) ** 2).sum())
        count += found.frames.numel()
    psnr = 10 * torch.log10(torch.tensor(255.0**2 * count / max(total, 1e-9))).item()
    print(f"decoded on {device}: {psnr:.1f} dB from the loader's own pictures")

    stats = loader.stats()
    print(f"{stats.bytes / stats.frames:,.0f} bytes of JPEG a frame, {3 * args.size**2 * 4:,} as float32")
    print(f"frames/s: {rate(loader, device):,.0f} from JPEGs, {rate(by_itself, device):,.0f} from the loader's own decoder")


if __name__ == "__main__":
    main()
