#!/usr/bin/env python3
"""`swift sft` on a data set of vidrec: `FPS=2 python swift_sft.py --model … --dataset train`.

`--dataset` is the folder or location of the data set, and FPS the rate of its frames.
"""
from __future__ import annotations

import os
from typing import Any, List

from conversations import Conversations
from swift.dataset import LazyLLMDataset
from swift.pipelines import SwiftSft


class ClipSft(SwiftSft):
    def _prepare_dataset(self) -> List[Any]:
        conversations = Conversations(self.args.dataset[0], fps=float(os.environ.get("FPS", 2.0)))
        return [LazyLLMDataset(conversations, self.template.encode, strict=True), None]


if __name__ == "__main__":
    ClipSft().main()
