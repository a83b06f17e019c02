#!/usr/bin/env python3
"""Clips of different length with captions, in padded batches: vidrec beside other loaders.

    benches/peers/setup.sh                                          once
    target/peers/main/bin/pip install VIDREC.whl                    a wheel that was built with --release
    target/peers/main/bin/python benches/peers/captions.py VIDEOS...

VIDEOS are folders of video files. Each video gives some clips, whose frames are packed at 8 a second. All loaders give
the same clips: center crop to 224, u8, BTCHW, 8 to a batch, padded to the longest, with a mask, captions and ids.
Before anything is measured, the pixels of some clips are compared; each measured epoch has to have each clip once, with
its own caption and number of frames. Contestants run in turn (A B C, B C A, ...), each alone; a row is the median of
its rounds. All is kept in captions/ below VIDREC_PEERS_CACHE (default: target/peers), with every run in results.json.
"""
import argparse
import json
import random
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median

import numpy as np

import captions_loaders
import captions_store as store
from captions_loaders import BATCH, BUCKETS, SIZE
from run import BUSY, RELEASE, Failed, busy_seconds, called, command, machine, own_seconds, wait_until_quiet, write

CHECKED = 6  # clips whose pixels are compared
SAME = 999   # PSNR, dB: above that of any two clips that differ


@dataclass(frozen=True)
class Contestant:
    name: str
    key: str
    store: Path
    least_psnr: float  # dB, of every checked clip beside vidrec's

    def words(self, what, a, *rest):
        return [sys.executable, captions_loaders.__file__, what, self.key, a.workers, *rest]


class Program(Contestant):
    """The `vidrec` program: what the library does without Python. It shows a wheel that was not built for release."""

    def words(self, what, a, *rest):
        crop = f'crop={{"Cover": {{"size": {SIZE}}}}}'
        options = ['frames={"AllFrames": {}}', f"batch_size={BATCH}", crop, "shuffle=true", f"threads={a.workers}"]
        return [a.vidrec, "bench", store.PACKED, *options, "--json", "--seconds", a.seconds]


# The others' resizing is OpenCV's, which takes whole pixels for the crop; TorchCodec's frames never were JPEGs.
CONTESTANTS = (
    Contestant("vidrec, to the longest of the batch", "vidrec", store.PACKED, SAME),
    Contestant("vidrec, buckets", "vidrec_buckets", store.PACKED, SAME),
    Program("`vidrec bench`, without Python", "program", store.PACKED, 0),
    Contestant("MosaicML Streaming", "streaming", store.MDS, 30),
    Contestant("WebDataset", "webdataset", store.TAR, 30),
    Contestant("TorchCodec, from the video files", "torchcodec", store.PACKED, 25),
)


def main():
    a = arguments()
    skipped = store.prepare(a.vidrec, a.videos, a.clips_a_video)
    failed = [f"{c.name}: {skipped[c.store]}" for c in CONTESTANTS if c.key in a.only and c.store in skipped]
    ready = [c for c in CONTESTANTS if c.key in a.only and c.store not in skipped]
    ready, psnr = compare_pixels(ready, failed, a)
    runs = []
    for r in range(a.rounds if ready else 0):
        for c in ready[r % len(ready) :] + ready[: r % len(ready)]:
            wait_until_quiet(a)
            try:
                runs.append({"contestant": c.key, "round": r} | attempt(c, r, a))
            except Failed as e:
                failed.append(f"{c.name}, round {r + 1}: {e}")
    own = {c.key: [run for run in runs if run["contestant"] == c.key] for c in CONTESTANTS}
    failed += doubts(own)
    results = {"machine": machine(a.cores), "psnr": psnr, "runs": runs, "failed": failed}
    (store.HOME / "results.json").write_text(json.dumps(results, indent=1))
    print(report(results, own, a))
    if a.json and not failed:
        write_results(a, own)
    return int(bool(failed))


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    some = lambda text: text.split(",")  # noqa: E731
    keys = [c.key for c in CONTESTANTS]
    p.add_argument("videos", type=Path, nargs="+", metavar="VIDEOS")
    p.add_argument("--vidrec", type=Path, default=RELEASE / "vidrec", help="the program that packs")
    p.add_argument("--clips-a-video", type=int, default=4, help="the whole, and one less of its beginnings")
    p.add_argument("--only", type=some, default=keys, help=", ".join(keys))
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--seconds", type=float, default=4, help="whole epochs until this time has passed")
    p.add_argument("--workers", type=int, default=2, help="threads of vidrec, processes of the others")
    p.add_argument("--quiet-wait", type=float, default=30, help="seconds to wait for others to end, before each run")
    p.add_argument("--cores", type=some, default=["0", "1"], help="processors to use, as in 0,1")
    p.add_argument("--json", type=Path, metavar="FILE", help="write the medians to this file, as benches/results has them")
    a = p.parse_args()
    for word in {*a.only} - {*keys}:
        p.error(f"no such contestant: {word}")
    return a


