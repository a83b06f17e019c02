"""Pages about data sets."""

from __future__ import annotations

import json
import os
from typing import Any, Mapping, Optional, Sequence, Union

from . import _storage, _vidrec
from ._progress import Progress, Shown
from ._storage import Path, Size
from .dataset import Dataset, opened
from .errors import UsageError
from .results import Report


def report(
    datasets: Union[Dataset, Path, Sequence[Union[Dataset, Path]], Mapping[str, Union[Dataset, Path]]],
    path: Optional[Path] = None,
    *,
    title: Optional[str] = None,
    clips: int = 1000,
    budget: Size = "14MB",
    check: Optional[bool] = None,
    seed: int = 0,
    threads: Optional[int] = None,
    progress: Progress = False,
    storage_options: Optional[Mapping[str, Any]] = None,
    cache: Optional[Path] = None,
    cache_bytes: Optional[Size] = None,
    timeout: float = _storage.TIMEOUT,
) -> Report:
    """Write a page about data sets: figures, clips that play under the pointer, and what a check has found.

    The page is one HTML file that opens from a disk and loads nothing, so it can be mailed. Clips can be searched, sorted
    and flagged; ``vidrec subset --exclude`` reads the list of the flagged ones. Of several data sets, such as two versions
    or train and val, the page shows one beside the other. The same data sets and options give the same bytes.

    Parameters
    ----------
    datasets : Dataset or path, or a sequence of them, or a dict of them by name
        The data sets, and what the page calls them: by default, by their paths.
    path : path, optional
        The HTML file to write. A file that is there is replaced. Default: none, for the figures alone.
    title : str, optional
        Title of the page. Default: the names of the data sets.
    clips : int, default 1000
        The most clips to show. If there are more, those in findings come first, then in turn a random one of each class.
    budget : int or str, default "14MB"
        The most bytes that the page may have. Frames are shown smaller, and then fewer clips, to keep it.
    check : bool, optional
        Look for findings in all clips, as :func:`check` does, which reads all frames. Default: if all data sets are local.
    seed : int, default 0
        For the choice of the clips.
    threads : int, optional
        Default: one for each core.
    progress : bool or callable, default False
        As for :func:`verify`, in clips.
    storage_options, cache, cache_bytes, timeout
        How remote data sets are read, as for :func:`vidrec.open`; a :class:`vidrec.Dataset` has its own.

    Returns
    -------
    vidrec.results.Report
        All figures of the page: ``title``, ``page_bytes``, ``shown`` (what the page shows), ``sets`` (``name``, ``stats``,
        ``settings`` and more of each), ``checked`` (the number of clips that were checked),
        ``findings`` (the number of each kind, or None) and ``notes`` (which clips are shown, and which were checked).

    Raises
    ------
    UsageError
        The budget is too small for the figures alone, or a data set is a selection of clips.

    Examples
    --------
    >>> told = vidrec.report("train", "report.html", title="Juggling, version 3")
    >>> told.page_bytes > 0, told.sets[0].stats.frames
    (True, 96)
    """
    storage = _storage.given(storage_options, cache, cache_bytes, timeout=timeout)
    if isinstance(datasets, Mapping):
        named = [*datasets.items()]
    else:
        several = [datasets] if isinstance(datasets, (Dataset, str, os.PathLike)) else [*datasets]
        named = [(_name(dataset), dataset) for dataset in several]
    sets = [(name, opened(dataset, storage)._inner) for name, dataset in named]
    numbers = (clips, str(budget), seed)
    with Shown(progress, "clips") as show:
        told = _vidrec.report(sets, path, title, numbers, (check, threads), show)
    return Report.from_dict(json.loads(told))


def _name(dataset: Union[Dataset, Path]) -> str:
    if not isinstance(dataset, Dataset):
        return os.fspath(dataset)
    if dataset._recipe[0] != "open":
        raise UsageError("a report takes whole data sets, as vidrec.open gives them, not selections of clips")
    path: str = dataset._recipe[1]
    return path
