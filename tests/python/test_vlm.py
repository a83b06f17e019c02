"""What video-language models take: native sizes, patches in one sequence, and metadata."""
import itertools
import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import make_videos

import vidrec
from vidrec import AllFrames, SmartResize, TokenBudget

torch = pytest.importorskip("torch")
vlm = pytest.importorskip("vidrec.vlm")

EXAMPLE = Path(__file__).parents[2] / "examples/train_vlm.py"
# Width, height and frames.
VIDEOS = [(120, 80, 5), (80, 120, 8), (176, 76, 8), (120, 80, 12), (120, 80, 7), (80, 120, 3), (176, 76, 9), (120, 80, 12)]
# At most 12 tokens of 28 by 28 pixels.
CROP = SmartResize(28, min_pixels=4 * 28 * 28, max_pixels=12 * 28 * 28)


@pytest.fixture(scope="module")
def native(tmp_path_factory):
    """Clips of three sizes and six lengths at 8 frames a second."""
    root, sources = tmp_path_factory.mktemp("native"), {}
    with open(root / "list.jsonl", "w") as manifest:
        for i, (width, height, length) in enumerate(VIDEOS):
            sources[root / f"{i}.mp4"] = [f"gradients=size={width}x{height}:rate=8:duration={length / 8}:seed={i}:c0=orange:c1=navy"]
            manifest.write(json.dumps({"path": f"{i}.mp4", "label": i % 2, "caption": f"caption {i}"}) + "\n")
    make_videos(sources)
    vidrec.pack(root / "list.jsonl", root / "set", frames=vidrec.Fps(8))
    assert [len(clip) for clip in vidrec.open(root / "set")] == [length for *_, length in VIDEOS]
    return root / "set"


def smart_resize(height, width, factor, least, most):
    """``smart_resize`` of transformers (models/qwen2_vl/video_processing_qwen2_vl.py, Apache-2.0)."""
    h_bar, w_bar = round(height / factor) * factor, round(width / factor) * factor
    if h_bar * w_bar > most:
        beta = math.sqrt((height * width) / most)
        h_bar = max(factor, math.floor(height / beta / factor) * factor)
        w_bar = max(factor, math.floor(width / beta / factor) * factor)
    elif h_bar * w_bar < least:
        beta = math.sqrt(least / (height * width))
        h_bar, w_bar = math.ceil(height * beta / factor) * factor, math.ceil(width * beta / factor) * factor
    return h_bar, w_bar


def published(videos, *, resize, **options):
    """What the video processor of Qwen2-VL makes of frames (T, 3, H, W): patches and grids."""
    processor = pytest.importorskip("transformers").Qwen2VLImageProcessor(**options)
    lists = [[frame.permute(1, 2, 0).numpy() for frame in video] for video in videos]
    made = processor(images=None, videos=lists, do_resize=resize, return_tensors="pt")
    return made["pixel_values_videos"], made["video_grid_thw"]


def real(batch, b):
    """The frames of a sample, the last one twice if they are odd."""
    frames = batch.frames[b][~torch.isnan(batch.times[b])]
    return torch.cat([frames, frames[-1:]]) if len(frames) % 2 else frames


def plain_patches(video, patch, merge):
    """One value after another, by the words of the layout."""
    length, channels, height, width = video.shape
    found = []
    for t, top, left in itertools.product(range(0, length, 2), range(0, height, patch * merge), range(0, width, patch * merge)):
        for row, column in itertools.product(range(merge), repeat=2):
            y, x = top + row * patch, left + column * patch
            found.append([video[t + k, c, y : y + patch, x : x + patch].flatten() for c in range(channels) for k in range(2)])
    return torch.stack([torch.cat(values) for values in found])


@pytest.mark.parametrize("device", [None, pytest.param("cpu", marks=pytest.mark.full)])
def test_pictures_have_the_size_of_the_published_rule(native, device):
    if device:
        pytest.importorskip("warp")
    sizes = {}
    for batch in vidrec.Loader(native, 2, frames=AllFrames(), crop=CROP, device=device):
        assert all(params.window == (0, 0, *VIDEOS[clip][:2]) for params, clip in zip(batch.params, batch.clips)), "whole frames"
        sizes.update({int(clip): tuple(batch.frames.shape[-2:]) for clip in batch.clips})
    expected = [smart_resize(height, width, 28, CROP.min_pixels, CROP.max_pixels) for width, height, _ in VIDEOS]
    assert [sizes[i] for i in range(len(VIDEOS))] == expected and len(set(expected)) == 3


