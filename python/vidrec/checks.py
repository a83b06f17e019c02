"""Finding clips that a person should look at."""

from __future__ import annotations

import json
import os
from typing import Any, Mapping, Optional, Sequence, Union

from . import _storage, _vidrec
from ._progress import Progress, Shown
from ._storage import Path, Size
from .dataset import Dataset, opened
from .results import CheckReport
from .words import FindingKind


def check(
    datasets: Union[Dataset, Path, Sequence[Union[Dataset, Path]]],
    *,
    only: Union[FindingKind, Sequence[FindingKind]] = (),
    skip: Union[FindingKind, Sequence[FindingKind]] = (),
    distance: Optional[int] = None,
    threads: Optional[int] = None,
    progress: Progress = False,
    storage_options: Optional[Mapping[str, Any]] = None,
    cache: Optional[Path] = None,
    cache_bytes: Optional[Size] = None,
    timeout: float = _storage.TIMEOUT,
) -> CheckReport:
    """Find clips that a person should look at: black, frozen, duplicate, leaked, mislabelled or damaged ones.

    Decodes all frames at an eighth of their size, four of each clip also larger, and compares their checksums and the
    clips with each other. Give the data sets to train and to test with together: what is in both is a leak.

    Parameters
    ----------
    datasets : Dataset or path, or a sequence of them
        What to check; selections of clips, too.
    only : sequence of str, optional
        Look for these kinds only: ``"black"``, ``"uniform"`` (one brightness), ``"dark"``, ``"blown-out"``, ``"frozen"``,
        ``"repeated-frames"``, ``"scene-cut"``, ``"near-duplicate"``, ``"leak"``, ``"label-conflict"``, ``"corrupt"``,
        ``"substituted"`` (the packer noted faults of the video), ``"rounded-times"`` (a version before 1.0.0 packed at a rate
        by times that containers rounded), ``"failed"`` (videos that were not packed).
    skip : sequence of str, optional
        Do not look for these kinds.
    distance : int, optional
        How much clips may differ that show nearly the same, in bits of a hash of 256: 0 for copies, at most 64.
        Default: 16.
    threads : int, optional
        Default: one for each core. The result is the same for any number.
    progress : bool or callable, default False
        As for :func:`verify`, in clips.
    storage_options, cache, cache_bytes, timeout
        How remote data sets are read, as for :func:`vidrec.open`; a :class:`vidrec.Dataset` has its own.

    Returns
    -------
    vidrec.results.CheckReport
        ``clips`` and ``frames`` that were looked at; ``counts``, the number of findings of each kind; ``findings``, of which
        each says its ``kind``, ``clips``, ``videos`` (those that failed), ``frames`` (those of the clip that it is about, if
        not all), ``value`` (what was measured) and ``text``; and ``sets``, what was checked.

    Raises
    ------
    UsageError
        There is no such kind, or ``distance`` is too large.

    Examples
    --------
    >>> vidrec.check("train", only=["black", "corrupt"]).counts
    {'black': 0, 'corrupt': 0}
    >>> report = vidrec.check(["train", "val"], only=["leak"])  # doctest: +SKIP
    >>> leaked = {clip.clip for found in report.findings for clip in found.clips if clip.set == 0}  # doctest: +SKIP
    >>> train = vidrec.open("train").subset(exclude=leaked)  # doctest: +SKIP
    """
    storage = _storage.given(storage_options, cache, cache_bytes, timeout=timeout)
    several = [datasets] if isinstance(datasets, (Dataset, str, os.PathLike)) else [*datasets]
    sets = [opened(dataset, storage)._inner for dataset in several]
    with Shown(progress, "clips") as show:
        told = _vidrec.check(sets, _words(only), _words(skip), distance, threads, show)
    return CheckReport.from_dict(json.loads(told))


def _words(kinds: Sequence[str]) -> Sequence[str]:
    return [kinds] if isinstance(kinds, str) else [*kinds]
