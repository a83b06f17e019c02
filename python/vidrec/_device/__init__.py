"""Pictures of a batch made on a device: a GPU, or a processor for tests."""

from __future__ import annotations

from typing import Any

from ..errors import UsageError

_INSTALL = "install it with: pip install 'vidrec[gpu]'"


def chosen(device: Any) -> Any:
    """The ``torch.device`` of a loader's option, once everything that it takes is there."""
    try:
        import torch
    except ImportError:
        raise UsageError(f"loader option device: pictures are made in torch's memory; {_INSTALL}") from None
    try:
        found = torch.device(device)
    except (RuntimeError, TypeError) as e:
        raise UsageError(f"loader option device: expected 'cuda', 'cuda:1' or 'cpu', found {device!r} ({e})") from None
    if found.type not in ("cuda", "cpu"):
        raise UsageError(f"loader option device: expected 'cuda', 'cuda:1' or 'cpu', found {device!r}")
    if found.type == "cuda":
        if not torch.cuda.is_available():
            raise UsageError(f"loader option device: torch finds no GPU for {device!r}; without one, leave out device")
        found = torch.device("cuda", torch.cuda.current_device() if found.index is None else found.index)
        if found.index >= torch.cuda.device_count():
            raise UsageError(f"loader option device: there is no {device!r}, only {torch.cuda.device_count()} GPUs")
    try:
        import warp  # noqa: F401
    except ImportError:
        raise UsageError(f"loader option device: the kernels need NVIDIA Warp; {_INSTALL}") from None
    return found
