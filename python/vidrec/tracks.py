"""Which values of tracks come with batches."""

from __future__ import annotations

from typing import NamedTuple, Optional, Tuple, Union

from .words import Missing, TrackAnchor, TrackHow


class TrackWindow(NamedTuple):
    """What batches have of a track: :func:`track` makes it."""

    window: Optional[Tuple[float, float]] = None
    rate: Union[float, str, None] = None
    how: TrackHow = "nearest"
    anchor: TrackAnchor = "first"
    missing: Missing = "error"


def track(
    window: Optional[Tuple[float, float]] = None,
    rate: Union[float, str, None] = None,
    how: TrackHow = "nearest",
    *,
    anchor: TrackAnchor = "first",
    missing: Missing = "error",
) -> TrackWindow:
    """What batches have of a track, for the argument ``tracks`` of :class:`vidrec.Loader`.

    Without arguments, there is one value for each frame of the sample: shape (B, T, ...). Of a track of timing ``frames``
    it is that of the frame, of others the one at the time of the frame. Texts are those whose span overlaps the time from
    the first to the last frame.

    Parameters
    ----------
    window : (float, float), optional
        Start and end in seconds, from the time of the frame that ``anchor`` names; the end is part of it. Values come in
        steps of ``1 / rate``: shape (B, W, ...). Texts are those whose span overlaps the window.
    rate : float, int or str, optional
        Values per second of the window, such as 10 or ``"30000/1001"``. Without it, the values of a track of timing
        ``rate`` (sound) are those that are stored, as many as last from start to end; other tracks need one.
    how : {"nearest", "linear", "previous"}, default "nearest"
        What stands for a time between two values: the nearest one; what lies between them in proportion (whole numbers
        become float32); or the latest one at or before that time.
    anchor : {"first", "last", "each"}, default "first"
        From which frame of the sample the window counts; with ``"each"`` every frame has a window: (B, T, W, ...).
    missing : {"error", "mask"}, default "error"
        What happens where a clip does not have the track: an error names it, or its values are 0 and the mask is False.

    Returns
    -------
    TrackWindow

    Examples
    --------
    >>> vidrec.track(window=(-0.5, 0.5), rate=10, how="linear")
    TrackWindow(window=(-0.5, 0.5), rate=10, how='linear', anchor='first', missing='error')
    """
    return TrackWindow(window, rate, how, anchor, missing)


__all__ = ["TrackWindow", "track"]

