"""Runs a process on some CPUs and watches it: what it says and when, its memory, the disk that its cache takes."""
import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from data import Failed

EVERY = 0.5  # seconds between two looks at memory and disk


class Watched:
    """What a process did. `events` are its lines of JSON, with what `at_event()` gave when each came."""

    def __init__(self, command, cpus, cache, at_event, environment=None, timeout=900):
        self.events, self.memory, self.own_memory, self.disk = [], 0, 0, 0
        self.cache = cache
        with tempfile.TemporaryFile("w+") as errors:
            self.process = subprocess.Popen(
                ["taskset", "-c", cpus, *map(str, command)], stdout=subprocess.PIPE, stderr=errors, text=True,
                env=os.environ | {"OMP_NUM_THREADS": "1"} | (environment or {}), start_new_session=True)
            killer = threading.Timer(timeout, self.kill)
            looks = threading.Thread(target=self.look, daemon=True)
            killer.start(), looks.start()
            self.read(at_event)
            status = self.process.wait()
            late = not killer.is_alive()
            killer.cancel()
            looks.join()
            self.kill()  # what it may have left behind
            errors.seek(0)
            said = errors.read().strip()[-600:]
        self.disk = max(self.disk, disk_bytes(cache))
        if status:
            raise Failed(f"not done after {timeout} s" if late else f"exit status {status}: {said}")

    def read(self, at_event):
        """Lines of JSON; a report over several lines is one event."""
        text = ""
        for line in self.process.stdout:
            if line.startswith("{") and line.rstrip().endswith("}"):
                self.events.append(json.loads(line) | {"counts": at_event()})
            else:
                text += line
        if text.strip().startswith("{"):
            self.events.append(json.loads(text) | {"event": "report", "counts": at_event()})

    def event(self, name, last=True):
        found = [event for event in self.events if event["event"] == name]
        if not found:
            raise Failed(f"it did not say '{name}'")
        return found[-1 if last else 0]

    def look(self):
        while self.process.poll() is None:
            total = own = 0
            for pid in tree(self.process.pid):
                whole, private = proportional(pid)
                total, own = total + whole, own + private
            self.memory, self.own_memory = max(self.memory, total), max(self.own_memory, own)
            self.disk = max(self.disk, disk_bytes(self.cache))
            time.sleep(EVERY)

    def kill(self):
        """The whole session that it leads."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def tree(pid):
    """A process and all below it."""
    yield pid
    for task in children_files(pid):
        for child in task.split():
            yield from tree(int(child))


def children_files(pid):
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            yield path.read_text()
        except OSError:
            pass  # it has ended


def proportional(pid):
    """Bytes in memory, shared ones by their share: all, and those that are no pages of files."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    except OSError:
        return 0, 0
    sizes = {line.split(":")[0]: 1024 * int(line.split()[1]) for line in lines}
    return sizes.get("Pss", 0), sizes.get("Pss_Anon", 0) + sizes.get("Pss_Shmem", 0)


def disk_bytes(folder):
    """What files take on the disk."""
    total = 0
    for where, _, names in os.walk(folder) if folder else ():
        for name in names:
            try:
                total += 512 * os.stat(os.path.join(where, name)).st_blocks
            except OSError:
                pass  # removed meanwhile
    return total
