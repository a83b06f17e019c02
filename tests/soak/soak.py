"""Runs rounds of packs, edits, reads, training and damage until the time is over; `scripts/soak.sh` starts it.

All that is random follows from the seed and the number of the round, but for the moments at which signals arrive. A round
that fails leaves its folder and says how to repeat it; the next round follows.
"""
import argparse
import itertools
import json
import os
import random
import shutil
import signal
import statistics
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
from machine import Failure, Machine, check, random_of, wait_for
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
        self.counts, self.failures, self.memory = Counter(), [], []
        self.reader, self.at_rest, self.begin = Reader(), None, time.monotonic()

    def round(self, number):
        """One round. Where it fails, its folder stays."""
        machine = Machine(self.folder / f"round-{number:04}", random_of(self.arguments.seed, number))
        self.shared.mkdir()
        begin, failed, step = time.monotonic(), len(self.failures), "first"
        try:
            for step, run in self.steps(machine):
                run()
                self.check_rest(machine, step)
        except Exception as error:
            self.failed(number, step, machine, error)
        del machine.counts["paths"]
        self.counts.update(machine.counts)
        if len(self.failures) == failed or len(self.failures) > MOST_KEPT:
            shutil.rmtree(machine.folder)
        shutil.rmtree(self.shared)
        self.memory.append(self.reader.usage()["rss"])
        print(f"round {number}: {'failed' if len(self.failures) > failed else 'passed'} in {time.monotonic() - begin:.0f} s, "
              f"reader {self.memory[-1] >> 20} MiB", flush=True)

    def steps(self, machine):
        """Each step by its name, and what it runs on."""
        made = {}
        yield "pack", lambda: made.update(sets=pack.step(machine, self.folder / "videos"))
        yield "edit", lambda: made.update(edited=edit.step(machine, self.reader, made["sets"]))
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

        def rests():
            now = self.reader.usage()
            return all(now[name] <= self.at_rest[name] for name in ("descriptors", "threads", "children"))

        wait_for(f"the reading process after {step} to hold what it held at first: {self.at_rest}", rests, 2000)

    def failed(self, number, step, machine, error):
        text = str(error) if isinstance(error, Failure) else "".join(traceback.format_exception(error))
        repeat = f"scripts/soak.sh --seed {self.arguments.seed} --round {number}"
        self.failures.append(f"round {number}, step {step}")
        print(f"FAILED: round {number}, step {step}: {text}\n  last command: {machine.last}\n  folder: {machine.folder}\n"
              f"  again: {repeat}", flush=True)
        if self.reader.process.poll() is not None:
            self.reader, self.at_rest = Reader(), None

    def grown(self):
        """Median memory of the eight rounds before the middle and of the last eight, if that is beyond the bound."""
        middle = len(self.memory) // 2
        if len(self.memory) < FEWEST:
            return None
        first, last = statistics.median(self.memory[middle - 8 : middle]), statistics.median(self.memory[-8:])
        return (first, last) if last > first * GROWTH + SLACK else None


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
    soak.reader.stop()
    print(f"soak: {len(soak.memory)} rounds; failed: {soak.failures or 'none'}; memory grew: {soak.grown() or 'no'}")
    print(json.dumps(dict(sorted(soak.counts.items())), indent=2))
    sys.exit(bool(soak.failures or soak.grown()))


if __name__ == "__main__":
    main()
