#!/usr/bin/env python3
"""What a plan's part size costs on a large cluster: a simulation with virtual time.

    benches/cluster/simulate.py VIDEOS          measures VIDEOS, then simulates; needs `vidrec` and Python alone

Real: how long each of VIDEOS takes beside the cost that its plan expects (packed one at a time), and the division into
parts, which `vidrec plan` makes of empty files of drawn sizes. Simulated: workers, which differ in speed, are preempted and
come back. An attempt that was preempted is resumed by another worker, or started over where working folders are not shared.
At three times of one run, `vidrec status` reads receipts that tell it so, and its estimate is compared with the truth.
"""
import argparse
import hashlib
import heapq
import json
import random
import subprocess
import tempfile
import time
from pathlib import Path

MINUTES = [1, 2, 5, 10, 20, 30]


def vidrec(*arguments, fine=(0, 3)):
    done = subprocess.run(["vidrec", *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode in fine, done.stderr
    return done.stdout


def measured(videos, most, folder):
    """Of up to `most` videos: bytes, and seconds for each unit of cost. And seconds to start an attempt."""
    plan = folder / "measured"
    vidrec("plan", videos, "-o", plan, "--parts", 100_000, "--json")
    parts = json.loads((plan / "plan.json").read_text())["parts"]
    ratios, starts = [], []
    for i in range(0, len(parts), -(-len(parts) // most)):
        began = time.monotonic()
        report = json.loads(vidrec("pack", plan, "--part", i, "--threads", 1, "--json"))
        starts.append(time.monotonic() - began - report["seconds"])
        ratios.append(report["seconds"] / parts[i]["cost"])
    sizes = [json.loads(line)["stamp"]["bytes"] for line in (plan / "jobs.jsonl").open()]
    return sizes, ratios, sorted(starts)[len(starts) // 2]


class Corpus:
    """Videos of drawn sizes, of which each takes the time of a measured one, for its cost."""

    def __init__(self, given, sizes, ratios, folder, draw):
        self.folder = folder / "videos"
        self.ratios = [draw.choice(ratios) for _ in range(given.videos)]
        for i in range(given.videos):
            path = self.folder / f"{i // 1000:04}/{i % 1000:04}.mp4"
            if i % 1000 == 0:
                path.parent.mkdir(parents=True)
            with path.open("wb") as file:
                file.truncate(draw.choice(sizes))

    def parts(self, count, hours, workers, out):
        """Seconds that each part of a real plan takes, so that all take `hours` on `workers`."""
        vidrec("plan", self.folder, "-o", out, "--parts", count, "--json")
        parts = json.loads((out / "plan.json").read_text())["parts"]
        seconds = []
        for part in parts:
            each = part["cost"] / part["videos"]
            of_part = self.ratios[part["first"]:part["first"] + part["videos"]]
            seconds.append(sum(each * ratio for ratio in of_part))
        scale = hours * 3600 * workers / sum(seconds)
        return [second * scale for second in seconds]


class Run:
    """All parts on all workers."""

    def __init__(self, given, parts, resumes, seed):
        self.given, self.resumes, self.draw = given, resumes, random.Random(seed)
        self.ended, self.attempts = [None] * len(parts), 0
        speeds = [self.speed() for _ in range(given.workers)]
        # Who is free, from when; and when it is preempted next.
        free = [(0.0, w, self.next_preemption(0.0)) for w in range(given.workers)]
        todo = [(0.0, i, seconds) for i, seconds in enumerate(parts)]
        heapq.heapify(todo)
        while todo:
            at, worker, preempted = heapq.heappop(free)
            since, part, left = heapq.heappop(todo)
            begin = max(at, since)
            at, preempted, rest = self.attempt(begin, preempted, left, speeds[worker])
            if rest is None:
                self.ended[part] = at
            else:
                heapq.heappush(todo, (at, part, rest if resumes else parts[part]))
                at += given.replaced
                preempted = self.next_preemption(at)
            heapq.heappush(free, (at, worker, preempted))
        self.seconds = max(self.ended)
        share = given.preempted * 3600 / (given.preempted * 3600 + given.replaced)
        self.ideal = sum(parts) / sum(speeds) / share

    def attempt(self, begin, preempted, left, speed):
        """When an attempt ends, when its worker is preempted next, and the seconds of work that are left then."""
        self.attempts += 1
        work = begin + self.given.start
        end = work + left / speed
        # Preempted while nobody used it: the part begins on what came in its place.
        while preempted < begin:
            preempted = self.next_preemption(preempted)
        if end <= preempted:
            return end, preempted, None
        done = max(0.0, preempted - work) * speed
        # What was not yet brought to the disk is lost.
        kept = max(0.0, done - self.draw.uniform(0, self.given.commit))
        return preempted, preempted, left - kept

    def speed(self):
        slow = self.draw.random() < self.given.stragglers
        return self.draw.lognormvariate(0, 0.1) * (0.5 if slow else 1.0)

    def next_preemption(self, at):
        return at + self.draw.expovariate(1 / (self.given.preempted * 3600))

    def idle(self):
        """Share of the time from when the first worker found no part to the end."""
        order = sorted(self.ended)
        return 1 - order[max(0, len(order) - self.given.workers)] / self.seconds


def estimates(run, parts, plan):
    """What `vidrec status` says at three times of a run is left, beside what is."""
    digest = hashlib.sha256((plan / "plan.json").read_bytes()).hexdigest()
    fields = ("clips labeled frames failed short repeated_frames damaged_frames corrupt_packets decode_errors "
              "logged_errors failed_checksums size_changes cut_off bytes").split()
    lists = ("failures", "warnings", "passed_over", "manifests", "notes")
    rows = []
    for share in (0.25, 0.5, 0.75):
        now = share * run.seconds
        for i, ended in enumerate(run.ended):
            path = plan / f"parts/{i:05}.json"
            if ended <= now and not path.exists():
                report = {**dict.fromkeys(fields, 0), **{name: [] for name in lists}, "seconds": parts[i]}
                path.write_text(json.dumps({"plan": digest, "part": i, "shards": [], "index_bytes": 0, "report": report}))
        running = sorted((ended, i) for i, ended in enumerate(run.ended) if ended > now)[:run.given.workers]
        for _, i in running:
            note = {"plan": digest, "host": "simulated", "process": 1, "videos": 0, "seconds": 0.0}
            (plan / f"parts/{i:05}.note").write_text(json.dumps(note))
        status = json.loads(vidrec("status", plan, "--json"))
        assert status["done"] == sum(ended <= now for ended in run.ended)
        for _, i in running:
            (plan / f"parts/{i:05}.note").unlink()
        rows.append((share, status["seconds_left"] / 60, (run.seconds - now) / 60))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measure", type=Path, metavar="VIDEOS")
    parser.add_argument("--measured", type=int, default=60, help="the most videos to measure")
    parser.add_argument("--workers", type=int, default=1000)
    parser.add_argument("--videos", type=int, default=200_000)
    parser.add_argument("--hours", type=float, default=2, help="of work for each worker")
    parser.add_argument("--preempted", type=float, default=4, help="mean hours until a worker is preempted")
    parser.add_argument("--replaced", type=float, default=180, help="seconds until it is back")
    parser.add_argument("--stragglers", type=float, default=0.03, help="share of workers at half the speed")
    parser.add_argument("--start", type=float, default=15, help="seconds that scheduler and container take for a part")
    parser.add_argument("--commit", type=float, default=10, help="--commit-every of vidrec pack")
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        sizes, ratios, start = measured(given.measure, given.measured, folder)
        ordered = sorted(ratios)
        low, middle, high = (ordered[int(share * (len(ordered) - 1))] for share in (0.1, 0.5, 0.9))
        print(f"{len(ratios)} videos measured: seconds per cost, 10 %, median and 90 %: "
              f"{low / middle:.2f}, 1, {high / middle:.2f}; {start:.2f} s to start an attempt of vidrec")
        corpus = Corpus(given, sizes, ratios, folder, random.Random(1))
        print("| part | parts | slowest part | resumed: efficiency | attempts | idle at the end | started over: efficiency |")
        print("| --- | --- | --- | --- | --- | --- | --- |")
        for minutes in MINUTES:
            plan = folder / f"plan-{minutes}"
            parts = corpus.parts(round(given.hours * 60 * given.workers / minutes), given.hours, given.workers, plan)
            runs = [Run(given, parts, True, seed) for seed in range(given.runs)]
            over = [Run(given, parts, False, seed) for seed in range(given.runs)]
            mean = lambda values: sum(values) / given.runs  # noqa: E731
            print(f"| {minutes} min | {len(parts)} | {max(parts) / 60:.1f} min | "
                  f"{mean(run.ideal / run.seconds for run in runs):.1%} | {mean(run.attempts for run in runs):.0f} | "
                  f"{mean(run.idle() for run in runs):.1%} | {mean(run.ideal / run.seconds for run in over):.1%} |", flush=True)
            if minutes == 10:
                left = estimates(runs[0], parts, plan)
        for share, said, true in left:
            print(f"parts of 10 minutes, at {share:.0%} of the time: vidrec status says {said:.0f} min to go; {true:.0f} it was")


if __name__ == "__main__":
    main()
