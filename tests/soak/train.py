"""Three ranks train; some are killed, and all resume from the last state that all of them saved."""
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import batches
from machine import PATIENCE, SIGNALS, Failure, check, ended, in_session, wait_for
from process import start

RANKS = 3
# Decoded frames of three data sets.
CACHE, MOST_SHARED = "4MB", 3 * 5_000_000


def machinery(rng, shared):
    """Options that change nothing in the batches."""
    given = {"threads": rng.choice([1, 2]), "prefetch": rng.choice([1, 2, 5]), "process": rng.random() < 0.5}
    if rng.random() < 0.3:
        given["decoded_cache"] = ["DecodedCache", CACHE, {"dir": str(shared)}]
    return given


def description(rng, sets):
    """A mix of two or three data sets, or one of them."""
    names = ["a", "b", "c"][: rng.choice([1, 2, 3])]
    given = {name: {"path": str(path), "weight": rng.choice([0.2, 0.5, 1.0])} for name, path in zip(names, sets)}
    job = {"sets": given, "options": batches.options(rng), "mix": {}, "epochs": rng.choice([2, 3])}
    if len(names) == 1:
        job["options"]["shuffle"] = True
    else:
        job["mix"] = {"samples_per_epoch": rng.randint(18, 45), "window": rng.choice([6, 18, 30])}
    return job


class Ranks:
    """The processes of one run, in a folder each."""

    def __init__(self, machine, job, shared):
        self.machine, self.job, self.shared = machine, job, shared
        self.folder = machine.path("run")
        self.folders = [self.folder / f"rank-{rank}" for rank in range(RANKS)]
        for folder in self.folders:
            folder.mkdir(parents=True)

    def start(self, state):
        rng, processes = self.machine.rng, []
        for rank, folder in enumerate(self.folders):
            given = {**self.job, "options": {**self.job["options"], **machinery(rng, self.shared)}, "rank": [rank, RANKS],
                     "folder": str(folder), "state": state, "save_every": self.save_every,
                     "step_seconds": 0.02}
            path = folder / "job.json"
            path.write_text(json.dumps(given))
            with (folder / "log.txt").open("a") as log:
                command = [sys.executable, Path(__file__).with_name("rank.py"), path]
                processes.append(start(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                                       env=self.machine.environment))
        return processes

    save_every = 2

    def count(self, rank):
        path = self.folders[rank] / "lines.jsonl"
        return path.read_bytes().count(b"\n") if path.exists() else 0

    def kill(self, processes, batches):
        """A signal for one rank when it has had so many batches, and the end for the others, as launchers do it."""
        victim = self.machine.rng.randrange(RANKS)
        wait_for(f"batch {batches} of rank {victim} in {self.folder}",
                 lambda: self.count(victim) >= batches or any(p.poll() is not None for p in processes))
        sent = self.machine.rng.choice(SIGNALS)
        for process in (processes[victim], *(p for p in processes if p is not processes[victim])):
            if process.poll() is None:
                os.kill(process.pid, sent)
                self.machine.counts["ranks killed"] += 1
                sent = signal.SIGKILL
        self.wait(processes, None)

    def wait(self, processes, status):
        for process, folder in zip(processes, self.folders):
            if not ended(process, PATIENCE):
                raise Failure(f"the rank in {folder} does not end")
            log = (folder / "log.txt").read_text()[-2000:]
            found = process.returncode
            check(status is None or found == status, f"the rank in {folder} ended with {found}: {log}")
        for process in processes:
            wait_for(f"processes of a rank in {self.folder}", lambda p=process: not in_session(p.pid), PATIENCE // 10)

    def last_common_state(self):
        """The path of the latest state that every rank has; what a rank did after it is forgotten."""
        place = {path.name: tuple(map(int, path.stem.split("-")[1:])) for path in self.folder.glob("rank-*/state-*.json")}
        names = [name for name in place if all((folder / name).exists() for folder in self.folders)]
        latest = max(names, key=place.get, default=None)
        if latest:
            states = {(folder / latest).read_text() for folder in self.folders}
            check(len(states) == 1, f"ranks in {self.folder} differ in {latest}: {states}")
        for folder in self.folders:
            kept = [line for line in self.lines(folder) if latest and (line["epoch"], line["number"]) <= place[latest]]
            (folder / "lines.jsonl").write_text("".join(json.dumps(line) + "\n" for line in kept))
            for name in place:
                if latest is None or place[name] > place[latest]:
                    (folder / name).unlink(missing_ok=True)
        return str(self.folders[0] / latest) if latest else None

    def lines(self, folder):
        path = folder / "lines.jsonl"
        if not path.exists():
            return []
        # A process that was killed may have written half a line.
        return [json.loads(text) for text in path.read_text().splitlines(keepends=True) if text.endswith("\n")]


def step(machine, reader, sets, shared):
    rng = machine.rng
    job = description(rng, sets)
    machine.last = f"train {json.dumps(job)}"
    plain = {"threads": 1, "prefetch": 1}
    expected = [reader.lines({**job, "options": {**job["options"], **plain}, "rank": [rank, RANKS]}) for rank in range(RANKS)]
    ranks, state = Ranks(machine, job, shared), None
    ranks.save_every = rng.choice([1, 2, 3])
    for _ in range(rng.randint(1, 3)):
        done = min(ranks.count(rank) for rank in range(RANKS))
        if done >= len(expected[0]) - 1:
            break
        processes = ranks.start(state)
        ranks.kill(processes, rng.randint(done + 1, len(expected[0]) - 1))
        state = ranks.last_common_state()
        machine.counts["runs resumed"] += state is not None
    ranks.wait(ranks.start(state), 0)
    for folder, lines in zip(ranks.folders, expected):
        found = ranks.lines(folder)
        where = next((i for i, pair in enumerate(zip(found, lines)) if pair[0] != pair[1]), min(len(found), len(lines)))
        check(found == lines, f"{folder}: {len(found)} batches, expected {len(lines)}; the first that differs is {where}: "
                              f"{found[where:where + 1]}, expected {lines[where:where + 1]}")
    machine.counts["runs"] += 1
    shutil.rmtree(ranks.folder)
