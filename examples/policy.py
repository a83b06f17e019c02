"""A policy in small, of two robots: from two pictures of each camera and the state, predict the next 50 actions.

    python examples/policy.py --data DIR [--steps N] [--ranks N] [--state FILE]

It makes its own data. One robot has a camera in front and one on its wrist, and commands ten times a second; the other has
only the camera in front, and its commands are larger. Each frame is a sample, as in LeRobot: what lies beyond the episode is
padded, and masks say so. Actions are normalized by the statistics of each robot. A stopped run resumes on any number of
ranks (``--state``).
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Optional, Tuple

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from torch.multiprocessing.spawn import spawn

import vidrec

# Cameras, episodes, and how large an action is.
ROBOTS = {"arm": (["front", "wrist"], 6, 1.0), "cart": (["front"], 4, 20.0)}
RATE, FRAMES, SIDE, CHUNK = 10, 70, 32, 50


def actions(robot: str, episode: int) -> NDArray[np.float32]:
    """Velocities right and down, which change slowly."""
    draw = np.random.default_rng([len(robot), episode])
    steps = draw.normal(size=(FRAMES // 10, 2)).repeat(10, 0) * ROBOTS[robot][2]
    return steps.astype(np.float32)


def make(folder: Path, robot: str) -> Path:
    """Packs the episodes of a robot, unless they are there."""
    out = folder / robot
    if (out / "dataset.json").exists():
        return out
    cameras, episodes, size = ROBOTS[robot]
    rows = []
    for episode in range(episodes):
        moves = actions(robot, episode)
        places = (np.cumsum(moves / size, axis=0) + SIDE // 2).astype(int) % (SIDE - 8)
        for camera in cameras:
            pictures = np.full((FRAMES, SIDE, SIDE), 30, np.uint8)
            for picture, (x, y) in zip(pictures, places):
                picture[y : y + 8, x : x + 8] = 220
            video = folder / f"{robot}-{episode}-{camera}.mkv"
            raw = ["-f", "rawvideo", "-pix_fmt", "gray", "-s", f"{SIDE}x{SIDE}", "-r", str(RATE), "-i", "-"]
            command = ["ffmpeg", "-v", "error", "-y", *raw, "-c:v", "ffv1", "-pix_fmt", "yuv420p", str(video)]
            subprocess.run(command, check=True, input=pictures.tobytes())
            row = {"path": video.name, "episode": episode, "camera": camera, "task": f"drive the {robot}"}
            rows.append(json.dumps({**row, "action": moves.tolist()}))
    (folder / f"{robot}.jsonl").write_text("\n".join(rows))
    vidrec.pack(folder / f"{robot}.jsonl", out, frames="all", size="original", track="action=action,frames,type=f32")
    return out


def loader(folder: Path, batch_size: int = 16, rank: Optional[Tuple[int, int]] = None) -> vidrec.Loader:
    """Both robots, three samples of the arm for one of the cart."""

    def chunk(robot: str) -> vidrec.TrackWindow:
        stats = vidrec.open(folder / robot).track_stats(["action"])["action"]
        # From the action before the current frame to those of the next five seconds.
        return vidrec.track(steps=range(-1, CHUNK), rate=RATE, missing="mask", normalize=stats.normalize("quantiles"))

    cart = vidrec.Source(folder / "cart", 0.25, tracks={"action": chunk("cart")}, flip=0.5)
    mix = vidrec.mix({"arm": (folder / "arm", 0.75), "cart": cart}, samples_per_epoch=400, window=40)
    return vidrec.Loader(
        mix,
        batch_size,
        # Half a second ago, and now.
        frames=vidrec.Windows([-5, 0], pad="edge"),
        crop=SIDE,
        dtype="float32",
        cameras=vidrec.Cameras(["front", "wrist"], missing="mask"),
        tracks={"action": chunk("arm")},
        fields=("task", "episode"),
        threads=1,
        rank=rank,
    )


def train(rank: int, args: argparse.Namespace, rendezvous: Path) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dist.init_process_group("gloo", init_method=f"file://{rendezvous}", rank=rank, world_size=args.ranks)
    batches = loader(args.data, batch_size=args.samples // args.ranks)
    pixels = 2 * 2 * 3 * SIDE * SIDE
    model = torch.nn.Sequential(torch.nn.Linear(pixels + 2, 64), torch.nn.ReLU(), torch.nn.Linear(64, 2 * CHUNK))
    model = torch.nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    if args.state and args.state.exists():
        state = torch.load(args.state, weights_only=False)
        batches.load_state_dict(state["loader"])
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
    dist.barrier()
    for step, batch in zip(range(args.steps), (batch for _ in iter(int, 1) for batch in batches)):
        # (B, V, T, C, H, W) and (B, 1 + CHUNK, 2), with masks of (B, V) and (B, 1 + CHUNK).
        before, wanted = batch.tracks["action"][:, 0], batch.tracks["action"][:, 1:]
        before = torch.where(batch.track_masks["action"][:, :1], before, 0.0)
        is_known = batch.track_masks["action"][:, 1:, None].expand_as(wanted)
        predicted = model(torch.cat([batch.frames.flatten(1), before], 1)).view_as(wanted)
        loss = (predicted - wanted)[is_known].square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        told = torch.tensor([float(loss.detach()) / args.ranks, batch.source_names.count("arm")])
        dist.all_reduce(told)
        if rank == 0:
            print(json.dumps({"step": step, "loss": float(told[0]), "arm": int(told[1])}))
    if rank == 0 and args.state:
        state = {"loader": batches.state_dict(), "model": model.state_dict(), "optimizer": optimizer.state_dict()}
        torch.save(state, args.state)
    # The file is there before any process ends.
    dist.barrier()
    dist.destroy_process_group()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=25)
    parser.add_argument("--samples", type=int, default=48, help="of a step, in all processes")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--state", type=Path, help="the file that a run resumes from and writes")
    args = parser.parse_args()
    args.data.mkdir(parents=True, exist_ok=True)
    for robot in ROBOTS:
        make(args.data, robot)
    with tempfile.TemporaryDirectory() as folder:
        spawn(train, (args, Path(folder) / "rendezvous"), args.ranks)


if __name__ == "__main__":
    main()
