"""Batches made on a device: the kernels, run by a processor, give what the loader gives, whatever its options."""
import json
import random
import re
import subprocess
import warnings

import pytest

import vidrec

torch = pytest.importorskip("torch")
wp = pytest.importorskip("warp")
# Kernels check the bounds of every array, and end the process where one is left.
wp.config.mode = "debug"


@pytest.fixture(scope="module")
def rig(videos, tmp_path_factory):
    """The twelve videos as six episodes of two cameras, of other lengths, with a track."""
    root = tmp_path_factory.mktemp("rig")
    rows = ["path,camera,episode,end,action"]
    for i, video in enumerate(sorted(videos.glob("*/*.mp4"))):
        values = json.dumps([[k, i] for k in range(12)]).replace('"', '""')
        rows.append(f'{video},{"front" if i % 2 else "wrist"},{i // 2},{0.5 + i // 2 % 3 / 4},"{values}"')
    (root / "list.csv").write_text("\n".join(rows))
    report = vidrec.pack(root / "list.csv", root / "rig", frames="all", size=(48, 64), track=["action=action,rate=12"])
    assert report.clips == 12
    return vidrec.open(root / "rig")


# One value of each: what the processor's pass does in another way, or what decides which frames there are.
CHOICES = {
    "crop": [
        40,
        vidrec.CenterCrop((24, 36)),
        vidrec.RandomCrop(33),
        vidrec.RandomResizedCrop(29),
        vidrec.RandomResizedCrop((12, 18), reducing_gap=1.0),
        vidrec.MultiScaleCrop(27),
        vidrec.ThreeCrop(24),
        vidrec.Cover(20),
    ],
    "flip": [0.0, 0.5],
    "color": [None, vidrec.ColorJitter(brightness=0.4, contrast=0.4, saturation=0.4), vidrec.ColorJitter(grayscale=1.0)],
    "channels": ["rgb", "gray", "ycbcr"],
    "dtype": ["uint8", "float32", "float16", "bfloat16"],
    "layout": ["BTCHW", "BCTHW", "BTHWC", "channels_last_3d"],
    "frames": [
        4,
        vidrec.Random(3),
        vidrec.Windows(2, stride=2),
        vidrec.Windows(3, stride=4, past=1, pad="edge"),
        vidrec.Windows(3, stride=4, hop=2, past=2, pad="zero"),
        vidrec.Views(2, count=3),
        vidrec.AllFrames(),
    ],
    "batching": [None, vidrec.Buckets([4, 8, 12, 24]), vidrec.FrameBudget(30)],
    "cameras": [None, vidrec.Cameras(["front", "wrist"]), vidrec.Cameras(["wrist", "front"], crop="own")],
    "tracks": [None, {"action": vidrec.track()}],
    "fields": [(), ("episode",)],
    "rank": [(0, 1), (1, 2)],
    "last": ["keep", "drop", "wrap", "pad"],
    "shuffle": [False, True],
    "source": ["set", "mix"],
    "threads": [1, 2],
}


def pairs(seed):
    """Options so that each two values of two different options are tried together as often as chance wants."""
    draw = random.Random(seed)
    return {name: draw.choice(values) for name, values in CHOICES.items()}


def loaders(rig, options, **more):
    options = dict(options)
    source = options.pop("source")
    dataset = rig if source == "set" else vidrec.mix({"a": (rig[:6], 0.6), "b": (rig[6:], 0.4)}, samples_per_epoch=8)
    return vidrec.Loader(dataset, 3, seed=4, **options, **more)


def facts(batch):
    """All that a batch has, as bytes and numbers."""
    frames = batch.frames
    bits = frames.contiguous().view(torch.uint8 if frames.dtype == torch.uint8 else torch.int16).numpy().tobytes()
    known = [bits, frames.dtype, tuple(frames.shape), frames.stride(), repr(batch.params), batch.number, batch.epoch]
    known += [batch.labels.tolist(), batch.clips.tolist(), batch.mask.tolist(), batch.frame_mask.tolist()]
    known += [repr(batch.times.tolist()), repr(batch.fields), repr({n: t.tolist() for n, t in batch.tracks.items()})]
    known += [None if batch.camera_mask is None else batch.camera_mask.tolist(), batch.source_names]
    return known


def test_a_device_makes_the_batches_of_the_processor_whatever_the_options(rig):
    made, refused = 0, 0
    for seed in range(80):
        options = pairs(seed)
        try:
            expected = loaders(rig, options)
        except vidrec.UsageError as e:
            # What cannot be combined without a device cannot be with one.
            with pytest.raises(vidrec.UsageError, match=re.escape(str(e)[:60])):
                loaders(rig, options, device="cpu")
            refused += 1
            continue
        device = loaders(rig, options, device="cpu")
        for _ in range(2):
            for found, wanted in zip(device, expected):
                assert facts(found) == facts(wanted), (seed, options)
                made += 1
        assert device.state_dict() == expected.state_dict()
    assert made > 150 and refused < 60, (made, refused)


def test_a_run_moves_between_processor_and_device(rig):
    options = {"frames": 4, "crop": vidrec.RandomResizedCrop(24), "shuffle": True, "flip": 0.5}
    whole = [facts(batch) for batch in vidrec.Loader(rig, 2, **options)]
    first = vidrec.Loader(rig, 2, device="cpu", **options)
    batches = iter(first)
    begun = [facts(next(batches)) for _ in range(2)]
    state = first.state_dict()
    rest = vidrec.Loader(rig, 2, **options)
    rest.load_state_dict(state)
    back = vidrec.Loader(rig, 2, device="cpu", **options)
    back.load_state_dict(state)
    assert begun == whole[:2]
    resumed = [facts(batch) for batch in rest]
    assert resumed == [facts(batch) for batch in back]
    assert [known[0] for known in resumed] == [known[0] for known in whole[2:]]
    assert facts(first.batch(0, 3)) == whole[3]


