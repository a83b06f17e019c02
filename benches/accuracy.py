#!/usr/bin/env python3
"""Does a pack cost accuracy? Trains one small network on frames of videos and on packs of them, and compares what it learned.

    benches/accuracy.py VIDEOS    a folder of short videos, one folder deep; writes benches/results/accuracy.json after every run

A window of a video plays in order or with two frames exchanged, at one of three speeds, turned by one of four quarter turns.
These labels cost nothing, and the network has a head for each. Videos of one source are held out together: seed s holds out every
fifth source, from the one of number s on, so that five seeds test on all of them. All variants of a seed have the same draws (clips,
windows, labels, crops, starting weights), so their differences are paired. A run that was stopped goes on where it stopped.

Needs vidrec, torch and ffmpeg. VIDREC_PROGRAM names the program; without it, it is the one on PATH.
"""
import argparse
import datetime
import itertools
import json
import math
import re
import subprocess
import sys
from pathlib import Path
from statistics import mean, stdev

import numpy
import torch
import vidrec
from torch import nn
from torch.nn import functional

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts/draw"))
from quality import mean_bytes, processor, psnr, run  # noqa: E402

RESULTS = ROOT / "benches/results/accuracy.json"
SIDE, CROP, FRAMES, FPS, WINDOWS = 128, 112, 8, 12, 3
HEADS = {"order": 2, "speed": 3, "quarter turns": 4}
FOLDS = 5
REFERENCE, AGAIN = "frames of the videos", "the same, other starting weights"
# Other starting weights show what differs although nothing does; quality 20 shows whether a loss would be seen at all.
PACKS = {"packed at 90": ("--quality", 90), "packed at 90, effort 0": ("--quality", 90, "--effort", 0),
         "packed at 75": ("--quality", 75), "packed at 60": ("--quality", 60), "packed at 20": ("--quality", 20)}
VARIANTS = (REFERENCE, AGAIN, *PACKS)
# Half the width of an interval that holds the mean in 95 of 100 cases, in standard errors: Student's t by degrees of freedom.
T = {1: 12.71, 2: 4.30, 3: 3.18, 4: 2.78}


def pack(videos, folder, options):
    if not (folder / "dataset.json").exists():
        run("pack", videos, "-o", folder, "--size", SIDE, "--fps", FPS, "--max-frames", 6 * FPS, "--cut", *options)
    return vidrec.open(folder)


def packed_frames(dataset):
    """Of each clip, the middle of its frames as a loader gives them: frames, height, width, 3."""
    loader = vidrec.Loader(dataset, 1, frames=vidrec.AllFrames(), crop=SIDE, layout="BTHWC", output="numpy", threads=1)
    return [batch.frames[0].copy() for batch in loader]


def frames_of_videos(videos, dataset):
    """The same frames, scaled by the same filter to the same size, and never a JPEG."""
    clips = []
    for clip in dataset:
        width, height = clip.size
        scale = f"scale={width}:{height}:flags=bicubic+accurate_rnd+full_chroma_int+full_chroma_inp,format=rgb24"
        command = ["ffmpeg", "-v", "error", "-i", videos / clip.source, "-vsync", "passthrough", "-vf", scale, "-f", "rawvideo", "-"]
        whole = subprocess.run(command, check=True, capture_output=True).stdout
        pictures = numpy.frombuffer(whole, numpy.uint8).reshape(-1, height, width, 3)
        x, y = (width - SIDE) // 2, (height - SIDE) // 2
        clips.append(pictures[clip.source_indices][:, y:y + SIDE, x:x + SIDE].copy())
    return clips


