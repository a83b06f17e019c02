"""Samples a second of LeRobot's own reader, of Lance's and of vidrec's, in turns, on a made data set of PushT's or DROID's shape.

    lerobot_items.py FOLDER pusht|droid WORKERS [TURNS] [URL]

The first run makes the data set in FOLDER. With URL, vidrec reads `URL/NAME-vidrec`. Needs lerobot, torchcodec, lerobot-lancedb
and vidrec.
"""
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

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


def opened(root, name, url):
    from lerobot_lancedb import LanceDBDataset

    fps = SHAPES[name][3]
    windows = {"action": [t / fps for t in range(16)]}
    if name == "pusht":
        windows.update({"observation.image": [-0.1, 0.0], "observation.state": [-0.1, 0.0]})
    how = {"delta_timestamps": windows, "return_uint8": True}
    return {
        "LeRobot": LeRobotDataset(f"me/{name}", root=root, video_backend="torchcodec", **how),
        "Lance": LanceDBDataset(f"me/{name}", root=f"{root}-lance", **how),
        "vidrec": vidrec.lerobot.LeRobotDataset(f"me/{name}", root=f"{url}/{name}-vidrec" if url else f"{root}-vidrec", **how),
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


def main():
    folder, name, workers, turns, url = (*sys.argv[1:], *["5", ""][len(sys.argv) - 4 :])
    root = Path(folder) / name
    if not Path(f"{root}-lance").exists():
        for made in (root, f"{root}-vidrec"):
            shutil.rmtree(made, ignore_errors=True)
        make(root, name)
    datasets = opened(root, name, url)
    found = [{kind: rate(kind, dataset, int(workers), turn) for kind, dataset in datasets.items()} for turn in range(int(turns))]
    for kind in datasets:
        rates, ratio = [turn[kind] for turn in found], statistics.median(turn["vidrec"] / turn[kind] for turn in found)
        print(f"{name}, {workers} workers, {kind}: {statistics.median(rates):.0f} samples/s ({min(rates):.0f}–{max(rates):.0f}); vidrec {ratio:.2f} times")


if __name__ == "__main__":
    main()
