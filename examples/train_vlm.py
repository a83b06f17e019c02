#!/usr/bin/env python3
"""Train a tiny video-language model of random weights with the Trainer of transformers, on the CPU.

    python examples/train_vlm.py train --output run --steps 20            clips of any size and length, and their captions
    python examples/train_vlm.py train --output run --steps 40 --resume   resumes after the clips of the last checkpoint

`train` is from `vidrec pack LIST.jsonl --fps 2`, with captions. Samples of one size are packed to a budget of tokens. For
real training, take weights and tokenizer of a model, and its prompts in place of the bytes of the captions.
"""
from __future__ import annotations

import argparse
import inspect
import json
from pathlib import Path
from typing import Any, Dict

import torch
from transformers import Qwen2VLConfig, Qwen2VLForConditionalGeneration, Trainer, TrainerCallback, TrainingArguments

import vidrec
import vidrec.vlm
from vidrec.transformers import TrainerLoader

# Tokens beside the 256 bytes.
START, VIDEO, END, NOTHING = 256, 257, 258, 259
TOKEN = 28  # rows and columns of pixels


def tiny_model() -> Qwen2VLForConditionalGeneration:
    torch.manual_seed(0)
    rope = {"type": "mrope", "rope_type": "default", "mrope_section": [2, 3, 3], "rope_theta": 10000.0}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 2, "rope_scaling": rope}
    text = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "vocab_size": 512, "tie_word_embeddings": False}
    vision = {"depth": 1, "embed_dim": 32, "hidden_size": 32, "num_heads": 2, "mlp_ratio": 2}
    tokens = {"vision_start_token_id": START, "vision_end_token_id": END, "video_token_id": VIDEO, "image_token_id": 260}
    ends = {"pad_token_id": NOTHING, "bos_token_id": START, "eos_token_id": END}
    config = Qwen2VLConfig(vision_config=vision, **text, **heads, **tokens, **ends)
    return Qwen2VLForConditionalGeneration(config)


def inputs(batch: vidrec.Batch[torch.Tensor]) -> Dict[str, Any]:
    """What the model takes: a row of text for each sample, in which the tokens of its video have their places."""
    patches = vidrec.vlm.patchify(batch)
    counts = (patches.video_grid_thw.prod(1) // 4).tolist()
    captions = [list((caption or "").encode()) for caption in batch.fields["caption"]]
    rows = [[START, *[VIDEO] * count, END, *caption] for count, caption in zip(counts, captions)]
    longest = max(map(len, rows))
    ids = torch.tensor([row + [NOTHING] * (longest - len(row)) for row in rows])
    # Only the caption is learned.
    begins = torch.tensor(counts)[:, None] + 2
    learned = ids.ne(NOTHING) & torch.arange(longest).ge(begins)
    found = {"input_ids": ids, "attention_mask": ids.ne(NOTHING).long(), "labels": ids.where(learned, torch.tensor(-100))}
    found.update(pixel_values_videos=patches.pixel_values_videos, video_grid_thw=patches.video_grid_thw)
    # Newer versions of transformers want to know what each token is of: 2 is a video.
    if "mm_token_type_ids" in inspect.signature(Qwen2VLForConditionalGeneration.forward).parameters:
        found["mm_token_type_ids"] = 2 * ids.eq(VIDEO).int()
    return {**found, "clips": batch.clips}


class WithLoader(Trainer):
    """Takes the batches of a loader, which shares the clips among processes by itself."""

    def __init__(self, loader: TrainerLoader, **options: Any) -> None:
        self.loader, self.clips = loader, torch.tensor([])
        super().__init__(callbacks=[loader, Told(self)], **options)

    def get_train_dataloader(self) -> Any:
        return self.loader

    def compute_loss(self, model: Any, inputs: Dict[str, Any], *rest: Any, **options: Any) -> Any:
        self.clips = inputs.pop("clips")
        return super().compute_loss(model, inputs, *rest, **options)


class Told(TrainerCallback):
    """Prints each step."""

    def __init__(self, trainer: WithLoader) -> None:
        self.trainer = trainer

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        if logs and "loss" in logs:
            print(json.dumps({"step": state.global_step, "loss": logs["loss"], "clips": self.trainer.clips.tolist()}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="a packed data set with captions")
    parser.add_argument("--output", type=Path, required=True, help="folder of checkpoints")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint")
    parser.add_argument("--tokens", type=int, default=96, help="tokens of the videos of a step, in each process")
    args = parser.parse_args()

    loader = vidrec.Loader(
        args.data,
        frames=vidrec.AllFrames(max=16),
        crop=vidrec.SmartResize(TOKEN, min_pixels=4 * TOKEN**2, max_pixels=12 * TOKEN**2),
        batching=vidrec.TokenBudget(args.tokens, patch=(2, TOKEN, TOKEN), buckets=[4, 8, 16]),
        fields=["caption"],
        dtype="float32",
        normalize=vidrec.CLIP,
        shuffle=True,
    ).map(inputs)
    options = {"max_steps": args.steps, "save_steps": 1, "logging_steps": 1, "learning_rate": 1e-3, "report_to": "none"}
    options.update(disable_tqdm=True, use_cpu=True, remove_unused_columns=False)
    trainer = WithLoader(TrainerLoader(loader), model=tiny_model(), args=TrainingArguments(str(args.output), **options))
    trainer.train(resume_from_checkpoint=args.resume)


if __name__ == "__main__":
    main()
