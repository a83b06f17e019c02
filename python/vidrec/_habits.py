"""What people expect who come from torch's ``DataLoader``: one sentence for each."""

from __future__ import annotations

import functools
import importlib
import inspect
import signal
import threading
from typing import Any, Callable, List, Mapping, TypeVar, cast

from .errors import UsageError

F = TypeVar("F", bound=Callable[..., None])

_MAP = "loader.map(function) gives function(batch) in place of each batch"
_OPTIONS = {
    "num_workers": "threads=N sets the number of threads that decode, and process=True gives them a process of their own",
    "drop_last": 'last="drop" drops what does not fill a batch on every rank',
    "sampler": "order= takes an order or the numbers of the samples, and ranks need no sampler",
    "batch_sampler": "batching= says how clips share batches, and order= in which order they come",
    "collate_fn": _MAP,
    "transform": _MAP,
    "prefetch_factor": "prefetch=N sets how many batches are made ahead",
    "persistent_workers": "the threads of a loader live as long as it does",
    "worker_init_fn": "there are no worker processes",
    "generator": "seed= is the seed of everything random",
}


def explain_options(defaults: Mapping[str, Any]) -> Callable[[F], F]:
    """Refuses options of a ``DataLoader`` with what a loader has instead, and shows the options of a loader."""

    def explained(init: F) -> F:
        @functools.wraps(init)
        def checked(*args: Any, **options: Any) -> None:
            for name in options.keys() & _OPTIONS.keys():
                raise UsageError(f"vidrec.Loader has no option {name}: {_OPTIONS[name]}")
            init(*args, **options)

        first = [each for each in inspect.signature(init).parameters.values() if each.name != "options"]
        given = {each.name for each in first}
        named = [(name, default) for name, default in defaults.items() if name not in given]
        more = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default) for name, default in named]
        checked.__signature__ = inspect.Signature([*first, *more])  # type: ignore[attr-defined]
        return cast(F, checked)

    return explained


def import_whole(name: str) -> Any:
    """A module. Ctrl-C waits until it is imported: half of one could never be imported again."""
    if threading.current_thread() is not threading.main_thread():
        return importlib.import_module(name)
    came: List[Any] = []
    before = signal.getsignal(signal.SIGINT)
    # Of another language's handler, only that language knows.
    if before is None:
        return importlib.import_module(name)
    signal.signal(signal.SIGINT, lambda *signal_and_frame: came.append(signal_and_frame))
    try:
        return importlib.import_module(name)
    finally:
        signal.signal(signal.SIGINT, before)
        if came:
            signal.raise_signal(signal.SIGINT)
