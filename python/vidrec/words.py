"""The words that options take and that results have, as types for annotations.

Examples
--------
A function that hands an option on can say so:

>>> from vidrec.words import Layout
>>> def loader(layout: Layout = "BTCHW") -> vidrec.Loader:
...     return vidrec.Loader("train", layout=layout)
"""

from typing import Literal

# Of packing.
IfExists = Literal["fail", "resume", "retry-failed", "replace"]
"""What to do if the output exists: ``if_exists`` of :func:`vidrec.pack`."""
Stage = Literal[
    "open",
    "stream",
    "decode",
    "sample",
    "scale",
    "limit",
    "timeout",
    "encode",
    "track",
    "short",
    "crash",
    "internal",
]
"""Where in the work a video failed: :attr:`vidrec.results.Failure.stage`."""
# Of reading.
Io = Literal["map", "read"]
"""How local files are read: ``io`` of :func:`vidrec.open`."""
TrackType = Literal["f16", "f32", "f64", "i16", "i32", "i64", "u8", "u16", "bool", "utf-8"]
"""Type of the values of a track: :attr:`vidrec.results.TrackSchema.type`."""
TrackTiming = Literal["frames", "times", "spans", "rate"]
"""How the values of a track lie in time: :attr:`vidrec.results.TrackSchema.timing`."""
FindingKind = Literal[
    "black",
    "uniform",
    "dark",
    "blown-out",
    "frozen",
    "repeated-frames",
    "scene-cut",
    "near-duplicate",
    "leak",
    "label-conflict",
    "corrupt",
    "substituted",
    "rounded-times",
    "failed",
]
"""What a check finds: ``only`` and ``skip`` of :func:`vidrec.check`."""

# Of loading.
ShortClips = Literal["repeat", "pad", "skip"]
"""What happens to a clip with too few frames: ``short`` of :class:`vidrec.Uniform` and others."""
Rounding = Literal["down", "nearest"]
"""Which frame stands for a place between two: ``rounding`` of :class:`vidrec.Uniform`."""
Start = Literal["random", "center"]
"""Where a run of frames begins: ``at`` of :class:`vidrec.Run`."""
WindowPad = Literal["drop", "edge", "zero"]
"""What happens to windows that reach beyond their clip: ``pad`` of :class:`vidrec.Windows`."""
Missing = Literal["error", "mask"]
"""What happens where a clip lacks a track, or an episode a camera."""
CamerasCrop = Literal["same", "own"]
"""Whether cameras share what is drawn: ``crop`` of :class:`vidrec.Cameras`."""
Channels = Literal["rgb", "gray", "ycbcr"]
"""What the channels of pictures are: ``channels`` of :class:`vidrec.Loader`."""
Dtype = Literal["uint8", "float16", "bfloat16", "float32"]
"""Type of a sample: ``dtype`` of :class:`vidrec.Loader`."""
Layout = Literal["BTCHW", "BCTHW", "BTHWC", "channels_last_3d"]
"""Order of dimensions and of memory: ``layout`` of :class:`vidrec.Loader`."""
Last = Literal["keep", "drop", "wrap", "pad"]
"""What happens to clips that do not fill a batch: ``last`` of :class:`vidrec.Loader`."""
OnBadFrame = Literal["error", "substitute"]
"""What happens to a clip that cannot be read: ``on_bad_frame`` of :class:`vidrec.Loader`."""
Output = Literal["torch", "numpy"]
"""What batches hold: ``output`` of :class:`vidrec.Loader`."""
ColorStep = Literal["brightness", "contrast", "saturation"]
"""A change of colors: :attr:`vidrec.results.DrawnColor.order`."""
TrackHow = Literal["nearest", "linear", "previous"]
"""What stands for a time between two values of a track: ``how`` of :func:`vidrec.track`."""
Geometry = Literal["boxes", "points", "mask", "flow", "intrinsics"]
"""What the values of a track are in the frames: ``geometry`` of :func:`vidrec.track`."""
CoordinateSize = Literal["frames", "source"]
"""In which pixels the coordinates of a track are: ``size`` of :func:`vidrec.track`."""
TrackScaling = Literal["mean_std", "min_max", "quantiles"]
"""How a normalization follows from statistics: :meth:`vidrec.results.TrackStats.normalize`."""
TrackAnchor = Literal["current", "last", "each"]
"""From which frame a window counts: ``anchor`` of :func:`vidrec.track`."""
