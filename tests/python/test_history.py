"""Windows that reach beyond their clip, against a plain model, and against what LeRobot documents of its own."""
import io
import json

import numpy as np
import pytest
from conftest import make_videos
from PIL import Image

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


def lerobot(n, fps, current, delta_timestamps):
    """What LeRobot documents of ``delta_timestamps``: each delta is a number of frames, an index beyond the episode
    becomes that of its first or last frame, and ``is_pad`` says where."""
    wanted = [current + round(delta * fps) for delta in delta_timestamps]
    return [min(max(index, 0), n - 1) for index in wanted], [not 0 <= index < n for index in wanted]


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


def test_there_is_a_sample_for_each_frame(episodes):
    dataset = front(episodes)
    samples = lambda **options: sum(len(b) for b in vidrec.Loader(dataset, 7, crop=SIDE, **options))  # noqa: E731
    assert samples(frames=vidrec.Windows(2, stride=5, past=1, pad="edge")) == sum(LENGTHS)
    assert samples(frames=vidrec.Windows(2, stride=5, past=1, pad="edge"), last="pad") == -(-sum(LENGTHS) // 7) * 7
    assert samples(frames=vidrec.Windows(2, stride=5, short="skip")) == sum(max(n - 5, 0) for n in LENGTHS)
    assert samples(frames=vidrec.Windows(2, fps=5, past=1, pad="zero")) == sum(-(-n // 2) for n in LENGTHS)


@pytest.mark.parametrize("observed", [[-0.5, 0], [-0.4, 0, 0.4]])
def test_samples_are_those_of_lerobot(episodes, observed):
    """An observation and a chunk of actions, as policies are trained with: values, and where they are padded."""
    chunk = [step / RATE for step in range(-1, 15)]
    stride = round((observed[1] - observed[0]) * RATE)
    frames = vidrec.Windows(len(observed), stride=stride, past=observed.index(0), pad="edge")
    tracks = {"action": vidrec.track(steps=range(-1, 15), rate=RATE), "step": vidrec.track()}
    dataset = front(episodes)
    stored = [pictures(dataset, clip) for clip in range(len(LENGTHS))]
    expected = iter([(clip, current) for clip, n in enumerate(LENGTHS) for current in range(n)])
    for batch in vidrec.Loader(dataset, 3, frames=frames, crop=SIDE, tracks=tracks, output="numpy"):
        for i in range(len(batch)):
            clip, current = next(expected)
            images, images_pad = lerobot(LENGTHS[clip], RATE, current, observed)
            action, action_is_pad = lerobot(LENGTHS[clip], RATE, current, chunk)
            assert (~batch.frame_mask[i]).tolist() == (~batch.track_masks["step"][i]).tolist() == images_pad
            np.testing.assert_array_equal(batch.frames[i], stored[clip][images])
            np.testing.assert_array_equal(batch.tracks["step"][i], actions_of(clip)[images])
            assert (~batch.track_masks["action"][i]).tolist() == action_is_pad
            np.testing.assert_array_equal(batch.tracks["action"][i], actions_of(clip)[action])
    assert next(expected, None) is None


def facts(batch):
    known = [batch.frames.tobytes(), batch.frame_mask.tolist(), batch.clips.tolist(), repr(batch.params)]
    return [*known, repr(batch.times.tolist()), [(batch.tracks[n].tobytes(), m.tolist()) for n, m in batch.track_masks.items()]]


@pytest.mark.parametrize("pad", ["edge", "zero"])
def test_ranks_threads_and_resumed_runs_have_the_same_samples(episodes, pad):
    frames = vidrec.Windows(3, stride=4, past=1, pad=pad)
    options = {"frames": frames, "crop": vidrec.RandomCrop(SIDE), "shuffle": True, "seed": 5, "output": "numpy"}
    options["tracks"] = {"action": vidrec.track(steps=range(-3, 4), rate=RATE), "step": vidrec.track()}
    dataset = front(episodes)
    make = lambda batch_size=4, **more: vidrec.Loader(dataset, batch_size, **options, **more)  # noqa: E731
    whole = [facts(batch) for batch in make(threads=1)]
    assert whole == [facts(batch) for batch in make(threads=4)]
    first = make()
    batches = iter(first)
    begun = [facts(next(batches)) for _ in range(3)]
    rest = make()
    rest.load_state_dict(first.state_dict())
    assert begun + [facts(batch) for batch in rest] == whole
    of_ranks = zip(make(2, rank=(0, 2)), make(2, rank=(1, 2)))
    clips = [clip for step in of_ranks for batch in step for clip in batch.clips.tolist()]
    assert sorted(clips) == sorted(clip for batch in make() for clip in batch.clips.tolist())
    other = vidrec.Loader(dataset, 4, **{**options, "frames": vidrec.Windows(3, stride=4, past=2, pad=pad)})
    with pytest.raises(vidrec.UsageError, match="frames"):
        other.load_state_dict(first.state_dict())


def test_cameras_are_padded_together(episodes):
    cameras = vidrec.Cameras(["front", "wrist"])
    frames = vidrec.Windows(3, stride=4, past=1, pad="zero")
    options = {"frames": frames, "crop": SIDE, "output": "numpy", "tracks": {"step": vidrec.track()}}
    both = list(vidrec.Loader(episodes, 4, cameras=cameras, **options))
    for camera in range(2):
        alone = list(vidrec.Loader(episodes[camera::2], 4, **options))
        for batch, one in zip(both, alone):
            np.testing.assert_array_equal(batch.frames[:, camera], one.frames)
            np.testing.assert_array_equal(batch.frame_mask, one.frame_mask)
    assert len(both) == len(alone)


@pytest.mark.parametrize("pad", ["edge", "zero"])
def test_mixes_have_the_same_pictures(episodes, pad):
    frames = vidrec.Windows(3, stride=4, past=1, pad=pad)
    dataset = front(episodes)
    mix = vidrec.mix({"a": (dataset[:2], 1), "b": (dataset[2:], 1)}, samples_per_epoch=20)
    for batch in vidrec.Loader(mix, 4, frames=frames, crop=SIDE, output="numpy"):
        for i, clip in enumerate(batch.clips.tolist()):
            stored = pictures(dataset, clip)
            of_params = iter(batch.params[i].frames)
            for picture, meant in zip(batch.frames[i], batch.frame_mask[i]):
                expected = stored[next(of_params)] if meant or pad == "edge" else np.zeros_like(picture)
                np.testing.assert_array_equal(picture, expected)
