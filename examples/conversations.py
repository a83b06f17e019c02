"""Clips with a question and an answer, as the trainers of LLaMA-Factory and ms-swift take them."""
from __future__ import annotations

from typing import Any, Dict, List

import numpy as np
from PIL import Image
from torch.utils.data import Dataset

import vidrec


class Conversations(Dataset[Dict[str, Any]]):
    """One conversation for each clip: its messages, and its frames at an even rate.

    The frames are decoded once. A clip that is longer than ``max_frames`` ends there, so that all have the rate ``fps``: both
    frameworks take the times of frames from one option, and not from each video.
    """

    def __init__(self, path: str, fps: float = 2.0, max_frames: int = 64) -> None:
        self.path, self.clips, self.fps, self.max_frames = path, vidrec.open(path), fps, max_frames

    def __len__(self) -> int:
        return len(self.clips)

    def __getitem__(self, index: int) -> Dict[str, Any]:
        clip = self.clips[index]
        times = clip.pts_seconds - clip.pts_seconds[0]
        even = np.arange(0, times[-1] + 1e-6, 1 / self.fps)[: self.max_frames]
        frames = clip.frames(np.abs(times[:, None] - even).argmin(0))
        return {"messages": self.messages(clip), "videos": [[Image.fromarray(frame) for frame in frames]]}

    def messages(self, clip: vidrec.Clip) -> List[Dict[str, str]]:
        """What is said about a clip. Make it your own."""
        question = clip.attributes.get("question", "What happens here?")
        return [
            {"role": "user", "content": f"<video>{question}"},
            {"role": "assistant", "content": clip.attributes["caption"]},
        ]
