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


def window(n, current, offsets):
    """The frames of a window around one, whether they exist or not."""
    wanted = current + offsets
    return wanted, (wanted >= 0) & (wanted < n)


def currents(n, offsets, hop, pad):
    """The current frames of a clip."""
    if pad != "drop":
        return range(0, n, hop)
    first = max(0, -min(offsets))
    return range(first, max(first + 1, n - max(0, max(offsets))), hop)


@pytest.mark.parametrize("seed", range(12))
def test_windows_are_those_of_the_model(episodes, seed):
    draw = np.random.default_rng(seed)
    stride, hop = (int(draw.integers(1, most)) for most in (5, 4))
    given = np.sort(draw.choice(np.arange(-4, 4), draw.integers(1, 5), replace=False))
    if seed % 4 == 3:
        given = np.arange(len(given))
    pad = ("edge", "zero", "drop")[seed % 3]
    offsets = given * stride
    frames = vidrec.Windows(len(given) if seed % 4 == 3 else given.tolist(), stride=stride, hop=hop, pad=pad)
    steps = range(int(draw.integers(-6, 1)), int(draw.integers(1, 9)))
    anchor = ("current", "each")[int(draw.integers(2))]
    tracks = {"step": vidrec.track(), "action": vidrec.track(steps=steps, rate=RATE, anchor=anchor)}
    dataset = front(episodes)
    loader = vidrec.Loader(dataset, 4, frames=frames, crop=SIDE, tracks=tracks, output="numpy")
    expected = [(clip, current) for clip, n in enumerate(LENGTHS) for current in currents(n, offsets, hop, pad)]
    stored = [pictures(dataset, clip) for clip in range(len(LENGTHS))]
    found = 0
    for batch in loader:
        for i in range(len(batch)):
            clip, current = expected[found]
            found += 1
            assert batch.clips[i] == clip
            n, actions = LENGTHS[clip], actions_of(clip)
            wanted, meant = window(n, current, offsets)
            # Without a pad, a clip that is too short has one sample, and repeats its last frame.
            kept = meant | (pad != "zero")
            current = min(current, n - 1)
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
            kept = (index >= 0) & (index < n) if pad == "drop" else there | (pad == "edge")
            values = actions[np.clip(index, 0, n - 1)] * kept[..., None]
            if anchor == "current":
                there, values = there[0], values[0]
            np.testing.assert_array_equal(batch.track_masks["action"][i], there)
            np.testing.assert_array_equal(batch.tracks["action"][i], values)
    assert found == len(expected) == len(range(found))


@pytest.mark.parametrize("pad", ["drop", "edge", "zero"])
def test_cameras_show_frames_of_their_own(episodes, pad):
    names = ["front", "wrist"]
    own = {"front": vidrec.Camera(frames=[-2, 0]), "wrist": vidrec.Camera(frames=[0], flip=1.0)}
    batches = []
    tracks = {"step": vidrec.track(), "action": vidrec.track(steps=3, rate=RATE)}
    options = {"frames": vidrec.Windows([-5, -2, 0], pad=pad), "crop": SIDE, "tracks": tracks, "output": "numpy"}
    for cameras in (vidrec.Cameras(names), vidrec.Cameras(names, own=own)):
        loader = vidrec.Loader(episodes, 4, cameras=cameras, **options)
        batches.append((list(loader), loader.stats().frames))
    shown = np.array([[False, True, True], [False, False, True]])
    (all_batches, all_frames), (own_batches, own_frames) = batches
    assert len(all_batches) == len(own_batches) > 1
    decoded = 0
    for every, some in zip(all_batches, own_batches):
        mirrored = every.frames.copy()
        mirrored[:, 1] = every.frames[:, 1, ..., ::-1]
        np.testing.assert_array_equal(some.frames, mirrored * shown[..., None, None, None])
        np.testing.assert_array_equal(some.frame_mask, every.frame_mask & shown)
        decoded += int(((~np.isnan(every.times))[:, None] & shown).sum())
        np.testing.assert_array_equal(some.times, every.times)
        for name in tracks:
            np.testing.assert_array_equal(some.tracks[name], every.tracks[name])
            np.testing.assert_array_equal(some.track_masks[name], every.track_masks[name])
    assert own_frames == decoded < all_frames


def test_a_camera_shows_only_frames_that_samples_have(episodes):
    cameras = vidrec.Cameras(["front", "wrist"], own={"wrist": vidrec.Camera(frames=[-3])})
    for frames, expected in ((vidrec.Windows([-5, 0]), "one of [-5, 0]"), (4, "Windows, Run or Views")):
        with pytest.raises(vidrec.UsageError) as e:
            vidrec.Loader(episodes, 4, frames=frames, crop=SIDE, cameras=cameras)
        assert 'camera "wrist"' in str(e.value) and expected in str(e.value) and "found -3" in str(e.value)
    with pytest.raises(vidrec.UsageError, match="list of offsets"):
        vidrec.Cameras(["front"], own={"front": vidrec.Camera(frames=vidrec.Windows([0], hop=2))})


@pytest.mark.parametrize("rounding", ["down", "nearest"])
def test_frames_from_the_first_to_the_last_are_those_of_linspace(episodes, rounding):
    for count in (1, 2, 3, 7, 8, 16):
        frames = vidrec.Uniform(count, ends=True, rounding=rounding)
        for batch in vidrec.Loader(front(episodes), 4, frames=frames, crop=SIDE, output="numpy"):
            for clip, params in zip(batch.clips, batch.params):
                places = np.linspace(0, LENGTHS[clip] - 1, count)
                wanted = places.astype(int) if rounding == "down" else places.round().astype(int)
                assert list(params.frames) == wanted.tolist()


@pytest.mark.parametrize("short", ["repeat", "pad"])
def test_several_runs_are_one_sample(episodes, short):
    loader = vidrec.Loader(front(episodes), 4, frames=vidrec.Run(3, runs=2, stride=2, short=short), crop=SIDE, seed=1, output="numpy")
    starts = set()
    for epoch in range(40):
        loader.set_epoch(epoch)
        for batch in loader:
            assert batch.frames.shape[1] == 6
            for i, clip in enumerate(batch.clips):
                times = (batch.times[i] * RATE).round().reshape(2, 3)
                mask = batch.frame_mask[i].reshape(2, 3)
                n = LENGTHS[clip]
                there = times[:, :1] + [0, 2, 4] < n
                assert (mask == there).all() and (there.all() or n < 5)
                np.testing.assert_array_equal(times, np.where(there, times[:, :1] + [0, 2, 4], n - 1 if short == "repeat" else np.nan))
                assert times[0, 0] <= times[1, 0]
                starts.add((clip, *times[:, 0]))
    # All pairs of the 16 starts of one clip, and of the 9 of another; clips with one start have one.
    assert 2 + 60 < len(starts) <= 2 + 16 * 17 // 2 + 9 * 10 // 2
