"""What Lightning leaves to the loader."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any, Optional

_LOOPS = {"lightning.pytorch.loops.fit_loop", "pytorch_lightning.loops.fit_loop"}


def load_forgotten_state() -> None:
    """Loads the states of a checkpoint that the running ``Trainer.fit`` has not loaded into its loaders.

    In Lightning 2.2 to 2.6, a module that asks for ``trainer.estimated_stepping_batches`` in ``configure_optimizers`` makes
    ``_FitLoop.setup_data`` run before the checkpoint is read. When it is read, the loop finds its loaders there already.
    """
    frame: Optional[FrameType] = sys._getframe() if _LOOPS & sys.modules.keys() else None
    while frame is not None:
        # The locals of a frame that are looked at live as long as the frame: of others, with their batches, they must not.
        if frame.f_globals.get("__name__") in _LOOPS:
            loop: Any = frame.f_locals.get("self")
            # It does nothing unless the fit resumes and its states are not loaded yet.
            getattr(loop, "_load_combined_loader_states", lambda: None)()
            return
        frame = frame.f_back
