"""How long calls show how far they are."""

from __future__ import annotations

import sys
import time
from typing import Any, Callable, Optional, Tuple, Union

Progress = Union[bool, Callable[[int, int], object]]
# What is called with the items done and their number, if anything is.
Show = Optional[Callable[[int, int], object]]

# Seconds between two lines, and between two looks at a bar on which nothing happens.
_LINE, _IDLE = 0.5, 1.0


class Shown:
    """Shows progress for as long as it is entered."""

    def __init__(self, progress: Progress, unit: str) -> None:
        self._progress, self._unit = progress, unit
        self._shown: Any = None

    def __enter__(self) -> Show:
        if self._progress is False or self._progress is None:
            return None
        if self._progress is not True:
            return self._progress
        try:
            from tqdm.auto import tqdm  # type: ignore[import-untyped, unused-ignore]
        except ImportError:
            self._shown = Line(self._unit)
        else:
            self._shown = Bar(tqdm, self._unit)
        return self._update

    def _update(self, done: int, total: int) -> None:
        # The library tells of the work again while it uploads.
        if self._shown is not None:
            self._shown.update(done, total)

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """The work has ended."""
        if self._shown is not None:
            self._shown.close()
            self._shown = None


class ShownTwice:
    """Shows work, then the upload of its output, for as long as it is entered.

    A callable is not told of bytes: it hears of the items of the work, whose last state is repeated to it.
    """

    def __init__(self, progress: Progress, unit: str) -> None:
        self._uploads = progress is True
        self._work, self._upload = Shown(progress, unit), Shown(self._uploads, "bytes uploaded")
        self._show: Show = None

    def __enter__(self) -> Tuple[Show, Show]:
        return self._work.__enter__(), self._uploaded if self._uploads else None

    def _uploaded(self, done: int, total: int) -> None:
        if self._show is None:
            # The work is done, and its bar stays as it is. The time of the other one begins.
            self._work.close()
            self._show = self._upload.__enter__()
        if self._show is not None:
            self._show(done, total)

    def __exit__(self, *_: object) -> None:
        self._work.close()
        self._upload.close()


class Bar:
    """tqdm's bar: in a notebook its widget, elsewhere a line on standard error. It has rate and remaining time."""

    def __init__(self, tqdm: Any, unit: str) -> None:
        self._tqdm, self._unit = tqdm, unit
        self._bar: Any = None
        self._began = self._refreshed = time.monotonic()

    def update(self, done: int, total: int) -> None:
        """That ``done`` of ``total`` are done."""
        if self._bar is None:
            # What an interrupted run had done is no work of this one: the rate does not count it.
            self._bar = self._tqdm(initial=done, total=total, unit=" " + self._unit)
            # A bar that TQDM_DISABLE turns off has no start.
            if hasattr(self._bar, "start_t"):
                self._bar.start_t -= time.monotonic() - self._began
        now = time.monotonic()
        if total != self._bar.total:
            self._bar.total = total
            self._bar.refresh()
        if done != self._bar.n:
            self._bar.update(done - self._bar.n)
            self._refreshed = now
        elif now - self._refreshed >= _IDLE:
            # The time goes on while one video takes long.
            self._bar.refresh()
            self._refreshed = now

    def close(self) -> None:
        """The work has ended."""
        if self._bar is not None:
            self._bar.close()


class Line:
    """One line on standard error, for where tqdm is not installed."""

    def __init__(self, unit: str) -> None:
        self._unit = unit
        self._text = ""
        self._first: Optional[int] = None
        self._began = time.monotonic()
        self._printed = 0.0
        self._now = (0, 0)

    def update(self, done: int, total: int) -> None:
        """That ``done`` of ``total`` are done."""
        now = time.monotonic()
        self._now = (done, total)
        if self._first is None:
            self._first = done
        elif now - self._printed < _LINE:
            return
        self._printed = now
        self._print(now)

    def _print(self, now: float) -> None:
        done, total = self._now
        text = line(done, total, self._unit, done - (self._first or 0), now - self._began)
        # Spaces cover the rest of a longer line.
        print("\r" + text.ljust(len(self._text)), end="", file=sys.stderr, flush=True)
        self._text = text

    def close(self) -> None:
        """The work has ended."""
        if self._first is not None:
            self._print(time.monotonic())
            print(file=sys.stderr)


def line(done: int, total: int, unit: str, worked: int, seconds: float) -> str:
    """Where the work is, its rate, and the time that is left; ``worked`` of those done took ``seconds``."""
    text = f"{done} of {total} {unit}"
    if worked <= 0 or seconds <= 0:
        return text
    rate = worked / seconds
    shown = f"{rate:.0f}" if rate >= 100 else f"{rate:.3g}"
    text += f", {shown} {unit}/s"
    return text + f", {clock((total - done) / rate)} left" if done < total else text


def clock(seconds: float) -> str:
    """A time as minutes and seconds, or with hours before them."""
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"
