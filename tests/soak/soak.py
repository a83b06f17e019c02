"""Runs rounds of packs, edits, reads, training and damage until the time is over; `scripts/soak.sh` starts it.

All that is random follows from the seed and the number of the round, but for the moments at which signals arrive. A round
that fails leaves its folder and says how to repeat it; the next round follows.
"""
import argparse
import itertools
import json
import os
import platform
import random
import shutil
import signal
import statistics
import subprocess
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

import edit
import inputs
import look
import pack
import serve
import train
from machine import Failure, Machine, built, check, random_of, wait_for
from reader import Reader

# Folders of failed rounds that are kept.
MOST_KEPT = 12
# Memory of the last 8 rounds beside that of the 8 before the middle: so much more at most, and these bytes. For some twenty rounds,
# a process that reads takes memory that it later uses again, so shorter runs say nothing about it.
GROWTH, SLACK, FEWEST = 1.10, 8 << 20, 40


class Soak:
    def __init__(self, arguments):
        self.arguments, self.folder = arguments, arguments.folder
        self.shared = Path(f"/dev/shm/vidrec-soak-{os.getpid()}")
        self.counts, self.failures, self.memory, self.peaks = Counter(), [], [], {}
        self.reader, self.at_rest, self.begin = Reader(), None, time.monotonic()

    def round(self, number):
        """One round. Where it fails, its folder stays."""
        machine = Machine(self.folder / f"round-{number:04}", random_of(self.arguments.seed, number))
        self.shared.mkdir()
        begin, failed, took, step = time.monotonic(), len(self.failures), [], "first"
        try:
            for step, run in self.steps(machine):
                began = time.monotonic()
                run()
                self.check_rest(machine, step)
                machine.counts[f"steps: {step}"] += 1
                took.append(f"{step} {time.monotonic() - began:.0f} s")
        except Exception as error:
            self.failed(number, step, machine, error)
        for name, values in machine.peaks.items():
            self.peaks.setdefault(name, []).append(max(values))
        del machine.counts["paths"]
        self.counts.update(machine.counts)
        if len(self.failures) == failed or len(self.failures) > MOST_KEPT:
            machine.remove()
        shutil.rmtree(self.shared)
        self.memory.append(self.reader.usage()["rss"])
        kills = sum(count for name, count in machine.counts.items() if name.startswith(("kills", "ranks killed")))
        print(f"round {number}: {'failed' if len(self.failures) > failed else 'passed'} in {time.monotonic() - begin:.0f} s "
              f"({', '.join(took)}), {kills} kills, reader {self.memory[-1] >> 20} MiB", flush=True)

    def steps(self, machine):
        """Each step by its name, and what it runs on."""
        made = {}

        def packed():
            made["sets"] = pack.step(machine, self.folder / "videos")

        def edited():
            made["edited"] = edit.step(machine, self.reader, made["sets"])

        yield "pack", packed
        yield "edit", edited
        yield "serve", lambda: serve.step(machine, self.reader, made["edited"][0])
        yield "train", lambda: train.step(machine, self.reader, made["sets"], self.shared)
        yield "look", lambda: look.step(machine, self.reader, *made["edited"])

    def check_rest(self, machine, step):
        """Nothing is left of a step: no file, no descriptor, no thread, no process."""
        left = list(machine.temporary.iterdir())
        check(not left, f"{left} are left")
        # Of decoded frames, what a killed process leaves stays for the next one of the same data set.
        held = sum(path.stat().st_blocks * 512 for path in self.shared.rglob("*") if path.is_file())
        check(held <= train.MOST_SHARED, f"{held} bytes are in {self.shared}, more than {train.MOST_SHARED}")
        if self.at_rest is None:
            # What is made once in a process, as for the first remote data set, stays.
            self.at_rest = self.reader.usage() if step == "look" else None
            return
        now = {}

        def rests():
            now.update(self.reader.usage())
            return all(now[name] <= self.at_rest[name] for name in ("descriptors", "threads", "children"))

        try:
            wait_for("rest", rests, 2000)
        except Failure:
            raise Failure(f"after {step}, the reading process holds {now}; at first, it held {self.at_rest}") from None

    def failed(self, number, step, machine, error):
        text = str(error) if isinstance(error, Failure) else "".join(traceback.format_exception(error))
        repeat = f"scripts/soak.sh --seed {self.arguments.seed} --round {number}"
        failure = {"round": number, "step": step, "command": machine.last[:1000], "error": text[-1500:], "repeat": repeat}
        self.failures.append(failure)
        print(f"FAILED: round {number}, step {step}: {text}\n  last command: {machine.last}\n  folder: {machine.folder}\n"
              f"  again: {repeat}", flush=True)
        if self.reader.process.poll() is not None:
            self.reader, self.at_rest = Reader(), None

    def memory_told(self):
        """Median memory of the eight rounds before the middle and of the last eight, and whether that is within the bound."""
        told = {}
        for name, values in {"reading process": self.memory, **self.peaks}.items():
            if len(values) >= FEWEST:
                middle = len(values) // 2
                first, last = statistics.median(values[middle - 8 : middle]), statistics.median(values[-8:])
                told[name] = {"first_bytes": int(first), "last_bytes": int(last), "is_flat": last <= first * GROWTH + SLACK}
        return told

    def result(self):
        arguments = self.arguments
        version = subprocess.run([built("vidrec"), "--version"], capture_output=True, text=True, check=True).stdout
        memory = self.memory_told()
        return {
            "version": version.splitlines()[0], "date": time.strftime("%Y-%m-%d"), "processor": processor(),
            "cores": os.cpu_count(), "system": platform.platform(),
            "command": f"scripts/soak.sh {arguments.minutes:g} --seed {arguments.seed}",
            "minutes": round((time.monotonic() - self.begin) / 60, 1), "rounds": len(self.memory),
            "failed_rounds": len(self.failures), "counts": dict(sorted(self.counts.items())),
            "memory_bound": f"median of the last 8 rounds at most {GROWTH} times that of the 8 before the middle, and {SLACK} bytes",
            "memory": memory, "failures": self.failures[:30],
        }


