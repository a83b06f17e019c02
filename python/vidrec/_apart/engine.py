"""Stands for the engine of a loader whose threads are in a process of their own."""

from __future__ import annotations

import ctypes
import json
import math
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections import deque
from multiprocessing.connection import Connection
from multiprocessing.reduction import send_handle  # type: ignore[attr-defined, unused-ignore]
from socket import socketpair
from typing import Any, Callable, Deque, Dict, List, Optional, Tuple, Union

import numpy as np

from .. import _isolated, _vidrec
from ..errors import Error, InternalError, LimitError, UsageError
from .shared import SentBatch, Slot

# Seconds after which to look whether somebody else received what is waited for.
_WAIT = 0.1


class Engine:
    """A ``_vidrec.Engine`` that plans here and makes batches ahead in another process."""

    def __init__(self, dataset: Any, options: str, state: Optional[str], depth: Callable[[int], int]) -> None:
        # The process alone has the cache.
        own = json.dumps({**json.loads(options), "decoded_cache": None})
        self._local = _vidrec.Engine(dataset._inner, own, state)
        self._dtype: str = json.loads(options)["dtype"]
        self._told = dataset, options, state
        self._depth = depth(self._local.batch_bytes)
        self._room: Optional[int] = None
        self._other: Optional[_Other] = None
        self._lock = threading.RLock()
        self._waits = _Waits()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._local, name)

    def _process(self) -> _Other:
        """The process, started if there is none or it has ended."""
        with self._lock:
            if self._other is None or not self._other.is_alive():
                self._other = _Other((*self._told, self._room), self._dtype)
            return self._other

    @property
    def is_lost(self) -> bool:
        """Whether the process ended under a loop."""
        return self._other is not None and not self._other.is_alive()

    def serve_device(self, room: int, allocate: Any = None) -> None:
        # The other process has no memory of this one, so batches come in memory of its own.
        self._room = room

    def device_has(self, batch: SentBatch) -> None:
        self._process().send("has", batch.number)

    def batch(self, kind: str, epoch: int, number: int) -> Any:
        # What a device keeps is known there.
        there = kind == "jpegs" and self._room is not None
        return self._process().ask("batch", kind, epoch, number) if there else self._local.batch(kind, epoch, number)

    def stats(self) -> str:
        other = self._other
        if other is None or not other.is_alive():
            return json.dumps({**json.loads(self._local.stats()), **self._waits.told()})
        return json.dumps({**json.loads(other.ask("stats")), **self._waits.told(), "ready": other.ready()})

    def iter(self, kind: str, epoch: int, first: int, step: int) -> Union[Batches, BatchesInto]:
        if kind == "jpegs":
            # The engine there makes batches ahead, too.
            return Batches(self._process(), self._waits, min(self._depth, 2), None, epoch, first, step)
        batches = Batches(self._process(), self._waits, self._depth, self._local.batch_bytes, epoch, first, step)
        return BatchesInto(batches) if kind == "into" else batches


class _Waits:
    """What a loop waits for batches."""

    def __init__(self) -> None:
        self._seconds = 0.0

    def add(self, seconds: float) -> None:
        self._seconds += seconds

    def told(self) -> Dict[str, float]:
        return {"consumer_wait_seconds": self._seconds}


class _Other:
    """The process, and the messages that came from it."""

    def __init__(self, told: Tuple[Any, ...], dtype: str) -> None:
        if not sys.executable:
            raise UsageError("loader option process: an embedded interpreter has no program to start")
        here, there = socketpair()
        command = [*_isolated.main_of("vidrec._apart.serve"), str(there.fileno()), str(os.getpid())]
        with there:
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=[there.fileno()])
        self._connection = Connection(here.detach())
        self.dtype = dtype
        # Who receives a message may receive those of others, and leaves them here.
        self._batches: Dict[int, Deque[Any]] = {}
        self._answers: Deque[Any] = deque()
        self._receiving, self._sending, self._asking = threading.RLock(), threading.RLock(), threading.Lock()
        self._ended: Optional[Error] = None
        # What garbage collection leaves here, for which no message may be sent from within another.
        self.spare: Deque[Slot] = deque()
        self.ended: Deque[Tuple[int, List[Slot]]] = deque()
        self._loops = self._slots = 0
        weakref.finalize(self, _stop, self._connection, self._process)
        self.send(*told)

    def is_alive(self) -> bool:
        return self._ended is None and self._process.poll() is None

    def send(self, *message: Any) -> None:
        with self._sending:
            self._check(self._connection.send, message)

    def slot(self, length: int) -> Slot:
        """Memory that nobody uses."""
        try:
            return self.spare.popleft()
        except IndexError:
            pass
        with self._sending:
            self._slots += 1
            slot = Slot.new(self._slots, length)
            self.send("slot", slot.number, length)
            self._check(send_handle, self._connection, slot.file, self._process.pid)
        slot.close()
        return slot

    def tidy(self, most: int) -> None:
        """Ends the loops that nobody takes batches from, and forgets slots that nobody uses, if there are many."""
        while self.ended:
            loop, slots = self.ended.popleft()
            self._batches.pop(loop, None)
            self.send("end", loop)
            # From here on nothing is written to them.
            self.spare.extend(slots)
        while len(self.spare) > most:
            self.send("forget", self.spare.popleft().number)

    def begin(self, *how: Any) -> int:
        """The number of a new loop."""
        with self._sending:
            self._loops += 1
            self._batches[self._loops] = deque()
            self.send("begin", self._loops, *how)
            return self._loops

    def ask(self, name: str, *arguments: Any) -> Any:
        """What a method of the engine there returns."""
        with self._asking:
            self.send("ask", name, arguments)
            answer = self._wait(self._answers)
        if isinstance(answer, Error):
            raise answer
        return answer

    def ready(self, loop: Optional[int] = None) -> int:
        """Batches that are made and not taken, of one loop or all."""
        with self._receiving:
            while self._ended is None and self._connection.poll(0):
                self._receive()
        waiting = self._batches.values() if loop is None else [self._batches[loop]]
        return sum(len(each) for each in waiting)

    def next(self, loop: int) -> Tuple[Optional[int], Any]:
        """The slot and the facts of the next batch; an error, or None, in their place."""
        found: Tuple[Optional[int], Any] = self._wait(self._batches[loop])
        return found

    def _wait(self, queue: Deque[Any]) -> Any:
        while True:
            try:
                return queue.popleft()
            except IndexError:
                pass
            # Another thread, or a signal's handler, may receive it while this waits.
            if self._receiving.acquire(timeout=_WAIT):
                try:
                    if not queue and (self._ended is not None or self._connection.poll(_WAIT)):
                        self._receive()
                finally:
                    self._receiving.release()

    def _receive(self) -> None:
        kind, *rest = self._check(self._connection.recv)
        if kind == "answer":
            self._answers.append(rest[0])
        elif rest[0] in self._batches:
            loop, slot, facts = rest
            self._batches[loop].append((slot, facts))

    def _check(self, function: Any, *arguments: Any) -> Any:
        """Calls what uses the socket, whose end is the end of the process."""
        if self._ended is not None:
            raise self._ended
        try:
            return function(*arguments)
        except (EOFError, OSError):
            self._ended = self._why()
            raise self._ended from None
        except BaseException:
            # Part of a message may be lost.
            self._ended = UsageError("the loop was interrupted in the middle of a message; begin another")
            self._connection.close()
            raise

    def _why(self) -> Error:
        try:
            code = self._process.wait(1)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        ended = f"with status {code}" if code >= 0 else f"by signal {-code}, {signal.Signals(-code).name}"
        text = f"the process that makes the loader's batches (pid {self._process.pid}) ended {ended}"
        if code == -signal.SIGKILL:
            return LimitError(f"{text}; Linux kills so where memory is short; the next loop starts another process")
        return InternalError(f"{text}; what it printed says why; the next loop starts another process")


