"""Jobs from beginning to end: data that a program makes, a model that learns from it, and a run that is stopped and resumed."""
import io
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import vidrec

torch = pytest.importorskip("torch")
RATE, HEIGHT, WIDTH = 10, 48, 64


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
    return {"frames": frames, "label": int(places[-1, 0] > 0.5), "source": f"dot/{seed}", "times": np.arange(12) / RATE, "tracks": tracks}


def pixels(batch):
    return batch.frames.flatten(1)


def places(batch):
    """What a policy that chooses actions would be told."""
    assert batch.tracks["action"].shape == (4, 3, 2)
    return batch.tracks["place"].flatten(1)


def boxes(batch):
    """In the picture, whatever the crop: around what is red, give or take a pixel."""
    found, red = batch.tracks["box"].flatten(0, 1), batch.frames[:, :, 0].flatten(0, 1) > 0.2
    for (left, top, right, bottom), dot in zip(found[batch.track_masks["box"].flatten()], red[batch.track_masks["box"].flatten()]):
        y, x = dot.nonzero(as_tuple=True)
        assert not len(x) or (x.min() >= left - 1 and x.max() < right + 1 and y.min() >= top - 1 and y.max() < bottom + 1)
    return found.view(4, 8) / 16


class Training:
    """A tiny model, and the clips that it learns from."""

    def __init__(self, data, inputs, targets, **options):
        torch.manual_seed(0)
        self.loader = vidrec.Loader(
            data, batch_size=4, frames=vidrec.Run(2), dtype="float32", normalize=vidrec.Normalize(0.5, 0.5), shuffle=True, seed=3,
            last="drop", **options,
        )  # fmt: skip
        self.inputs, self.targets, self.batches = inputs, targets, self.endless()
        batch = self.loader.batch(0, 0)
        sizes = inputs(batch).shape[1], targets(batch).shape[1]
        self.model = torch.nn.Sequential(torch.nn.Linear(sizes[0], 16), torch.nn.Tanh(), torch.nn.Linear(16, sizes[1]))
        self.optimizer = torch.optim.Adam(self.model.parameters(), 0.01)

    def endless(self):
        while True:
            yield from self.loader

    def step(self):
        batch = next(self.batches)
        loss = (self.model(self.inputs(batch)) - self.targets(batch)).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def save(self):
        file = io.BytesIO()
        torch.save([self.model.state_dict(), self.optimizer.state_dict(), self.loader.state_dict()], file)
        return file.getvalue()

    def load(self, saved):
        for part, state in zip((self.model, self.optimizer, self.loader), torch.load(io.BytesIO(saved))):
            part.load_state_dict(state)
        return self


@pytest.fixture
def data(tmp_path):
    with ThreadPoolExecutor(2) as pool, vidrec.Writer(tmp_path / "set", classes=["left", "right"]) as writer:
        for clip in pool.map(simulate, range(10)):
            writer.add(**clip)
    return tmp_path / "set"


def learns_and_resumes(data, *job, **options):
    whole = Training(data, *job, **options)
    losses = [whole.step() for _ in range(30)]
    assert np.mean(losses[-6:]) < 0.7 * np.mean(losses[:6]), losses
    stopped = Training(data, *job, **options)
    assert [stopped.step() for _ in range(7)] == losses[:7]
    # In the middle of an epoch, and from the file alone.
    resumed = Training(data, *job, **options).load(stopped.save())
    assert [resumed.step() for _ in range(23)] == losses[7:]


def test_a_simulator_is_written_and_learned_from(data):
    tracks = {"place": vidrec.track(), "action": vidrec.track(steps=3, rate=RATE)}
    learns_and_resumes(data, pixels, places, crop=vidrec.RandomResizedCrop(16, scale=(0.9, 1)), tracks=tracks)


def test_boxes_follow_random_crops(data):
    crop = vidrec.RandomResizedCrop(16, scale=(0.5, 1))
    learns_and_resumes(data, pixels, boxes, crop=crop, flip=0.5, tracks={"box": vidrec.track(geometry="boxes")})
