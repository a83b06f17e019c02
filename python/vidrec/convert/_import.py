"""What all conversions with a writer share: what is at fault is an error, or is skipped and listed."""

from __future__ import annotations

from dataclasses import replace
from types import TracebackType
from typing import Any, Callable, Dict, List, Optional, Sequence, Type

from .._progress import Progress, Shown
from ..errors import DecodeError, LimitError, UsageError
from ..results import SkippedSample, WriteReport
from ..writer import Writer


class Import:
    """A new data set, and the samples that it does without."""

    def __init__(self, writer: Writer, salvage: bool, progress: Progress) -> None:
        self.writer, self._salvage, self._shown = writer, salvage, Shown(progress, "clips")
        self._skipped: List[SkippedSample] = []
        self._done = 0

    def __enter__(self) -> Import:
        self._show = self._shown.__enter__()
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self._shown.close()
        self.writer.__exit__(kind, error, trace)

    def add(self, place: str, clip: Callable[[], Dict[str, Any]]) -> None:
        """Add a clip by the arguments of :meth:`vidrec.Writer.add`. ``place`` names it in errors."""
        try:
            self.writer.add(**clip())
        except (DecodeError, LimitError, UsageError, KeyError, ValueError, TypeError, IndexError) as e:
            self.skip(place, e)
        self._done += 1
        if self._show is not None:
            self._show(self._done, self._done)

    def skip(self, place: str, e: Exception) -> None:
        """Skip what is at fault, or raise an error that names it."""
        what = str(e) if isinstance(e, (DecodeError, LimitError, UsageError)) else f"{type(e).__name__}: {e}"
        if not self._salvage:
            raise DecodeError(f"{place}: {what}; pass salvage=True to skip what is at fault") from e
        self._skipped.append(SkippedSample(place, what))

    def report(self, notes: Sequence[str] = ()) -> WriteReport:
        return replace(self.writer.report, skipped=tuple(self._skipped), notes=tuple(notes))