def compare_pixels(contestants, failed, a):
    """Those whose frames are vidrec's within their bound, and the least PSNR of each; the others go to `failed`."""
    names = [name for name, _, _ in store.clips()]
    names = random.Random(1).sample(names, min(CHECKED, len(names)))
    truth = frames_of(next(c for c in CONTESTANTS if c.key == "vidrec"), names, a)
    fine, found = [], {}
    for c in contestants:
        if isinstance(c, Program) or c.key == "vidrec":
            fine.append(c)
            continue
        try:
            found[c.key] = min(psnr(*pair) for pair in zip(truth, frames_of(c, names, a)))
        except (Failed, OSError, ValueError) as e:
            failed.append(f"{c.name}: {e}")
            continue
        if found[c.key] >= c.least_psnr:
            fine.append(c)
        else:
            failed.append(f"{c.name}: PSNR {found[c.key]:.1f} dB beside vidrec's frames, below {c.least_psnr} dB")
    return fine, found


def frames_of(c, names, a):
    with tempfile.TemporaryDirectory() as out:
        command(f"pixels {c.key}", c.words("pixels", a, out, *names), a.cores, timeout=900)
        return [np.load(Path(out) / f"{name}.npy") for name in names]


def psnr(one, other):
    """Of a clip; SAME if every byte is equal, because JSON has no infinite number."""
    if one.shape != other.shape:
        raise ValueError(f"frames of shape {other.shape}, not {one.shape}")
    error = np.square(one.astype(np.float64) - other).mean()
    return float(10 * np.log10(255**2 / error)) if error else SAME


def attempt(c, number, a):
    """One run, with the number of cores that others kept busy meanwhile."""
    busy, own, started = busy_seconds(), own_seconds(), time.monotonic()
    out = command(f"round {number + 1} {c.key}", c.words("run", a, a.seconds), a.cores, timeout=900)
    others = (busy_seconds() - busy - (own_seconds() - own)) / (time.monotonic() - started)
    found = json.loads(out[out.rindex("\n{") :] if "\n{" in out else out)
    if not isinstance(c, Program):
        elapsed, frames = found["seconds"], found["frames"]
        found["clips_per_second"], found["frames_per_second"] = found["clips"] / elapsed, frames / elapsed
        found["cpu_seconds_per_1000_frames"] = found["cpu_seconds"] / frames * 1000
        found["padding"] = 1 - frames / found["places"]
    return found | {"others": max(0, others)}


def report(results, own, a):
    m, lengths = results["machine"], sorted(len(clip) for _, _, clip in store.clips())
    rows = [c for c in CONTESTANTS if own[c.key]]
    versions = {}
    for run in results["runs"]:
        versions |= run.get("versions", {})
    lines = [
        f"{m['cpu']}, processors {','.join(m['cores'])}; {m['system']}; vidrec {m['vidrec']}",
        f"{len(lengths)} clips of {lengths[0]} to {lengths[-1]} frames, mean {mean(lengths):.1f}; batches of {BATCH}; "
        f"buckets {', '.join(map(str, BUCKETS))}; {a.workers} workers; rounds: {a.rounds}",
        "",
        "| | clips/s (least–most) | frames/s | padding | CPU s/1000 frames | PSNR, dB | |",
        "|---|---|---|---|---|---|---|",
        *[row(c, own[c.key], results["psnr"].get(c.key)) for c in sorted(rows, key=lambda c: -speed(own[c.key]))],
        "",
        ", ".join(f"{name} {v}" for name, v in sorted(versions.items())),
        *[f"failed: {what}" for what in results["failed"]],
    ]
    return "\n".join(lines)


def write_results(a, own):
    lengths, rows = [len(clip) for _, _, clip in store.clips()], []
    for c in CONTESTANTS:
        runs = [run for run in own[c.key] if "padding" in run]
        if runs:
            clips = [run["clips_per_second"] for run in runs]
            frames, padding = (median(run[key] for run in runs) for key in ("frames_per_second", "padding"))
            rows.append({"name": c.name, "values": [[round(each) for each in (median(clips), min(clips), max(clips))], round(frames), round(100 * padding, 1)]})
    data = (f"{len(lengths)} clips of {min(lengths)} to {max(lengths)} frames, batches of {BATCH}, center crop of {SIZE}, u8; buckets of "
            f"{', '.join(map(str, BUCKETS))}; medians of {a.rounds} rounds")
    write(a.json, "Clips of different length with captions", ["clips/s (least–most)", "frames/s", "padding"], rows, data=data, command=called("VIDEOS..."),
          unit="", units=["clips/s", "frames/s", "%"], cores=len(a.cores))


def speed(runs):
    return median(run["clips_per_second"] for run in runs)


def doubts(own):
    """Whether the wheel does its work as fast as the program, by CPU time."""
    key = "cpu_seconds_per_1000_frames"
    if own["vidrec"] and own["program"]:
        wheel, program = (median(run[key] for run in own[name]) for name in ("vidrec", "program"))
        if wheel > 1.5 * program:
            times = f"{wheel / program:.1f} times the CPU time that it takes in the program"
            yield f"The rows of vidrec do not count: a frame takes {times}. Was the wheel built with --release?"


def row(c, runs, decibels):
    middle = lambda key: median(run[key] for run in runs)  # noqa: E731
    speeds = [run["clips_per_second"] for run in runs]
    cells = [
        c.name,
        f"{speed(runs):.0f} ({min(speeds):.0f}–{max(speeds):.0f})",
        f"{middle('frames_per_second'):.0f}",
        f"{middle('padding'):.1%}" if "padding" in runs[0] else "",
        f"{middle('cpu_seconds_per_1000_frames'):.3f}",
        "" if decibels is None else "same bytes" if decibels == SAME else f"{decibels:.1f}",
        "disturbed" if any(run["others"] >= BUSY for run in runs) else "",
    ]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