def folder_of_frames(tmp_path, jpegs):
    (tmp_path / "frames/clip").mkdir(parents=True)
    for i, jpeg in enumerate(jpegs):
        (tmp_path / f"frames/clip/{i:03}.jpg").write_bytes(jpeg)
    command = ["import", "frames", tmp_path / "frames", "-o", tmp_path / "set", "--fps", "10"]
    subprocess.run([vidrec_program(), *command], check=True, capture_output=True)
    return vidrec.open(tmp_path / "set")


def vidrec_program():
    import sys
    from pathlib import Path

    return Path(sys.executable).parent / "vidrec"


def entropy_coded(jpeg):
    """Where the data of the tiles begins."""
    at = jpeg.index(b"\xff\xda")
    return at + 2 + int.from_bytes(jpeg[at + 2 : at + 4], "big")


def outcome(loader):
    try:
        (batch,) = loader
    except vidrec.Error as e:
        return type(e), str(e)
    return facts(batch)


def test_damaged_tiles_have_the_verdict_of_the_processor(ds, tmp_path):
    jpegs = [ds[i].jpeg(t) for i in range(3) for t in range(8)]
    draw, kinds = random.Random(5), set()
    for trial in range(40):
        jpeg = bytearray(draw.choice(jpegs))
        start = entropy_coded(bytes(jpeg))
        for _ in range(draw.choice([1, 1, 1, 3, 30])):
            jpeg[draw.randrange(start, len(jpeg) - 2)] = draw.choice([0, 255, draw.randrange(256)])
        (tmp_path / str(trial)).mkdir()
        try:
            dataset = folder_of_frames(tmp_path / str(trial), [bytes(jpeg)])
        except subprocess.CalledProcessError:
            continue
        options = {"frames": 1, "crop": vidrec.CenterCrop(draw.choice([72, (8, 12), 36]), reducing_gap=1.0)}
        found, wanted = (outcome(vidrec.Loader(dataset, 1, **options, **more)) for more in ({"device": "cpu"}, {}))
        assert found == wanted, trial
        kinds.add(isinstance(wanted, list))
    assert kinds, "nothing could be imported"


def test_what_only_a_processor_decodes_comes_from_it(tmp_path):
    import io

    from PIL import Image

    picture = Image.effect_noise((64, 48), 80).convert("RGB")
    jpegs = []
    for options in ({"quality": 90}, {"quality": 90, "subsampling": 0}, {"quality": 80, "progressive": True}):
        to = io.BytesIO()
        picture.save(to, "JPEG", **options)
        jpegs.append(to.getvalue())
    dataset = folder_of_frames(tmp_path, jpegs)
    options = {"frames": 3, "crop": 24, "dtype": "float32"}
    device = vidrec.Loader(dataset, 1, device="cpu", **options)
    with pytest.warns(vidrec.LoaderWarning, match="'vidrec retile' adds tiles"):
        (found,) = device
    (wanted,) = vidrec.Loader(dataset, 1, **options)
    assert facts(found) == facts(wanted)
    with warnings.catch_warnings(record=True) as told:
        assert len(list(device)) == 1
    assert told == [], "once"


def test_a_damaged_frame_is_an_error_or_substituted_as_ever(damaged):
    for on_bad_frame in ("error", "substitute"):
        outcomes = []
        for more in ({}, {"device": "cpu"}):
            loader = vidrec.Loader(damaged, 3, crop=32, on_bad_frame=on_bad_frame, **more)
            batches, found = iter(loader), []
            for _ in range(4):
                try:
                    found.append(facts(next(batches)))
                except vidrec.Error as e:
                    found.append(str(e))
            outcomes.append(found)
        assert outcomes[0] == outcomes[1]
        assert any(isinstance(found, str) for found in outcomes[0]) == (on_bad_frame == "error")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"device": "tpu"}, "expected 'cuda', 'cuda:1' or 'cpu', found 'tpu'"),
        ({"device": "meta"}, "expected 'cuda', 'cuda:1' or 'cpu', found 'meta'"),
        ({"device": "cpu", "output": "numpy"}, "leave out output"),
        ({"device": "cpu", "output": "jpeg"}, "leave out output"),
        ({"device": "cpu", "decoded_cache": "1MB"}, "choose one of decoded_cache and device"),
        ({"device": "cpu", "pin_memory": True}, "not in the memory of the host"),
    ],
)
def test_what_does_not_go_together_is_refused(ds, options, words):
    with pytest.raises(vidrec.UsageError, match=re.escape(words)):
        vidrec.Loader(ds, **options)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_the_error_says_so(ds):
    with pytest.raises(vidrec.UsageError, match="torch finds no GPU for 'cuda'"):
        vidrec.Loader(ds, device="cuda")


def test_the_kernels_compile_for_gpus_without_fused_operations(tmp_path, monkeypatch):
    from vidrec._device import pictures, tiles

    monkeypatch.setattr(wp.config, "mode", "release")
    for arch in (75, 90, 120):
        for module in (tiles, pictures):
            to = tmp_path / str(arch)
            wp.compile_aot_module(module, device=None, arch=arch, module_dir=str(to), use_ptx=True, strip_hash=True)
        texts = [file.read_text() for file in to.glob("*.ptx")]
        assert len(texts) == 2
        assert not any(re.search(r"\bfma\.|\bmad\.[a-z.]*f32", text) for text in texts), arch
