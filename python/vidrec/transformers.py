"""For the ``Trainer`` of transformers, 4.45 and newer."""

from __future__ import annotations

import inspect
from typing import Any, Iterator, List, Optional

from torch.utils.data import DataLoader
from transformers import TrainerCallback  # type: ignore[import-not-found, import-untyped, unused-ignore]

from .errors import UsageError
from .loader import Loader

# Where a checkpoint has the state, in its `trainer_state.json`.
_STATE = "vidrec.Loader"


class TrainerLoader(TrainerCallback):  # type: ignore[misc, unused-ignore]
    """A loader for a ``Trainer``, whose checkpoints then have the loader's state.

    It is what ``get_train_dataloader`` of the trainer returns, and one of its ``callbacks``, too.
    ``train(resume_from_checkpoint=True)`` resumes exactly, also in the middle of an epoch. On another number of ranks, the rest
    of the loader's epoch comes first, and every clip once; the trainer counts its steps and epochs as it always does.

    Parameters
    ----------
    loader : vidrec.Loader
        Of batches that the model takes, such as ``loader.map(lambda batch: dict(pixel_values=batch.frames, labels=batch.labels))``.

    Raises
    ------
    UsageError
        In ``train``: it is not one of the callbacks, or the checkpoint is of a trainer without it.

    Examples
    --------
    >>> from transformers import Trainer, TrainingArguments  # doctest: +SKIP
    >>> from vidrec.transformers import TrainerLoader  # doctest: +SKIP
    >>> clips = TrainerLoader(loader.map(lambda batch: dict(pixel_values=batch.frames, labels=batch.labels)))  # doctest: +SKIP
    >>> class ClipTrainer(Trainer):  # doctest: +SKIP
    ...     def get_train_dataloader(self):
    ...         return clips
    >>> trainer = ClipTrainer(model, TrainingArguments("run"), callbacks=[clips])  # doctest: +SKIP
    >>> trainer.train(resume_from_checkpoint=True)  # doctest: +SKIP
    """

    # What a trainer and accelerate.skip_first_batches ask of a DataLoader. A number of a batch stands for the next one: to skip
    # some is to ask for fewer, because the state says where the loader is. Versions of torch differ in what they call no prefetching.
    sampler = None
    prefetch_factor = inspect.signature(DataLoader.__init__).parameters["prefetch_factor"].default

    def __init__(self, loader: Loader[Any]) -> None:
        self.loader = loader
        self.dataset = _Clips(self)
        self._batches: Optional[Iterator[Any]] = None
        self._has_begun = False

    def __len__(self) -> int:
        return len(self.loader)

    def __iter__(self) -> Iterator[Any]:
        return (self._next() for _ in range(len(self)))

    @property
    def batch_sampler(self) -> List[List[int]]:
        return [[number] for number in range(len(self))]

    @staticmethod
    def collate_fn(batches: List[Any]) -> Any:
        return batches[0]

    def _next(self) -> Any:
        """The next batch of this epoch or of the one after it: where those of the trainer end, on other ranks, is its own affair."""
        if not self._has_begun:
            raise UsageError("give the TrainerLoader to the trainer as a callback, too: callbacks=[clips], so that it can resume")
        while True:
            if self._batches is None:
                self._batches = iter(self.loader)
            try:
                return next(self._batches)
            except StopIteration:
                self._batches = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Load the state of the checkpoint from which the trainer resumes."""
        self._batches, self._has_begun = None, True
        if not state.global_step:
            self.loader.set_epoch(0)
        elif _STATE in state.stateful_callbacks:
            self.loader.load_state_dict(state.stateful_callbacks[_STATE])
        else:
            raise UsageError(
                "the checkpoint has no state of a vidrec.Loader: it is of a trainer without this callback, and cannot resume exactly"
            )

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Keep the loader's state where the next checkpoint has it."""
        state.stateful_callbacks[_STATE] = self.loader.state_dict()


class _Clips:
    """What a ``DataLoader`` of accelerate is made of: as many as there are clips, and the next batch for any number."""

    def __init__(self, batches: TrainerLoader) -> None:
        self._batches = batches

    def __len__(self) -> int:
        return len(self._batches.loader.dataset)

    def __getitem__(self, _: int) -> Any:
        return self._batches._next()