def draw(random, clips, numbers, label=None):
    """A window of each of these clips as one batch of bytes, and their labels: drawn ones, or this one for all."""
    batch, drawn = [], []
    for n in numbers:
        exchanged, speed, turns = label or [random.integers(count) for count in HEADS.values()]
        step = 2**speed
        start = random.integers(len(clips[n]) - (FRAMES - 1) * step)
        times = start + step * numpy.arange(FRAMES)
        pair = random.integers(FRAMES - 3) + numpy.array([0, 3])
        times[pair] = times[pair[::-1 if exchanged else 1]]
        y, x = random.integers(SIDE - CROP + 1, size=2)
        mirror = slice(None, None, random.choice((-1, 1)))
        batch.append(numpy.rot90(clips[n][times, y:y + CROP, x:x + CROP][:, :, mirror], turns, axes=(1, 2)))
        drawn.append((exchanged, speed, turns))
    return torch.from_numpy(numpy.stack(batch)), torch.tensor(drawn)


class Block(nn.Module):
    """A convolution in space, then one in time around which the frames also pass unchanged."""

    def __init__(self, before, after, stride):
        super().__init__()
        self.space = nn.Sequential(nn.Conv2d(before, after, 3, stride, 1, bias=False), nn.BatchNorm2d(after), nn.ReLU())
        self.time = nn.Sequential(nn.Conv2d(after, after, (3, 1), 1, (1, 0), bias=False), nn.BatchNorm2d(after))

    def forward(self, x):
        x = self.space(x)
        n, c, h, w = x.shape
        series = x.permute(0, 2, 3, 1).reshape(n // FRAMES, FRAMES, h * w, c).permute(0, 3, 1, 2)
        return functional.relu(x + self.time(series).permute(0, 2, 3, 1).reshape(n, h, w, c).permute(0, 3, 1, 2))


class Network(nn.Module):
    """0.2 million parameters, and logits of all heads side by side. It sees each frame, and what changed since the one before."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 32, 11, 8, 4, bias=False)
        self.body = nn.Sequential(nn.BatchNorm2d(64), nn.ReLU(), Block(64, 80, 2), Block(80, 112, 1))
        self.heads = nn.Linear(112, sum(HEADS.values()))

    def forward(self, windows):
        with torch.autocast("cpu", torch.bfloat16):
            stem = self.stem(windows.flatten(0, 1).permute(0, 3, 1, 2).bfloat16()).permute(0, 2, 3, 1)
            series = stem.reshape(len(windows), FRAMES, *stem.shape[1:])
            changes = torch.cat([torch.zeros_like(series[:, :1]), series[:, 1:] - series[:, :-1]], 1)
            both = torch.cat([series, changes], 4).flatten(0, 1).permute(0, 3, 1, 2)
            features = self.body(both).mean((2, 3)).reshape(len(windows), FRAMES, -1)
        return self.heads(features.float().mean(1)).split(list(HEADS.values()), 1)


def train(clips, numbers, seed, weights, options):
    torch.manual_seed(weights)
    random, network = numpy.random.default_rng(seed), Network().to(memory_format=torch.channels_last)
    optimizer = torch.optim.AdamW(network.parameters(), weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, options.rate, options.steps, pct_start=0.2)
    for _ in range(options.steps):
        windows, labels = draw(random, clips, random.choice(numbers, options.batch))
        loss = sum(functional.cross_entropy(logits, labels[:, head]) for head, logits in enumerate(network(windows)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return network


def test(network, clips, numbers, seed):
    """Of each head, how many windows in a hundred it names: of each clip WINDOWS in each order, at each speed and turn."""
    network.eval()
    right, random = [], numpy.random.default_rng(seed)
    for label in WINDOWS * list(itertools.product(*map(range, HEADS.values()))):
        windows, labels = draw(random, clips, numbers, label)
        with torch.no_grad():
            named = torch.stack([logits.argmax(1) for logits in network(windows)], 1)
        right.append((named == labels).double())
    return [round(100 * float(share), 3) for share in torch.cat(right).mean(0)]


def sources(dataset):
    """The number of each clip's source, which is its name without the numbers around it."""
    names = [re.sub(r"^\d+_|\d*(_\d+)?$", "", Path(clip.source).stem) for clip in dataset]
    return numpy.array([sorted(set(names)).index(name) for name in names])


def rows(runs, facts):
    """Of the reference, what it reaches; of the others, by how much they differ in the same seeds, and half its interval."""
    found = {(run["variant"], run["seed"]): [*run["accuracy"], mean(run["accuracy"])] for run in runs}
    whole = [seed for seed in range(FOLDS) if all((variant, seed) in found for variant in VARIANTS)]
    if len(whole) < 2:
        return []
    table = []
    for variant in VARIANTS:
        of_seeds = zip(*([a - b * (variant != REFERENCE) for a, b in zip(found[variant, s], found[REFERENCE, s])] for s in whole))
        widths = [(mean(values), T[len(whole) - 1] * stdev(values) / math.sqrt(len(whole))) for values in map(list, of_seeds)]
        table.append({"name": variant, "values": [*facts[variant], *([round(a, 1), round(b, 1)] for a, b in widths)]})
    return table


def write(runs, facts, options, windows):
    head = {"title": "What a network learns from packs and from the videos", "processor": processor(), "cores": 1,
            "date": f"{datetime.date.today()}", "command": "benches/accuracy.py VIDEOS", "unit": "kB, dB, points of 100", "better": "more",
            "data": f"windows of {FRAMES} frames, crops of {CROP} from short side {SIDE}, of {windows} real clips, held out by "
                    f"source; {options.steps} steps of {options.batch}, seeds 0 to {FOLDS - 1}, 95 % intervals of paired differences",
            "columns": ["kB a frame", "PSNR", *HEADS, "mean of the three"]}
    lists = {"rows": rows(runs, facts), "runs": runs}
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    lines += [f'  "{key}": [\n' + ",\n".join(f"    {json.dumps(each)}" for each in lists[key]) + "\n  ]" for key in lists]
    RESULTS.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("videos", type=Path)
    parser.add_argument("--folder", type=Path, default=ROOT / "target/accuracy", help="where packs are kept")
    parser.add_argument("--steps", type=int, default=700)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rate", type=float, default=4e-3)
    options = parser.parse_args()
    torch.set_num_threads(1)

    packs = {name: pack(options.videos, options.folder / name.replace(" ", "-"), how) for name, how in PACKS.items()}
    first = packs["packed at 90"]
    raw, of = frames_of_videos(options.videos, first), sources(first)
    if min(map(len, raw)) <= (FRAMES - 1) * 4:
        sys.exit(f"a video has fewer than {(FRAMES - 1) * 4 + 1} frames at {FPS} per second")
    facts = {REFERENCE: [None, None], AGAIN: [None, None]}
    for name, dataset in packs.items():
        pairs = zip(packed_frames(dataset), raw)
        decibels = psnr((a.astype(numpy.int16), b.astype(numpy.int16)) for a, b in pairs)
        facts[name] = [round(mean_bytes(options.folder / name.replace(" ", "-")) / 1000, 1), round(float(decibels), 1)]
    print(f"{len(raw)} clips of {of.max() + 1} sources", flush=True)
    runs = json.loads(RESULTS.read_text())["runs"] if RESULTS.exists() else []
    done = {(run["variant"], run["seed"]) for run in runs}
    for seed in range(FOLDS):
        held = [n for n in range(len(raw)) if of[n] % FOLDS == seed]
        rest = [n for n in range(len(raw)) if of[n] % FOLDS != seed]
        for variant in VARIANTS:
            if (variant, seed) in done:
                continue
            clips = packed_frames(packs[variant]) if variant in packs else raw
            network = train(clips, rest, seed, seed + 1000 * (variant == AGAIN), options)
            runs.append({"variant": variant, "seed": seed, "accuracy": test(network, clips, held, seed)})
            print(runs[-1], datetime.datetime.now(), flush=True)
            write(runs, facts, options, len(raw))


if __name__ == "__main__":
    main()
