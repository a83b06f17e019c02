#!/usr/bin/env python3
"""Train a small (2+1)D network on a packed data set, in one process or in several.

    python examples/train_pytorch.py                      the project's test videos, where they are; otherwise:
    python examples/train_pytorch.py --clips 40           clips that it makes: textures that move in four directions
    python examples/train_pytorch.py --data train         your own data set, from `vidrec pack`
    torchrun --nproc-per-node 2 examples/train_pytorch.py in two processes; each clip is seen by one of them

With --checkpoint FILE it saves after every few steps, and goes on from there when it is started again: also in the
middle of an epoch, with the same losses as a run that was never stopped.
"""
import argparse
import csv
import json
import os
import re
import subprocess
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, Dict, List

import numpy as np
import torch
import torch.distributed as dist
from torch import nn

import vidrec

DIRECTIONS = {"down": (2, 0), "left": (0, -2), "right": (0, 2), "up": (-2, 0)}


def make_videos(folder: Path, clips_per_class: int, side: int = 64, frames: int = 16) -> None:
    """Videos of soft noise that moves: one frame alone does not tell the class."""
    for label, (name, step) in enumerate(DIRECTIONS.items()):
        (folder / name).mkdir(parents=True)
        for i in range(clips_per_class):
            noise = np.random.default_rng([label, i]).normal(size=(side, side, 3))
            for axis in (0, 1):
                noise = np.mean([np.roll(noise, shift, axis) for shift in range(-3, 4)], axis=0)
            picture = np.clip(noise / noise.std() * 50 + 128, 0, 255).astype(np.uint8)
            pixels = b"".join(np.roll(picture, np.multiply(step, t), (0, 1)).tobytes() for t in range(frames))
            raw = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{side}x{side}", "-r", "16", "-i", "-"]
            command = ["ffmpeg", "-v", "error", *raw, "-pix_fmt", "yuv420p", str(folder / name / f"{i:03}.mp4")]
            subprocess.run(command, input=pixels, check=True)


# Real footage, cut into clips that are named NUMBER_SCENE_SECOND.mp4.
VIDEOS = Path(os.environ.get("VIDREC_VIDEOS", Path(__file__).parents[2] / "shared/videos")) / "bench/clips"


def list_videos(manifest: Path) -> None:
    """Lists the clips of all scenes that have three or more: which scene is it? Held-out clips are other seconds of scenes
    that were trained on, so this is easy, and says nothing of scenes that nobody has seen."""
    scenes = {path: re.sub(r"^\d+_|_\d+$", "", path.stem) for path in sorted(VIDEOS.glob("*.mp4"))}
    clips = Counter(scenes.values())
    with open(manifest, "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["path", "label"])
        rows.writerows((path, scene) for path, scene in scenes.items() if clips[scene] >= 3)


class Net(nn.Module):
    """Convolutions in space and in time, one after the other (R(2+1)D, Tran et al., CVPR 2018)."""

    def __init__(self, classes: int) -> None:
        super().__init__()

        def block(inputs: int, outputs: int) -> List[nn.Module]:
            space = nn.Conv3d(inputs, outputs, (1, 5, 5), stride=(1, 2, 2), padding=(0, 2, 2))
            time = nn.Conv3d(outputs, outputs, (3, 1, 1), padding=(1, 0, 0))
            return [space, nn.BatchNorm3d(outputs), nn.ReLU(), time, nn.BatchNorm3d(outputs), nn.ReLU()]

        self.features = nn.Sequential(*block(3, 16), *block(16, 32))
        self.head = nn.Linear(32, classes)

    def forward(self, clips: torch.Tensor) -> torch.Tensor:
        classes: torch.Tensor = self.head(self.features(clips).mean((2, 3, 4)))
        return classes


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="a packed data set (default: one that is made)")
    parser.add_argument("--epochs", type=int, help="default: 6, and 60 of the test videos, which are few")
    parser.add_argument("--batch-size", type=int, default=16, help="clips of one step, in each process")
    parser.add_argument("--size", type=int, default=32, help="side of the pictures")
    parser.add_argument("--clips", type=int, metavar="N", help="make N clips of each class (default: 40, if there are no videos)")
    parser.add_argument("--device-frames", action="store_true", help="the GPU makes the frames, too: see docs/gpu-decoding.md")
    parser.add_argument("--checkpoint", type=Path)
    parser.add_argument("--save-every", type=int, default=5, metavar="STEPS")
    parser.add_argument("--stop-after", type=int, metavar="STEPS", help="end as if the machine had failed")
    parser.add_argument("--log", type=Path, help="write a line of JSON for each step of each rank")
    args = parser.parse_args()
    args.real = not (args.data or args.clips) and VIDEOS.is_dir()
    args.epochs = args.epochs or (60 if args.real else 6)
    args.clips = args.clips or 40
    return args


