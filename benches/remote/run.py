#!/usr/bin/env python3
"""Training from object storage: vidrec, LitData, MosaicML Streaming and WebDataset, from the same server in turn.

    benches/remote/setup.sh                          once
    benches/remote/run.py VIDEOS --quick             does it work? tens of MB, some minutes
    benches/remote/run.py VIDEOS [--json FILE]       the tables, three rounds; FILE gets the medians, as benches/results has them

VIDEOS is a folder as `vidrec pack` takes it; without it, ffmpeg generates clips. README.md beside this says what is
measured. Everything is kept below VIDREC_PEERS_CACHE (default: target/peers), in remote-data or remote-data-quick, and
results.json there has every single run. If a row of vidrec is missing, the exit status is 1.
"""
import argparse
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import data
import report
from contestants import CONTESTANTS, Watch, fresh
from layout import CACHE, REPOSITORY
from serve import Serving

sys.path.append(str(REPOSITORY / "scripts/draw"))
from results import called, write  # noqa: E402

LATENCY_MS = 50


def main():
    a = arguments()
    home = CACHE / ("remote-data-quick" if a.quick else "remote-data")
    job = data.videos_job(home, a.videos, a.gb * 1e9)
    results = {"machine": machine(a), "job": describe(job), "runs": [], "failed": []}
    chosen = [c for c in CONTESTANTS if not a.only or c.key in a.only]
    ready = prepared(job, chosen)
    with Serving(job.served, cpu=a.server_cpu, latency_ms=LATENCY_MS) as serving:
        Contest(job, ready, serving, home, results, a).run()
    print(report.text(results, CONTESTANTS))
    seen = {(run["contestant"], run["mode"]) for run in results["runs"]}
    if lost := [f"{c.name}, {mode}" for c in chosen if c.store == "packed" for mode in c.modes if (c.key, mode) not in seen]:
        print(f"no figures of {'; '.join(lost)}", file=sys.stderr)
    elif a.json:
        columns, rows = report.rows_of_results(results, CONTESTANTS)
        told = results["job"]
        words = (f"{told['frames']:,} frames in {told['clips']:,} clips of {told['bytes'] / 1e6:.0f} MB, random crop to 224, f32; "
                 f"server and proxy on the other core; medians of {a.rounds} rounds")
        write(a.json, f"Training from a server with {LATENCY_MS} ms of latency", columns, rows, data=words, command=called("VIDEOS"),
              unit="frames/s", units=[None, None, None, None, "s", "GB"], cores=len(a.cpu.split(",")))
    return int(bool(lost))


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    some = lambda text: text.split(",")  # noqa: E731
    p.add_argument("videos", type=Path, nargs="?", metavar="VIDEOS")
    p.add_argument("--quick", action="store_true", help="a small data set, one round")
    p.add_argument("--gb", type=float, help="size of the data set [0.5; quick: 0.06]")
    p.add_argument("--rounds", type=int, help="[3; quick: 1]")
    p.add_argument("--only", type=some, default=[], help=", ".join(c.key for c in CONTESTANTS))
    p.add_argument("--workers", type=some, help="numbers of DataLoader processes for a peer; a short first round says "
                   "which one is best [0,1; quick: 1]")
    p.add_argument("--cpu", default="0", help="for the contestants [0]")
    p.add_argument("--server-cpu", default="1", help="for nginx, the proxy and this program [1]")
    p.add_argument("--timeout", type=int, default=900, help="seconds that a run may take [900]")
    p.add_argument("--json", type=Path, metavar="FILE", help="write the medians to this file")
    a = p.parse_args()
    for name, quick, full in (("gb", 0.06, 0.5), ("rounds", 1, 3), ("workers", ["1"], ["0", "1"])):
        if getattr(a, name) is None:
            setattr(a, name, quick if a.quick else full)
    for word in {*a.only} - {c.key for c in CONTESTANTS}:
        p.error(f"no such thing: {word}")
    return a


def prepared(job, contestants):
    """Those that can take part; of the others, a message."""
    ready = []
    for c in contestants:
        try:
            c.prepare(job)
            ready.append(c)
        except (data.Failed, OSError) as e:
            data.say(f"skipped: {c.name}: {e}")
    return ready


class Contest:
    """All runs, in turn."""

    def __init__(self, job, contestants, serving, home, results, a):
        self.job, self.contestants, self.results, self.a = job, contestants, results, a
        self.cache, self.proxy, self.home = home / "cache", serving.proxy, home
        self.watch = Watch(serving.proxy.url, a.cpu, self.proxy.counts, lambda: self.proxy.tell("reset"), a.timeout)
        self.best = {}

    def run(self):
        # This process looks at the others' memory: not on their processor.
        all_cpus = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {int(cpu) for cpu in self.a.server_cpu.split(",")})
        self.take_turns()
        os.sched_setaffinity(0, all_cpus)
        fresh(self.cache)

    def take_turns(self):
        for turn in range(self.a.rounds):
            start = turn % max(1, len(self.contestants))
            for c in self.contestants[start:] + self.contestants[:start]:
                self.take_turn(c, turn)

    def take_turn(self, c, turn):
        """Warm follows cold, whose cache it has."""
        workers = self.workers(c)
        for mode in c.modes:
            if mode != "warm":
                fresh(self.cache)
            found = self.attempt(c, mode, workers)
            if found is None:
                return
            self.results["runs"].append({"contestant": c.key, "mode": mode, "round": turn, "workers": workers} | found)
            (self.home / "results.json").write_text(json.dumps(self.results, indent=1))

    def workers(self, c):
        """The number of DataLoader processes that is fastest from a cold start, found once."""
        settings = c.settings(self.a.workers)
        if len(settings) == 1:
            return settings[0]
        if c.key not in self.best:
            self.best[c.key] = max(settings, key=lambda workers: self.speed(c, workers))
        return self.best[c.key]

    def speed(self, c, workers):
        fresh(self.cache)
        found = self.attempt(c, "cold", workers)
        return found["frames_per_second"] if found else 0

    def attempt(self, c, mode, workers):
        data.say(f"{c.key}, {mode}, {workers} workers")
        try:
            return c.measure(mode, self.job, self.watch, self.cache, workers)
        except (data.Failed, OSError) as e:
            data.say(f"failed: {c.name}, {mode}: {e}")
            self.results["failed"].append({"contestant": c.key, "mode": mode, "why": str(e)})
            return None


def describe(job):
    return {"clips": job.clips, "frames": job.frames, "bytes": job.bytes, "shard_bytes": job.shard_bytes}


def machine(a):
    info = Path("/proc/cpuinfo").read_text()
    model = next((line.split(":")[1].strip() for line in info.splitlines() if line.startswith("model name")), "?")
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=REPOSITORY, capture_output=True, text=True)
    return {"cpu": model, "system": platform.platform(), "vidrec": commit.stdout.strip(), "cpus": a.cpu,
            "server_cpus": a.server_cpu}


if __name__ == "__main__":
    sys.exit(main())
