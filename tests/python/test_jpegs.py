"""Batches of frames that are not decoded: what they hold, and that their pictures are those of the loader."""
import io
import math
import pickle

import numpy as np
import pytest
from PIL import Image

import vidrec


def make(ds, batch_size=4, **options):
    return vidrec.Loader(ds, batch_size, **{"crop": 64, "threads": 2, "output": "jpeg", **options})


def plain(ds, batch_size=4, **options):
    return vidrec.Loader(ds, batch_size, **{"crop": 64, "threads": 2, "output": "numpy", **options})


def psnr(a, b):
    difference = np.asarray(a, np.float64) - np.asarray(b, np.float64)
    return 10 * math.log10(255**2 / max(float((difference**2).mean()), 1e-9))


def picture(jpeg, bounds, window, flip, colors, size):
    """Of one JPEG, by Pillow (libjpeg-turbo) and NumPy: levels of shape (3, height, width)."""
    (left, top, _, _), (x, y, width, height) = bounds, window
    cut = Image.open(io.BytesIO(jpeg)).convert("RGB").crop(tuple(bounds))
    box = (x - left, y - top, min(x - left + width, cut.width), min(y - top + height, cut.height))
    made = np.asarray(cut.resize(size[::-1], Image.BILINEAR, box=box), np.float32)
    made = made[:, ::-1] if flip else made
    return np.clip(made @ colors[:, :3].T + colors[:, 3], 0, 255).transpose(2, 0, 1)


def pictures(jpegs, size=(64, 64)):
    each = zip(jpegs, *(np.asarray(v) for v in (jpegs.bounds, jpegs.windows, jpegs.flip, jpegs.colors)))
    return np.stack([picture(np.asarray(jpeg), *how, size) for jpeg, *how in each])


def test_a_batch_has_the_stored_jpegs_without_a_copy(ds):
    loader = make(ds, shuffle=True, flip=0.5)
    for batch, expected in zip(loader, plain(ds, shuffle=True, flip=0.5)):
        jpegs = batch.jpegs
        with pytest.raises(vidrec.UsageError, match="the batch has JPEGs instead of frames"):
            batch.frames
        assert batch.clips.tolist() == expected.clips.tolist() and batch.labels.tolist() == expected.labels.tolist()
        assert batch.params == expected.params and batch.times.tolist() == expected.times.tolist()
        stored = [ds[clip].jpeg(t) for clip, drawn in zip(batch.clips.tolist(), batch.params) for t in drawn.frames]
        assert [np.asarray(jpeg).tobytes() for jpeg in jpegs] == stored == [array.tobytes() for array in jpegs.arrays()]
        assert len(jpegs) == 32 and np.asarray(jpegs[-1]).tobytes() == stored[-1]
        assert jpegs.lengths.tolist() == [len(jpeg) for jpeg in stored]
        assert jpegs.offsets.tolist() == [0, *np.cumsum([len(jpeg) for jpeg in stored])]
        assert jpegs.places.tolist() == list(range(32)) and set(map(tuple, jpegs.sizes.tolist())) == {(96, 72)}
        assert jpegs.shape == (4, 8, 3, 64, 64) == loader.shape
        assert all(np.shares_memory(np.asarray(jpegs.data), array) for array in jpegs.arrays())
        assert np.asarray(jpegs.data).dtype == np.uint8
    assert repr(batch) == f"<vidrec.Batch 2 of epoch 0: <vidrec.Jpegs: 32 in {len(jpegs.data):,} bytes, for frames of {jpegs.shape}>>"
    with pytest.raises(IndexError):
        jpegs[32]


def test_the_shapes_and_types_are_those_of_the_documentation(ds):
    jpegs = make(ds).batch(0, 0).jpegs
    shapes = {"offsets": (33,), "places": (32,), "sizes": (32, 2), "bounds": (32, 4), "windows": (32, 4)}
    shapes.update(flip=(32,), colors=(32, 3, 4), lengths=(32,))
    types = {"windows": np.float64, "flip": np.bool_, "colors": np.float32}
    for name, shape in shapes.items():
        values = np.asarray(getattr(jpegs, name))
        assert (values.shape, values.dtype) == (shape, types.get(name, np.int64)), name