def data_set(args: argparse.Namespace, rank: int) -> vidrec.Dataset:
    if args.data:
        return vidrec.open(args.data)
    # The same for all ranks and for the next start of the program.
    folder = Path(tempfile.gettempdir()) / f"vidrec-example-{os.getuid()}-{'real' if args.real else args.clips}"
    if rank == 0 and not (folder / "set" / "dataset.json").exists():
        with tempfile.TemporaryDirectory() as videos:
            inputs = Path(videos)
            if args.real:
                inputs /= "list.csv"
                list_videos(inputs)
            else:
                make_videos(inputs, args.clips)
            vidrec.pack(inputs, folder / "set", frames=8, sample="clip", size=64, if_exists="replace")
    if dist.is_initialized():
        dist.barrier()
    return vidrec.open(folder / "set")


def accuracy(model: nn.Module, loader: vidrec.Loader, device: torch.device) -> float:
    """Share of held-out clips that are named right, over all ranks."""
    model.eval()
    found = torch.zeros(2)
    with torch.no_grad():
        loader.set_epoch(0)
        for batch in loader:
            batch = batch.to(device)
            right = model(batch.frames).argmax(1) == batch.labels
            found += torch.tensor([float(right.sum()), len(batch)])
    if dist.is_initialized():
        dist.all_reduce(found)
    return float(found[0] / found[1])


def main() -> None:
    args = arguments()
    if "RANK" in os.environ:
        dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    rank = dist.get_rank() if dist.is_initialized() else 0
    device = torch.device("cuda", rank % torch.cuda.device_count()) if torch.cuda.is_available() else torch.device("cpu")
    torch.manual_seed(0)

    train, held_out = data_set(args, rank).split(0.8, seed=0)
    options: Dict[str, Any] = dict(
        dtype="float32",
        normalize=vidrec.Normalize(0.5, 0.25),
        layout="BCTHW",
        batch_size=args.batch_size,
    )
    if args.device_frames:
        # The same frames, bit for bit.
        options.update(device=device, device_cache="1GB")
    else:
        options.update(pin_memory=device.type == "cuda")
    # Rank and world size are those of torch.distributed. No flips: they would swap two of the classes.
    loader = vidrec.Loader(train, shuffle=True, crop=vidrec.RandomCrop(args.size), **options)
    test = vidrec.Loader(held_out, crop=args.size, **options)

    model = Net(len(train.classes)).to(device)
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
        parallel.train()
        for batch in loader:
            batch = batch.to(device, non_blocking=True)
            losses = nn.functional.cross_entropy(parallel(batch.frames), batch.labels, reduction="none")
            # So that every clip counts the same, also where ranks have different numbers of them.
            loss = batch.mean(losses)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            steps += 1
            if log:
                print(json.dumps({"epoch": epoch, "loss": loss.item(), "clips": batch.clips.tolist()}), file=log, flush=True)
            if args.checkpoint and rank == 0 and steps % args.save_every == 0:
                state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "loader": loader.state_dict()}
                torch.save(state, args.checkpoint.with_suffix(".part"))
                args.checkpoint.with_suffix(".part").replace(args.checkpoint)
            if steps == args.stop_after:
                print(f"stopped after {steps} steps")
                return
        share = accuracy(model, test, device)
        if rank == 0:
            print(f"epoch {epoch}: loss {loss.item():.3f}, {share:.0%} of held-out clips right", flush=True)
    if rank == 0:
        names = [held_out.classes[label] for label in held_out.labels]
        most = Counter(names).most_common(1)[0][1] / len(names)
        print(f"{len(names)} clips were held out, of {len(set(names))} classes; one guess for all: at most {most:.0%}")
    # What holds the process group goes first: as the last that does, it would wait for gloo's threads and keep them waiting.
    del parallel
    if dist.is_initialized():
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
