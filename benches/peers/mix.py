#!/usr/bin/env python3
"""A mix of three data sets in shares of 50, 30 and 20 %: vidrec beside MosaicML Streaming and Grain.

    benches/peers/setup.sh                                     once
    target/peers/main/bin/pip install VIDREC.whl               a wheel that was built with --release
    target/peers/main/bin/python benches/peers/mix.py VIDEOS [--json FILE]

VIDEOS is a folder of videos. Before anything is measured, the first sample of each is compared with vidrec's. Contestants run in
turn (A B C, B C A, ...), each in a process of its own; a row is the median of its rounds. FILE gets the rows, as benches/results
has them. All else is kept in mix/ below VIDREC_PEERS_CACHE (default: target/peers). If a row is missing, the exit status is 1.
"""
import argparse
import json
import sys
import tempfile
from pathlib import Path
from statistics import median

import numpy as np

import mix_loaders
import mix_store
from run import RELEASE, Failed, called, command, wait_until_quiet, write
from workloads import CACHE

HOME = CACHE / "mix"
NAMES = {"vidrec": "vidrec", "grain": "Grain", "streaming": "MosaicML Streaming"}
LEAST_PSNR = 30  # dB, of the first sample beside vidrec's


def main():
    a = arguments()
    failed = prepare(a)
    names = [name for name in NAMES if name not in failed]
    speeds = {name: [] for name in names}
    for r in range(a.rounds):
        for name in names[r % len(names) :] + names[: r % len(names)]:
            wait_until_quiet(a)
            speeds[name].append(json.loads(loader(a, "run", name, a.seconds))["samples_per_second"])
    rows = [{"name": NAMES[name], "values": [[round(each) for each in (median(of), min(of), max(of))]]} for name, of in speeds.items()]
    for row in rows:
        print("| {} | {} ({}–{}) samples/s |".format(row["name"], *row["values"][0]))
    for name, why in failed.items():
        print(f"{NAMES[name]}: {why}", file=sys.stderr)
    if a.json and not failed:
        data = f"{len(videos(a.videos))} clips of {mix_store.FRAMES} frames; medians of {a.rounds} rounds of {a.seconds:g} s, from the least to the most"
        write(a.json, "A mix of three data sets", ["samples/s"], rows, data=data, command=called("VIDEOS"), unit="samples/s", cores=len(a.cores))
    return int(bool(failed))


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("videos", type=Path, metavar="VIDEOS")
    p.add_argument("--vidrec", type=Path, default=RELEASE / "vidrec", help="the program that packs")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--seconds", type=float, default=5, help="length of a run, after five batches of warm-up")
    p.add_argument("--quiet-wait", type=float, default=30, help="seconds to wait for others to end, before each run")
    p.add_argument("--cores", type=lambda text: text.split(","), default=["0", "1"], help="processors to use, as in 0,1")
    p.add_argument("--json", type=Path, metavar="FILE")
    return p.parse_args()


def videos(folder):
    return sorted(path for path in folder.iterdir() if path.suffix in (".mp4", ".mkv", ".webm", ".avi"))


def prepare(a):
    """Makes the data; why some contestants cannot run."""
    failed = {}
    HOME.mkdir(parents=True, exist_ok=True)
    mix_store.make_vidrec(HOME / "vidrec", videos(a.videos), a.vidrec)
    for name in NAMES:
        try:
            if name != "vidrec":
                getattr(mix_store, f"make_{name}")(HOME / name, HOME / "vidrec")
                compare(a, name)
        except Exception as e:  # whatever a peer raises: the others go on without it
            failed[name] = f"{type(e).__name__}: {e}"
    return failed


def compare(a, name):
    """The first sample must be that of vidrec, as far as their decoders allow."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{who}.npy" for who in ("vidrec", name)]
        for file in files:
            loader(a, "first", file.stem, file)
        ours, theirs = (np.load(file).astype(np.float64) for file in files)
    psnr = 10 * np.log10(255**2 / max(np.mean((ours - theirs) ** 2), 1e-12))
    if psnr < LEAST_PSNR:
        raise Failed(f"its pictures are others: {psnr:.1f} dB")


def loader(a, what, name, last):
    out = command(f"{what} {name}", [sys.executable, mix_loaders.__file__, what, name, HOME, last], a.cores)
    return out.strip().split("\n")[-1]


if __name__ == "__main__":
    sys.exit(main())
