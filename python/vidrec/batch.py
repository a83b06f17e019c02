"""What a loader gives."""

from __future__ import annotations

import copy
import json
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    Generic,
    List,
    NamedTuple,
    NoReturn,
    Optional,
    Sequence,
    Tuple,
    Union,
    cast,
    overload,
)

import numpy as np
from numpy.typing import NDArray

from . import _display, _pictures, _vidrec
from .errors import UsageError
from .results import DrawnSample

if TYPE_CHECKING:
    import torch  # type: ignore[import-not-found, unused-ignore]
    from typing_extensions import TypeVar

    # Tensors or arrays, as the loader's ``output`` says.
    A = TypeVar("A", default=torch.Tensor)
else:
    from typing import TypeVar

    A = TypeVar("A")


class Share(NamedTuple):
    """What part of a step of all ranks a batch is."""

    clips_on_all_ranks: int
    world_size: int
    all_real: bool


# Clips that a page shows without being asked for more.
_CLIPS_SHOWN = 4


class Batch(Generic[A]):
    """Clips that are trained on together.

    It does not change while you hold it, or any array or tensor made from it without a copy; its memory is reused only
    when all of those are gone. (With memory of your own as ``output``, that is filled again when you ask for the next
    batch.)

    For type checkers, it is ``Batch[torch.Tensor]`` or ``Batch[numpy.ndarray]``, as the loader's ``output`` says.

    Attributes
    ----------
    labels : torch.Tensor or numpy.ndarray
        Label of each clip, -1 for none: int64 of shape (B,).
    clips : torch.Tensor or numpy.ndarray
        Index of each clip in the data set: int64 of shape (B,). In a mix, counted through all sources, as
        :meth:`vidrec.Mix.place` takes it.
    source_ids : torch.Tensor, numpy.ndarray or None
        Number of the source of each clip in a mix: int64 of shape (B,). None without a mix.
    mask : torch.Tensor or numpy.ndarray
        False for a clip that only fills the batch and should not count: bool of shape (B,). Only with ``last="pad"`` are
        there such clips.
    frame_mask : torch.Tensor or numpy.ndarray
        False for a frame that pads its clip (zeros), or stands in for one that a clip does not have: bool of shape (B, T). A clip
        without frames, such as a text, has only such zeros; T is 0 if no clip of the batch has frames. With ``cameras``, of shape
        (B, V, T), and also False for the zeros of a frame that a camera does not show, or of a camera that is missing.
    times : torch.Tensor or numpy.ndarray
        Presentation time of each frame in seconds, not a number where a clip is padded: float64 of shape (B, T). It is that of the
        video: a clip that is a segment of one counts from where the video does.
    fields : dict
        The attributes that the loader's ``fields`` name: numbers as int64 or float64 of shape (B,), not a number for a
        clip without one; everything else as a list, with None for a clip without one.
    tracks : dict
        The values of the loader's ``tracks``, by name, in the type of the track: of shape (B, T, ...) with one value for
        each frame, (B, W, ...) with a window, (B, T, W, ...) with a window for each frame. Texts are a list for each
        clip. Lists have one more dimension, their items, padded with zeros to the longest list of the batch: (B, T, N, ...).
        So are all stored values of a window: (B, E, ...).
    track_masks : dict
        Which of these values there are, by name: bool of shape (B, T), (B, W) or (B, T, W); of texts (B,), False for a
        clip without the track. Boxes and points have a flag each: (B, T, ...) without the last dimension of the values, False for
        what is not in the picture. So do the items of lists: (B, T, N). The other values are 0, but the first or last one with
        ``pad="edge"`` of :class:`Windows`. The value of a frame whose ``frame_mask`` is False has a False mask, too.
    track_times : dict
        When the texts of these tracks are, or all stored values of a window, by name: for each clip a list of (start, end), one
        for each of its texts or values, in seconds from the sample's current frame. One that begins before that frame has a
        negative start. Both are the same where there is a single time. Other tracks are not in it.
    track_dims : dict
        How many numbers of a value are those of the track, by name, of tracks with ``dims``: int64 of shape (B,), 0 for a clip
        without the track. The other numbers are 0.
    track_counts : dict
        How many items each list has, by name, of tracks of lists: int64 of shape (B, T), -1 where there is no list, while an
        empty one has 0. Of all stored values of a window, how many there are: (B,).
    camera_mask : torch.Tensor, numpy.ndarray or None
        False for a camera that an episode lacks: bool of shape (B, V). None without ``cameras``.
    epoch, number : int
        Which batch of its loop it is, counted from 0: a loop that resumes in the middle of an epoch begins with 0 again.
    """

    labels: A
    clips: A
    mask: A
    frame_mask: A
    times: A
    fields: Dict[str, Any]
    tracks: Dict[str, Any]
    track_masks: Dict[str, A]
    track_counts: Dict[str, A]
    track_dims: Dict[str, A]
    track_times: Dict[str, List[List[Tuple[float, float]]]]
    # None unless asked for, which whoever asked knows.
    source_ids: Any
    camera_mask: Any
    epoch: int
    number: int

    __slots__ = (
        "_frames",
        "_inner",
        "_names",
        "_params",
        "_share",
        "_sources",
        "camera_mask",
        "clips",
        "epoch",
        "fields",
        "frame_mask",
        "labels",
        "mask",
        "number",
        "source_ids",
        "times",
        "track_counts",
        "track_dims",
        "track_masks",
        "track_times",
        "tracks",
    )

    def __init__(
        self,
        frames: A,
        labels: A,
        clips: A,
        mask: A,
        params: Union[_vidrec.Batch, List[DrawnSample]],
        share: Share,
        frame_mask: A,
        times: A,
        epoch: int = 0,
        number: int = 0,
        fields: Optional[Dict[str, Any]] = None,
        sources: Optional[List[str]] = None,
        source_ids: Any = None,
        names: Sequence[str] = (),
        tracks: Optional[Dict[str, Any]] = None,
        track_masks: Optional[Dict[str, A]] = None,
        camera_mask: Any = None,
        track_times: Optional[Dict[str, List[List[Tuple[float, float]]]]] = None,
        track_dims: Optional[Dict[str, A]] = None,
        track_counts: Optional[Dict[str, A]] = None,
    ) -> None:
        self._frames, self.labels, self.clips, self.mask = frames, labels, clips, mask
        self.frame_mask, self.times, self.fields = frame_mask, times, fields or {}
        self._share = share
        self._sources = sources
        self.source_ids, self._names = source_ids, names
        self.tracks, self.track_masks = tracks or {}, track_masks or {}
        self.camera_mask, self.track_times, self.track_dims = camera_mask, track_times or {}, track_dims or {}
        self.track_counts = track_counts or {}
        self.epoch, self.number = epoch, number
        self._inner: Optional[_vidrec.Batch] = None
        self._params: Optional[List[DrawnSample]] = None
        if isinstance(params, list):
            self._params = params
        else:
            self._inner = params

    @property
    def frames(self) -> A:
        """Pictures: a tensor or an array in the shape of the loader's ``layout`` and of its ``dtype``.

        With ``cameras``, they are the second dimension.
        """
        return self._frames

    @frames.setter
    def frames(self, frames: A) -> None:
        self._frames = frames

    @property
    def clips_on_all_ranks(self) -> int:
        """How many clips of this step count, on all ranks together: those whose ``mask`` is True."""
        return self._share.clips_on_all_ranks

    @overload
    def mean(self, losses: torch.Tensor) -> torch.Tensor: ...
    @overload
    def mean(self, losses: NDArray[Any]) -> np.floating[Any]: ...

    def mean(self, losses: Any) -> Any:
        """The mean loss of the clips that count, so that the mean over ranks is the mean over the clips of all ranks.

        It is the sum over this rank's clips whose ``mask`` is True, times the number of ranks, divided by
        :attr:`clips_on_all_ranks`. On one rank it is the mean. ``DistributedDataParallel`` takes the mean of all ranks'
        gradients: then every clip counts the same, also in a last batch of which ranks have different numbers of clips.

        Parameters
        ----------
        losses : torch.Tensor or numpy.ndarray
            A loss for each clip: shape (B,), such as ``cross_entropy(..., reduction="none")`` gives.

        Returns
        -------
        torch.Tensor or numpy.floating
            A scalar.

        Raises
        ------
        UsageError
            ``losses`` does not have one value for each clip.

        Examples
        --------
        >>> import numpy as np
        >>> loader = vidrec.Loader("train", batch_size=8, crop=64, last="pad", output="numpy")
        >>> first, last = loader
        >>> last.mask.tolist()
        [True, True, True, True, False, False, False, False]
        >>> float(last.mean(np.array([1.0, 2.0, 3.0, 4.0, 50.0, 50.0, 50.0, 50.0])))
        2.5
        """
        if tuple(losses.shape) != (len(self),):
            raise UsageError(
                f"Batch.mean: expected a loss for each clip, of shape ({len(self)},), found shape {tuple(losses.shape)};"
                ' functions of torch give that with reduction="none"'
            )
        counted = losses if self._share.all_real else self._counted(losses)
        return counted.sum() * (self._share.world_size / max(1, self._share.clips_on_all_ranks))

    def _counted(self, losses: Any) -> Any:
        """The losses with zeros for the clips that do not count, whatever theirs are."""
        if isinstance(losses, np.ndarray):
            return np.where(np.asarray(self.mask), losses, np.zeros((), losses.dtype))
        import torch

        mask: Any = self.mask
        return torch.where(torch.as_tensor(mask, device=losses.device), losses, torch.zeros_like(losses))

    @property
    def params(self) -> List[DrawnSample]:
        """What was drawn for each clip.

        Each has ``sample``, ``view``, ``frames`` (those that were taken), ``window`` (left, top, width and height of the
        part of a frame that became the picture; None if the clip's frames differ in size), ``matrix`` (below), ``flip``, ``color``
        and ``instead_of`` (index of the clip that could not be read, or None). With ``cameras``, it is what was drawn for the first.

        ``matrix`` takes places in a stored frame to places in the picture, for all that is not a track with a ``geometry`` (see
        :func:`vidrec.track`). Both are in pixels from the top left corner: the center of the first pixel is at (0.5, 0.5). It is None
        where ``window`` is.

        Examples
        --------
        >>> loader = vidrec.Loader("train", batch_size=2, crop=64, flip=1.0, output="numpy")
        >>> matrix = np.array(next(iter(loader)).params[0].matrix)
        >>> corner = matrix @ [0, 0, 1]  # of the stored frame, in the coordinates of the picture: beyond its top right
        >>> bool(corner[0] > 64 and corner[1] < 0)
        True
        """
        if self._params is None:
            assert self._inner is not None
            self._params = [DrawnSample.from_dict(each) for each in json.loads(self._inner.params)]
        return self._params

    @property
    def sources(self) -> List[str]:
        """The source of each clip: the path of its video below the input."""
        if self._sources is None:
            assert self._inner is not None
            self._sources = self._inner.sources
        return self._sources

    @property
    def source_names(self) -> List[str]:
        """The name of the source of each clip in a mix; empty without a mix."""
        return [] if self.source_ids is None else [self._names[int(source)] for source in self.source_ids]

    if not TYPE_CHECKING:

        def __getitem__(self, index: Any) -> NoReturn:
            raise UsageError(
                "a batch has names in place of numbers: batch.frames, batch.labels and others;"
                " loader.map(lambda batch: (batch.frames, batch.labels)) gives pairs"
            )

    def __len__(self) -> int:
        labels: Any = self.labels
        return len(labels)

    def __repr__(self) -> str:
        return f"<vidrec.Batch {self.number} of epoch {self.epoch}: {self._described()}>"

    def _described(self) -> str:
        """What its frames are."""
        frames: Any = self._frames
        return f"{str(frames.dtype).replace('torch.', '')} {tuple(frames.shape)}"

    def _repr_html_(self) -> str:
        return self._page(_CLIPS_SHOWN, _display.HEIGHT)

    def show(self, *, clips: int = 8, height: int = 112) -> None:
        """Show its pictures as they are trained on: in a notebook, or in colored letters in a terminal.

        Colors that were normalized are shown from the lowest to the highest value. Pictures of any ``layout`` are shown.

        Parameters
        ----------
        clips : int, default 8
            At most so many clips.
        height : int, default 112
            About how high a frame is, in pixels; it is made smaller by a whole number, and never larger.
        """
        _display.show(self._page(clips, height), self._strips(clips, height) or [])

    def _page(self, clips: int, height: int) -> str:
        """A table, and the first clips as they will be trained on."""
        labels: Any = self.labels
        rows = [("frames", self._described()), ("labels", _display.some([str(int(label)) for label in labels], 16))]
        rows += [(f"track {name}", _shape(values)) for name, values in self.tracks.items()]
        rows += [(f"field {name}", _shape(values)) for name, values in self.fields.items()]
        strips = self._strips(clips, height)
        if strips is None:
            rows.append(("pictures", "the shape has no 3 colors" if self._length() else "no clip has frames"))
        return _display.page(repr(self), rows, (_display.figure(strip, name) for name, strip in strips or ()))

    def _length(self) -> int:
        """Frames of a sample."""
        mask: Any = self.frame_mask
        return int(mask.shape[-1])

    def _strips(self, clips: int, height: int) -> Optional[List[Tuple[str, _pictures.Picture]]]:
        """A name and a strip for each of the first clips; None without pictures, or if no side of the shape is 3 colors."""
        stored: Any = self._frames
        frames = None if not self._length() else _pictures.in_colors(stored[:clips])
        if frames is None:
            return None
        shown = _pictures.reduced(frames[:, _pictures.evenly(frames.shape[1], _display.FRAMES)], height)
        first: Any = self.labels
        labels = [int(label) for label in first[:clips]]
        return [(f"{label} · {source}", _pictures.strip(row)) for label, source, row in zip(labels, self.sources, shown)]

    def __reduce__(self) -> Tuple[Any, ...]:
        known = (self.params, self._share, self.frame_mask, self.times, self.epoch, self.number, self.fields, self.sources)
        more = (self.source_ids, self._names, self.tracks, self.track_masks, self.camera_mask, self.track_times)
        return Batch, (self._frames, self.labels, self.clips, self.mask, *known, *more, self.track_dims, self.track_counts)

    def to(self, *args: Any, **kwargs: Any) -> Batch[A]:
        """The batch with each tensor's ``to(...)``, for torch: ``batch.to("cuda", non_blocking=True)``.

        A dtype is for ``frames`` alone. Lists among fields and tracks stay as they are.
        """
        import torch

        stored: Any = self._frames
        labels: Any = self.labels
        frames = stored.to(*args, **kwargs)
        rest = {k: v for k, v in kwargs.items() if k in ("non_blocking", "copy")}
        if frames.device == labels.device and not any(isinstance(a, (str, torch.device)) for a in args):
            return self._with(frames, lambda tensor: tensor)
        return self._with(frames, lambda tensor: tensor.to(frames.device, **rest))

    def pin_memory(self) -> Batch[A]:
        """The batch in pinned memory, copied where it is not; for torch. ``DataLoader(pin_memory=True)`` calls it."""
        stored: Any = self._frames
        return self._with(stored.pin_memory(), lambda tensor: tensor.pin_memory())

    def _with(self, frames: Any, each: Callable[[Any], Any]) -> Batch[A]:
        """The same with other frames, and with what ``each`` makes of every other tensor."""
        batch = copy.copy(self)
        batch._frames = frames
        for name in ("labels", "clips", "mask", "frame_mask", "times"):
            setattr(batch, name, each(getattr(self, name)))
        if self.source_ids is not None:
            batch.source_ids = each(self.source_ids)
        if self.camera_mask is not None:
            batch.camera_mask = each(self.camera_mask)
        for name in ("fields", "tracks", "track_masks", "track_dims", "track_counts"):
            values = getattr(self, name)
            setattr(batch, name, {name: v if isinstance(v, list) else each(v) for name, v in values.items()})
        return batch

    def __copy__(self) -> Batch[A]:
        batch: Any = Batch.__new__(Batch)
        for name in Batch.__slots__:
            setattr(batch, name, getattr(self, name))
        return cast("Batch[A]", batch)


def _shape(values: Any) -> str:
    return str(tuple(values.shape)) if hasattr(values, "shape") else f"{len(values)} of {type(values).__name__}"
