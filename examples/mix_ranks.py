#!/usr/bin/env python3
"""Mix three data sets in several processes, stop, and go on with another number of processes.

    python examples/mix_ranks.py --ranks 2 --state run.json --stop-after 3    three batches, then it ends
    python examples/mix_ranks.py --ranks 3 --state run.json                   the rest, in three processes

All starts together give the samples that one start gives, in the same order. The data sets are made where --data says, if
they are not there: different classes, sizes and numbers of clips.
"""
import argparse
import json
import subprocess
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, List

import torch
import torch.distributed as dist
from torch.multiprocessing.spawn import spawn

import vidrec

# Classes, clips of each class, and the size of the pictures.
SETS = {
    "sports": (["run", "jump"], 6, "96x72"),
    "hands": (["push", "pull"], 3, "64x64"),
    "falls": (["fall", "run"], 1, "48x80"),
}


def make(folder: Path) -> None:
    for number, (name, (classes, clips, size)) in enumerate(SETS.items()):
        if (folder / name / "dataset.json").exists():
            continue
        with tempfile.TemporaryDirectory() as videos:
            for label, i in ((label, i) for label in classes for i in range(clips)):
                path = Path(videos) / label / f"{i}.mp4"
                path.parent.mkdir(exist_ok=True)
                seed = number * 100 + len(label) * 10 + i
                source = f"gradients=size={size}:rate=8:duration=1:seed={seed}:c0=orange:c1=navy"
                command = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", source, "-pix_fmt", "yuv420p", str(path)]
                subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
            vidrec.pack(videos, folder / name, frames=4)


def train(rank: int, args: argparse.Namespace, rendezvous: Path) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{rendezvous}", rank=rank, world_size=args.ranks)
    mix = vidrec.mix(
        {"sports": (args.data / "sports", 0.6), "hands": (args.data / "hands", 0.3), "falls": (args.data / "falls", 0.1)},
        samples_per_epoch=40,
        window=20,
        schedule=[(60, {"sports": 0.4, "hands": 0.3, "falls": 0.3})],
    )
    loader = vidrec.Loader(mix, args.batch_size, crop=vidrec.RandomResizedCrop(32), flip=0.5, threads=1, seed=7)
    if args.state and args.state.exists():
        loader.load_state_dict(json.loads(args.state.read_text()))
    # All processes read the state before one of them writes it.
    dist.barrier()
    steps = 0
    while loader.epoch < args.epochs and steps != args.stop_after:
        for batch in loader:
            # Here a model would learn from batch.frames and batch.labels.
            mine = [
                (name, int(clip), int(label), int(frames.sum()))
                for name, clip, label, frames in zip(batch.source_names, batch.clips, batch.labels, batch.frames)
            ]
            everybody: List[Any] = [None] * args.ranks
            dist.all_gather_object(everybody, mine)
            steps += 1
            if rank == 0:
                together = [sample for one in everybody for sample in one]
                names = Counter(name for name, *_ in together)
                print(f"epoch {batch.epoch} batch {batch.number}:", ", ".join(f"{n} {name}" for name, n in names.items()))
                if args.log:
                    with open(args.log, "a", encoding="utf-8") as log:
                        log.writelines(json.dumps(sample) + "\n" for sample in together)
            if steps == args.stop_after:
                break
    if rank == 0:
        for name, used in (loader.stats().sources or {}).items():
            print(f"{name}: {used.samples} samples, {used.epochs:.2f} epochs")
        if args.state:
            args.state.write_text(json.dumps(loader.state_dict()))
    dist.destroy_process_group()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(tempfile.gettempdir()) / "vidrec-mix-example")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=4, help="samples of one step, in each process")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--state", type=Path, help="where the run stands is read from here, and written at the end")
    parser.add_argument("--stop-after", type=int, default=-1, metavar="STEPS")
    parser.add_argument("--log", type=Path, help="append a line of JSON for each sample")
    args = parser.parse_args()
    args.data.mkdir(parents=True, exist_ok=True)
    make(args.data)
    with tempfile.TemporaryDirectory() as folder:
        spawn(train, (args, Path(folder) / "rendezvous"), args.ranks)


if __name__ == "__main__":
    main()
