"""Windows that reach beyond their clip, against a plain model, and against what LeRobot documents of its own."""
import json

import numpy as np
import pytest
from conftest import make_videos

import vidrec

RATE = 10
LENGTHS = [5, 20, 1, 13]
SIDE = 16


def actions_of(clip):
    return np.random.default_rng(clip).normal(size=(LENGTHS[clip], 3)).astype(np.float32)


@pytest.fixture(scope="module")
def episodes(tmp_path_factory):
    """Clips of a few lengths at 10 frames a second, two cameras of each, with an action for each frame."""
    root = tmp_path_factory.mktemp("episodes")
    rows, sources = [], {}
    for clip, length in enumerate(LENGTHS):
        np.save(root / f"{clip}.npy", actions_of(clip))
        for camera in ("front", "wrist"):
            source = f"testsrc2=size=64x48:rate={RATE}:duration={length / RATE}"
            video = root / f"{clip}{camera}.mp4"
            shift = ["-vf", f"hue=h={40 * clip + (180 if camera == 'wrist' else 0)}"]
            sources[video] = [source, *shift]
            row = {"path": video.name, "action": f"{clip}.npy", "step": f"{clip}.npy", "episode": clip, "camera": camera}
            rows.append(json.dumps(row))
    make_videos(sources)
    (root / "list.jsonl").write_text("\n".join(rows))
    report = vidrec.pack(
        root / "list.jsonl", root / "set", frames="all", track=["action=action,every-frame", "step=step,frames"]
    )
    assert report.frames == 2 * sum(LENGTHS)
    return vidrec.open(root / "set")


def front(episodes):
    return episodes[::2]


def pictures(episodes, clip):
    """All pictures of a clip, as a loader without windows has them."""
    loader = vidrec.Loader(episodes[clip : clip + 1], 1, frames=vidrec.AllFrames(), crop=SIDE, output="numpy")
    return next(iter(loader)).frames[0]


def window(n, current, count, stride, past):
    """The frames of a window around one, whether they exist or not."""
    wanted = current + (np.arange(count) - past) * stride
    return wanted, (wanted >= 0) & (wanted < n)


@pytest.mark.parametrize("seed", range(8))
def test_padded_windows_are_those_of_the_model(episodes, seed):
    draw = np.random.default_rng(seed)
    count, stride, hop = (int(draw.integers(1, most)) for most in (6, 7, 4))
    past, pad = int(draw.integers(0, count)), ("edge", "zero")[seed % 2]
    frames = vidrec.Windows(count, stride=stride, hop=hop, past=past, pad=pad)
    steps = range(int(draw.integers(-6, 1)), int(draw.integers(1, 9)))
    anchor = ("current", "each")[int(draw.integers(2))]
    tracks = {"step": vidrec.track(), "action": vidrec.track(steps=steps, rate=RATE, anchor=anchor)}
    dataset = front(episodes)
    loader = vidrec.Loader(dataset, 4, frames=frames, crop=SIDE, tracks=tracks, output="numpy")
    expected = [(clip, current) for clip, n in enumerate(LENGTHS) for current in range(0, n, hop)]
    stored = [pictures(dataset, clip) for clip in range(len(LENGTHS))]
    found = 0
    for batch in loader:
        for i in range(len(batch)):
            clip, current = expected[found]
            found += 1
            assert batch.clips[i] == clip
            n, actions = LENGTHS[clip], actions_of(clip)
            wanted, meant = window(n, current, count, stride, past)
            kept = meant | (pad == "edge")
            at = np.clip(wanted, 0, n - 1)
            np.testing.assert_array_equal(batch.frame_mask[i], meant)
            assert list(batch.params[i].frames) == at[kept].tolist()
            np.testing.assert_array_equal(batch.frames[i], stored[clip][at] * kept[:, None, None, None])
            np.testing.assert_allclose(batch.times[i], np.where(kept, dataset[clip].pts_seconds[at], np.nan), atol=1e-9)
            np.testing.assert_array_equal(batch.track_masks["step"][i], meant)
            np.testing.assert_array_equal(batch.tracks["step"][i], actions[at] * kept[:, None])
            around = np.array([current]) if anchor == "current" else at
            index = around[:, None] + np.array(steps)
            there = (index >= 0) & (index < n)
            if anchor == "each":
                there &= meant[:, None]
            values = actions[np.clip(index, 0, n - 1)] * (there | (pad == "edge"))[..., None]
            if anchor == "current":
                there, values = there[0], values[0]
            np.testing.assert_array_equal(batch.track_masks["action"][i], there)
            np.testing.assert_array_equal(batch.tracks["action"][i], values)
    assert found == len(expected) == len(range(found))
