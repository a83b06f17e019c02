"""Several cameras of an episode: the option ``cameras`` of :class:`vidrec.Loader`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Mapping, Sequence

from ._values import Value
from .own_options import Camera
from .words import CamerasCrop, Missing


@dataclass(frozen=True, repr=False)
class Cameras(Value):
    """The clips of several cameras of an episode are one sample: frames are (B, V, T, C, H, W), V of them in this order.

    Frames are drawn among those of the first; of the others come those whose times are nearest. Everything else that a batch
    has is of the first.

    Clips have to share a clock: they begin together, they are segments from the same ``start`` on, or their attribute
    ``clock`` is the same. :func:`vidrec.subset` lets clocks begin together (``align_clocks=``). In a mix, a clip without
    both attributes, such as a picture, is a sample of the first camera alone.

    Parameters
    ----------
    names : sequence of str
        The cameras.
    camera_attribute, episode_attribute : str
        The attributes of clips that name their camera and their episode. Default ``"camera"`` and ``"episode"``.
    missing : {"error", "mask"}, default "error"
        What happens to an episode without one of the cameras: an error names both, or the pictures are zeros and
        :attr:`vidrec.Batch.camera_mask` is False.
    crop : {"same", "own"}, default "same"
        Whether crop, flip and colors are drawn for all cameras together, or for each.
    own : mapping of str to Camera, default {}
        Options that some cameras have of their own, by name.

    Examples
    --------
    >>> vidrec.Cameras(["front", "wrist"], missing="mask")
    Cameras(names=('front', 'wrist'), missing='mask')
    """

    _option = "cameras"

    names: Sequence[str]
    camera_attribute: str = "camera"
    episode_attribute: str = "episode"
    missing: Missing = "error"
    crop: CamerasCrop = "same"
    own: Mapping[str, Camera] = field(default_factory=dict, hash=False)


__all__ = ["Cameras"]
