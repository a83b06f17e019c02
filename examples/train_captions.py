#!/usr/bin/env python3
"""Train a small network to match clips of any length with their captions, in one process or in several.

    python examples/train_captions.py                        clips that it makes: squares of a color that move
    python examples/train_captions.py --data train           your own, from `vidrec pack LIST.jsonl --fps 8`, with captions
    torchrun --nproc-per-node 2 examples/train_captions.py   in two processes

Clips of similar length make a batch together (buckets), so little of it is padding. Every process has batches of the
same shape at the same time. With --checkpoint FILE it saves after every few steps, and resumes from there exactly.
"""
import argparse
import json
import os
import subprocess
import tempfile
import zlib
from pathlib import Path
from typing import List

import numpy as np
import torch
import torch.distributed as dist
from torch import nn

import vidrec

COLORS = {"red": (220, 40, 40), "green": (40, 200, 60), "blue": (50, 70, 230), "white": (240, 240, 240)}
DIRECTIONS = {"left": (0, -3), "right": (0, 3), "up": (-3, 0), "down": (3, 0)}
BUCKETS = [8, 16, 32]


def make_videos(folder: Path, of_each: int, side: int = 48) -> None:
    """Videos of 5 to 32 frames, and a manifest of their captions."""
    with open(folder / "list.jsonl", "w", encoding="utf-8") as manifest:
        for i in range(of_each * len(COLORS) * len(DIRECTIONS)):
            draw = np.random.default_rng(i)
            color, direction = list(COLORS)[i % 4], list(DIRECTIONS)[i // 4 % 4]
            frames = np.zeros((draw.integers(5, 33), side, side, 3), np.uint8)
            square = np.zeros((side, side, 3), np.uint8)
            square[:14, :14] = COLORS[color]
            start = draw.integers(0, side, 2)
            for t, frame in enumerate(frames):
                frame[:] = np.roll(square, start + np.multiply(DIRECTIONS[direction], t), (0, 1))
            raw = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{side}x{side}", "-r", "8", "-i", "-"]
            command = ["ffmpeg", "-v", "error", *raw, "-pix_fmt", "yuv444p", str(folder / f"{i}.mp4")]
            subprocess.run(command, input=frames.tobytes(), check=True)
            caption = f"a {color} square moves {direction}"
            manifest.write(json.dumps({"path": f"{i}.mp4", "caption": caption, "id": i}) + "\n")


class Matcher(nn.Module):
    """Clips and captions as vectors that are close if they belong together (as in CLIP, Radford et al., 2021)."""

    def __init__(self, width: int = 32, words: int = 512) -> None:
        super().__init__()
        space = [nn.Conv2d(3, 16, 5, 2, 2), nn.ReLU(), nn.Conv2d(16, width, 5, 2, 2), nn.ReLU(), nn.AdaptiveAvgPool2d(4)]
        self.space = nn.Sequential(*space, nn.Flatten(), nn.Linear(16 * width, width))
        self.time = nn.GRU(width, width, batch_first=True)
        self.words = nn.EmbeddingBag(words, width, mode="sum")
        self.scale = nn.Parameter(torch.tensor(2.0))

    def forward(self, frames: torch.Tensor, frame_mask: torch.Tensor, captions: List[str]) -> torch.Tensor:
        b, t = frames.shape[:2]
        states, _ = self.time(self.space(frames.flatten(0, 1)).view(b, t, -1))
        # The state after the last frame that is not padding.
        last = frame_mask.sum(1).clamp(min=1) - 1
        clips = nn.functional.normalize(states[torch.arange(b), last], dim=1)
        tokens = [torch.tensor([zlib.crc32(w.encode()) % 512 for w in caption.split()]) for caption in captions]
        offsets = torch.tensor([0, *map(len, tokens[:-1])]).cumsum(0)
        texts = nn.functional.normalize(self.words(torch.cat(tokens).to(frames.device), offsets.to(frames.device)), dim=1)
        scores: torch.Tensor = self.scale.exp() * clips @ texts.T
        return scores


def losses_of(scores: torch.Tensor, captions: List[str]) -> torch.Tensor:
    """Each clip is to be nearest to the captions that say the same as its own."""
    same = torch.tensor([[a == b for b in captions] for a in captions], device=scores.device)
    losses: torch.Tensor = scores.logsumexp(1) - scores.masked_fill(~same, -1e4).logsumexp(1)
    return losses


def data_set(args: argparse.Namespace, rank: int) -> vidrec.Dataset:
    if args.data:
        return vidrec.open(args.data)
    folder = Path(tempfile.gettempdir()) / f"vidrec-captions-{os.getuid()}-{args.clips}"
    if rank == 0 and not (folder / "dataset.json").exists():
        with tempfile.TemporaryDirectory() as videos:
            make_videos(Path(videos), args.clips)
            vidrec.pack(Path(videos) / "list.jsonl", folder, frames=vidrec.Fps(8), if_exists="replace")
    if dist.is_initialized():
        dist.barrier()
    return vidrec.open(folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="a packed data set (default: one that is made)")
    parser.add_argument("--clips", type=int, default=12, metavar="N", help="make N clips of each caption")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch-frames", type=int, default=256, help="frames of one step, in each process")
    parser.add_argument("--size", type=int, default=48, help="side of the pictures")
    parser.add_argument("--checkpoint", type=Path)
    parser.add_argument("--save-every", type=int, default=5, metavar="STEPS")
    parser.add_argument("--stop-after", type=int, metavar="STEPS", help="end as if the machine had failed")
    parser.add_argument("--log", type=Path, help="write a line of JSON for each step of each rank")
    args = parser.parse_args()
    if "RANK" in os.environ:
        dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    rank = dist.get_rank() if dist.is_initialized() else 0
    device = torch.device("cuda", rank % torch.cuda.device_count()) if torch.cuda.is_available() else torch.device("cpu")
    torch.manual_seed(0)

    loader = vidrec.Loader(
        data_set(args, rank),
        frames=vidrec.AllFrames(max=BUCKETS[-1]),
        batching=vidrec.FrameBudget(args.batch_frames, buckets=BUCKETS),
        fields=["caption", "id"],
        crop=vidrec.Cover(args.size),
        dtype="float32",
        normalize=vidrec.Normalize(0.5, 0.25),
        shuffle=True,
    )
    model = Matcher().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    if args.checkpoint and args.checkpoint.exists():
        saved = torch.load(args.checkpoint, map_location=device)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        loader.load_state_dict(saved["loader"])
    parallel = nn.parallel.DistributedDataParallel(model) if dist.is_initialized() else model
    log = args.log and open(f"{args.log}.{rank}", "a", encoding="utf-8")

    steps = 0
    for epoch in range(loader.epoch, args.epochs):
        loader.set_epoch(epoch)
        right = seen = 0
        for batch in loader:
            captions, batch = batch.fields["caption"], batch.to(device, non_blocking=True)
            scores = parallel(batch.frames, batch.frame_mask, captions)
            loss = batch.mean(losses_of(scores, captions))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            steps += 1
            hits = [captions[i] == captions[j] for i, j in enumerate(scores.argmax(1).tolist())]
            right, seen = right + sum(hits), seen + len(hits)
            if log:
                ids = batch.fields["id"].tolist()
                line = {"epoch": epoch, "loss": loss.item(), "ids": ids, "shape": list(batch.frames.shape)}
                print(json.dumps(line), file=log, flush=True)
            if args.checkpoint and rank == 0 and steps % args.save_every == 0:
                state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "loader": loader.state_dict()}
                torch.save(state, args.checkpoint.with_suffix(".part"))
                args.checkpoint.with_suffix(".part").replace(args.checkpoint)
            if steps == args.stop_after:
                print(f"stopped after {steps} steps")
                return
        if rank == 0:
            print(f"epoch {epoch}: loss {loss.item():.3f}, {right / max(seen, 1):.0%} of clips next to their caption", flush=True)
    # What holds the process group goes first: as the last that does, it would wait for gloo's threads and keep them waiting.
    del parallel
    if dist.is_initialized():
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
