"""Data sets of other Python projects as data sets of vidrec, and the way back to WebDataset.

================  =======================  ====================================================================
Project           Function                 What comes through
================  =======================  ====================================================================
WebDataset        :func:`from_webdataset`  images, labels, JSON and texts
WebDataset        :func:`to_webdataset`    everything, also back again: tracks, times, attributes
MosaicML's MDS    :func:`from_mds`         images, labels, and columns of numbers, texts and JSON
LeRobot           :func:`from_lerobot`     cameras, features, tasks, splits, depth
================  =======================  ====================================================================

Every function copies JPEGs byte for byte, except that :func:`from_lerobot` packs videos. For formats that need no
Python, use the commands ``vidrec import`` and ``vidrec export``.

Examples
--------
>>> vidrec.convert.to_webdataset("train", "for-webdataset").files
2
>>> vidrec.convert.from_webdataset("for-webdataset/shard-000000.tar", "again").clips
12
"""

from ._lerobot import from_lerobot, lerobot_manifest
from ._mds import from_mds
from ._webdataset import from_webdataset, to_webdataset

__all__ = ["from_lerobot", "from_mds", "from_webdataset", "lerobot_manifest", "to_webdataset"]
