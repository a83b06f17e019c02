"""With torch: tensors, its DataLoader, its distributed processes."""
import gc
import pickle
import warnings

import numpy as np
import pytest

import vidrec

torch = pytest.importorskip("torch")
from torch.utils.data import DataLoader  # noqa: E402

from vidrec.torch import IterableDataset, MapDataset  # noqa: E402


def make(ds, batch_size=4, **options):
    return vidrec.Loader(ds, batch_size, **{"crop": 64, "threads": 2, **options})


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float16, torch.bfloat16, torch.float32])
def test_batches_are_tensors_without_a_copy(ds, dtype):
    batch = make(ds, dtype=dtype).batch(0, 0)
    plain = make(ds, dtype=dtype, output="numpy").batch(0, 0)
    assert batch.frames.dtype == dtype and batch.frames.is_contiguous()
    stored = batch.frames.view(torch.int16) if dtype == torch.bfloat16 else batch.frames
    assert np.array_equal(stored.numpy().view(plain.frames.dtype), plain.frames)
    assert (batch.labels.dtype, batch.mask.dtype, batch.clips.dtype) == (torch.int64, torch.bool, torch.int64)
    assert batch.labels.tolist() == plain.labels.tolist()


def test_a_held_tensor_keeps_its_memory_and_a_dropped_one_gives_it_back(ds):
    loader = make(ds, crop=32, batch_size=2, prefetch=2, order=list(range(12)) * 10)
    batches = iter(loader)
    part = next(batches).frames[1:, ::2]
    expected, address = part.clone(), part.data_ptr() - part.storage_offset()
    gc.collect()
    addresses = [batch.frames.data_ptr() for batch in batches]
    assert torch.equal(part, expected) and address not in addresses
    assert len(addresses) == 59 and len(set(addresses)) <= 4


def test_channels_last_3d(ds):
    batch = make(ds, layout="channels_last_3d", dtype="float32").batch(0, 0)
    assert batch.frames.is_contiguous(memory_format=torch.channels_last_3d)
    assert torch.equal(batch.frames, make(ds, layout="BCTHW", dtype="float32").batch(0, 0).frames)
    torch.nn.Conv3d(3, 2, 3)(batch.frames).sum().backward()


@pytest.mark.parametrize("last_3d", [False, True])
def test_memory_of_ones_own_may_be_tensors(ds, last_3d):
    out = [torch.zeros(4, 3, 8, 64, 64, dtype=torch.bfloat16) for _ in range(2)]
    if last_3d:
        out = [tensor.contiguous(memory_format=torch.channels_last_3d) for tensor in out]
    options = dict(layout="channels_last_3d" if last_3d else "BCTHW", dtype="bfloat16")
    for batch in make(ds, output=out, **options):
        assert batch.frames is out[batch.number % 2]
        assert torch.equal(batch.frames, make(ds, **options).batch(0, batch.number).frames)
    for bad in (out[0].float(), out[0][:, :, ::2], out[0].to("meta")):
        with pytest.raises(vidrec.UsageError, match="output"):
            iter(make(ds, output=bad, **options))


def test_pinned_batches_are_made_in_tensors_of_torchs_allocator(ds, monkeypatch):
    """Without a device nothing can be pinned: then plain tensors stand in for pinned ones."""
    from vidrec import _memory

    made = []

    def allocate(shape, dtype):
        made.append(torch.zeros(tuple(shape), dtype=getattr(torch, dtype)))
        return made[-1]

    monkeypatch.setattr(_memory, "pinned_allocator", lambda: allocate)
    batches = list(make(ds, pin_memory=True, prefetch=2, shuffle=True))
    assert [batch.frames.data_ptr() for batch in batches] == [tensor.data_ptr() for tensor in made[:3]]
    assert all(torch.equal(b.frames, make(ds, shuffle=True).batch(0, b.number).frames) for b in batches)
    last = dict(layout="channels_last_3d")
    batch = next(iter(make(ds, pin_memory=True, **last)))
    assert torch.equal(batch.frames, make(ds, **last).batch(0, 0).frames)


@pytest.mark.skipif(torch.cuda.is_available(), reason="another machine: there is a device")
def test_pin_memory_without_a_device_warns_and_goes_on(ds):
    with pytest.warns(UserWarning, match="not pinned"):
        assert len(list(make(ds, pin_memory=True))) == 3
    with pytest.raises(vidrec.UsageError, match="pin_memory: it needs output"):
        make(ds, pin_memory=True, output="numpy")


def test_to_moves_all_and_changes_the_type_of_the_frames_alone(ds):
    batch = make(ds).batch(0, 0)
    half = batch.to(torch.float16)
    assert (half.frames.dtype, half.labels.dtype, half.mask.dtype) == (torch.float16, torch.int64, torch.bool)
    there = batch.to("meta")
    assert {t.device.type for t in (there.frames, there.labels, there.clips, there.mask)} == {"meta"}
    assert there.params == batch.params


def key(batch):
    return batch.clips.tolist(), batch.labels.tolist(), batch.frames.sum().item()


