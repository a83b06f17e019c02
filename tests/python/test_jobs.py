"""Jobs from beginning to end: data that a program makes, a model that learns from it, and a run that is stopped and resumed."""
import io
import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import vidrec

torch = pytest.importorskip("torch")
HEIGHT, WIDTH = 48, 64


def simulate(seed):
    """An episode of a dot that is pushed around: a clip as `Writer.add` takes it."""
    rng = np.random.default_rng(seed)
    actions = rng.normal(0, 0.2, (12, 2)).astype(np.float32)
    places = np.clip(np.cumsum(actions, 0) - actions + 0.5, 0, 1).astype(np.float32)
    y, x = np.mgrid[:HEIGHT, :WIDTH] / [[[HEIGHT]], [[WIDTH]]]
    dots = [(x - px) ** 2 + (y - py) ** 2 < 0.02 for px, py in places]
    frames = np.stack([np.dstack([255 * dot, 90 + 0 * dot, 30 + 0 * dot]) for dot in dots]).astype(np.uint8)
    box = np.concatenate([places - 0.02**0.5, places + 0.02**0.5], 1).clip(0, 1) * np.float32([WIDTH, HEIGHT, WIDTH, HEIGHT])
    tracks = {"place": places, "action": actions, "box": box}
    return {"frames": frames, "label": int(places[-1, 0] > 0.5), "source": f"dot/{seed}", "times": np.arange(12) / 10, "tracks": tracks}


def boxes(batch):
    """In the picture, whatever the crop: around what is red, give or take a pixel."""
    is_there = batch.track_masks["box"]
    for (left, top, right, bottom), dot in zip(batch.tracks["box"][is_there], batch.frames[:, :, 0][is_there] > 0.2):
        y, x = dot.nonzero(as_tuple=True)
        assert not len(x) or (x.min() >= left - 1 and x.max() < right + 1 and y.min() >= top - 1 and y.max() < bottom + 1)
    return batch.frames, batch.tracks["box"] / 16


def train(data, sample, steps, saved=None, **options):
    """The losses of a tiny model, and what it takes to go on: inputs and targets are what `sample` gives of a batch."""
    torch.manual_seed(0)
    options = {"batch_size": 4, "frames": vidrec.Run(2), "shuffle": True, "seed": 3, "last": "drop", **options}
    loader = vidrec.Loader(data, dtype="float32", normalize=vidrec.Normalize(0.5, 0.5), **options)
    inputs, targets = (part.flatten(1).shape[1] for part in sample(loader.batch(0, 0)))
    model = torch.nn.Sequential(torch.nn.Linear(inputs, 16), torch.nn.Tanh(), torch.nn.Linear(16, targets))
    parts = [model, torch.optim.Adam(model.parameters(), 0.01), loader]
    for part, state in zip(parts, torch.load(io.BytesIO(saved)) if saved else ()):
        part.load_state_dict(state)
    losses, batches = [], itertools.chain.from_iterable(itertools.repeat(loader))
    for _ in range(steps):
        x, y = (part.flatten(1) for part in sample(next(batches)))
        loss = (model(x) - y).square().mean()
        parts[1].zero_grad()
        loss.backward()
        parts[1].step()
        losses.append(loss.item())
    file = io.BytesIO()
    torch.save([part.state_dict() for part in parts], file)
    return losses, file.getvalue()


@pytest.fixture
def data(tmp_path):
    with ThreadPoolExecutor(2) as pool, vidrec.Writer(tmp_path / "set", classes=["left", "right"]) as writer:
        for clip in pool.map(simulate, range(10)):
            writer.add(**clip)
    return tmp_path / "set"


def learns_and_resumes(data, sample, **options):
    losses, _ = train(data, sample, 30, **options)
    assert np.mean(losses[-6:]) < 0.7 * np.mean(losses[:6]), losses
    # In the middle of an epoch, and from the file alone.
    first, saved = train(data, sample, 7, **options)
    assert first + train(data, sample, 23, saved, **options)[0] == losses


def test_a_simulator_is_written_and_learned_from(data):
    crop = vidrec.RandomResizedCrop(16, scale=(0.9, 1))
    learns_and_resumes(data, lambda batch: (batch.frames, batch.tracks["place"]), crop=crop, tracks={"place": vidrec.track()})


def test_a_run_goes_on_after_clips_are_appended(data):
    job = {"sample": lambda batch: (batch.frames, batch.tracks["place"]), "crop": 16, "tracks": {"place": vidrec.track()}}
    losses, (first, saved) = train(data, steps=9, **job)[0], train(data, steps=3, **job)
    with vidrec.Writer(data, append=True, classes=["new"]) as writer:
        writer.add(**{**simulate(10), "label": "new"})
    assert [clip.class_name for clip in vidrec.open(data)][-1] == "new" and vidrec.open(data).classes == ["left", "right", "new"]
    assert first + train(vidrec.open(data, clips=10), steps=6, saved=saved, **job)[0] == losses


def test_boxes_follow_random_crops(data):
    crop = vidrec.RandomResizedCrop(16, scale=(0.5, 1))
    learns_and_resumes(data, boxes, crop=crop, flip=0.5, tracks={"box": vidrec.track(geometry="boxes")})


def test_latents_that_are_added_to_a_packed_data_set_are_learned_from(data):
    latents = (clip.frames()[:, ::6, ::6, 0].reshape(len(clip), -1).astype(np.float16) / 255 for clip in vidrec.open(data))
    vidrec.add_tracks(data, {"latent": latents})
    tracks = {"latent": vidrec.track(), "place": vidrec.track()}
    learns_and_resumes(data, lambda batch: (batch.tracks["latent"].float(), batch.tracks["place"]), crop=16, tracks=tracks)
