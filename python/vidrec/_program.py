"""The program ``vidrec`` in a process of its own, for work that must not take this process with it when it crashes."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
from typing import Any, Dict, List, Optional, Sequence

from . import _isolated, _vidrec
from .errors import Error, Interrupted, UsageError

# Exit statuses, as `vidrec --help` lists them.
_DONE, _WRONG_USAGE, _PROBLEMS, _INTERRUPTED = 0, 2, 3, 130
# Seconds between two looks at whether this process should stop.
_LOOK = 0.5


class Died(Error):
    """The process died without a word: killed, out of memory, or crashed in a codec."""


def report(arguments: Sequence[str], secret: Sequence[str] = (), scratch: Optional[str] = None) -> Dict[str, Any]:
    """Run ``vidrec`` with these arguments and ``--json``; what it reports.

    ``secret`` are more arguments, which other users of the machine cannot see. ``scratch`` is the folder for temporary files.

    If the caller stops waiting, for Ctrl-C or another exception, the program finishes the videos in hand and ends. If this
    process dies, the program dies, too.

    Raises
    ------
    UsageError, Interrupted, Error
        The program ended with an error; the message is its last words.
    Died
        It died without a word.
    """
    command = [*_isolated.main_of(__name__), str(os.getpid()), arguments[0], "--json", *arguments[1:]]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env=None if scratch is None else {**os.environ, "TMPDIR": scratch},
    )
    told, said = _outputs(process, json.dumps(list(secret)))
    if process.returncode in (_DONE, _PROBLEMS):
        found: Dict[str, Any] = json.loads(told)
        return found
    message = _last_words(said)
    if process.returncode < 0 or not message:
        raise Died(f"the process died: {_cause(process.returncode)}{': ' if message else ''}{message}")
    kinds = {_WRONG_USAGE: UsageError, _INTERRUPTED: Interrupted}
    raise kinds.get(process.returncode, Error)(message)


def _last_words(said: str) -> str:
    """The error, which is the last line on standard error, or the first paragraph where the usage was wrong."""
    text = said.strip()
    if text.startswith("error: "):
        return text.partition("\n\n")[0].replace("error: ", "", 1)
    return text.rpartition("\n")[2].replace("vidrec: ", "", 1)


def _outputs(process: subprocess.Popen[str], given: str) -> List[str]:
    """Standard output and standard error, when the process has ended. It is given a text first."""
    rest: Optional[str] = given
    while True:
        try:
            return list(process.communicate(rest, timeout=_LOOK))
        except subprocess.TimeoutExpired:
            rest = None
        except BaseException:
            process.terminate()
            process.communicate()
            raise


def _cause(status: int) -> str:
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"exit status {status}"


def main() -> int:
    """The program, in a process that ends with the one that started it."""
    parent = int(sys.argv[1])
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
        # The parent may have died just before.
        if os.getppid() != parent:
            return _INTERRUPTED
    command, *arguments = sys.argv[2:]
    return _vidrec.main(_isolated.command() or [], ["vidrec", command, *json.load(sys.stdin), *arguments])
