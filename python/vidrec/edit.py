"""Writing data sets out of data sets, to folders or to object storage, and removing clips.

JPEGs are copied byte for byte, and their checksums compared. What was there before stays as it is until an output is
whole.
"""

from __future__ import annotations

import json
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from . import _choice, _storage, _vidrec
from ._choice import Clips
from ._progress import Progress, Shown, ShownTwice
from ._storage import Path, Size
from .dataset import Dataset, opened
from .errors import UsageError
from .results import EditReport


def merge(
    paths: Sequence[Union[Dataset, Path]],
    output: Path,
    *,
    append: bool = False,
    shards: Union[int, str, None] = None,
    overwrite: bool = False,
    scratch: Optional[Path] = None,
    progress: Progress = False,
    storage_options: Optional[Mapping[str, Any]] = None,
    cache: Optional[Path] = None,
    cache_bytes: Optional[Size] = None,
    timeout: float = _storage.TIMEOUT,
) -> EditReport:
    """Write several data sets as one: the clips of the first, then those of the second, and so on.

    Classes are joined by name: those of the first data set keep their labels, new names get the next ones.

    Parameters
    ----------
    paths : sequence of Dataset or path
        The data sets, or their paths or locations, as :func:`vidrec.open` takes them.
    output : path
        Folder to make the data set in, or a location such as ``"s3://bucket/new"``.
    append : bool, default False
        Add the clips to the data set in the folder ``output``, in one step, as more shards. Its own shards do not change, and
        its classes keep their labels. Clips that an earlier call has added of the same data sets are not added once more:
        then ``clips`` is 0, and a note says so.
    shards : int or str, optional
        How many shards to write, or how large each may be, such as ``"1GiB"``, or how many clips each has, such as
        ``"each:1000"``. Default: shards end where those of the input end, but a few clips of each of many shards share one.
    overwrite : bool, default False
        Replace a data set that is already there.
    scratch : path, optional
        With a location: make the output in a folder in this one first, which needs room for all of it, and is removed when
        the output is there. Default: ``$TMPDIR``, or else ``$XDG_CACHE_HOME/vidrec`` or ``~/.cache/vidrec``. What was
        uploaded when a call was interrupted is kept, and the same call continues.
    progress : bool or callable, default False
        As for :func:`vidrec.verify`, in clips. While an output is uploaded, True shows its bytes, and a callable gets the
        last number of clips again.
    storage_options, cache, cache_bytes, timeout
        How remote data sets are read, as for :func:`vidrec.open`; a :class:`vidrec.Dataset` has its own. A remote output is
        written with the same ``storage_options`` and ``timeout``.

    Returns
    -------
    vidrec.results.EditReport
        ``output``, ``clips``, ``frames``, ``bytes``, ``shards``, ``left_out`` (clips of the inputs that are not in the
        output), ``not_found`` (clips that changes name and the data set does not have) and ``notes``, such as settings that
        differ. With ``append``, all of this is about the clips that were added.

    Examples
    --------
    >>> vidrec.merge(["train", "train"], "merged").clips
    24
    >>> vidrec.subset("train", "grows", clips=range(4)).clips
    4
    >>> vidrec.merge(["train"], "grows", append=True).clips
    12
    """
    storage = _storage.given(storage_options, cache, cache_bytes, timeout=timeout)
    sets = [opened(path, storage)._inner for path in paths]
    if append:
        if overwrite:
            raise UsageError("merge takes append or overwrite, not both")
        with Shown(progress, "clips") as show:
            return _report(_vidrec.append(output, sets, None if shards is None else str(shards), show))
    remote = _storage.for_output(storage_options, timeout, scratch)
    options = _output_options(shards, overwrite, remote)
    with ShownTwice(progress, "clips") as show:
        return _report(_vidrec.merge(sets, output, options, show))


def split(
    path: Union[Dataset, Path],
    output: Path,
    *,
    ratios: Sequence[float],
    names: Optional[Sequence[str]] = None,
    seed: int = 0,
    stratify: bool = True,
    keep_sources: bool = True,
    shards: Union[int, str, None] = None,
    overwrite: bool = False,
    progress: Progress = False,
    storage_options: Optional[Mapping[str, Any]] = None,
    cache: Optional[Path] = None,
    cache_bytes: Optional[Size] = None,
    timeout: float = _storage.TIMEOUT,
) -> List[EditReport]:
    """Write the parts of a data set as data sets of their own: ``output/train``, ``output/val`` and so on.

    The parts are those of :meth:`vidrec.Dataset.split`, which writes nothing, and of the program ``vidrec split``.
    :func:`subset` makes a part by a list of clips or by an attribute.

    Parameters
    ----------
    path : Dataset or path
        The data set, or its path or location, as :func:`vidrec.open` takes it.
    output : path
        Folder of this machine to make the folders of the parts in. :func:`push` copies each to object storage.
    ratios : sequence of float
        The share of each part, such as ``[0.8, 0.1, 0.1]``.
    names : sequence of str, optional
        The name of each part. Default: train and val, or train, val and test.
    seed, stratify, keep_sources
        As for :meth:`vidrec.Dataset.split`.
    shards, overwrite, progress, storage_options, cache, cache_bytes, timeout
        As for :func:`merge`.

    Returns
    -------
    list of vidrec.results.EditReport
        As of :func:`merge`, for each part.

    Examples
    --------
    >>> [part.clips for part in vidrec.split("train", "parts", ratios=[0.5, 0.5], seed=3)]
    [6, 6]
    """
    shares = list(ratios)
    usual = ["train", "val", "test"][: len(shares)] if len(shares) in (2, 3) else []
    names = usual if names is None else list(names)
    if len(names) != len(shares):
        raise UsageError(f"ratios has {len(shares)} shares, but names has {len(names)}")
    parts = _choice.by_ratio(list(zip(names, shares)), seed, stratify, keep_sources)
    data = opened(path, _storage.given(storage_options, cache, cache_bytes, timeout=timeout))._inner
    with Shown(progress, "clips") as show:
        reports = _vidrec.split(data, output, parts, (None if shards is None else str(shards), overwrite), show)
    return [EditReport.from_dict(report) for report in json.loads(reports)]


