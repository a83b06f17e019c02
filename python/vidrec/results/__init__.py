"""What functions of vidrec return: frozen dataclasses with the values that the program ``vidrec`` prints with ``--json``.

Sequences are tuples. A value that is not there is None. Sizes are in bytes and times in seconds.

Examples
--------
>>> report = vidrec.verify("train")
>>> report.ok, report.problems
(True, ())
>>> report.to_dict()
{'ok': True, 'clips': 12, 'frames': 96, 'problems': [], 'notes': []}
"""

from ._result import Result
from .checks import CheckedSet, CheckReport, FailedVideo, Finding, FoundClip
from .datasets import DatasetInfo, Problem, Shard, TrackFile, TrackSchema, TrackStats, VerifyReport
from .loads import DecodedStats, DrawnColor, DrawnSample, LoaderStats, SourceUse
from .packs import Failure, IgnoredFiles, ManifestColumns, PackEstimate, PackReport, VideoWarning
from .plans import PlanStatus, WrittenPlan
from .reports import (
    Bin,
    Checked,
    ClassStats,
    Distribution,
    Fingerprint,
    Report,
    SetFigures,
    Shown,
    Stats,
    Summary,
)
from .writes import (
    EditReport,
    ExportReport,
    FetchReport,
    PushReport,
    RemoteStats,
    SkippedSample,
    TracksReport,
    WriteReport,
)

__all__ = [
    "Bin",
    "CheckReport",
    "Checked",
    "CheckedSet",
    "ClassStats",
    "DatasetInfo",
    "DecodedStats",
    "Distribution",
    "DrawnColor",
    "DrawnSample",
    "EditReport",
    "ExportReport",
    "FailedVideo",
    "Failure",
    "FetchReport",
    "Finding",
    "Fingerprint",
    "FoundClip",
    "IgnoredFiles",
    "LoaderStats",
    "ManifestColumns",
    "PackEstimate",
    "PackReport",
    "PlanStatus",
    "Problem",
    "PushReport",
    "RemoteStats",
    "Report",
    "Result",
    "SetFigures",
    "Shard",
    "Shown",
    "SkippedSample",
    "SourceUse",
    "Stats",
    "Summary",
    "TrackFile",
    "TrackSchema",
    "TrackStats",
    "VerifyReport",
    "VideoWarning",
    "TracksReport",
    "WriteReport",
    "WrittenPlan",
]