def workers(method, count, **options):
    # Workers of torch pass tensors through shared memory, whatever the way in which they are started.
    return dict(num_workers=count, multiprocessing_context=method if count else None, **options)


@pytest.mark.parametrize("method, count", [("fork", 0), ("fork", 2), ("spawn", 1)])
def test_a_dataloader_gives_the_loaders_batches_in_its_order(ds, method, count):
    loader = make(ds, crop=32, batch_size=2, shuffle=True, flip=0.5)
    batches = IterableDataset(make(ds, crop=32, batch_size=2, shuffle=True, flip=0.5, threads=1))
    assert len(batches) == 6
    for epoch in (0, 3) if method == "fork" else (3,):
        loader.set_epoch(epoch)
        batches.set_epoch(epoch)
        found = DataLoader(batches, batch_size=None, **workers(method, count))
        assert [key(batch) for batch in found] == [key(batch) for batch in loader]


def test_a_loader_in_a_dataloader_says_what_to_do(ds):
    with pytest.raises(vidrec.UsageError, match="needs no DataLoader.*vidrec.torch.IterableDataset"):
        next(iter(DataLoader(make(ds))))


def test_workers_that_stay_alive_hear_of_the_epoch(ds):
    batches = IterableDataset(make(ds, crop=32, batch_size=2, shuffle=True, threads=1))
    found = DataLoader(batches, batch_size=None, **workers("fork", 2, persistent_workers=True))
    for epoch in (0, 5, 1):
        batches.set_epoch(epoch)
        loader = make(ds, crop=32, batch_size=2, shuffle=True)
        loader.set_epoch(epoch)
        assert [key(batch) for batch in found] == [key(batch) for batch in loader]


def test_a_workers_part_goes_on_from_its_state(ds):
    batches = IterableDataset(make(ds, crop=32, batch_size=2, shuffle=True))
    part = iter(batches)
    whole = [key(batch) for batch in batches]
    assert [key(next(part)) for _ in range(2)] == whole[:2]
    other = iter(batches)
    other.load_state_dict(pickle.loads(pickle.dumps(part.state_dict())))
    assert [key(batch) for batch in other] == whole[2:]


def same(a, b):
    """Whether two samples are the same, bit for bit."""
    return a.keys() == b.keys() and all(torch.equal(torch.as_tensor(a[key]), torch.as_tensor(b[key])) for key in a)


@pytest.mark.parametrize("method, count", [("fork", 0), ("fork", 2), ("spawn", 1)])
def test_single_samples_are_those_of_the_loader(ds, method, count):
    options = dict(crop=vidrec.RandomResizedCrop(32), flip=0.5, seed=3)
    samples = MapDataset(ds, **options)
    assert len(samples) == 12
    if method == "fork":
        samples[0]  # in use before the workers start
    samples.set_epoch(2)
    found = list(DataLoader(samples, batch_size=5, sampler=[7, 1, 0, 11, 3, 4], **workers(method, count)))
    frames, masks = (torch.cat([batch[key] for batch in found]) for key in ("frames", "frame_mask"))
    expected = make(ds, batch_size=12, **options).batch(2, 0).frames
    assert torch.cat([batch["label"] for batch in found]).tolist() == [1, 0, 0, 1, 0, 0]
    assert torch.equal(frames, expected[[7, 1, 0, 11, 3, 4]]) and masks.all() and masks.shape == (6, 8)


def test_samples_of_a_batch_do_not_depend_on_each_other(ds):
    samples = MapDataset(ds, crop=vidrec.RandomResizedCrop(32), flip=0.5, frames=vidrec.Random(3))
    found = samples.__getitems__([7, -1, 7, 0])
    assert all(same(a, samples[index]) for a, index in zip(found, (7, 11, 7, 0)))
    assert same(found[0], found[2]) and samples.__getitems__([]) == []
    first = found[0]["frames"].clone()
    samples.set_epoch(1)
    assert not torch.equal(samples[7]["frames"], first)
    # Of one batch whose samples have other lengths, each has its own.
    lengths = MapDataset(ds, crop=32, frames=vidrec.AllFrames(max=5))
    assert [len(sample["frames"]) for sample in lengths.__getitems__([1, 5])] == [5, 5]


@pytest.mark.parametrize("index", [12, -13, 1 << 40])
def test_there_are_no_samples_beyond_the_end(ds, index):
    samples = MapDataset(ds, crop=16)
    with pytest.raises(IndexError, match=f"no sample {index}, there are 12"):
        samples.__getitems__([0, index])


def test_options_of_batches_are_not_for_samples(ds):
    with pytest.raises(vidrec.UsageError, match="shuffle"):
        MapDataset(ds, shuffle=True)
    with pytest.raises(vidrec.UsageError, match="no epoch -1"):
        MapDataset(ds, crop=16).set_epoch(-1)


