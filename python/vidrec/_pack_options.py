"""The arguments of a pack, in the form that the compiled module takes: as text, which the library reads."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional

from . import _storage, _vidrec
from ._storage import Path
from .errors import UsageError

#: The options of a pack that a plan fixes.
VALUES = (
    "frames sample stride short draws seed fps every max_frames short_side size quality target_quality effort split "
    "segment_clock picture_fps shuffle_seed track audio audio_channels on_error max_failures timeout max_pixels max_duration "
    "shard_size"
).split()
FLAGS = "all keyframes original enlarge optimize reduce_depth whole_files outside pass_through decode_all".split()


def check_build() -> None:
    """Refuse a build that cannot pack."""
    if not _vidrec.HAS_PACK:
        raise UsageError(
            "this build of vidrec cannot pack: it was built without FFmpeg. Released wheels can; from a checkout, "
            'pip install ./python --config-settings=build-args="--features pack" makes one that can'
        )


def of_plan(parts: int, options: Mapping[str, Any]) -> Dict[str, Any]:
    """What the caller of :func:`vidrec.plan` gave, by the names of :func:`vidrec.pack`."""
    known = {*VALUES, *FLAGS, "root", "classes", "storage_options", "storage_timeout"}
    for name in options:
        if name not in known:
            raise TypeError(f"plan() got an unexpected keyword argument {name!r}")
    values = {name: options.get(name) for name in VALUES}
    values["parts"] = parts
    flags = {name: bool(options.get(name)) for name in FLAGS}
    flags["original"] |= "short_side" in options and options["short_side"] is None
    remote = storage(options.get("storage_options"), options.get("storage_timeout"))
    return given(options.get("root"), options.get("classes"), remote, values, flags)


def storage(
    options: Optional[Mapping[str, Any]],
    timeout: Optional[float],
    scratch: Optional[Path] = None,
    only_publisher: bool = False,
) -> Dict[str, Any]:
    """Of the arguments that are about object storage: videos, plan and output."""
    return _storage.for_output(options, _storage.TIMEOUT if timeout is None else timeout, scratch, only_publisher)


def given(
    root: Optional[Path],
    classes: Optional[Path],
    remote: Mapping[str, Any],
    values: Mapping[str, Any],
    flags: Mapping[str, bool],
) -> Dict[str, Any]:
    """What the caller gave: the values that are not None, and the flags that are on. ``remote``: see :func:`storage`."""
    return {
        "root": root,
        "classes": classes,
        **remote,
        "values": {name: text(name, value) for name, value in values.items() if value is not None},
        "flags": [name for name, on in flags.items() if on],
    }


def text(name: str, value: Any) -> str:
    """A value as the library reads it."""
    if name == "size" and isinstance(value, (tuple, list)) and len(value) == 2:
        height, width = value
        return f"{width}x{height}"
    if name == "track" and not isinstance(value, str):
        return "\n".join(value)
    # 8.0 frames a second are 8, as the data set's settings say.
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value)
