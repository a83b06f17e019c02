"""LLaMA-Factory and ms-swift encode and collate the conversations of examples/conversations.py, with the frames that are stored.

They want PyTorch 2, and newer versions of transformers with it. What they import of these and do not use here is put in place.
"""
import functools
import importlib
import sys
import types

import numpy as np
import pytest
from conftest import ROOT

import vidrec

torch = pytest.importorskip("torch")
import transformers.image_utils  # noqa: E402
from tokenizers import Tokenizer, decoders, models, pre_tokenizers  # noqa: E402

sys.path.append(str(ROOT / "examples"))
torch.distributed.init_device_mesh = transformers.image_utils.make_flat_list_of_images = None
for name, has in {"torchaudio": {}, "transformers.video_utils": {"make_batched_videos": None}}.items():
    sys.modules.setdefault(name, types.ModuleType(name)).__dict__.update(has)
from conversations import Conversations  # noqa: E402

# The template of ms-swift knows these numbers.
TOKENS = {"<|endoftext|>": 151643, "<|im_start|>": 151644, "<|im_end|>": 151645, "<|vision_start|>": 151652, "<|vision_end|>": 151653,
          "<|image_pad|>": 151655, "<|video_pad|>": 151656}
# Sides that no rule changes, also not that of qwen-vl-utils for lists of frames, which are multiples of 56.
HEIGHT, WIDTH = 280, 392


@pytest.fixture(scope="module")
def processor():
    tokenizer = Tokenizer(models.BPE({**{letter: n for n, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}, **TOKENS}, []))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    fast = transformers.Qwen2TokenizerFast(tokenizer_object=tokenizer, unk_token=None, eos_token="<|im_end|>", pad_token="<|endoftext|>",
                                           additional_special_tokens=list(TOKENS))  # fmt: skip
    made = transformers.Qwen2VLProcessor(transformers.Qwen2VLImageProcessor(), fast, chat_template="{{ messages }}")
    # Newer versions of transformers have one for videos.
    made.video_processor = functools.partial(made.image_processor, None)
    made.video_processor.merge_size, made.video_max_pixels = 2, HEIGHT * WIDTH
    return made