def test_an_error_in_a_worker_is_raised_as_what_it_is(damaged, monkeypatch):
    # As long torch waits for the worker in the end.
    monkeypatch.setattr(torch.utils.data._utils, "MP_STATUS_CHECK_INTERVAL", 0.1)
    batches = iter(DataLoader(IterableDataset(make(damaged, crop=32)), batch_size=None, **workers("fork", 1)))
    with pytest.raises(vidrec.FormatError, match="clip 5: frame 3"):
        list(batches)
    del batches
    gc.collect()


def test_a_worker_belongs_to_the_rank_of_its_parent(ds, monkeypatch):
    loader = make(ds, batch_size=2)
    assert len(pickle.loads(pickle.dumps(loader))) == 6
    monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.distributed, "get_rank", lambda: 1)
    monkeypatch.setattr(torch.distributed, "get_world_size", lambda: 2)
    sent = pickle.dumps(loader)
    monkeypatch.undo()
    assert [batch.clips.tolist() for batch in pickle.loads(sent)] == [[2, 3], [6, 7], [10, 11]]


def rank(number, world, path, store, queue):
    import torch.distributed as dist

    dist.init_process_group("gloo", init_method=f"file://{store}", rank=number, world_size=world)
    loader, alone = make(path, batch_size=2, crop=32, shuffle=True), make(path, crop=32)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = [clip for batch in loader for clip in batch.clips[batch.mask].tolist()]
        dist.barrier()
        list(loader)
        dist.barrier()
        if number == 0:
            found_alone = [sum(len(batch) for batch in alone) for _ in range(2)]
            assert found_alone == [6, 6]
            assert [sum(len(batch) for batch in make(path, rank=(0, 1))) for _ in range(2)] == [12, 12]
    queue.put((number, found, repr(loader), [str(each.message) for each in told if each.category is vidrec.LoaderWarning]))
    dist.barrier()
    dist.destroy_process_group()


@pytest.mark.skipif(not torch.distributed.is_available(), reason="torch without torch.distributed")
def test_ranks_are_those_of_torch_distributed(train, tmp_path):
    context = torch.multiprocessing.get_context("spawn")
    queue = context.Queue()
    ranks = [context.Process(target=rank, args=(i, 2, train, tmp_path / "store", queue)) for i in range(2)]
    for process in ranks:
        process.start()
    told = sorted(queue.get(timeout=120) for _ in ranks)
    for process in ranks:
        process.join(60)
        assert process.exitcode == 0
    found = [clips for _, clips, *_ in told]
    for number, _, printed, warned in told:
        assert printed.endswith(f"  # rank={(number, 2)}, of torch.distributed")
        assert len(eval(printed, {**vars(vidrec), "vidrec": vidrec})) == 6, "a comment changes nothing"
        assert len(warned) == (number == 0) and all("begun on 1 of 2 ranks so far" in each for each in warned)
    assert [len(clips) for clips in found] == [6, 6] and sorted(sum(found, [])) == list(range(12))


@pytest.mark.parametrize(
    "dtype, layout, channels", [(torch.float16, "BTCHW", "gray"), (torch.bfloat16, "BCTHW", "rgb"), (torch.float32, "BTHWC", "rgb")]
)
def test_bytes_are_normalized_as_by_the_loader(ds, dtype, layout, channels):
    from vidrec.torch import normalize

    options = dict(layout=layout, channels=channels, crop=vidrec.RandomResizedCrop(64), flip=0.5)
    frames = make(ds, **options).batch(0, 0).frames
    made = normalize(frames, vidrec.IMAGENET, dtype=dtype, layout=layout)
    assert made.dtype == dtype and made.shape == frames.shape and made.stride() == frames.stride()
    expected = make(ds, dtype="float32", normalize=vidrec.IMAGENET, **options).batch(0, 0).frames
    # Half a level, and the rounding of values up to 3 in this type.
    assert (made.float() - expected).abs().max() < 0.5 / (255 * 0.224) + 2 * torch.finfo(dtype).eps + 1e-5


def test_normalizing_keeps_the_memory_format_or_changes_it_and_refuses_the_rest(ds):
    from vidrec.torch import normalize

    plain = make(ds, layout="BCTHW").batch(0, 0).frames
    last = make(ds, layout="channels_last_3d").batch(0, 0).frames
    by = vidrec.Normalize(0.5, 0.25)
    expected = normalize(plain, by, layout="BCTHW")
    for frames, format in ((last, torch.preserve_format), (plain, torch.channels_last_3d)):
        made = normalize(frames, by, layout="BCTHW", memory_format=format)
        assert made.is_contiguous(memory_format=torch.channels_last_3d) and torch.equal(made, expected)
    for frames, options, words in [
        (plain.float(), {"layout": "BCTHW"}, "expected frames of uint8 and five dimensions, found"),
        (plain, {"dtype": torch.int32, "layout": "BCTHW"}, "found torch.int32"),
        (plain, {"layout": "TBCHW"}, "layout of BTCHW"),
        (plain, {"layout": "BTCHW"}, "1 or 3 channels, found 8 in layout BTCHW"),
    ]:
        with pytest.raises(vidrec.UsageError, match=words):
            normalize(frames, by, **options)
