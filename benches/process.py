#!/usr/bin/env python3
"""Training steps of many small operations beside a loader: no loader, its threads in this process, the same pinned to another
core, and a loader in a process of its own (``process=True``); and the memory of eight ranks.

    benches/process.py SET [--rounds 5] [--seconds 10] [--ranks 8] [--json FILE]

FILE gets the medians of the steps, as benches/results has them. Needs torch and two cores: the training loop runs on the first, the loader on the second, unless the system chooses.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "scripts/draw"))
from results import called, write  # noqa: E402

WAYS = ("no loader", "threads", "threads on another core", "process=True")
OPTIONS = {"batch_size": 8, "frames": 8, "crop": 224, "dtype": "float32", "shuffle": True, "threads": 1}


def step(torch, start, weights):
    """Sixty small operations on one thread."""
    values = start
    for _ in range(12):
        values = torch.relu(values @ weights) * 0.1 + 1
        values = values - values.mean()
    return values


def batches(loader):
    while True:
        yield from loader


def measure(dataset, way, seconds):
    """Times of steps, and of the first batch, in milliseconds, and batches that came."""
    import torch

    import vidrec

    torch.set_num_threads(1)
    first, second, *_ = sorted(os.sched_getaffinity(0))
    source, begun = None, time.perf_counter()
    if way != "no loader":
        if way != "threads":
            os.sched_setaffinity(0, {second})
        source = batches(vidrec.Loader(dataset, process=way == "process=True", **OPTIONS))
        next(source)
    started = time.perf_counter() - begun
    if way != "threads":
        os.sched_setaffinity(0, {first})
    start, weights = torch.randn(64, 64), torch.randn(64, 64)
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end:
        batch = next(source) if source else None
        begun = time.perf_counter()
        for _ in range(5):
            step(torch, start, weights)
        times.append((time.perf_counter() - begun) * 1000)
        del batch
    times.sort()
    return {"median": statistics.median(times), "p99": times[len(times) * 99 // 100], "steps": len(times), "first": started * 1000}


def memory(dataset, ranks, process):
    """Memory of all processes of a number of ranks in MiB: shared pages count once."""
    code = f"""
import sys, vidrec
loader = vidrec.Loader({dataset!r}, output="numpy", rank=(int(sys.argv[1]), {ranks}), process={process}, **{OPTIONS!r})
batch = next(iter(loader))
print(flush=True)
sys.stdin.read()
"""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    running = [subprocess.Popen([sys.executable, "-c", code, str(rank)], **pipes) for rank in range(ranks)]
    for each in running:
        each.stdout.readline()
    time.sleep(2)
    total = sum(map(share, family({each.pid for each in running})))
    for each in running:
        each.communicate()
    return total / 1024


def family(processes):
    """These processes and their children."""
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat") as stat:
                parent = int(stat.read().rsplit(")", 1)[1].split()[1])
        except OSError:
            continue
        if parent in processes:
            yield int(entry)
    yield from processes


def share(process):
    with open(f"/proc/{process}/smaps_rollup") as rollup:
        return next(int(line.split()[1]) for line in rollup if line.startswith("Pss:"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--json", metavar="FILE", help="write the medians to this file")
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.way:
        print(json.dumps(measure(given.dataset, given.way, given.seconds)))
        return
    found = {way: [] for way in WAYS}
    for turn in range(given.rounds):
        for i in range(len(WAYS)):
            way = WAYS[(turn + i) % len(WAYS)]
            command = [sys.executable, __file__, given.dataset, "--way", way, "--seconds", str(given.seconds)]
            found[way].append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
    print("| | median of a step, ms | 99 of 100, ms | steps | first batch, ms |\n|---|---|---|---|---|")
    rows = []
    for way, rounds in found.items():
        of = {name: statistics.median(each[name] for each in rounds) for name in rounds[0]}
        rows.append({"name": way, "values": [round(of["median"], 1), round(of["p99"], 1)]})
        print(f"| {way} | {of['median']:.2f} | {of['p99']:.2f} | {of['steps']:.0f} | {of['first']:.0f} |")
    taken = {process: memory(given.dataset, given.ranks, process) for process in (False, True)}
    print(f"\nmemory of {given.ranks} ranks: {taken[False]:.0f} MiB with threads, {taken[True]:.0f} MiB with process=True")
    if given.json:
        write(given.json, "Training steps beside a loader", ["median of a step, ms", "99 of 100, ms"], rows, command=called("SET"), unit="ms",
              better="less", data=f"steps of many small operations on one core, medians of {given.rounds} rounds of {given.seconds:g} s")


if __name__ == "__main__":
    main()
