"""A loader's options: checked, printed as they are written, and as the JSON that the compiled module takes."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Tuple, Type, TypedDict, Union

import numpy as np
from numpy.typing import NDArray

from . import _memory, _vidrec
from ._storage import Size
from ._values import U32, U64, Value, parse_bytes, whole, wholes, word
from .batching import Batching, Buckets, FrameBudget, TokenBudget
from .cameras import Cameras
from .colors import ColorJitter, Normalize, channels
from .crops import CenterCrop
from .errors import UsageError
from .frames import Uniform
from .memory import DecodedCache, Prefetch
from .orders import Blocks, Homes, Order, Shuffled, Weighted
from .own_options import CROPS, FRAMES, CropGiven, FramesGiven, Own, one, probability, refused
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
    """Options that are about single samples."""

    frames: FramesGiven
    crop: CropGiven
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
    """Options of a loader beside ``output``."""

    shuffle: bool
    order: OrderGiven
    rank: Optional[Tuple[int, int]]
    last: Last
    batching: Optional[Batching]
    pin_memory: bool
    device: Union[str, torch.device, None]
    device_cache: Optional[Size]
    process: bool


@dataclass(frozen=True)
class Options:
    """What a loader is asked for. Each option is in one form: a number of frames is :class:`Uniform`, and so on."""

    batch_size: int = 16
    frames: FramesGiven = None
    crop: CropGiven = 224
    flip: float = 0.0
    color: Optional[ColorJitter] = None
    channels: Channels = "rgb"
    dtype: DtypeGiven = "uint8"
    normalize: Optional[Normalize] = None
    layout: Layout = "BTCHW"
    shuffle: bool = False
    order: OrderGiven = None
    seed: int = 0
    rank: Optional[Tuple[int, int]] = None
    last: Last = "keep"
    batching: Optional[Batching] = None
    cameras: Optional[Cameras] = None
    fields: Sequence[str] = ()
    tracks: Optional[Mapping[str, TrackWindow]] = None
    on_bad_frame: OnBadFrame = "error"
    output: OutputGiven = None
    pin_memory: bool = False
    device: Union[str, torch.device, None] = None
    device_cache: Optional[Size] = None
    threads: Optional[int] = None
    prefetch: PrefetchGiven = 4
    decoded_cache: CacheGiven = None
    process: bool = False

    def __post_init__(self) -> None:
        keep = self._keep
        keep("batch_size", _whole("batch_size", self.batch_size, 1))
        keep("frames", one("frames", self.frames, FRAMES, Uniform))
        keep("crop", one("crop", self.crop, CROPS, CenterCrop, is_optional=False))
        keep("flip", probability("flip", self.flip))
        keep("color", one("color", self.color, (ColorJitter,)))
        keep("dtype", dtype(self.dtype))
        keep("normalize", one("normalize", self.normalize, (Normalize,)))
        keep("order", _order(self.order))
        keep("seed", _whole("seed", self.seed, 0, U64))
        keep("rank", _rank(self.rank))
        keep("batching", one("batching", self.batching, (Buckets, FrameBudget, TokenBudget)))
        keep("cameras", one("cameras", self.cameras, (Cameras,)))
        keep("fields", _names("fields", self.fields))
        keep("tracks", windows(self.tracks))
        keep("threads", None if self.threads is None else _whole("threads", self.threads, 1))
        keep("prefetch", one("prefetch", self.prefetch, (Prefetch,), Prefetch, is_optional=False))
        keep("decoded_cache", one("decoded_cache", self.decoded_cache, (DecodedCache,), DecodedCache, is_text=True))
        words = {"channels": Channels, "layout": Layout, "last": Last, "on_bad_frame": OnBadFrame}
        for name, known in words.items():
            word(name, getattr(self, name), known)
        self._check_together()

    def _keep(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _check_together(self) -> None:
        """Refuse what does not go together."""
        if self.shuffle and self.order is not None:
            raise UsageError("give only one of the loader options shuffle and order")
        if self.normalize is not None and self.dtype == "uint8":
            raise UsageError(
                "loader option normalize: dtype 'uint8' is not normalized; give dtype='float32', or normalize on the device"
                " with vidrec.torch.normalize"
            )
        own = self.memory() is not None
        output = None if own else self.output
        if output is not None:
            word("output", output, Output)
        if output == "jpeg" and self.decoded_cache is not None:
            raise UsageError("loader option decoded_cache: output='jpeg' decodes nothing; choose one of them")
        if self.device is not None:
            self._check_device(own, output)
        elif self.device_cache is not None:
            raise UsageError("loader option device_cache: it is the memory of a device; give device='cuda', too")
        if self.pin_memory and own:
            raise UsageError("loader option pin_memory: it cannot be combined with memory of your own; pin that yourself")
        if self.pin_memory and output == "numpy":
            raise UsageError("loader option pin_memory: it needs output='torch'")

    def _check_device(self, own: bool, output: Any) -> None:
        if own or output in ("numpy", "jpeg"):
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
        most = parse_bytes(prefetch.bytes) if isinstance(prefetch.bytes, str) else prefetch.bytes
        return prefetch.batches, most or 1

    def depth(self, batch_bytes: int) -> int:
        """Batches of this size that are made ahead."""
        batches, most = self.ahead()
        return max(1, min(batches, most // max(1, batch_bytes)))

    def device_room(self) -> int:
        """Bytes of JPEGs that a device keeps."""
        given = self.device_cache
        room = parse_bytes(given) if isinstance(given, str) else _whole("device_cache", given or 0, 0, U64)
        if room is None:
            raise refused("device_cache", "bytes such as '20GB'", given)
        return room

    def __str__(self) -> str:
        """The options that differ from the defaults, as they are written."""
        written = []
        for field in fields(self):
            value = getattr(self, field.name)
            default = getattr(_DEFAULTS, field.name)
            if field.name == "batch_size" or not (type(value) is type(default) and value == default):
                written.append(f"{field.name}={_brief(field.name, value)}")
        return ", ".join(written)


def _brief(name: str, value: Any) -> str:
    """A value as it is written, cut where it is long."""
    if name == "output" and not isinstance(value, str):
        return "[...]"
    text = repr(value)
    return text if len(text) <= 200 else text[:197] + "..."


_ORDERS = (Shuffled, Blocks, Homes, Weighted)


def _whole(option: str, value: Any, least: int, most: int = U32) -> int:
    found = whole(value, least, most)
    if found is None:
        raise refused(option, f"a whole number from {least} to {most}", value)
    return found


def _order(value: Any) -> Any:
    if value is None or isinstance(value, _ORDERS):
        return value
    samples = wholes(value, 0, most=U64)
    if samples is None:
        kinds = ", ".join(f"vidrec.{kind.__name__}(...)" for kind in _ORDERS)
        raise refused("order", f"{kinds} or the numbers of samples", value)
    return samples


def _rank(value: Any) -> Optional[Tuple[int, int]]:
    found = None if value is None else wholes(value, 0, 2)
    if value is not None and (found is None or found[0] >= found[1]):
        raise refused("rank", "(rank, world_size), such as (0, 8)", value)
    return None if found is None else (found[0], found[1])


def _names(option: str, value: Any) -> Tuple[str, ...]:
    """Names in a list; one alone is a mistake."""
    if isinstance(value, str) or not all(isinstance(name, str) for name in value):
        raise refused(option, "names in a list", value)
    return tuple(value)


def windows(value: Any) -> Optional[Dict[str, TrackWindow]]:
    """The tracks that a loader or a source is asked for."""
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise refused("tracks", "a dict of names and vidrec.track(...)", value)
    for name, window in value.items():
        if not isinstance(name, str) or not isinstance(window, TrackWindow):
            raise refused(f"tracks[{name!r}]", "vidrec.track(...)", window)
    return dict(value)


def dtype(value: Any) -> str:
    """The name of a type given by name, or as torch's or NumPy's."""
    name = str(value).replace("torch.", "") if not isinstance(value, type) else np.dtype(value).name
    if name not in _vidrec.DTYPES:
        raise refused("dtype", f"one of {', '.join(_vidrec.DTYPES)}", value)
    return name


_DEFAULTS = Options()


def rate(value: Any) -> Optional[str]:
    """Frames per second as text: 8, 29.97 or 30000/1001."""
    if value is None:
        return None
    return f"{value:.3f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def to_json(options: Options, is_mix: bool, rank: int = 0, world_size: int = 1) -> str:
    """The options as the library reads them. A value of one of several classes is under the name of its class."""
    told = {field.name: getattr(options, field.name) for field in fields(options)}
    # These are Python's alone.
    for name in ("output", "pin_memory", "device", "device_cache", "process"):
        del told[name]
    layout = "BTHWC" if options.layout == "channels_last_3d" else options.layout
    # The sources of a mix have orders of their own.
    told.update(rank=[rank, world_size], layout=layout, shuffle=options.shuffle and not is_mix)
    for name in ("frames", "crop", "order", "batching"):
        told[name] = _tagged(told[name])
    return json.dumps({name: _plain(value) for name, value in told.items() if value is not None})


def own_options(own: Mapping[str, Own]) -> Dict[str, Any]:
    """The options that some sources have of their own, as the library reads them, for JSON."""
    names = ("frames", "crop", "flip", "color", "normalize", "tracks")
    told = {source: {name: _of_field(name, getattr(given, name)) for name in names} for source, given in own.items()}
    return {source: {n: v for n, v in each.items() if v is not None} for source, each in told.items()}


def _tagged(value: Any) -> Any:
    """A value under its name."""
    if value is None:
        return None
    if isinstance(value, tuple):
        return {"Given": list(value)}
    name = type(value).__name__
    return {name: _plain(value)} if fields(value) else name


def _plain(value: Any) -> Any:
    """Values, mappings and sequences as JSON has them."""
    if isinstance(value, Value):
        named: Any = value
        told = {field.name: _of_field(field.name, getattr(value, field.name)) for field in fields(named)}
        return {name: each for name, each in told.items() if each is not None}
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    return list(value) if isinstance(value, tuple) else value


def _of_field(name: str, value: Any) -> Any:
    """A field that has one form there and may be written in several."""
    if value is None:
        return None
    if name == "reducing_gap":
        # JSON has no infinity.
        return min(float(value), sys.float_info.max)
    if name in ("mean", "std"):
        return list(channels(value))
    if name in ("fps", "rate"):
        return rate(value)
    if isinstance(value, range):
        return [value.start, value.stop]
    if isinstance(value, (*FRAMES, *CROPS)):
        return _tagged(value)
    if name == "steps":
        return [0, value]
    return _plain(value)