@pytest.fixture(scope="module")
def model():
    return transformers.Qwen2VLForConditionalGeneration(transformers.Qwen2VLConfig(
        vocab_size=151700, hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=1,
        vision_config={"depth": 1, "embed_dim": 16, "num_heads": 2, "hidden_size": 32, "mlp_ratio": 2},
        rope_scaling={"type": "mrope", "mrope_section": [2, 3, 3]},
        video_token_id=TOKENS["<|video_pad|>"], image_token_id=TOKENS["<|image_pad|>"], vision_start_token_id=TOKENS["<|vision_start|>"],
    ))  # fmt: skip


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    with vidrec.Writer(tmp_path_factory.mktemp("trainers") / "set") as writer:
        for number, count in enumerate((8, 5, 16)):
            frames = np.stack([np.dstack([x + 20 * number, y + 9 * t, (x + y) // 3]) for t in range(count)]).astype(np.uint8)
            writer.add(frames, times=3 + np.arange(count) / 4, fields={"caption": f"clip {number}", "question": "Which one?"})
    return Conversations(writer.report.output, max_frames=6)


def check(processor, row, values, grid, labels):
    """The patches are those of the frames, of which the last one fills a patch, and the answer is what is learned."""
    frames = row["videos"][0] + row["videos"][0][-1:] * (len(row["videos"][0]) % 2)
    expected = processor.image_processor(None, videos=[frames], do_resize=False, return_tensors="pt")
    assert torch.equal(values, expected["pixel_values_videos"]) and torch.equal(grid, expected["video_grid_thw"])
    said = processor.tokenizer.decode([number for number in labels if number >= 0])
    assert row["messages"][1]["content"] in said and "Which" not in said


def test_frames_have_the_rate_that_is_asked_for(rows):
    loaded = next(iter(torch.utils.data.DataLoader(rows, batch_size=3, num_workers=1, collate_fn=list)))
    for row, clip, stored in zip(loaded, rows.clips, ([0, 2, 4, 6], [0, 2, 4], [0, 2, 4, 6, 8, 10])):
        assert np.array_equal(np.stack([np.asarray(frame) for frame in row["videos"][0]]), clip.frames(stored))
        assert row["messages"][0]["content"] == "<video>Which one?"


@pytest.mark.parametrize("kind", ["qwen2_vl", "qwen2_5_vl"])
def test_ms_swift_encodes_collates_and_learns(kind, rows, processor, model):
    from swift.dataset import LazyLLMDataset
    from swift.template import get_template

    processor.model_info = types.SimpleNamespace(task_type="causal_lm", max_model_len=4096, model_dir="", config=model.config)
    processor.model_meta = types.SimpleNamespace(is_multimodal=True)
    template = get_template(processor, template_type=kind)
    template.set_mode("train")
    template.model = model
    samples = LazyLLMDataset(rows, template.encode, strict=True)
    for number in range(3):
        sample = samples[number]
        check(processor, rows[number], sample["pixel_values_videos"], sample["video_grid_thw"], sample["labels"])
        # Two frames of a patch at 2 frames a second.
        assert sample.get("second_per_grid_ts") == ([1.0] if kind == "qwen2_5_vl" else None)
    if kind == "qwen2_vl":
        batch = template.data_collator([samples[0], samples[1]])
        batch.pop("text_position_ids", None)
        assert model(**batch).loss.isfinite()


def test_ms_swift_tells_qwen3_when_frames_are(rows, processor):
    from swift.template import TEMPLATE_MAPPING
    from swift.template.template_inputs import StdTemplateInputs

    template = object.__new__(TEMPLATE_MAPPING["qwen3_vl"].template_cls)
    template.processor, template.mode = processor, "train"
    inputs = StdTemplateInputs.from_dict(rows[2])
    template.replace_tag("video", 0, inputs)
    told = inputs.mm_processor_kwargs["video_metadata"][0]
    assert np.array_equal(np.array(told["frames_indices"]) / told["fps"], rows.clips[2].pts_seconds[:12:2] - 3)
    assert inputs.mm_processor_kwargs["do_sample_frames"] is False


def test_llama_factory_encodes_collates_and_learns(rows, processor, model, monkeypatch):
    monkeypatch.setenv("DISABLE_VERSION_CHECK", "1")
    from llamafactory.data.collator import SFTDataCollatorWith4DAttentionMask
    from llamafactory.data.template import get_template_and_fix_tokenizer
    from llamafactory.hparams import DataArguments

    # Its training needs PyTorch 2.
    for name, has in {"llamafactory.train.sft": "workflow", "llamafactory.train.tuner": "run_exp"}.items():
        monkeypatch.setitem(sys.modules, name, types.SimpleNamespace(**{has: None}))
    example = importlib.import_module("llamafactory_sft")
    data, options = DataArguments(template="qwen2_vl", dataset=rows.path), types.SimpleNamespace(video_fps=2.0, video_maxlen=6)
    template = get_template_and_fix_tokenizer(processor.tokenizer, data)
    samples = example.get_dataset(template, options, data, None, "sft", processor.tokenizer, processor)["train_dataset"]
    collate = SFTDataCollatorWith4DAttentionMask(template=template, model=model, tokenizer=processor.tokenizer, processor=processor)
    for number in range(3):
        batch = collate([samples[number]])
        check(processor, rows[number], batch["pixel_values_videos"], batch["video_grid_thw"], batch["labels"][0])
        assert model(**{**batch, "position_ids": batch["position_ids"][-3:]}).loss.isfinite()
    regular = template.mm_plugin._regularize_videos(rows[2]["videos"], image_max_pixels=HEIGHT * WIDTH, image_min_pixels=1, video_fps=2.0)
    assert regular["fps_per_video"] == [2.0] and regular["frames_indices"] == [list(range(6))]
