"""What a loader does, for another process to read while it runs.

``loader.monitor(path)`` writes a line of JSON now and then.
"""

from __future__ import annotations

import atexit
import errno
import json
import os
import threading
import time
import weakref
from typing import Any, Callable, Dict, Optional


class Monitor:
    """Writes lines in a thread of its own, until it is closed or the loader or the program ends. Made by ``Loader.monitor``.

    The last line says so: ``"ended": true``.

    It never waits for the reader: if a pipe is full or nobody has it open, the line is dropped.
    """

    def __init__(self, tell: Callable[[], Dict[str, Any]], path: str, every: float) -> None:
        # A method of the loader, and the monitor does not keep the loader.
        self._tell = weakref.WeakMethod(tell)
        if os.path.isdir(path):
            path = os.path.join(path, f"rank-{tell()['rank']:05}.jsonl")
        self._path, self._every = path, every
        self._file: Optional[int] = None
        self._closed = threading.Event()
        self._before: Dict[str, Any] = {}
        # What the last line says if the loader is gone before the first one.
        self._line(tell)
        # At once, so that a folder that is not there is an error of the caller.
        self._open()
        self._thread = threading.Thread(target=self._run, name="vidrec-monitor", daemon=True)
        self._thread.start()
        _open.add(self)

    def close(self) -> None:
        """Write a last line and end."""
        self._closed.set()
        self._thread.join()

    def __enter__(self) -> Monitor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self) -> None:
        while not self._closed.wait(self._every) and self._write():
            pass
        self._write(ended=True)
        if self._file is not None:
            os.close(self._file)

    def _open(self) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NONBLOCK", 0)
        try:
            self._file = os.open(self._path, flags, 0o644)
        except OSError as e:
            # A pipe that nobody reads yet.
            if e.errno != errno.ENXIO:
                raise

    def _write(self, ended: bool = False) -> bool:
        """Whether there is still something to tell of."""
        tell = self._tell()
        if tell is not None:
            told = self._line(tell)
        elif ended:
            told = {**self._before, "time": time.time()}
        else:
            return False
        line = json.dumps({**told, "ended": True} if ended else told) + "\n"
        try:
            if self._file is None:
                self._open()
            if self._file is not None:
                os.write(self._file, line.encode())
        except BlockingIOError:
            pass
        except OSError:
            # The reader went away, or the disk is full: training continues.
            if self._file is not None:
                os.close(self._file)
            self._file = None
        return True

    def _line(self, tell: Callable[[], Dict[str, Any]]) -> Dict[str, Any]:
        now: Dict[str, Any] = {"time": time.time(), **tell()}
        seconds = now["time"] - self._before.get("time", now["time"])
        for name, counter in (
            ("frames_per_second", "frames"),
            ("waiting", "consumer_wait_seconds"),
            ("loader_waiting", "producer_wait_seconds"),
        ):
            # The counters of a loader that resumes begin at 0 again.
            gain = now[counter] - self._before.get(counter, 0)
            now[name] = gain / seconds if seconds > 0 and gain >= 0 else 0.0
            if name != "frames_per_second":
                # A wait counts when it is over, so it may have begun before these seconds.
                now[name] = min(now[name], 1.0)
        if "remote" in now:
            gain = now["remote"]["fetched_bytes"] - self._before.get("remote", {}).get("fetched_bytes", 0)
            now["remote"]["fetched_per_second"] = gain / seconds if seconds > 0 else 0.0
        self._before = now
        return now


# A daemon thread is stopped with the program, so the last lines are written before.
_open: "weakref.WeakSet[Monitor]" = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for monitor in list(_open):
        monitor.close()