def subset(
    path: Union[Dataset, Path],
    output: Path,
    *,
    classes: Sequence[Union[str, int]] = (),
    clips: Optional[Clips] = None,
    exclude: Clips = (),
    where: Optional[Mapping[str, Any]] = None,
    sample: Optional[int] = None,
    seed: int = 0,
    labels: Optional[Mapping[Union[int, str], Union[int, str]]] = None,
    attributes: Optional[Mapping[Union[int, str], Mapping[str, Any]]] = None,
    rename_classes: Optional[Mapping[str, str]] = None,
    align_clocks: bool = False,
    shards: Union[int, str, None] = None,
    overwrite: bool = False,
    scratch: Optional[Path] = None,
    progress: Progress = False,
    storage_options: Optional[Mapping[str, Any]] = None,
    cache: Optional[Path] = None,
    cache_bytes: Optional[Size] = None,
    timeout: float = _storage.TIMEOUT,
) -> EditReport:
    """Write some clips of a data set, or all of them, as a data set of their own: those that fit everything that is given.

    They may get other labels, class names, attributes, clocks or shards. Pictures do not change.

    Parameters
    ----------
    path : Dataset or path
        The data set, or its path or location, as :func:`vidrec.open` takes it.
    output : path
        Folder to make the data set in, or a location such as ``"s3://bucket/new"``.
    classes, clips, exclude, where, sample, seed
        As for :meth:`vidrec.Dataset.subset`, which writes nothing.
    labels : mapping, optional
        New labels, as numbers or class names, by clip: its number, or a source, which stands for all its clips. Names
        that are new to the data set get the next labels.
    attributes : mapping, optional
        Attributes to add or replace, by clip; the others stay.
    rename_classes : mapping, optional
        New names by old names; labels stay.
    align_clocks : bool, default False
        The clock of each clip begins at its first frame: the times of frames and tracks count from there.
        :class:`vidrec.Cameras` pairs the frames of an episode by these times.
    shards, overwrite, scratch, progress, storage_options, cache, cache_bytes, timeout
        As for :func:`merge`.

    Returns
    -------
    vidrec.results.EditReport
        As of :func:`merge`.

    Examples
    --------
    >>> vidrec.subset("train", "left", classes=["left"], exclude=[0]).clips
    5
    >>> vidrec.subset("train", "resharded", shards=3).shards
    3
    >>> report = vidrec.subset("train", "relabeled", labels={0: "up", "right/7.mp4": "left"})
    >>> [vidrec.open("relabeled")[i].class_name for i in (0, 1, 7)]
    ['up', 'left', 'left']
    """
    chosen = _choice.chosen(classes, clips, exclude, where, sample, seed)
    data = opened(path, _storage.given(storage_options, cache, cache_bytes, timeout=timeout))._inner
    remote = _storage.for_output(storage_options, timeout, scratch)
    options = _output_options(shards, overwrite, remote)
    changes = (_choice.changes(labels or {}, attributes or {}), list((rename_classes or {}).items()), bool(align_clocks))
    with ShownTwice(progress, "clips") as show:
        return _report(_vidrec.subset(data, output, chosen, changes, options, show))


def remove(
    path: Path,
    *,
    classes: Sequence[Union[str, int]] = (),
    clips: Optional[Clips] = None,
    where: Optional[Mapping[str, Any]] = None,
    progress: Progress = False,
) -> EditReport:
    """Remove clips from a data set, in its folder and in one step: those that fit everything that is given.

    Only the shards that contain them are rewritten, without them; the files of all others stay. The clips behind a removed one
    get lower numbers. Data sets that are open keep their clips. After an error, the data set is as it was.

    Parameters
    ----------
    path : path
        The folder of the data set.
    classes, clips, where
        As for :meth:`vidrec.Dataset.subset`. ``clips`` alone may name damaged clips; of several draws of a video, one in it
        stands for all.
    progress : bool or callable, default False
        As for :func:`vidrec.verify`, in clips that are copied.

    Returns
    -------
    vidrec.results.EditReport
        The data set as it is then. ``left_out`` is the number of removed clips, and ``not_found`` has sources in ``clips`` that
        the data set does not have. If no clip fits, nothing changes, and a note says so.

    Raises
    ------
    UsageError
        No clip would be left, or the data set is remote.

    Examples
    --------
    >>> vidrec.subset("train", "shrinks", shards=3).clips
    12
    >>> report = vidrec.remove("shrinks", clips=["left/0.mp4"])
    >>> report.clips, report.notes
    (11, ('rewrote 1 of 3 shards, without these clips',))
    """
    chosen = _choice.chosen(classes, clips, (), where, None, 0)
    with Shown(progress, "clips") as show:
        return _report(_vidrec.remove(path, chosen, show))


def _output_options(
    shards: Union[int, str, None], overwrite: bool, remote: Dict[str, Any]
) -> Dict[str, Any]:
    return {"shards": None if shards is None else str(shards), "overwrite": overwrite, "remote": remote}


def _report(text: str) -> EditReport:
    return EditReport.from_dict(json.loads(text))
