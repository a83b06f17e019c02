"""How much colors vary, and how levels become numbers: the options ``color`` and ``normalize`` of :class:`vidrec.Loader`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Sequence, Tuple, Union

from ._values import Value

Channels3 = Tuple[float, float, float]


@dataclass(frozen=True, repr=False)
class ColorJitter(Value):
    """How much colors vary from clip to clip: all frames of a clip get the same.

    Parameters
    ----------
    brightness, contrast, saturation : float, default 0
        Strength: 0.4 draws a factor from 0.6 to 1.4. They are applied in random order.
    grayscale : float, default 0
        Probability that a clip is gray.

    Examples
    --------
    >>> vidrec.ColorJitter(brightness=0.4, contrast=0.4)
    ColorJitter(brightness=0.4, contrast=0.4)
    """

    _positional = 0
    _option = "color"

    brightness: float = 0
    contrast: float = 0
    saturation: float = 0
    grayscale: float = 0


@dataclass(frozen=True, repr=False)
class Normalize(Value):
    """What is subtracted from each channel, and by what it is then divided: ``(x / 255 - mean) / std``.

    Parameters
    ----------
    mean, std : float or (float, float, float)
        For all channels, or for each, as fractions of full: divide levels by 255.

    Examples
    --------
    >>> vidrec.Normalize(0.5, 0.25)
    Normalize(mean=0.5, std=0.25)
    >>> vidrec.IMAGENET
    Normalize(mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225))
    """

    _positional = 2
    _option = "normalize"

    mean: Union[float, Sequence[float]]
    std: Union[float, Sequence[float]]

    def of_channels(self) -> Tuple[Channels3, Channels3]:
        """Three means, and three standard deviations."""
        return channels(self.mean), channels(self.std)


def channels(value: Any) -> Channels3:
    """One number for each of three channels."""
    return value if isinstance(value, tuple) else (value,) * 3


CLIP = Normalize((0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711))
"""What models take whose pictures go through CLIP's preprocessing, such as Qwen2-VL."""

IMAGENET = Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
"""What models take that were trained on ImageNet."""

KINETICS = Normalize(0.45, 0.225)
"""What models of PyTorchVideo and SlowFast take that were trained on Kinetics."""

__all__ = ["CLIP", "IMAGENET", "KINETICS", "ColorJitter", "Normalize"]