def processor():
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.processor())


def main():
    parser = argparse.ArgumentParser(prog="scripts/soak.sh", description=__doc__.splitlines()[0])
    parser.add_argument("minutes", nargs="?", type=float, default=120, help="rounds begin for so long [default: 120]")
    seed = random.SystemRandom().randrange(1 << 32)
    parser.add_argument("--seed", type=int, default=seed, help="of all that is random [default: another each time]")
    parser.add_argument("--round", type=int, help="only this round")
    parser.add_argument("--folder", type=Path, required=True, help="where it works; it keeps only what failed")
    arguments = parser.parse_args()
    # A shell that starts this in the background has it ignored, and programs would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    shutil.rmtree(arguments.folder, ignore_errors=True)
    print(f"soak: seed {arguments.seed}, {arguments.minutes:g} minutes, in {arguments.folder}", flush=True)
    inputs.generate(arguments.folder / "videos")
    soak = Soak(arguments)
    for number in [arguments.round] if arguments.round else itertools.count(1):
        if time.monotonic() - soak.begin > arguments.minutes * 60:
            break
        soak.round(number)
        (arguments.folder / "result.json").write_text(json.dumps(soak.result(), indent=2) + "\n")
    soak.reader.stop()
    result = soak.result()
    grown = [name for name, memory in result["memory"].items() if not memory["is_flat"]]
    print(f"soak: {result['rounds']} rounds, {result['failed_rounds']} failed, grown: {grown or 'nothing'}; "
          f"{arguments.folder / 'result.json'}")
    sys.exit(bool(soak.failures or grown))


if __name__ == "__main__":
    main()
