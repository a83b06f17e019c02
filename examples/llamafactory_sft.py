#!/usr/bin/env python3
"""`llamafactory-cli train sft.yaml` on a data set of vidrec: `python llamafactory_sft.py sft.yaml`.

In the file, `dataset: train` is the folder or location of the data set, and `video_fps` the rate of its frames.
"""
from __future__ import annotations

from typing import Any, Dict

from conversations import Conversations
from llamafactory.data.processor import SupervisedDatasetProcessor
from llamafactory.train.sft import workflow
from llamafactory.train.tuner import run_exp
from torch.utils.data import Dataset


class Samples(Dataset[Dict[str, Any]]):
    """Conversations as LLaMA-Factory's collator takes them: tokens, and the frames as they are."""

    def __init__(self, conversations: Conversations, **encoding: Any) -> None:
        self.conversations, self.encoder = conversations, SupervisedDatasetProcessor(**encoding)

    def __len__(self) -> int:
        return len(self.conversations)

    def __getitem__(self, index: int) -> Dict[str, Any]:
        row = self.conversations[index]
        *prompt, answer = row["messages"]
        columns = {"prompt": prompt, "response": [answer], "system": "", "tools": "", "images": None, "videos": row["videos"], "audios": None}
        encoded = self.encoder.preprocess_dataset({f"_{name}": [value] for name, value in columns.items()})
        return {name: values[0] for name, values in encoded.items()}


def get_dataset(template: Any, model_args: Any, data_args: Any, training_args: Any, stage: str, tokenizer: Any, processor: Any) -> Any:
    conversations = Conversations(data_args.dataset[0], fps=model_args.video_fps, max_frames=model_args.video_maxlen)
    samples = Samples(conversations, template=template, tokenizer=tokenizer, processor=processor, data_args=data_args)
    return {"train_dataset": samples}


if __name__ == "__main__":
    workflow.get_dataset = get_dataset
    run_exp()
