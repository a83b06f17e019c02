"""Jobs from beginning to end: data that a program makes, a model that learns from it, and a run that is stopped and resumed."""
import io
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import vidrec

torch = pytest.importorskip("torch")
RATE = 10


def simulate(seed):
    """An episode of a dot that is pushed around: a clip as `Writer.add` takes it."""
    rng = np.random.default_rng(seed)
    actions = rng.normal(0, 0.2, (12, 2)).astype(np.float32)
    places = np.clip(np.cumsum(actions, 0) - actions + 0.5, 0, 1).astype(np.float32)
    y, x = np.mgrid[:48, :64] / [[[48]], [[64]]]
    dots = [(x - px) ** 2 + (y - py) ** 2 < 0.02 for px, py in places]
    frames = np.stack([np.dstack([255 * dot, 90 + 0 * dot, 30 + 0 * dot]) for dot in dots]).astype(np.uint8)
    tracks = {"place": places, "action": actions}
    return {"frames": frames, "label": int(places[-1, 0] > 0.5), "source": f"dot/{seed}", "times": np.arange(12) / RATE, "tracks": tracks}


class Training:
    """A tiny model that finds the dot, and the clips that it learns from."""

    def __init__(self, data):
        torch.manual_seed(0)
        self.model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 2 * 16 * 16, 16), torch.nn.Tanh(), torch.nn.Linear(16, 4))
        self.optimizer = torch.optim.Adam(self.model.parameters(), 0.01)
        self.loader = vidrec.Loader(
            data, batch_size=4, frames=vidrec.Run(2), crop=vidrec.RandomResizedCrop(16, scale=(0.9, 1)), dtype="float32",
            normalize=vidrec.Normalize(0.5, 0.5), tracks={"place": vidrec.track(), "action": vidrec.track(steps=3, rate=RATE)},
            shuffle=True, seed=3, last="drop",
        )  # fmt: skip
        self.batches = self.endless()

    def endless(self):
        while True:
            yield from self.loader

    def step(self):
        batch = next(self.batches)
        assert batch.frames.shape == (4, 2, 3, 16, 16) and batch.tracks["action"].shape == (4, 3, 2)
        loss = (self.model(batch.frames) - batch.tracks["place"].flatten(1)).square().mean()
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


def test_a_simulator_is_written_and_learned_from_and_the_run_goes_on(tmp_path):
    with ThreadPoolExecutor(2) as pool, vidrec.Writer(tmp_path / "set", classes=["left", "right"]) as writer:
        for clip in pool.map(simulate, range(10)):
            writer.add(**clip)
    whole = Training(tmp_path / "set")
    losses = [whole.step() for _ in range(30)]
    assert np.mean(losses[-6:]) < 0.7 * np.mean(losses[:6]), losses
    stopped = Training(tmp_path / "set")
    assert [stopped.step() for _ in range(7)] == losses[:7]
    # In the middle of an epoch, and from the file alone.
    assert [Training(tmp_path / "set").load(stopped.save()).step() for _ in range(2)] == [losses[7]] * 2
    resumed = Training(tmp_path / "set").load(stopped.save())
    assert [resumed.step() for _ in range(23)] == losses[7:]
