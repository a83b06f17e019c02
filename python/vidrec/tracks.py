"""Which values of tracks come with batches: the option ``tracks`` of :class:`vidrec.Loader`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional, Sequence, Tuple, TypeVar, Union

import numpy as np

from ._values import Value, check
from .crops import Size
from .errors import UsageError
from .words import CoordinateSize, Geometry, Missing, TrackAnchor, TrackHow


T = TypeVar("T")


@dataclass(frozen=True, repr=False)
class TrackNormalize(Value):
    """The normalization of the numbers of a track: ``(x - shift) / scale``, for the option ``normalize`` of :func:`track`.

    :meth:`vidrec.results.TrackStats.normalize` makes one of statistics. It is part of a loader's state.

    Parameters
    ----------
    shift, scale : sequence of float
        One for each number of a value, in row-major order; scales other than 0.

    Examples
    --------
    >>> normalize = vidrec.TrackNormalize(shift=(5.0, 4.0), scale=(5.0, 1.0))
    >>> normalize.undo(np.array([[0.5, 0.0], [-1.0, 1.0]]))
    array([[7.5, 4. ],
           [0. , 5. ]])
    """

    _positional = 2

    shift: Sequence[float]
    scale: Sequence[float]

    def _check(self) -> None:
        TrackWindow(normalize=self)

    def undo(self, values: T, *, dims: Optional[int] = None) -> T:
        """Turn normalized values, such as the actions that a policy predicts, back into values of the track.

        Parameters
        ----------
        values : numpy.ndarray or torch.Tensor
            Of shape (..., *value), in floats; with ``dims`` of shape (..., dims).
        dims : int, optional
            The same as in :func:`track`: the numbers that it added are left out.

        Returns
        -------
        numpy.ndarray or torch.Tensor
            ``values * scale + shift``, of the same type and device, and of the shape of the track's values.
        """
        given: Any = values
        if dims is not None:
            if tuple(given.shape[-1:]) != (dims,) or dims < len(self.shift):
                raise UsageError(f"undo: expected values of {dims} numbers, found shape {tuple(given.shape)}")
            given = given[..., : len(self.shift)]
        each, sides = 1, 0
        while each < len(self.shift) and sides < len(given.shape):
            sides += 1
            each *= given.shape[-sides]
        if each != len(self.shift):
            raise UsageError(f"undo: expected values of {len(self.shift)} numbers, found shape {tuple(given.shape)}")
        of_value = tuple(given.shape[len(given.shape) - sides :])
        if hasattr(given, "new_tensor"):
            scale, shift = given.new_tensor(self.scale), given.new_tensor(self.shift)
        else:
            scale, shift = np.array(self.scale, given.dtype), np.array(self.shift, given.dtype)
        made: T = given * scale.reshape(of_value) + shift.reshape(of_value)
        return made


@dataclass(frozen=True, repr=False)
class TrackWindow(Value):
    """What batches have of a track: :func:`track` makes it.

    Attributes
    ----------
    window, rate, steps, times, how, anchor, missing, normalize, geometry, camera, size, swap, dims
        As :func:`track` takes them.
    """

    _positional = 0

    window: Optional[Tuple[float, float]] = None
    rate: Union[float, str, None] = None
    steps: Union[int, range, None] = None
    times: Optional[Sequence[float]] = None
    how: TrackHow = "nearest"
    anchor: TrackAnchor = "current"
    missing: Missing = "error"
    normalize: Optional[TrackNormalize] = None
    geometry: Optional[Geometry] = None
    camera: Optional[str] = None
    size: Union[CoordinateSize, Size, None] = None
    swap: Sequence[Tuple[int, int]] = ()
    dims: Optional[int] = None

    def _name(self) -> str:
        return "track"

    def _check(self) -> None:
        check("tracks", {"track": self})


def track(
    window: Optional[Tuple[float, float]] = None,
    rate: Union[float, str, None] = None,
    how: TrackHow = "nearest",
    *,
    steps: Union[int, range, None] = None,
    times: Optional[Sequence[float]] = None,
    anchor: TrackAnchor = "current",
    missing: Missing = "error",
    normalize: Optional[TrackNormalize] = None,
    geometry: Optional[Geometry] = None,
    camera: Optional[str] = None,
    size: Union[CoordinateSize, Size, None] = None,
    swap: Sequence[Tuple[int, int]] = (),
    dims: Optional[int] = None,
) -> TrackWindow:
    """What batches have of a track, for the argument ``tracks`` of :class:`vidrec.Loader`.

    Without arguments, there is one value for each frame of the sample: shape (B, T, ...). Of a track of timing ``frames``
    it is that of the frame, of others the one at the time of the frame. Texts are those whose span overlaps the time from
    the first to the last frame. Lists, such as the boxes of a frame, are padded with zeros to the longest of the batch:
    (B, T, N, ...). ``window``, ``steps`` and ``times`` choose other values; give at most one of them.

    Parameters
    ----------
    window : (float, float), optional
        Start and end in seconds, from the time of the frame that ``anchor`` names; the end is part of it. Values come in
        steps of ``1 / rate``: shape (B, W, ...). Texts are those whose span overlaps the window.
    rate : float, int or str, optional
        Values per second of the window or of the steps, such as 10 or ``"30000/1001"``. Without it, the values of the window are
        those that are stored, both ends included. A track of timing ``rate`` (sound) has the same number in each window. Of others,
        such as events, come as many as there are, padded with zeros to the most of the batch: shape (B, E, ...), with
        ``batch.track_counts`` and ``batch.track_times``. Steps of these need a rate.
    how : {"nearest", "linear", "previous"}, default "nearest"
        What stands for a time between two values: the nearest one; what lies between them in proportion (whole numbers
        become float32); or the latest one at or before that time. Lists have nothing between them.
    steps : int or range, optional
        Instead: a number of values, ``1 / rate`` apart, the first at the time of that frame. ``range(-2, 48)`` begins two
        of them earlier. A policy that predicts the next 50 actions takes ``steps=50, rate=25``. Shape (B, W, ...).
    times : sequence of float, optional
        Instead: times in seconds, from that of the frame, such as ``[-0.1, 0, 0.1]``. Shape (B, W, ...).
    anchor : {"current", "last", "each"}, default "current"
        From which frame of the sample the values count. The current one is the first, except in :class:`Windows`,
        where it is at offset 0. With ``"each"`` every frame has its own: (B, T, W, ...).
    missing : {"error", "mask"}, default "error"
        What happens where a clip does not have the track: an error names it, or its values are 0 and the mask is False.
    normalize : TrackNormalize, optional
        What numbers become: float64 if they are stored so, otherwise float32. What does not exist stays 0.
    geometry : {"boxes", "points", "mask", "flow", "intrinsics"}, optional
        What the values are in the frames, so that they come in the coordinates of the batch: moved by the crop, resize and flip of
        their sample. Coordinates are pixels from the top left corner; the center of the first pixel is at (0.5, 0.5).

        * ``"boxes"``, (..., 4): left, top, right, bottom, cut at the edges of the picture. ``track_masks`` has a flag for each box,
          False where nothing is left of it; the box is 0 then.
        * ``"points"``, (..., 2), or (..., 3) of which the third number stays. ``track_masks`` has a flag for each point, False
          where it is not in the picture; the point is 0 then.
        * ``"mask"``, (height, width) or (height, width, channels) of any size and type: masks, depth, heat maps. Pictures of the height
          and width of the batch's: each pixel is that of the stored picture in which its center lies.
        * ``"flow"``, (height, width, 2) of floats: the same, and motion is scaled with the picture. Motion along x changes its sign
          in a flip.
        * ``"intrinsics"``, (..., 3, 3): ``matrix`` of :attr:`vidrec.Batch.params` times the camera matrix.

        Boxes, points and camera matrices are float32, or float64 if they are stored so. Without a geometry, values come as stored.
    camera : str, optional
        With a geometry, the camera of ``cameras`` whose frames the values follow. Default: the first.
    size : int, (int, int), "frames" or "source", optional
        With a geometry that has coordinates, the size of the pictures in whose pixels they are: a side or height and width (1 if
        coordinates are from 0 to 1), that of the stored frames, or that of the video they were packed from. The default is that of the
        frames, and an error where a video of another size is known. For flow, it is that of its own pictures.
    swap : sequence of (int, int), optional
        With points, pairs that change places in a flip, such as left and right hand: numbers along the last but one dimension.
    dims : int, optional
        How many numbers a value has in a batch: zeros follow those of the track, and all are float32. Robots in a mix, whose actions
        have 7 and 14 numbers, both have 32 then, as openpi and LeRobot's pi0 take them. ``batch.track_dims`` counts the numbers of the
        track. For tracks whose values have one side.

    Returns
    -------
    TrackWindow

    Examples
    --------
    >>> vidrec.track(window=(-0.5, 0.5), rate=10, how="linear")
    track(window=(-0.5, 0.5), rate=10, how='linear')
    >>> vidrec.track(steps=50, rate=25)
    track(rate=25, steps=50)
    >>> vidrec.track(geometry="boxes", size="source")
    track(geometry='boxes', size='source')
    """
    return TrackWindow(
        window=window,
        rate=rate,
        steps=steps,
        times=times,
        how=how,
        anchor=anchor,
        missing=missing,
        normalize=normalize,
        geometry=geometry,
        camera=camera,
        size=size,
        swap=swap,
        dims=dims,
    )


__all__ = ["TrackNormalize", "TrackWindow", "track"]
