"""Making, proving and describing data sets."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any, Literal, Mapping, Optional, Sequence, Union, overload

from . import _isolated, _pack_options, _storage, _vidrec
from ._progress import Progress, Shown
from ._storage import Path, Size
from .dataset import Dataset, opened
from .errors import PackWarning, UsageError
from .results import DatasetInfo, FetchReport, PackEstimate, PackReport, PushReport, VerifyReport
from .words import IfExists

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._recipe import RecipeOptions

    class PackArguments(RecipeOptions, total=False):
        if_exists: IfExists
        threads: Optional[int]
        memory: Union[int, str, None]
        isolate: bool
        scratch: Optional[Path]
        storage_options: Optional[Mapping[str, Any]]
        storage_timeout: float
        progress: Progress


def inspect(
    path: Union[Dataset, Path],
    *,
    storage_options: Optional[Mapping[str, Any]] = None,
    cache: Optional[Path] = None,
    cache_bytes: Optional[Size] = None,
    timeout: float = _storage.TIMEOUT,
) -> DatasetInfo:
    """Describe a data set.

    Parameters
    ----------
    path : Dataset or path
        The data set, or its path or location, as :func:`vidrec.open` takes it.
    storage_options, cache, cache_bytes, timeout
        How a remote data set is read, as for :func:`vidrec.open`; a :class:`vidrec.Dataset` has its own.

    Returns
    -------
    vidrec.results.DatasetInfo
        What ``dataset.json`` says: ``clips``, ``frames``, ``classes``, ``shards``, ``settings`` and so on.

    Examples
    --------
    >>> found = vidrec.inspect("train")
    >>> found.clips, found.classes, found.shards[0].frames
    (12, ('left', 'right'), 96)
    """
    return opened(path, _storage.given(storage_options, cache, cache_bytes, timeout=timeout)).meta


def verify(
    path: Union[Dataset, Path],
    *,
    deep: bool = False,
    progress: Progress = False,
    storage_options: Optional[Mapping[str, Any]] = None,
    cache: Optional[Path] = None,
    cache_bytes: Optional[Size] = None,
    timeout: float = _storage.TIMEOUT,
) -> VerifyReport:
    """Prove that a data set is whole: structure, ids, every checksum. Reads all of it once, and twice if ``deep``.

    Parameters
    ----------
    path : Dataset or path
        The data set as :func:`vidrec.open` gave it, or its path or location.
    deep : bool, default False
        Decode every frame as well.
    progress : bool or callable, default False
        True shows how much is done, the rate, and the time that is left: as a bar of tqdm, in a terminal or a notebook, if
        tqdm is installed, else as a line on standard error. A callable gets the frames done and their number, about ten
        times a second; an exception from it stops the work and is raised. So does Ctrl-C.
    storage_options, cache, cache_bytes, timeout
        How a remote data set is read, as for :func:`vidrec.open`; a :class:`vidrec.Dataset` has its own.

    Returns
    -------
    vidrec.results.VerifyReport
        ``ok``, ``clips``, ``frames``, ``notes``, and ``problems``: everything that is wrong.

    Raises
    ------
    Error
        Only if there is nothing to look at.

    Examples
    --------
    >>> vidrec.verify("train", deep=True).ok
    True
    >>> for problem in vidrec.verify("train").problems:
    ...     print(problem.file, problem.clip, problem.message)
    """
    storage = _storage.given(storage_options, cache, cache_bytes, timeout=timeout)
    where: Any = path
    if isinstance(path, Dataset):
        if path._recipe[0] != "open":
            raise UsageError("verify takes whole data sets, as vidrec.open gives them, not selections of clips")
        _, where, _, storage = path._recipe
    with Shown(progress, "frames") as show:
        told = _vidrec.verify(where, deep, storage, show)
    return VerifyReport.from_dict(json.loads(told))


def fetch(
    location: str,
    output: Path,
    *,
    overwrite: bool = False,
    progress: Progress = False,
    storage_options: Optional[Mapping[str, Any]] = None,
    timeout: float = _storage.TIMEOUT,
) -> FetchReport:
    """Copy a data set from object storage or a web server to a local folder.

    All files are the same, byte for byte, and are proven by their checksums. The copy appears when it is complete. After an
    interruption, the same call continues. :func:`vidrec.subset` fetches some of the clips.

    Parameters
    ----------
    location : str
        Where the data set is, such as ``"s3://bucket/train"``.
    output : path
        Folder to make the copy in.
    overwrite : bool, default False
        Replace another data set that is already there, or bring an earlier copy up to date.
    progress : bool or callable, default False
        As for :func:`verify`, in bytes of the record files.
    storage_options, timeout
        As for :func:`vidrec.open`.

    Returns
    -------
    vidrec.results.FetchReport
        ``output``, ``clips``, ``frames``, ``shards``, ``bytes``, ``kept_bytes`` (those that were there before, and were
        proven again) and ``remote``, as :meth:`vidrec.Dataset.remote_stats` gives it.

    Raises
    ------
    FormatError
        A file is not what ``dataset.json`` says.

    Examples
    --------
    >>> vidrec.fetch("s3://bucket/train", "copy", progress=True).clips  # doctest: +SKIP
    12
    """
    storage = _storage.given(storage_options, timeout=timeout)
    with Shown(progress, "bytes") as show:
        told = _vidrec.fetch(location, output, overwrite, storage, show)
    return FetchReport.from_dict(json.loads(told))


def push(
    path: Path,
    location: str,
    *,
    overwrite: bool = False,
    progress: Progress = False,
    storage_options: Optional[Mapping[str, Any]] = None,
    timeout: float = _storage.TIMEOUT,
) -> PushReport:
    """Copy a data set from a local folder to object storage.

    All files are the same, byte for byte, and are compared with their checksums as they are read. ``dataset.json`` comes
    last: the data set appears in one step, when it is complete. After an interruption, the same call continues.

    Parameters
    ----------
    path : path
        Folder of the data set.
    location : str
        Where to copy it to, such as ``"s3://bucket/train"``, ``"gs://…"`` or ``"az://…"``.
    overwrite : bool, default False
        Replace another data set that is already there, in one step. Then the files that only it had are removed.
    progress : bool or callable, default False
        As for :func:`verify`, in bytes.
    storage_options, timeout
        As for :func:`vidrec.open`. ``conditional_put="disabled"`` is for stores that do not write objects on conditions
        (``If-None-Match``), by which vidrec keeps publishers apart: nobody else may then publish there at the same time.

    Returns
    -------
    vidrec.results.PushReport
        ``output``, ``clips``, ``frames``, ``shards``, ``bytes``, ``kept_bytes`` (those that were there before), ``found``
        (whether this data set was there already, so that nothing was to be done), ``removed`` (files of a replaced data
        set), ``notes`` (what could not be done after the data set was there) and ``remote``, as
        :meth:`vidrec.Dataset.remote_stats` gives it.

    Raises
    ------
    UsageError
        There is another data set, ``location`` cannot be written to, or the store knows no conditions.
    FormatError
        A file is not what ``dataset.json`` says. Nothing is published then.

    Examples
    --------
    >>> vidrec.push("train", "s3://bucket/train", progress=True).clips  # doctest: +SKIP
    12
    """
    storage = _storage.given(storage_options, timeout=timeout)
    with Shown(progress, "bytes") as show:
        told = _vidrec.push(path, location, overwrite, storage, show)
    return PushReport.from_dict(json.loads(told))


@overload
def pack(
    inputs: Union[Path, Sequence[Path]],
    output: Path,
    *,
    dry_run: Literal[False] = False,
    **options: Unpack[PackArguments],
) -> PackReport: ...
@overload
def pack(
    inputs: Union[Path, Sequence[Path]],
    output: Path,
    *,
    dry_run: Literal[True],
    **options: Unpack[PackArguments],
) -> PackEstimate: ...
@overload
def pack(
    inputs: Union[Path, Sequence[Path]],
    output: Path,
    *,
    dry_run: bool,
    **options: Unpack[PackArguments],
) -> Union[PackReport, PackEstimate]: ...


def pack(
    inputs: Union[Path, Sequence[Path]],
    output: Path,
    *,
    dry_run: bool = False,
    if_exists: IfExists = "fail",
    threads: Optional[int] = None,
    memory: Union[int, str, None] = None,
    isolate: bool = True,
    scratch: Optional[Path] = None,
    storage_options: Optional[Mapping[str, Any]] = None,
    storage_timeout: float = _storage.TIMEOUT,
    progress: Progress = False,
    **options: Unpack[RecipeOptions],
) -> Union[PackReport, PackEstimate]:
    """Sample frames from videos and write them as a data set.

    The options are those of the program ``vidrec pack``, by the same names and with the same defaults. The same inputs and
    options give the same bytes, whatever ``threads``, ``memory`` and ``isolate`` are.

    A pack makes one shard after another. After a crash, a full disk, Ctrl-C or an exception from ``progress``, the same call
    with ``if_exists="resume"`` keeps the shards that are complete and packs the others, and the result is byte for byte that
    of a pack that was not interrupted. At Ctrl-C vidrec finishes the videos in hand and then raises ``KeyboardInterrupt``.

    Parameters
    ----------
    inputs : path, or sequence of paths
        Folders (the class is the name of the first folder level), videos, or manifests (``.csv``,
        ``.jsonl`` and so on). A recipe (``.toml``) has inputs and options; options that are given replace its own.
    output : path
        Folder to make the data set in, or a location such as ``"s3://bucket/train"``.
    dry_run : bool, default False
        Write nothing. Count the videos, list what is missing, and pack a few videos in memory to say how large the data
        set will be and how long the pack will take.
    if_exists : {"fail", "resume", "retry-failed", "replace"}, default "fail"
        What to do if ``output`` has a data set or an interrupted pack: nothing; resume the pack of the same inputs and
        options, or begin if there is none; pack again the shards that have videos which failed; or replace the data set when
        the new one is complete.
    threads : int, optional
        Videos that are decoded at a time. Default: one for each core.
    memory : int or str, optional
        Bytes that all videos in work may take together, such as ``"2GiB"``. A video that needs more is decoded alone.
        Default: 480 MiB for each thread.
    isolate : bool, default True
        Each thread has a process that decodes for it and can do nothing else, so a hostile video reaches nothing, and a codec
        that crashes or hangs costs one video. False: decode in this process.
    scratch : path, optional
        With a remote output: make each shard in a folder in this one, and then upload it; needs room for two shards.
        Default: ``$TMPDIR``, or else ``$XDG_CACHE_HOME/vidrec`` or ``~/.cache/vidrec``.
    storage_options : dict, optional
        For remote videos and a remote output: options of the storage, such as ``{"region": "eu-west-1"}``, by the names
        that pandas and polars use. They come before the environment and the files of each cloud's own tools.
    storage_timeout : float, default 60.0
        For them: seconds that a read or write may take, with all tries. Then the pack stops, and can be resumed.
    progress : bool or callable, default False
        As for :func:`verify`, in videos. An exception from it leaves a pack that can be resumed.
    **options
        Which frames, how they are stored, and how inputs are read: those of :class:`vidrec.RecipeOptions`, such as
        ``frames=vidrec.Fps(8)``, ``size=128``, ``quality=85`` and ``label_column="class"``.

    Returns
    -------
    vidrec.results.PackReport
        ``clips``, ``frames``, ``failed``, ``failures``, ``warnings``, ``passed_over`` (ignored files of the input folders,
        which are neither videos nor frames), ``manifests`` (what their columns became), ``notes`` (columns that may be
        misspelled, videos without a label, sources that were kept apart), ``resumed_at`` (videos that were done already, of
        a resumed pack), ``unchanged`` (whether there was nothing to do: a resumed pack was finished) and so on. With ``clips`` 0 no data set was made.
    vidrec.results.PackEstimate
        With ``dry_run``: ``videos``, ``labeled``, ``classes``, ``missing`` (files that are listed and not there), ``probed``
        (videos that were packed in memory), ``probe_failures``, and what the pack would give: ``clips``, ``frames``,
        ``failed``, ``bytes`` and ``seconds``; ``free_bytes`` are free where ``output`` would be.

    Raises
    ------
    UsageError
        No videos were found, there is a data set or an interrupted pack already, an option is unknown, makes no sense or
        excludes another one, or this build of vidrec cannot pack.

    Examples
    --------
    >>> vidrec.pack("videos", "packed", frames=vidrec.Fps(8), size=64).clips  # doctest: +SKIP
    12
    >>> vidrec.pack("videos", "packed", dry_run=True).bytes  # doctest: +SKIP
    512345
    """
    _pack_options.check_build()
    given = _pack_options.given(
        options,
        if_exists=if_exists,
        threads=threads,
        memory=memory,
        storage_options=storage_options,
        storage_timeout=storage_timeout,
        scratch=scratch,
    )
    paths = _pack_options.listed(inputs)
    worker = _isolated.command() if isolate else None
    with Shown(progress, "videos") as show:
        report: Union[PackReport, PackEstimate]
        if dry_run:
            report = PackEstimate.from_dict(json.loads(_vidrec.estimate(paths, output, given, show, worker)))
        else:
            report = PackReport.from_dict(json.loads(_vidrec.pack(paths, output, given, show, worker)))
    for note in report.notes:
        warnings.warn(note, PackWarning, stacklevel=2)
    return report


def recipe(inputs: Union[Path, Sequence[Path]], **options: Unpack[RecipeOptions]) -> str:
    """The recipe of a pack, as the text of a ``.toml`` file that :func:`pack`, :func:`plan` and the program take.

    Parameters
    ----------
    inputs, **options
        As for :func:`pack`.

    Examples
    --------
    >>> print(vidrec.recipe("videos", frames=vidrec.Every(5), size=64))  # doctest: +SKIP
    """
    _pack_options.check_build()
    return _vidrec.recipe(_pack_options.listed(inputs), _pack_options.given(options))
