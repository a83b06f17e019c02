"""How long calls show how far they are."""

from __future__ import annotations

import sys
from typing import Any, Callable, Optional, Union

Progress = Union[bool, Callable[[int, int], object]]


class Shown:
    """Shows progress for as long as it is entered."""

    def __init__(self, progress: Progress, unit: str) -> None:
        self._progress, self._unit = progress, unit
        self._bar: Any = None

    def __enter__(self) -> Optional[Callable[[int, int], object]]:
        if self._progress is False or self._progress is None:
            return None
        if self._progress is not True:
            return self._progress
        try:
            from tqdm.auto import tqdm  # type: ignore[import-untyped, unused-ignore]
        except ImportError:
            return self._print
        self._bar = tqdm(unit=" " + self._unit)
        return self._update

    def _update(self, done: int, total: int) -> None:
        self._bar.total = total
        self._bar.update(done - self._bar.n)

    def _print(self, done: int, total: int) -> None:
        print(f"\r{done} of {total} {self._unit}", end="", file=sys.stderr, flush=True)

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
        elif self._progress is True:
            print(file=sys.stderr)