CROPS = [
    dict(crop=vidrec.CenterCrop(64)),
    dict(crop=vidrec.CenterCrop(64, resize=70)),
    dict(crop=vidrec.RandomCrop(64, resize=(66, 90)), flip=1.0),
    dict(crop=vidrec.RandomResizedCrop(64), flip=0.5),
    dict(crop=vidrec.MultiScaleCrop(64)),
    dict(crop=vidrec.Cover((40, 64), random=True)),
    dict(crop=vidrec.ThreeCrop((72, 48))),
    dict(crop=vidrec.RandomResizedCrop(64), flip=0.5, color=vidrec.ColorJitter(brightness=0.3, contrast=0.3, saturation=0.3, grayscale=0.3)),
]


@pytest.mark.parametrize("options", CROPS, ids=lambda options: repr(options["crop"]))
def test_pictures_made_by_others_are_those_of_the_loader(ds, options):
    """Pillow rounds to levels between its two passes and before colors; the loader does not."""
    size = options["crop"].size
    size = (size, size) if isinstance(size, int) else size
    for batch, expected in zip(make(ds, **options), plain(ds, **options)):
        found = pictures(batch.jpegs, size).reshape(expected.frames.shape)
        assert psnr(found, expected.frames) > 45


def test_padding_has_no_jpegs(ds):
    options = dict(frames=vidrec.Uniform(10, short="pad"), batch_size=2)
    batch = make(ds, **options).batch(0, 0)
    assert batch.jpegs.places.tolist() == [*range(8), *range(10, 18)]
    assert batch.jpegs.shape == (2, 10, 3, 64, 64) == tuple(plain(ds, **options).batch(0, 0).frames.shape)


def test_a_loader_and_its_batches_can_be_sent(ds):
    loader = make(ds, shuffle=True)
    batch = next(iter(loader))
    sent, other = pickle.loads(pickle.dumps(batch)), pickle.loads(pickle.dumps(loader))
    for found in (sent, other.batch(0, 0)):
        assert found._frames is None and found.labels.tolist() == batch.labels.tolist()
        assert [bytes(jpeg) for jpeg in found.jpegs.arrays()] == [bytes(jpeg) for jpeg in batch.jpegs.arrays()]
        assert found.jpegs.windows.tolist() == batch.jpegs.windows.tolist() and found.jpegs.shape == batch.jpegs.shape


def test_a_run_resumes_with_jpegs_where_it_stopped_with_pictures(ds):
    loader = plain(ds, batch_size=2, shuffle=True)
    batches = iter(loader)
    [next(batches) for _ in range(2)]
    resumed = make(ds, batch_size=2, shuffle=True)
    resumed.load_state_dict(loader.state_dict())
    assert [b.clips.tolist() for b in resumed] == [b.clips.tolist() for b in batches]
    assert resumed.state_dict() == loader.state_dict()


def test_damage_is_the_same_error_or_the_same_substitute(damaged):
    batches = iter(make(damaged))
    next(batches)
    with pytest.raises(vidrec.FormatError, match="clip 5: frame 3") as found:
        next(batches)
    with pytest.raises(vidrec.FormatError) as expected:
        plain(damaged).batch(0, 1)
    assert str(found.value) == str(expected.value)
    assert next(batches).clips.tolist() == [8, 9, 10, 11]
    batch = make(damaged, on_bad_frame="substitute").batch(0, 1)
    expected = plain(damaged, on_bad_frame="substitute").batch(0, 1)
    assert batch.clips.tolist() == expected.clips.tolist() and batch.params == expected.params
    assert psnr(pictures(batch.jpegs).reshape(expected.frames.shape), expected.frames) > 45


def test_what_does_not_go_together_is_refused(ds):
    with pytest.raises(vidrec.UsageError, match="'torch', 'numpy' or 'jpeg', found 'jpg'"):
        make(ds, output="jpg")
    with pytest.raises(vidrec.UsageError, match="decoded_cache: output='jpeg' decodes nothing"):
        vidrec.Loader(ds, batch_size=2, output="jpeg", decoded_cache="1GB")


def test_a_held_batch_keeps_its_memory(ds):
    loader = make(ds, batch_size=2, prefetch=2, order=list(range(12)) * 10)
    batches = iter(loader)
    jpeg = next(batches).jpegs[3]
    expected = np.array(jpeg)
    for batch in batches:
        del batch
    assert np.array_equal(np.asarray(jpeg), expected)


