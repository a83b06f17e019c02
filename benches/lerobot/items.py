#!/usr/bin/env python3
"""Samples a second of LeRobot's own reader, of Lance's and of vidrec's, in turns, on made data sets of the shapes of PushT and of DROID.

    python3.12 -m venv target/lerobot && target/lerobot/bin/pip install -r benches/lerobot/requirements.txt VIDREC.whl
    target/lerobot/bin/python benches/lerobot/items.py FOLDER [--turns 5] [--json FILE]

The first run makes the data sets in FOLDER. FILE gets the medians, as benches/results has them.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "scripts/draw"))
from results import called, write  # noqa: E402

os.environ["HF_HUB_OFFLINE"] = "1"
import numpy as np
import torch
import vidrec.convert
import vidrec.lerobot
from lerobot.datasets.lerobot_dataset import LeRobotDataset
from lerobot.datasets.sampler import EpisodeAwareSampler

DROID = [f"observation.images.{name}" for name in ("exterior_1_left", "exterior_2_left", "wrist_left")]
# Cameras, height, width, frames a second, numbers of a state and of an action, episodes and their frames.
SHAPES = {"pusht": (["observation.image"], 96, 96, 10, 2, 2, 40, 120), "droid": (DROID, 180, 320, 15, 8, 7, 12, 250)}
BATCH, BATCHES = 32, 24
COLUMNS = {("pusht", 0): "PushT", ("droid", 0): "DROID", ("pusht", 2): "PushT, two workers", ("droid", 2): "DROID, two workers"}
NAMES = {"vidrec": "vidrec", "Lance": "Lance", "LeRobot": "LeRobot with torchcodec"}


def make(root, name):
    cameras, height, width, fps, states, actions, episodes, length = SHAPES[name]
    features = {key: {"dtype": "video", "shape": (height, width, 3), "names": ["height", "width", "channels"]} for key in cameras}
    for key, count in (("observation.state", states), ("action", actions)):
        features[key] = {"dtype": "float32", "shape": (count,), "names": None}
    made = LeRobotDataset.create(f"me/{name}", fps=fps, features=features, root=root, video_backend="pyav")
    rng = np.random.default_rng(0)
    y, x = np.mgrid[:height, :width]
    for episode in range(episodes):
        for t in range(length):
            frame = {"observation.state": rng.normal(size=states).astype(np.float32), "action": rng.normal(size=actions).astype(np.float32)}
            for c, key in enumerate(cameras):
                waves = [128 + 60 * np.sin((x * (k + 1) + 3 * t) / 23 + c) + 40 * np.cos(y / (9 + 4 * k) + episode) for k in range(3)]
                picture = np.stack(waves, 2) + rng.normal(0, 3, (height, width, 1))
                cx, cy = width / 2 + width / 3 * np.cos(t / 15 + c), height / 2 + height / 3 * np.sin(t / 11 + episode)
                picture[(abs(x - cx) < 8) & (abs(y - cy) < 8)] = (250, 30, 30)
                frame[key] = picture.clip(0, 255).astype(np.uint8)
            made.add_frame({**frame, "task": f"task {episode % 3}"})
        made.save_episode()
    made.finalize()
    vidrec.convert.from_lerobot(root, f"{root}-vidrec", frames="all", size="original")
    subprocess.run([Path(sys.executable).with_name("lerobot-lance-convert"), "--root", root, "--out", f"{root}-lance"], check=True)


def opened(root, name):
    from lerobot_lancedb import LanceDBDataset

    fps = SHAPES[name][3]
    windows = {"action": [t / fps for t in range(16)]}
    if name == "pusht":
        windows.update({"observation.image": [-0.1, 0.0], "observation.state": [-0.1, 0.0]})
    how = {"delta_timestamps": windows, "return_uint8": True}
    return {
        "LeRobot": LeRobotDataset(f"me/{name}", root=root, video_backend="torchcodec", **how),
        "Lance": LanceDBDataset(f"me/{name}", root=f"{root}-lance", **how),
        "vidrec": vidrec.lerobot.LeRobotDataset(f"me/{name}", root=f"{root}-vidrec", **how),
    }


def rate(kind, dataset, workers, seed):
    ends = dataset.meta.episodes
    sampler = EpisodeAwareSampler(ends["dataset_from_index"], ends["dataset_to_index"], shuffle=True, seed=seed)
    method = None if not workers else "spawn" if kind == "Lance" else "fork"
    batches = iter(torch.utils.data.DataLoader(dataset, BATCH, sampler=sampler, num_workers=workers, multiprocessing_context=method))
    # What is made ahead before the first batch comes does not count.
    for _ in range(2 * workers + 1):
        next(batches)
    begun = time.perf_counter()
    for _ in range(BATCHES):
        next(batches)
    return BATCH * BATCHES / (time.perf_counter() - begun)


def measured(folder, name, workers, turns):
    """Samples a second of each reader: medians of the turns."""
    root = folder / name
    if not Path(f"{root}-lance").exists():
        for made in (root, f"{root}-vidrec"):
            shutil.rmtree(made, ignore_errors=True)
        make(root, name)
    found = {kind: [] for kind in NAMES}
    datasets = opened(root, name)
    for turn in range(turns):
        for kind, rates in found.items():
            rates.append(rate(kind, datasets[kind], workers, turn))
    for kind, rates in found.items():
        print(f"{name}, {workers} workers, {kind}: {statistics.median(rates):.0f} samples/s ({min(rates):.0f}–{max(rates):.0f})", flush=True)
    return {kind: round(statistics.median(rates)) for kind, rates in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--json", type=Path, metavar="FILE")
    given = parser.parse_args()
    columns = [measured(given.folder, *job, given.turns) for job in COLUMNS]
    if given.json:
        rows = [{"name": NAMES[kind], "values": [column[kind] for column in columns]} for kind in NAMES]
        data = f"made data sets, shuffled batches of {BATCH}; medians of {given.turns} runs in turn"
        write(given.json, "Items of LeRobot", list(COLUMNS.values()), rows, data=data, command=called("FOLDER"), unit="samples/s")


if __name__ == "__main__":
    main()
