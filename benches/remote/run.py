#!/usr/bin/env python3
"""Training from object storage: vidrec, LitData, MosaicML Streaming and WebDataset, from the same server in turn.

    benches/remote/setup.sh                   once
    benches/remote/run.py VIDEOS --quick      does it work? tens of MB, some minutes
    benches/remote/run.py VIDEOS              the tables, three rounds; two to three hours

VIDEOS is a folder as `vidrec pack` takes it; without it, ffmpeg generates clips. README.md beside this says what is
measured. Everything is kept below VIDREC_PEERS_CACHE (default: target/peers), in remote-data or remote-data-quick, and
results.json there has every single run.
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

LINKS = {
    "latency": ("50 ms of latency", {"latency-ms": 50, "gbit": 0}),
    "gbit": ("50 ms of latency, 1 Gbit/s", {"latency-ms": 50, "gbit": 1}),
}


def main():
    a = arguments()
    home = CACHE / ("remote-data-quick" if a.quick else "remote-data")
    make = {"videos": lambda: data.videos_job(home / "videos", a.videos, a.gb * 1e9),
            "million": lambda: data.million_job(home / "million", a.million)}
    jobs = {name: make[name]() for name in a.jobs}
    results = {"machine": machine(a), "jobs": {name: describe(job) for name, job in jobs.items()}, "runs": []}
    for name, job in jobs.items():
        ready = prepared(job, [c for c in CONTESTANTS if not a.only or c.key in a.only], name)
        with Serving(job.served, cpu=a.server_cpu) as serving:
            Contest(name, job, ready, serving, home, results, a).run()
    print(report.text(results, CONTESTANTS, LINKS))


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    some = lambda text: text.split(",")  # noqa: E731
    p.add_argument("videos", type=Path, nargs="?", metavar="VIDEOS")
    p.add_argument("--quick", action="store_true", help="a small data set, 20,000 small clips, one round")
    p.add_argument("--gb", type=float, help="size of the data set [1.5; quick: 0.06]")
    p.add_argument("--million", type=int, metavar="N", help="number of small clips [1000000; quick: 20000]")
    p.add_argument("--jobs", type=some, default=["videos", "million"], help="epochs of the videos, and the first batch "
                   "of the small clips [videos,million]")
    p.add_argument("--rounds", type=int, help="[3; quick: 1]")
    p.add_argument("--only", type=some, default=[], help=", ".join(c.key for c in CONTESTANTS))
    p.add_argument("--links", type=some, default=list(LINKS), help=", ".join(LINKS))
    p.add_argument("--workers", type=some, help="numbers of DataLoader processes for a peer; a short first round says "
                   "which one is best on each link [0,1; quick: 1]")
    p.add_argument("--cpu", default="0", help="for the contestants [0]")
    p.add_argument("--server-cpu", default="1", help="for nginx, the proxy and this program [1]")
    p.add_argument("--timeout", type=float, default=900, help="seconds that a run may take [900]")
    a = p.parse_args()
    for name, quick, full in (("gb", 0.06, 1.5), ("million", 20_000, 1_000_000), ("rounds", 1, 3),
                              ("workers", ["1"], ["0", "1"])):
        if getattr(a, name) is None:
            setattr(a, name, quick if a.quick else full)
    for word in {*a.only} - {c.key for c in CONTESTANTS} | {*a.links} - {*LINKS} | {*a.jobs} - {"videos", "million"}:
        p.error(f"no such thing: {word}")
    return a


def prepared(job, contestants, name):
    """Those that can take part; of the others, a message."""
    ready = []
    for c in contestants:
        if name == "million" and not c.million:
            continue
        try:
            c.prepare(job)
            ready.append(c)
        except (data.Failed, OSError) as e:
            data.say(f"skipped: {c.name}: {e}")
    return ready


class Contest:
    """All runs on one data set, in turn."""

    def __init__(self, name, job, contestants, serving, home, results, a):
        self.name, self.job, self.contestants, self.results, self.a = name, job, contestants, results, a
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
        links = self.a.links if self.name == "videos" else ["latency"]
        for turn in range(self.a.rounds):
            for link in links:
                for setting, value in LINKS[link][1].items():
                    self.proxy.tell(f"{setting} {value}")
                start = turn % max(1, len(self.contestants))
                for c in self.contestants[start:] + self.contestants[:start]:
                    self.take_turn(c, link, turn)

    def take_turn(self, c, link, turn):
        """Warm follows cold, whose cache it has."""
        workers = self.workers(c, link)
        for mode in c.modes if self.name == "videos" else ["first"]:
            if mode != "warm":
                fresh(self.cache)
            found = self.attempt(c, link, mode, workers)
            if found is None:
                return
            where = {"job": self.name, "contestant": c.key, "link": link, "mode": mode, "round": turn}
            self.results["runs"].append(where | {"workers": workers} | found)
            (self.home / "results.json").write_text(json.dumps(self.results, indent=1))

    def workers(self, c, link):
        """The number of DataLoader processes that is fastest from a cold start, found once a link."""
        settings = c.settings(self.a.workers)
        if len(settings) == 1:
            return settings[0]
        if (c.key, link) not in self.best:
            self.best[c.key, link] = max(settings, key=lambda workers: self.speed(c, link, workers))
        return self.best[c.key, link]

    def speed(self, c, link, workers):
        fresh(self.cache)
        mode = "cold" if self.name == "videos" else "first"
        found = self.attempt(c, link, mode, workers)
        if found is None:
            return 0
        return found["frames_per_second"] or 1 / found["first_batch_seconds"]

    def attempt(self, c, link, mode, workers):
        data.say(f"{self.name}, {link}: {c.key}, {mode}, {workers} workers")
        try:
            return c.measure(mode, self.job, self.watch, self.cache, workers)
        except (data.Failed, OSError) as e:
            data.say(f"failed: {c.name}, {mode}: {e}")
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