@pytest.mark.parametrize("by", ["layout", pytest.param("transformers", marks=pytest.mark.full)])
def test_patches_are_those_of_the_published_layout_and_processor(native, by):
    options = {"frames": AllFrames(), "crop": CROP, "batching": TokenBudget(72, patch=(2, 28, 28), buckets=[6, 12])}
    floats = vidrec.Loader(native, dtype="float32", normalize=vidrec.CLIP, **options)
    whole = vidrec.Loader(native, **options)
    seen = []
    for batch, stored in zip(floats, whole):
        patches, plain = vlm.patchify(batch), vlm.patchify(stored)
        videos = [real(stored, b) for b in range(len(stored))]
        exact = torch.cat([plain_patches(video, 14, 2) for video in videos])
        assert torch.equal(plain.pixel_values_videos, exact), "a layout, and nothing else"
        seen += stored.clips.tolist()
        if by == "layout":
            continue
        values, grids = published(videos, resize=False)
        assert torch.equal(patches.video_grid_thw, grids) and torch.equal(plain.video_grid_thw, grids)
        # Half a level, by which the loader's floats are finer than bytes.
        bound = 0.5 / 255 / min(vidrec.CLIP.std) + 1e-5
        assert (patches.pixel_values_videos - values).abs().max() <= bound
        assert (vlm.patchify(whole_floats(stored)).pixel_values_videos - values).abs().max() <= 1e-5
    assert sorted(seen) == list(range(len(VIDEOS)))


def whole_floats(batch):
    """A batch of bytes, normalized."""
    from vidrec.torch import normalize

    return batch._with(normalize(batch.frames, vidrec.CLIP), lambda tensor: tensor)


@pytest.mark.full
def test_resized_pictures_are_close_to_those_of_the_published_processor(native):
    ds = vidrec.open(native)
    for batch in vidrec.Loader(ds, 1, frames=AllFrames(), crop=CROP, dtype="float32", normalize=vidrec.CLIP):
        decoded = torch.from_numpy(ds[int(batch.clips[0])].frames()).permute(0, 3, 1, 2)
        decoded = torch.cat([decoded, decoded[-1:]]) if len(decoded) % 2 else decoded
        values, grids = published([decoded], resize=True, min_pixels=CROP.min_pixels, max_pixels=CROP.max_pixels)
        made = vlm.patchify(batch)
        assert torch.equal(made.video_grid_thw, grids)
        # The loader resizes with a triangle, the processor with a cubic filter: on smooth pictures, 1 level of 255 on average.
        levels = (made.pixel_values_videos - values).abs() * 255 * 0.27
        assert levels.mean() < 1 and levels.max() < 12, (levels.mean(), levels.max())


@pytest.mark.parametrize("ranks", [1, 2])
def test_samples_are_packed_to_a_budget_and_runs_resume_exactly(native, ranks):
    budget = 150

    def make(rank=0, of=ranks):
        batching = TokenBudget(budget, patch=(2, 28, 28), buckets=[4, 8, 12])
        loader = vidrec.Loader(native, frames=AllFrames(), crop=CROP, batching=batching, shuffle=True, rank=(rank, of), seed=1)
        return loader.map(lambda batch: (batch.clips.tolist(), vlm.patchify(batch)))

    loaders = [make(rank) for rank in range(ranks)]
    packs = [list(loader) for loader in loaders]
    assert sorted(clip for of_rank in packs for clips, _ in of_rank for clip in clips) == list(range(len(VIDEOS)))
    assert ranks > 1 or max(len(clips) for clips, _ in packs[0]) > 1
    for clips, patches in itertools.chain(*packs):
        tokens = patches.video_grid_thw.prod(1)
        assert patches.cu_seqlens.tolist() == [0, *tokens.cumsum(0).tolist()]
        assert len(patches.pixel_values_videos) == int(tokens.sum()) and patches.pixel_values_videos.shape[1] == 1176
        lengths = [math.ceil(VIDEOS[clip][2] / 2) for clip in clips]
        assert patches.video_grid_thw[:, 0].tolist() == lengths
        # With two ranks, the last clip of a bucket may have moved to a longer one.
        each = int(tokens[0]) // lengths[0]
        padded = [each * sum(bucket - length for length in lengths) for bucket in (2, 4, 6) if bucket >= max(lengths)]
        assert patches.padding in padded[: 3 if ranks > 1 else 1]
        assert int(tokens.sum()) + patches.padding <= 4 * budget
    for stop in range(len(packs[0])):
        begun = [make(rank) for rank in range(ranks)]
        before = [clips for loader in begun for clips, _ in itertools.islice(loader, stop)]
        rest = make(0, 1)
        rest.load_state_dict(begun[0].state_dict())
        assert sorted(sum(before + [clips for clips, _ in rest], [])) == list(range(len(VIDEOS)))