def test_a_batch_shows_itself_without_pictures(ds, capsys):
    batch = make(ds).batch(0, 0)
    page = batch._repr_html_()
    assert "frames are not decoded" in page and "32 in" in page and "<img" not in page
    batch.show()
    assert capsys.readouterr().out == ""


def test_counters_count_jpegs(ds):
    loader = make(ds)
    held = sum(len(batch.jpegs.data) for batch in loader)
    stats = loader.stats()
    assert (stats.frames, stats.bytes, stats.tiles_decoded) == (96, held, 0)


class TestTorch:
    """What :func:`vidrec.torch.finish` makes of decoded frames."""

    @pytest.fixture(autouse=True)
    def torch(self):
        return pytest.importorskip("torch")

    @staticmethod
    def decode(jpegs):
        import torch

        arrays = (np.array(Image.open(io.BytesIO(jpeg)).convert("RGB")) for jpeg in jpegs.arrays())
        return [torch.from_numpy(array).permute(2, 0, 1) for array in arrays]

    def finished(self, batch):
        import vidrec.torch

        return vidrec.torch.finish(batch, self.decode(batch.jpegs))

    @pytest.mark.parametrize("options", CROPS, ids=lambda options: repr(options["crop"]))
    def test_it_makes_the_pictures_of_the_loader(self, ds, options):
        for batch, expected in zip(make(ds, **options), plain(ds, **options)):
            found = self.finished(batch)
            assert found.frames.shape == expected.frames.shape
            assert psnr(found.frames, expected.frames) > 50

    def test_a_picture_that_is_not_resized_is_the_decoders(self, ds):
        found = self.finished(make(ds, flip=1.0).batch(0, 0))
        assert np.array_equal(found.frames.numpy(), plain(ds, flip=1.0).batch(0, 0).frames)

    @pytest.mark.parametrize(
        "layout, dtype", [("BTCHW", "bfloat16"), ("BCTHW", "float32"), ("BTHWC", "uint8"), ("channels_last_3d", "float16")]
    )
    def test_layout_and_dtype_are_those_of_the_loader(self, ds, torch, layout, dtype):
        normalize = None if dtype == "uint8" else vidrec.Normalize([0.4, 0.5, 0.6], 0.3)
        options = dict(crop=(48, 64), layout=layout, dtype=dtype, normalize=normalize)
        found = self.finished(make(ds, **options).batch(0, 0)).frames
        expected = make(ds, **options, output="torch").batch(0, 0).frames
        assert (found.dtype, found.shape, found.stride()) == (expected.dtype, expected.shape, expected.stride())
        scale = 1 if dtype == "uint8" else 0.3 * 255
        assert psnr(found.float() * scale, expected.float() * scale) > 50

    @pytest.mark.parametrize("channels", ["gray", "ycbcr"])
    @pytest.mark.parametrize("color", [None, vidrec.ColorJitter(brightness=0.4, contrast=0.4, saturation=0.4)])
    def test_channels_are_those_of_the_loader(self, ds, channels, color):
        options = dict(channels=channels, color=color, crop=vidrec.RandomResizedCrop(64))
        found = self.finished(make(ds, **options).batch(0, 0)).frames
        expected = plain(ds, **options).batch(0, 0).frames
        assert found.shape == expected.shape and psnr(found, expected) > 48

    def test_sources_of_a_mix_have_normalizations_of_their_own(self, ds):
        own = vidrec.Source(ds[6:], 1.0, normalize=vidrec.Normalize(0.25, 1))
        mix = vidrec.mix({"left": (ds[:6], 1.0), "right": own})
        options = dict(dtype="float32", normalize=vidrec.Normalize(0.5, 1))
        for batch, expected in zip(make(mix, **options), plain(mix, **options)):
            assert psnr(self.finished(batch).frames * 255, expected.frames * 255) > 50

    def test_padding_is_zero(self, ds):
        options = dict(frames=vidrec.Uniform(10, short="pad"), batch_size=2, dtype="float32", normalize=vidrec.Normalize(0.5, 1))
        found, expected = self.finished(make(ds, **options).batch(0, 0)).frames, plain(ds, **options).batch(0, 0).frames
        assert not found[:, 8:].any() and psnr(found * 255, expected * 255) > 50

    def test_sizes_and_frames_of_a_batch_may_differ(self, torch, ds):
        batch = make(ds, crop=32, batch_size=1).batch(0, 0)
        jpegs = batch.jpegs
        # As if the second frame were larger, and a part of it the picture.
        jpegs.sizes[1], jpegs.bounds[1] = torch.tensor([200, 100]), torch.tensor([50, 0, 150, 100])
        jpegs.windows[1] = torch.tensor([50.0, 0.0, 100.0, 100.0])
        decoded = self.decode(jpegs)
        decoded[1] = torch.full((3, 100, 200), 7, dtype=torch.uint8)
        import vidrec.torch

        found = vidrec.torch.finish(batch, decoded).frames
        expected = plain(ds, crop=32, batch_size=1).batch(0, 0).frames
        assert (found[0, 1] == 7).all()
        assert np.array_equal(np.delete(found.numpy(), 1, 1), np.delete(expected, 1, 1))

    def test_a_training_loop_in_16_bits_changes_nothing(self, ds, torch):
        batch = make(ds, crop=vidrec.RandomResizedCrop(64)).batch(0, 0)
        expected = self.finished(batch).frames
        with torch.autocast("cpu", dtype=torch.bfloat16):
            assert torch.equal(self.finished(batch).frames, expected)

    def test_the_defaults_of_a_program_change_nothing(self, ds, torch):
        color = vidrec.ColorJitter(brightness=0.3, contrast=0.3, saturation=0.3)
        batch = make(ds, crop=vidrec.RandomResizedCrop(64), color=color, channels="ycbcr", dtype="float32").batch(0, 0)
        expected = self.finished(batch).frames
        torch.set_default_dtype(torch.float64)
        try:
            assert torch.equal(self.finished(batch).frames, expected)
        finally:
            torch.set_default_dtype(torch.float32)

    def test_what_is_not_of_the_batch_is_refused(self, ds):
        import vidrec.torch

        batch = make(ds).batch(0, 0)
        decoded = self.decode(batch.jpegs)
        with pytest.raises(vidrec.UsageError, match="expected 32 decoded frames, found 31"):
            vidrec.torch.finish(batch, decoded[1:])
        for bad in (decoded[0][:, 1:], decoded[0].float(), decoded[0].permute(1, 2, 0)):
            with pytest.raises(vidrec.UsageError, match=r"frame 2: expected uint8 of shape \(3, 72, 96\), found"):
                vidrec.torch.finish(batch, [*decoded[:2], bad, *decoded[3:]])
        with pytest.raises(vidrec.UsageError, match="the batch has frames"):
            vidrec.torch.finish(plain(ds).batch(0, 0), decoded)
        with pytest.raises(vidrec.UsageError, match="the batch has frames"):
            vidrec.torch.finish(batch, decoded).jpegs

    def test_pinned_jpegs_are_in_tensors_of_torchs_allocator(self, ds, torch, monkeypatch):
        """Without a device nothing can be pinned: then plain tensors stand in for pinned ones."""
        from vidrec import _memory

        made = []

        def allocate(shape, dtype):
            made.append(torch.zeros(tuple(shape), dtype=getattr(torch, dtype)))
            return made[-1]

        monkeypatch.setattr(_memory, "pinned_allocator", lambda: allocate)
        batches = list(make(ds, pin_memory=True, shuffle=True))
        assert [batch.jpegs.data.data_ptr() for batch in batches] == [tensor.data_ptr() for tensor in made]
        for batch in batches:
            assert torch.equal(batch.jpegs.data, make(ds, shuffle=True).batch(0, batch.number).jpegs.data)

    def test_to_moves_all_but_the_jpegs(self, ds):
        batch = make(ds).batch(0, 0)
        there = batch.to("meta")
        assert there.labels.device.type == "meta" and there._frames is None
        assert there.jpegs.data.device.type == "cpu"
        assert batch.to(batch.labels.dtype).labels is batch.labels

    @pytest.mark.parametrize("method, count", [("fork", 0), ("fork", 2)])
    def test_a_dataloader_gives_them(self, ds, method, count):
        from torch.utils.data import DataLoader

        from vidrec.torch import IterableDataset

        batches = IterableDataset(make(ds, batch_size=2, shuffle=True, threads=1))
        workers = dict(num_workers=count, multiprocessing_context=method if count else None)
        for batch, expected in zip(DataLoader(batches, batch_size=None, **workers), make(ds, batch_size=2, shuffle=True)):
            assert bytes(np.asarray(batch.jpegs.data)) == bytes(np.asarray(expected.jpegs.data))
            assert batch.clips.tolist() == expected.clips.tolist()
