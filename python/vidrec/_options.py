"""A loader's options, which the library checks, printed as they are written, and as the JSON that the compiled module takes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Tuple, Type, TypedDict, Union, get_args

import numpy as np
from numpy.typing import NDArray

from . import _memory, _vidrec
from ._storage import Size
from ._values import U64, as_json, canonical, check, whole
from .batching import Batching
from .cameras import Cameras
from .colors import ColorJitter, Normalize
from .crops import CenterCrop
from .errors import UsageError
from .frames import Uniform
from .memory import DecodedCache, Prefetch
from .orders import Order
from .own_options import CropGiven, FramesGiven, Own, whole_form
from .tracks import TrackWindow
from .words import Channels, Dtype, Last, Layout, OnBadFrame, Output

if TYPE_CHECKING:
    import torch  # type: ignore[import-not-found, unused-ignore]

    DtypeGiven = Union[Dtype, torch.dtype, np.dtype[Any], Type[np.generic]]
    Arrays = Union[NDArray[Any], Sequence[NDArray[Any]]]
    Tensors = Union[torch.Tensor, Sequence[torch.Tensor]]
    OutputGiven = Union[Output, Arrays, Tensors, None]
else:
    DtypeGiven = Arrays = Tensors = OutputGiven = Any

OrderGiven = Union[Order, Sequence[int], NDArray[Any], None]
PrefetchGiven = Union[int, Prefetch]
CacheGiven = Union[int, str, DecodedCache, None]


class SampleKeywords(TypedDict, total=False):
    """Options of single samples."""

    frames: FramesGiven
    crop: CropGiven
    reducing_gap: float
    flip: float
    color: Optional[ColorJitter]
    channels: Channels
    dtype: DtypeGiven
    normalize: Optional[Normalize]
    layout: Layout
    seed: int
    cameras: Optional[Cameras]
    fields: Sequence[str]
    tracks: Optional[Mapping[str, TrackWindow]]
    on_bad_frame: OnBadFrame
    threads: Optional[int]
    prefetch: PrefetchGiven
    decoded_cache: CacheGiven


class LoaderKeywords(SampleKeywords, total=False):
    """Options of a loader beside ``batch_size`` and ``output``."""

    shuffle: bool
    order: OrderGiven
    rank: Optional[Tuple[int, int]]
    last: Last
    batching: Optional[Batching]
    pin_memory: bool
    device: Union[str, torch.device, None]
    device_cache: Optional[Size]
    process: bool


class LoaderOptions(LoaderKeywords, total=False):
    """All options of a loader."""

    batch_size: int
    output: OutputGiven


_LIBRARY: Dict[str, Any] = json.loads(_vidrec.loader_defaults())
# What the library has in another form, or has not.
_OWN_FORM: Dict[str, Any] = {**dict.fromkeys(("frames", "color", "order", "rank", "tracks")), "crop": 224, "fields": (), "prefetch": 4}
_OWN_FORM.update(pin_memory=False, process=False)
# As they are written. ``batch_size`` comes first.
DEFAULTS = {name: _OWN_FORM.get(name, _LIBRARY.get(name)) for name in ("batch_size", *LoaderOptions.__annotations__)}


class Options:
    """The options of a loader as attributes. Each has one form: a number of frames is :class:`Uniform`, and so on."""

    def __init__(self, **given: Any) -> None:
        for name in given.keys() - DEFAULTS.keys():
            raise TypeError(f"vidrec.Loader has no option {name}")
        self.__dict__.update(DEFAULTS, **given)
        for name, short in _SHORT.items():
            self.__dict__[name] = whole_form(short, getattr(self, name))
        self.__dict__["dtype"] = dtype(self.dtype)
        for name in _LIBRARY:
            value = self.__dict__[name] = canonical(getattr(self, name))
            if value is not None:
                check(name, _layout(value) if name == "layout" else value)
            elif DEFAULTS[name] is not None:
                raise refused(name, "a value", value)
        self._check_together()

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    def _check_together(self) -> None:
        """Refuse options of this package that do not go together."""
        own = self.memory() is not None
        output = None if own else self.output
        if output not in (None, *get_args(Output)):
            raise refused("output", "'torch', 'numpy' or memory for batches", output)
        if self.device is not None:
            self._check_device(own, output)
        elif self.device_cache is not None:
            raise UsageError("loader option device_cache: it is the memory of a device; give device='cuda', too")
        if self.pin_memory and own:
            raise UsageError("loader option pin_memory: it cannot be combined with memory of your own; pin that yourself")
        if self.pin_memory and output == "numpy":
            raise UsageError("loader option pin_memory: it needs output='torch'")

    def _check_device(self, own: bool, output: Any) -> None:
        if own or output == "numpy":
            raise UsageError("loader option device: pictures on a device are tensors of torch; leave out output")
        if self.decoded_cache is not None:
            raise UsageError("loader option decoded_cache: the device decodes; choose one of decoded_cache and device")
        self.device_room()
        if self.pin_memory:
            raise UsageError("loader option pin_memory: with device, frames are not in the memory of the host")

    def memory(self) -> Optional[List[Any]]:
        """The tensors or arrays that batches are decoded into; None if the loader's own."""
        return None if self.output is None or isinstance(self.output, str) else _memory.listed(self.output)

    def ahead(self) -> Tuple[int, int]:
        """Batches that are made ahead, and the bytes that they may take."""
        prefetch: Any = self.prefetch
        most = _vidrec.parse_bytes(prefetch.bytes) if isinstance(prefetch.bytes, str) else prefetch.bytes
        return prefetch.batches, most or 1

    def depth(self, batch_bytes: int) -> int:
        """Batches of this size that are made ahead."""
        batches, most = self.ahead()
        return max(1, min(batches, most // max(1, batch_bytes)))

    def device_room(self) -> int:
        """Bytes of JPEGs that a device keeps."""
        given = self.device_cache
        room = _vidrec.parse_bytes(given) if isinstance(given, str) else whole(given or 0, 0, U64)
        if room is None:
            raise refused("device_cache", "bytes such as '20GB'", given)
        return room

    def __str__(self) -> str:
        """The options that differ from the defaults, as they are written."""
        written = []
        for name, default in _USUAL.__dict__.items():
            value = getattr(self, name)
            if name == "batch_size" or not (type(value) is type(default) and value == default):
                written.append(f"{name}={_brief(name, value)}")
        return ", ".join(written)


def _brief(name: str, value: Any) -> str:
    """A value as it is written, cut where it is long."""
    if name == "output" and not isinstance(value, str):
        return "[...]"
    text = repr(value)
    return text if len(text) <= 200 else text[:197] + "..."


def dtype(value: Any) -> str:
    """The name of a type given by name, or as torch's or NumPy's."""
    name = str(value).replace("torch.", "") if not isinstance(value, type) else np.dtype(value).name
    if name not in _vidrec.DTYPES:
        raise refused("dtype", f"one of {', '.join(_vidrec.DTYPES)}", value)
    return name


_SHORT = {"frames": Uniform, "crop": CenterCrop, "prefetch": Prefetch, "decoded_cache": DecodedCache}
# Options that a source may have of its own.
OWN = ("frames", "crop", "flip", "color", "normalize", "tracks")


def refused(option: str, expected: str, found: Any) -> UsageError:
    """The error about an option of a loader."""
    return UsageError(f"loader option {option}: expected {expected}, found {found!r}")


def _layout(layout: str) -> str:
    """The order of dimensions in memory."""
    if layout not in get_args(Layout):
        raise refused("layout", f"one of {', '.join(get_args(Layout))}", layout)
    return "BTHWC" if layout == "channels_last_3d" else layout


def to_json(options: Options, is_mix: bool, rank: int = 0, world_size: int = 1) -> str:
    """The options as the library reads them."""
    values = {name: getattr(options, name) for name in _LIBRARY}
    # The sources of a mix have orders of their own.
    values.update(rank=[rank, world_size], layout=_layout(options.layout), shuffle=options.shuffle and not is_mix)
    return json.dumps({name: as_json(value) for name, value in values.items() if value is not None})


def own_options(own: Mapping[str, Own]) -> Dict[str, Any]:
    """The options that some sources have of their own, as the library reads them, for JSON."""
    of_source = {source: {name: getattr(given, name) for name in OWN} for source, given in own.items()}
    return {source: {n: as_json(v) for n, v in each.items() if v is not None} for source, each in of_source.items()}


_USUAL = Options()
