"""Programs that the soak runs and kills, and what they must not leave behind."""
import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests/remote"))
from process import start  # noqa: E402
from program import built  # noqa: E402

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
# Programs take seconds. Looks are counted, not seconds, so that a machine that sleeps meanwhile does no harm.
LOOK = 0.005
PATIENCE = int(300 / LOOK)


class Failure(Exception):
    """Something is not as it should be."""


def check(is_so, message):
    if not is_so:
        raise Failure(message)


def wait_for(what, is_there, patience=PATIENCE):
    for _ in range(patience):
        if is_there():
            return
        time.sleep(LOOK)
    raise Failure(f"waited too long for {what}")


def files(folder):
    """The digest of each file in a folder, by its name."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def same_files(found, expected):
    found_files, expected_files = files(found), files(expected)
    names = sorted(name for name in {*found_files, *expected_files} if found_files.get(name) != expected_files.get(name))
    check(not names, f"{found} and {expected} differ in {names}")


def in_session(leader):
    """The processes of a session, but for those that have ended and wait for their parents."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, _, _, session = (folder / "stat").read_text().rpartition(")")[2].split()[:4]
        except OSError:
            continue
        if int(session) == leader and state != "Z":
            found.append(int(folder.name))
    return found


class Done(NamedTuple):
    """How a program ended."""

    command: str
    status: int
    out: str
    err: str
    seconds: float
    was_killed: bool


class Machine:
    """Runs programs in the folder of a round. All that is random comes from `rng`."""

    def __init__(self, folder, rng):
        self.folder, self.rng = folder, rng
        self.counts = Counter()
        self.temporary = folder / "tmp"
        self.temporary.mkdir(parents=True)
        foreign = ("AWS_", "AZURE_", "GOOGLE_", "VIDREC_")
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
        self.environment.update(HOME=str(folder / "home"), TMPDIR=str(self.temporary), AWS_EC2_METADATA_DISABLED="true")
        self.last = ""

    def path(self, name):
        """A path that nothing has had in this round."""
        self.counts["paths"] += 1
        return self.folder / f"{self.counts['paths']:03}-{name}"

    def vidrec(self, *arguments, allowed=(0,), kill_within=None, environment=None):
        """Runs the program; with `kill_within`, a signal comes at a random moment of so many seconds."""
        command = [str(built("vidrec")), *map(str, arguments)]
        self.last = " ".join(command)
        self.counts["programs"] += 1
        out, err = self.folder / "out.txt", self.folder / "err.txt"
        begin, sent = time.monotonic(), None
        with out.open("wb") as to_out, err.open("wb") as to_err:
            process = start(command, stdin=subprocess.DEVNULL, stdout=to_out, stderr=to_err, start_new_session=True,
                            env={**self.environment, **(environment or {})})
            if kill_within is not None and not ended(process, int(self.rng.random() * kill_within / LOOK)):
                sent = self.rng.choice(SIGNALS)
                os.kill(process.pid, sent)
            if not ended(process, PATIENCE):
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                raise Failure(f"`{self.last}` does not end; signal sent: {sent}")
        done = Done(self.last, process.returncode, out.read_text(errors="replace"), err.read_text(errors="replace"),
                    time.monotonic() - begin, sent is not None)
        wait_for(f"processes of `{self.last}`", lambda: not in_session(process.pid), PATIENCE // 10)
        if sent is not None:
            self.counts[f"kills: {signal.Signals(sent).name}"] += 1
            allowed = (*allowed, 130, -sent)
        check(done.status in allowed, f"`{self.last}` ended with {done.status}, allowed {allowed}: {done.err}")
        self._nothing_temporary(sent)
        return done

    def _nothing_temporary(self, sent):
        left = sorted(self.temporary.iterdir())
        if sent == signal.SIGKILL:
            for path in left:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        else:
            check(not left, f"`{self.last}` left {left}")

def ended(process, looks):
    """Whether the process ends while it is looked at so many times."""
    for _ in range(looks):
        if process.poll() is not None:
            return True
        time.sleep(LOOK)
    return process.poll() is not None


def random_of(*words):
    """Random numbers that follow from these words alone."""
    return random.Random("/".join(map(str, words)))
