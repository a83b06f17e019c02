"""Batches made on a device: the kernels, run by a processor, give what the loader gives, whatever its options."""
import io
import json
import os
import random
import re
import time
import warnings

import pytest
from PIL import Image
from programs import program

import vidrec

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.full
# "cuda" runs the kernels on a GPU.
DEVICE = os.environ.get("VIDREC_DEVICE", "cpu")


# One value of each: what the processor's pass does in another way, or what decides which frames there are.
CHOICES = {
    "crop": [
        40,
        vidrec.CenterCrop((24, 36)),
        vidrec.RandomCrop(33),
        vidrec.RandomResizedCrop(29),
        vidrec.RandomResizedCrop((12, 18)),
        vidrec.MultiScaleCrop(27),
        vidrec.ThreeCrop(24),
        vidrec.Cover(20),
    ],
    "reducing_gap": [1.125, 1.0],
    "flip": [0.0, 0.5],
    "color": [None, vidrec.ColorJitter(brightness=0.4, contrast=0.4, saturation=0.4), vidrec.ColorJitter(grayscale=1.0)],
    "channels": ["rgb", "gray", "ycbcr"],
    "dtype": ["uint8", "float32", "float16", "bfloat16"],
    "layout": ["BTCHW", "BCTHW", "BTHWC", "channels_last_3d"],
    "frames": [
        4,
        vidrec.Random(3),
        vidrec.Windows(2, stride=2),
        vidrec.Windows([-4, 0, 3], pad="edge"),
        vidrec.Windows([-2, -1, 0], stride=4, hop=2, pad="zero"),
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
# Without a cache, with room for some of the JPEGs, and with room for all.
CACHES = [None, "40kB", "50MB"]


@pytest.fixture(scope="module", autouse=True)
def wp():
    """Kernels check the bounds of every array, and end the process where one is left."""
    warp = pytest.importorskip("warp")
    warp.config.mode = "debug"
    return warp


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
    bits = frames.contiguous().view(torch.uint8 if frames.dtype == torch.uint8 else torch.int16).cpu().numpy().tobytes()
    known = [bits, frames.dtype, tuple(frames.shape), frames.stride(), repr(batch.params), batch.number, batch.epoch]
    known += [batch.labels.tolist(), batch.clips.tolist(), batch.mask.tolist(), batch.frame_mask.tolist()]
    known += [repr(batch.times.tolist()), repr(batch.fields), repr({n: t.tolist() for n, t in batch.tracks.items()})]
    known += [None if batch.camera_mask is None else batch.camera_mask.tolist(), batch.source_names]
    return known


def plain_memory(length):
    """Memory of Python instead of pinned memory, which needs a GPU."""
    memory = torch.full((length,), 255, dtype=torch.uint8)
    return memory.data_ptr(), length, memory


def test_a_device_makes_the_batches_of_the_processor_whatever_the_options(rig, monkeypatch):
    from vidrec._device.maker import Maker

    made, refused = 0, 0
    for seed in range(80):
        options = pairs(seed)
        if DEVICE == "cpu":
            monkeypatch.setattr(Maker, "allocator", lambda maker, own=seed % 2: None if own else plain_memory)
        try:
            expected = loaders(rig, options)
        except vidrec.UsageError as e:
            # What cannot be combined without a device cannot be with one.
            with pytest.raises(vidrec.UsageError, match=re.escape(str(e)[:60])):
                loaders(rig, options, device=DEVICE)
            refused += 1
            continue
        device = loaders(rig, options, device=DEVICE, device_cache=CACHES[seed % 3])
        for _ in range(2):
            for found, wanted in zip(device, expected):
                assert facts(found) == facts(wanted), (seed, options)
                made += 1
        assert device.state_dict() == expected.state_dict()
    assert made > 150 and refused < 60, (made, refused)


def test_without_pinned_memory_there_is_an_error_that_says_what_to_do(ds, monkeypatch):
    from vidrec._device.maker import Maker

    def none_left(length):
        raise RuntimeError("CUDA error: out of memory")

    monkeypatch.setattr(Maker, "allocator", lambda maker: none_left)
    with pytest.raises(vidrec.Error, match="(?s)pinned memory.*CUDA error: out of memory.*smaller batches"):
        next(iter(vidrec.Loader(ds, 4, crop=24, device=DEVICE)))


def test_a_device_without_memory_is_an_error_that_says_what_to_do(ds):
    with pytest.raises(vidrec.UsageError, match="device_cache: cpu has no room for 1000000000000000 bytes; give less"):
        vidrec.Loader(ds, 4, crop=24, device="cpu", device_cache=10**15)


def folder_of_frames(tmp_path, jpegs):
    (tmp_path / "frames/clip").mkdir(parents=True)
    for i, jpeg in enumerate(jpegs):
        (tmp_path / f"frames/clip/{i:03}.jpg").write_bytes(jpeg)
    command = ["import", "frames", tmp_path / "frames", "-o", tmp_path / "set", "--fps", "10"]
    program(*command)
    return vidrec.open(tmp_path / "set")


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


def changed(jpeg, draw):
    """A JPEG with other bytes in its tables or tiles, or with tiles that are swapped, doubled, cut or left out."""
    how, start = draw.choice(["bytes", "bytes", "tables", "swap", "double", "cut", "leave out"]), entropy_coded(jpeg)
    if how in ("bytes", "tables"):
        damaged = bytearray(jpeg)
        for _ in range(draw.choice([1, 1, 1, 3, 30])):
            place = draw.randrange(start, len(jpeg) - 2) if how == "bytes" else draw.randrange(2, start)
            damaged[place] = draw.choice([0, 255, draw.randrange(256)])
        return bytes(damaged)
    # Tiles with the markers between them.
    parts = re.split(rb"(\xff[\xd0-\xd7])", jpeg[start:-2])
    i, j = (2 * draw.randrange((len(parts) + 1) // 2) for _ in range(2))
    if how == "swap":
        parts[i], parts[j] = parts[j], parts[i]
    elif how == "leave out":
        del parts[i : i + 2]
    else:
        parts[i] = 2 * parts[i] if how == "double" else parts[i][: len(parts[i]) // 2]
    return jpeg[:start] + b"".join(parts) + b"\xff\xd9"


# More for a soak: each takes 0.1 s.
TRIALS = int(os.environ.get("VIDREC_DEVICE_TRIALS", 40))


def test_damaged_tiles_have_the_verdict_of_the_processor(ds, tmp_path):
    jpegs = [ds[i].jpeg(t) for i in range(3) for t in range(8)]
    draw, kinds = random.Random(5), []
    for trial in range(TRIALS):
        (tmp_path / str(trial)).mkdir()
        try:
            dataset = folder_of_frames(tmp_path / str(trial), [changed(draw.choice(jpegs), draw)])
        except AssertionError:
            continue
        options = {"frames": 1, "crop": vidrec.CenterCrop(draw.choice([72, (8, 12), 36])), "reducing_gap": 1.0}
        found, wanted = (outcome(vidrec.Loader(dataset, 1, **options, **more)) for more in ({"device": DEVICE}, {}))
        assert found == wanted, trial
        kinds.append(isinstance(wanted, list))
    assert 0 < sum(kinds) < len(kinds), "both verdicts occur"


def test_a_batch_that_a_device_declines_is_not_forgotten_while_the_next_one_is_made(ds, tmp_path):
    jpegs = [ds[0].jpeg(t) for t in range(6)]
    start = entropy_coded(jpegs[1])
    # Without its first marker, the second frame has other tiles.
    jpegs[1] = jpegs[1][:start] + re.sub(rb"\xff[\xd0-\xd7]", b"", jpegs[1][start:], count=1)
    dataset = folder_of_frames(tmp_path, jpegs)
    for ahead in range(3):
        options = {"frames": vidrec.Windows(1), "crop": vidrec.CenterCrop(36), "prefetch": 1 + ahead}
        found, wanted = ([], [])
        for loader, to in ((vidrec.Loader(dataset, 1, device=DEVICE, **options), found), (vidrec.Loader(dataset, 1, **options), wanted)):
            batches = iter(loader)
            for _ in range(6):
                try:
                    to.append(facts(next(batches)))
                except vidrec.Error as e:
                    to.append(str(e))
                time.sleep(0.05)
        assert found == wanted and any(isinstance(each, str) for each in wanted)


def noise(**options):
    """A JPEG as Pillow writes it."""
    to = io.BytesIO()
    Image.effect_noise((64, 48), 80).convert("RGB").save(to, "JPEG", **options)
    return to.getvalue()


def test_what_only_a_processor_decodes_comes_from_it(rig, tmp_path):
    """Of a mix of JPEGs with tiles and without, a device makes those with tiles, and the processor the others."""
    jpegs = [noise(quality=90), noise(quality=90, subsampling=0), noise(quality=80, progressive=True)]
    imported = folder_of_frames(tmp_path, jpegs)
    mixed = vidrec.mix({"tiled": (rig, 0.75), "imported": (imported, 0.25)}, samples_per_epoch=8)
    options = {"batch_size": 4, "frames": 3, "crop": vidrec.RandomResizedCrop(24), "dtype": "float32", "seed": 2}
    for layout in ("BTCHW", "channels_last_3d"):
        device = vidrec.Loader(mixed, device=DEVICE, device_cache="1MB", layout=layout, **options)
        with pytest.warns(vidrec.LoaderWarning, match="'vidrec import --retile' adds tiles"):
            found = [facts(batch) for batch in device]
        assert found == [facts(batch) for batch in vidrec.Loader(mixed, layout=layout, **options)]
        with warnings.catch_warnings(record=True) as told:
            assert len(list(device)) == 2
        assert told == [], "once"
        stats = device.stats()
        imported_clips = sum(count_of(mixed, epoch, "imported", options) for epoch in range(2))
        assert (stats.batches, stats.device_declined, stats.frames) == (4, 3 * imported_clips, 4 * 12)
        assert 2 <= imported_clips <= 6


def count_of(mixed, epoch, source, options):
    loader = vidrec.Loader(mixed, **options)
    loader.set_epoch(epoch)
    return sum(batch.source_names.count(source) for batch in loader)


def test_a_device_reads_each_jpeg_once_if_it_keeps_it(ds):
    options = {"frames": 8, "crop": vidrec.RandomResizedCrop(24), "shuffle": True}
    loader = vidrec.Loader(ds, 4, device=DEVICE, device_cache="10MB", **options)
    # A loop that is left keeps what it used, and not what was made ahead.
    assert facts(next(iter(loader))) == epoch_of(ds, options, 0)[0]
    loader.set_epoch(0)
    read = []
    for epoch in range(4):
        assert [facts(batch)[:3] for batch in loader] == [known[:3] for known in epoch_of(ds, options, epoch)]
        read.append(loader.stats().bytes)
    all_bytes = sum(len(ds[i].jpeg(t)) for i in range(len(ds)) for t in range(8))
    assert loader.stats().device_kept_bytes >= all_bytes
    # The loop that was left may have read all of them, but kept only what it used.
    assert all_bytes < read[0] <= 2 * all_bytes and read[0] == read[1] == read[2] == read[3]
    small = vidrec.Loader(ds, 4, device=DEVICE, device_cache=all_bytes // 2, **options)
    for epoch in range(3):
        assert [facts(batch)[:3] for batch in small] == [known[:3] for known in epoch_of(ds, options, epoch)]
    assert small.stats().device_kept_bytes <= all_bytes // 2
    # All of them, and twice those for which there was no room.
    assert 2 * all_bytes <= small.stats().bytes < 2.3 * all_bytes


def epoch_of(ds, options, epoch):
    loader = vidrec.Loader(ds, 4, **options)
    loader.set_epoch(epoch)
    return [facts(batch) for batch in loader]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"device": "tpu"}, "expected 'cuda', 'cuda:1' or 'cpu', found 'tpu'"),
        ({"device": "meta"}, "expected 'cuda', 'cuda:1' or 'cpu', found 'meta'"),
        ({"device": "cpu", "output": "numpy"}, "leave out output"),
        ({"device": "cpu", "decoded_cache": "1MB"}, "choose one of decoded_cache and device"),
        ({"device_cache": "1MB"}, "give device='cuda', too"),
        ({"device": "cpu", "device_cache": "much"}, "expected bytes such as '20GB', found 'much'"),
        ({"device": "cpu", "device_cache": -1}, "device_cache: expected bytes"),
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


def test_the_kernels_compile_for_gpus_without_fused_operations(wp, tmp_path, monkeypatch):
    from vidrec._device import codes, jpeg_cache, lines, markers, pictures, tiles, weights

    modules = (jpeg_cache, codes, markers, tiles, weights, lines, pictures)

    monkeypatch.setattr(wp.config, "mode", "release")
    for arch in (75, 90, 120):
        for module in modules:
            to = tmp_path / str(arch)
            wp.compile_aot_module(module, device=None, arch=arch, module_dir=str(to), use_ptx=True)
        texts = [file.read_text() for file in to.glob("*.ptx")]
        assert len(texts) == len(modules)
        assert not any(re.search(r"\bfma\.|\bmad\.[a-z.]*f32", text) for text in texts), arch


def test_the_program_measures_a_device(train):
    command = ["bench", train, "batch_size=4", "crop=24", f"device={DEVICE}", "device_cache=1MB", "--seconds", "0", "--json"]
    report = json.loads(program(*command).stdout)
    assert report["device"].startswith(DEVICE) and report["shape"] == [4, 8, 3, 24, 24]
    assert report["frames_per_second"] > 0 and report["stats"]["device_kept_bytes"] > 0