def test_batches_of_different_sizes_make_one_sequence(native):
    loader = vidrec.Loader(native, frames=AllFrames(), crop=CROP, batching=TokenBudget(72, patch=(2, 28, 28), buckets=[6, 12]))
    batches = list(loader)
    assert len({tuple(batch.frames.shape[-2:]) for batch in batches}) == 3
    together, parts = vlm.patchify(batches), [vlm.patchify(batch) for batch in batches]
    ends = together.cu_seqlens.tolist()
    assert len(ends) == len(VIDEOS) + 1 and together.cu_seqlens.dtype == torch.int32
    samples = [(part, b) for part in parts for b in range(len(part.video_grid_thw))]
    assert ends[0] == 0 and ends[-1] == len(together.pixel_values_videos)
    for start, end, grid, (part, b) in zip(ends, ends[1:], together.video_grid_thw, samples):
        alone = part.pixel_values_videos[part.cu_seqlens[b] : part.cu_seqlens[b + 1]]
        assert torch.equal(together.pixel_values_videos[start:end], alone) and torch.equal(grid, part.video_grid_thw[b])
    assert together.padding == sum(part.padding for part in parts) > 0
    assert torch.equal(together.second_per_grid_ts, torch.cat([part.second_per_grid_ts for part in parts]))
    with pytest.raises(vidrec.UsageError, match="found none"):
        vlm.patchify([])


def test_frames_that_do_not_fill_patches_are_refused(native):
    with pytest.raises(vidrec.UsageError, match=r"multiples of 28.*\(1, 5, 3, 72, 96\)"):
        vlm.patchify(vidrec.Loader(native, 1, frames=AllFrames(), crop=(72, 96)).batch(0, 0))
    with pytest.raises(vidrec.UsageError, match=r"shape \(B, T, C, H, W\)"):
        vlm.patchify(vidrec.Loader(native, 1, frames=AllFrames(), crop=56, layout="BCTHW").batch(0, 0))


def test_metadata_says_when_frames_are(native):
    batch = vidrec.Loader(native, 8, frames=AllFrames(fps=2), crop=56).batch(0, 0)
    assert [each["total_num_frames"] for each in vlm.video_metadata(batch)] == [math.ceil(n / 4) for *_, n in VIDEOS]
    for told, frames in zip(vlm.video_metadata(batch), (~batch.times.isnan()).sum(1).tolist()):
        assert told["frames_indices"] == list(range(frames)) and (told["width"], told["height"]) == (56, 56)
        assert told["fps"] == (2 if frames > 1 else 1)
    uneven = vidrec.Loader(native, 8, frames=vidrec.Random(3), crop=56, seed=2).batch(0, 0)
    for told, times in zip(vlm.video_metadata(uneven), uneven.times.numpy()):
        found = np.array(told["frames_indices"]) / told["fps"]
        np.testing.assert_allclose(found, times - times[0], rtol=0, atol=max(5e-4, 0.1 / told["fps"]))
        # What Qwen2.5-VL's processor makes its seconds of.
        rate = len(found) / told["total_num_frames"] * told["fps"]
        np.testing.assert_allclose(rate, 2 / (times[-1] - times[0]), rtol=2e-3)
    # Of samples that begin anywhere in the video.
    for frames in (vidrec.Run(3, stride=2), vidrec.Run(2, runs=2)):
        later = vidrec.Loader(native, 8, frames=frames, crop=56, seed=2).batch(0, 0)
        for told, relative, times in zip(vlm.video_metadata(later, absolute=True), vlm.video_metadata(later), later.times.numpy()):
            found = np.array(told["frames_indices"]) / told["fps"]
            np.testing.assert_allclose(found, times, rtol=0, atol=max(5e-4, 0.1 / told["fps"]))
            assert told["duration"] == relative["duration"] and relative["frames_indices"][0] == 0
        assert later.times[:, 0].max() > 0
    patches = vlm.patchify(batch)
    assert patches.second_per_grid_ts.tolist() == [1.0 if n > 4 else 2.0 for *_, n in VIDEOS]


@pytest.mark.full
@pytest.mark.filterwarnings("ignore")
def test_the_example_trains_two_steps_and_resumes(native, tmp_path):
    pytest.importorskip("transformers")

    def run(*arguments):
        command = [sys.executable, EXAMPLE, native, "--output", tmp_path / "run", *arguments]
        told = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        assert told.returncode == 0, told.stderr
        return [json.loads(line) for line in told.stdout.splitlines() if line.startswith('{"step"')]

    first = run("--steps", 2)
    assert [step["step"] for step in first] == [1, 2]
    rest = run("--steps", 4, "--resume")
    assert [step["step"] for step in rest] == [3, 4]
    clips = sum((step["clips"] for step in first + rest), [])
    assert len(clips) == len(set(clips)) and all(math.isfinite(step["loss"]) for step in first + rest)
