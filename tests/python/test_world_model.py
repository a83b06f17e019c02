"""The example of a world model: windows of two cameras with their actions and sound, and a loss that falls."""
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import vidrec

pytest.importorskip("torch")
EXAMPLE = Path(__file__).parents[2] / "examples/world_model.py"


@pytest.mark.full
def test_it_learns_from_both_cameras_and_the_right_actions_and_sound(tmp_path):
    command = [sys.executable, EXAMPLE, "--data", tmp_path / "data", "--epochs", "6"]
    told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=300).stdout
    losses = [json.loads(line)["loss"] for line in told.splitlines()]
    assert len(losses) == 6 and losses[-1] < 0.7 * losses[0]

    spec = importlib.util.spec_from_file_location("world_model", EXAMPLE)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    dataset = vidrec.open(tmp_path / "data/train")
    seen = 0
    for batch in example.loader(tmp_path / "data/train"):
        assert batch.frames.shape == (len(batch), 2, 6, 1, 16, 16) and bool(batch.camera_mask.all())
        for i, clip in enumerate(batch.clips.tolist()):
            attributes = dataset[clip].attributes
            assert attributes["camera"] == "front"
            first = batch.params[i].frames[0]
            actions = np.load(tmp_path / f"data/{attributes['episode']}.npy")
            assert batch.track_masks["action"][i].all() and batch.track_masks["audio"][i].all()
            np.testing.assert_array_equal(batch.tracks["action"][i].numpy(), actions[2 * first : 2 * first + 11])
            # 8,000 samples a second, from the time of the first frame on.
            heard = example.sound(actions)[800 * first : 800 * first + 4000]
            np.testing.assert_array_equal(batch.tracks["audio"][i].numpy(), heard)
            assert np.abs(heard).max() > 1000
            # The other camera is upside down.
            front, wrist = batch.frames[i, 0].numpy(), batch.frames[i, 1].numpy()
            np.testing.assert_allclose(front, wrist[:, :, ::-1], atol=0.1)
            seen += bool(batch.mask[i])
    assert seen == 6 * 10
