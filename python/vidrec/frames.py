"""Which frames of a clip a sample has: the option ``frames`` of :class:`vidrec.Loader`.

A number, such as ``frames=8``, is :class:`Uniform`. Without the option, a sample has all frames of its clip, and every
clip must have the same number.

>>> from vidrec import Run
>>> loader = vidrec.Loader("train", batch_size=4, frames=Run(4, stride=2), crop=64)
>>> loader.shape
(4, 4, 3, 64, 64)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Sequence, Union

from ._values import Value
from .words import Rounding, ShortClips, Start, WindowPad

Rate = Union[float, str, None]


class _Frames(Value):
    """A value of the option ``frames``."""

    _option = "frames"
    _is_one_of_several = True


@dataclass(frozen=True, repr=False)
class Uniform(_Frames):
    """Frames that are spread evenly over the clip, the same ones in each epoch.

    They are the centers of ``count`` equal segments, or with ``ends`` those from the first frame to the last.

    Parameters
    ----------
    count : int
        Frames of a sample.
    ends : bool, default False
        Whether they begin with the first frame of the clip and end with the last, as ``numpy.linspace(0, n - 1, count)`` places
        them among ``n``.
    rounding : {"down", "nearest"}, default "down"
        With ``ends``, the frame that stands for a place between two: the one before, as ``linspace(…, dtype=int)`` of LLaVA's
        loaders takes it; or the nearest, as ``linspace(…).round()`` of Qwen's does.
    short : {"repeat", "pad", "skip"}, default "repeat"
        What happens to a clip with fewer frames than a sample needs: frames come more than once; zeros fill it up; or the
        clip is in no epoch. ``frame_mask`` is False for repeated and padded frames.
        :meth:`vidrec.Loader.stats` counts these clips, and a warning names them once.

    Examples
    --------
    >>> vidrec.Uniform(8, ends=True)
    Uniform(count=8, ends=True)
    """

    count: int
    ends: bool = False
    rounding: Rounding = "down"
    short: ShortClips = "repeat"


@dataclass(frozen=True, repr=False)
class Random(_Frames):
    """One frame at random in each of ``count`` equal segments of the clip (TSN), others in each epoch.

    Parameters
    ----------
    count : int
        Frames of a sample.
    short : str
        As :class:`Uniform` takes it.

    Examples
    --------
    >>> vidrec.Random(8)
    Random(count=8)
    """

    count: int
    short: ShortClips = "repeat"


@dataclass(frozen=True, repr=False)
class Run(_Frames):
    """A run of frames, from a random start or in the middle of the clip; or several runs, in order of their starts.

    Parameters
    ----------
    count : int
        Frames of a run.
    fps : float, int or str, optional
        Frames per second of presentation time, whatever rate is stored: the run then consists of the frames that are on
        the screen at each tick. A rate above the stored one is an error. Default: the stored frames.
    stride : int, default 1
        Frames, or ticks of ``fps``, from one to the next.
    at : {"random", "center"}, default "random"
        Where it begins: at random, elsewhere in each epoch; or so that it is in the middle. Several runs are then in the middle of
        as many equal parts of the clip.
    runs : int, default 1
        How many runs a sample has, one after another: ``runs * count`` frames. Each has a place of its own, so that they may overlap.
    short : str
        As :class:`Uniform` takes it.

    Examples
    --------
    >>> vidrec.Run(16, stride=4, at="center")
    Run(count=16, stride=4, at='center')

    Two runs of 8 frames from a video, as samples of 16 frames:

    >>> vidrec.Run(8, runs=2)
    Run(count=8, runs=2)
    """

    count: int
    fps: Rate = None
    stride: int = 1
    at: Start = "random"
    runs: int = 1
    short: ShortClips = "repeat"


@dataclass(frozen=True, repr=False)
class Windows(_Frames):
    """The frames around a current one, which each frame of each clip is, or every ``hop``-th: each is a sample of its own.

    Parameters
    ----------
    offsets : int or sequence of int
        Where the frames are, from the current one at 0, from which :func:`track` counts: ``[-15, -5, 0]`` is a history. In rising
        order. A number stands for so many frames from the current one on.
    fps
        As :class:`Run` takes it.
    stride : int, default 1
        Frames, or ticks of ``fps``, that an offset of 1 stands for.
    hop : int, default 1
        Frames, or ticks of ``fps``, from one current frame to the next.
    pad : {"drop", "edge", "zero"}, default "drop"
        What happens to windows that reach beyond the clip. ``"drop"``: they are no samples. Otherwise there is a sample around
        each frame, or every ``hop``-th, and ``frame_mask`` is False for frames beyond the clip. With ``"edge"`` the clip's
        first or last frame is in their place, and tracks have their first or last value where their mask is False. With
        ``"zero"`` both are 0.
    short : str
        As :class:`Uniform` takes it. With a ``pad``, no clip is too short.

    Examples
    --------
    >>> vidrec.Windows(16, hop=8)
    Windows(offsets=16, hop=8)

    The current frame and the fifth before it, of each frame of each clip, as policies of robots take them:

    >>> vidrec.Windows([-5, 0], pad="edge")
    Windows(offsets=(-5, 0), pad='edge')
    """

    offsets: Union[int, Sequence[int]]
    fps: Rate = None
    stride: int = 1
    hop: int = 1
    pad: WindowPad = "drop"
    short: ShortClips = "repeat"

    def __post_init__(self) -> None:
        if isinstance(self.offsets, range):
            self._keep("offsets", tuple(self.offsets))
        super().__post_init__()


@dataclass(frozen=True, repr=False)
class Views(_Frames):
    """Several runs of each clip, spread evenly: each is a sample of its own, for testing.

    Parameters
    ----------
    views : int
        Runs of each clip.
    count : int
        Frames of a sample.
    fps, stride
        As :class:`Run` takes them.
    short : str
        As :class:`Uniform` takes it.

    Examples
    --------
    >>> vidrec.Views(10, count=16, stride=4)
    Views(views=10, count=16, stride=4)
    """

    views: int
    count: int
    fps: Rate = None
    stride: int = 1
    short: ShortClips = "repeat"


@dataclass(frozen=True, repr=False)
class AllFrames(_Frames):
    """All frames of each clip, whatever their number.

    A batch is as long as its longest clip on any rank, or as its bucket, and :attr:`vidrec.Batch.frame_mask` is False
    where a clip is padded.

    Parameters
    ----------
    max : int, optional
        Most frames of a sample; a longer clip is sampled down, evenly. Default: no limit.
    fps : float, int or str, optional
        Frames per second of presentation time, whatever rate is stored. A rate above the stored one is an error.

    Examples
    --------
    >>> vidrec.AllFrames(max=64)
    AllFrames(max=64)
    """

    max: Optional[int] = None
    fps: Rate = None


Frames = Union[Uniform, Random, Run, Windows, Views, AllFrames]
"""What ``frames`` may be, beside a number."""

__all__ = ["AllFrames", "Frames", "Random", "Run", "Uniform", "Views", "Windows"]
