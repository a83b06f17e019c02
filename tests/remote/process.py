"""Servers as processes that end with the tests, however those end."""
import ctypes
import os
import signal
import socket
import subprocess
import sys
import time


def free_port():
    """A port that was free a moment ago."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def _end_with_parent():
    """Linux ends this process when the thread that started it ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def start(command, **options):
    """A process that does not outlive this one."""
    return subprocess.Popen([str(part) for part in command], preexec_fn=_end_with_parent, **options)


class Process:
    """A server that listens on a port of the loopback. `command` takes the port and gives the command to run."""

    SECONDS_TO_START = 60

    def __init__(self, command, log, environment=None):
        self.log = log
        # Another process may take a port between the search for it and its use.
        for attempt in range(3):
            self.port = free_port()
            with log.open("wb") as output:
                self.process = start(command(self.port), stdin=subprocess.DEVNULL, stdout=output,
                                     stderr=subprocess.STDOUT, env={**os.environ, **(environment or {})})
            if self.wait_until_it_listens():
                return
        raise RuntimeError(f"{command(0)[0]} did not start:\n{log.read_text(errors='replace')}")

    def wait_until_it_listens(self):
        deadline = time.monotonic() + self.SECONDS_TO_START
        while self.process.poll() is None and time.monotonic() < deadline:
            if self.listens():
                return self.process.poll() is None
            time.sleep(0.02)
        self.stop()
        return False

    def listens(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
        except OSError:
            return False
        return True

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.wait()
