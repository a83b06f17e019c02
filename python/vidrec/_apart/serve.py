"""The process that makes the batches of a loader."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections import deque
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle  # type: ignore[attr-defined, unused-ignore]
from typing import Any, Deque, Dict, Optional

from .. import _vidrec
from ..errors import Error, InternalError
from .shared import SentBatch, Slot

# How often to look whether the process that started this one is still there, in seconds. The socket says so at once, unless
# a fork of that process holds it, too.
_LOOK = 0.5


def main() -> None:
    """Serves until the socket ends. The arguments are its number here and the process that started this one."""
    file, parent = map(int, sys.argv[1:])
    # Ctrl-C goes to all processes of a terminal. The other one decides what becomes of it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    connection = Connection(file)
    try:
        Server(connection).run(parent)
    except (EOFError, OSError):
        pass
    # Threads may wait for room in the socket.
    os._exit(0)


class Server:
    """One engine, and the loops over its batches."""

    def __init__(self, connection: Connection) -> None:
        self._connection, self._sending = connection, threading.Lock()
        dataset, options, state, room = connection.recv()
        self._engine = _vidrec.Engine(dataset._inner, options, state)
        if room is not None:
            self._engine.serve_device(room)
        self._loops: Dict[int, _Loop] = {}
        self._slots: Dict[int, Slot] = {}
        # Batches that a device may keep the JPEGs of, by their number.
        self._planned: Dict[int, _vidrec.Batch] = {}
        self._told = 0

    def run(self, parent: int) -> None:
        while os.getppid() == parent:
            if self._connection.poll(_LOOK):
                name, *rest = self._connection.recv()
                getattr(self, f"on_{name}")(*rest)

    def send(self, *message: Any) -> None:
        with self._sending:
            self._connection.send(message)

    def sent(self, batch: _vidrec.Batch) -> SentBatch:
        """What is sent of a batch."""
        with self._sending:
            self._told += 1
            number = self._told
        if batch.plan is not None:
            self._planned[number] = batch
        return SentBatch(batch, number)

    def on_begin(self, loop: int, are_jpegs: bool, epoch: int, first: int, step: int) -> None:
        self._loops[loop] = _Loop(self, loop, self._engine.iter("jpegs" if are_jpegs else "into", epoch, first, step))

    def on_slot(self, number: int, length: int) -> None:
        file = recv_handle(self._connection)
        self._slots[number] = Slot(number, file, length)
        os.close(file)

    def on_forget(self, number: int) -> None:
        del self._slots[number]

    def on_room(self, loop: int, slot: Optional[int]) -> None:
        self._loops[loop].provide(None if slot is None else self._slots[slot])

    def on_end(self, loop: int) -> None:
        self._loops.pop(loop).end()

    def on_has(self, number: int) -> None:
        batch = self._planned.pop(number, None)
        if batch is not None:
            self._engine.device_has(batch)

    def on_ask(self, name: str, arguments: Any) -> None:
        try:
            answer = getattr(self._engine, name)(*arguments)
            if isinstance(answer, _vidrec.Batch):
                answer = self.sent(answer)
        except Error as e:
            answer = e
        self.send("answer", answer)


class _Loop:
    """Sends one batch for each room that it is given."""

    def __init__(self, server: Server, number: int, batches: Any) -> None:
        self._server, self._number = server, number
        self._batches: Any = batches
        # Memory that batches are made in, in this order, or None for each batch of JPEGs.
        self._room: Deque[Optional[Slot]] = deque()
        self._change, self._ended = threading.Condition(), False
        self._thread = threading.Thread(target=self._run, name="vidrec-sender", daemon=True)
        self._thread.start()

    def provide(self, slot: Optional[Slot]) -> None:
        if slot is not None:
            array = slot.bytes()
            self._batches.provide(array.ctypes.data, array.nbytes, array)
        with self._change:
            self._room.append(slot)
            self._change.notify()

    def end(self) -> None:
        """Waits until nothing writes to the slots any more."""
        with self._change:
            self._ended = True
            self._change.notify()
        self._thread.join()
        self._batches = None

    def _run(self) -> None:
        while True:
            with self._change:
                # With room for a batch, the next one comes, or the end.
                self._change.wait_for(lambda: self._room or self._ended)
                if self._ended:
                    return
                slot = self._room.popleft()
            place = "batch", self._number, None if slot is None else slot.number
            try:
                self._server.send(*place, self._next())
            except OSError:
                return
            except Exception as e:
                # A fault of vidrec: nobody must wait for a batch that cannot be sent.
                self._server.send(*place, InternalError(f"the loader's process cannot send a batch: {type(e).__name__}: {e}"))

    def _next(self) -> Any:
        """What is sent of the next batch: facts, an error, or None at the end."""
        try:
            batch = self._batches.next()
            return None if batch is None else self._server.sent(batch)
        except Error as e:
            return e
