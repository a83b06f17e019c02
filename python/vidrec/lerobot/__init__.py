"""Data sets that vidrec packed in LeRobot itself: its ``LeRobotDataset``, its trainer, its policies.

:func:`vidrec.convert.from_lerobot` with ``frames="all"`` writes LeRobot's ``meta`` beside the packed data set. This module
registers the reader of such a folder, so importing it is all that a program needs::

    import vidrec.lerobot
    from lerobot.datasets.lerobot_dataset import LeRobotDataset

    dataset = LeRobotDataset("me/robot", root="packed")

and ``lerobot-train`` takes ``--dataset.discover_packages_path=vidrec.lerobot``. Releases of LeRobot up to 0.6.1 have no such
registry: with them, use :class:`LeRobotDataset` of this module, which ``lerobot-train`` then also does.
"""

from ._dataset import LeRobotDataset, register
from ._meta import localize_root
from ._reader import DatasetReader

# What LeRobot's registry looks for.
DATASET_READER = DatasetReader

register()

__all__ = ["DatasetReader", "LeRobotDataset", "localize_root"]