def _stop(connection: Connection, process: subprocess.Popen[bytes]) -> None:
    """Ends the process, which ends when the socket does."""
    connection.close()
    try:
        process.wait(1)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Batches:
    """Batches that another process makes ahead, of frames or, without ``batch_bytes``, of JPEGs."""

    def __init__(
        self, other: _Other, waits: _Waits, depth: int, batch_bytes: Optional[int], epoch: int, first: int, step: int
    ) -> None:
        self._other, self._waits, self._depth, self._batch_bytes = other, waits, depth, batch_bytes
        other.tidy(depth)
        self._loop = other.begin(batch_bytes is None, epoch, first, step)
        # The slots of batches that are being made, or not taken yet.
        self._there: Dict[int, Slot] = {}
        self._rooms = 0
        self._is_over = False
        self._end = weakref.finalize(self, _end, other, self._loop, self._there)
        self._end.atexit = False
        self._provide()

    def _provide(self) -> None:
        """Gives room for as many batches as are made ahead. So a loop that keeps its batches does not wait for itself."""
        self._other.tidy(self._depth)
        while self._rooms < self._depth:
            slot = None if self._batch_bytes is None else self._other.slot(max(1, self._batch_bytes))
            if slot is not None:
                self._there[slot.number] = slot
            self._rooms += 1
            self._other.send("room", self._loop, None if slot is None else slot.number)

    def is_ready(self) -> bool:
        """Whether ``next`` returns at once."""
        return self._other.ready(self._loop) > 0

    def next(self) -> Optional[SentBatch]:
        """The next batch; none after the last."""
        if self._is_over:
            return None
        self._provide()
        begun = time.perf_counter()
        number, told = self._other.next(self._loop)
        self._waits.add(time.perf_counter() - begun)
        self._rooms -= 1
        slot = None if number is None else self._there.pop(number)
        if told is None or isinstance(told, Error):
            if slot is not None:
                self._other.spare.append(slot)
            if told is not None:
                raise told
            self._is_over = True
            self._end()
            self._other.tidy(self._depth)
            return None
        batch: SentBatch = told
        if slot is not None:
            batch.samples = self._samples(slot, batch.facts["shape"])
        return batch

    def _samples(self, slot: Slot, shape: List[int]) -> Any:
        """The frames of a batch. Their memory is used again when nothing refers to them any more."""
        whole = slot.bytes()
        weakref.finalize(whole, self._other.spare.append, slot).atexit = False
        dtype = np.dtype("uint16" if self._other.dtype == "bfloat16" else self._other.dtype)
        return whole[: math.prod(shape) * dtype.itemsize].view(dtype).reshape(shape)


def _end(other: _Other, loop: int, there: Dict[int, Slot]) -> None:
    other.ended.append((loop, list(there.values())))


class BatchesInto:
    """The same batches, in memory of others: pinned, or a user's own."""

    def __init__(self, batches: Batches) -> None:
        self._batches = batches
        self._provided: Deque[Tuple[int, int, Any]] = deque()

    def provide(self, address: int, length: int, owner: Any) -> None:
        self._provided.append((address, length, owner))

    def next(self) -> Optional[SentBatch]:
        if not self._provided:
            raise InternalError("there is no memory for the next batch")
        address, length, _owner = self._provided.popleft()
        batch = self._batches.next()
        if batch is None:
            return None
        if batch.samples.nbytes > length:
            raise InternalError(f"a batch of {batch.samples.nbytes} bytes does not fit in memory of {length}")
        ctypes.memmove(address, batch.samples.ctypes.data, batch.samples.nbytes)
        batch.samples = None
        return batch
