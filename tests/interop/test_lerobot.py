"""LeRobot's own LeRobotDataset on what vidrec writes, and vidrec on what it writes."""
import io
import json
import os

import av
import numpy as np
import pytest
from conftest import clips, rgb, run
from reader import open_dataset

os.environ["HF_HUB_OFFLINE"] = "1"
import torch  # noqa: E402
from lerobot.configs import RGBEncoderConfig  # noqa: E402
from lerobot.datasets.lerobot_dataset import LeRobotDataset  # noqa: E402

FPS, WIDTH, HEIGHT, BARS = 30, 96, 64, 8
LENGTHS = [5, 40, 9]
CAMERAS = ["top", "wrist"]


def opened(root):
    return LeRobotDataset("test/set", root=root, video_backend="pyav")


def picture(number):
    """A picture that shows a number: a bar for each of its bits."""
    bits = (number >> np.arange(BARS)) & 1
    return np.broadcast_to(np.repeat(bits * 255, WIDTH // BARS)[None, :, None], (HEIGHT, WIDTH, 3)).astype(np.uint8)


def number(picture):
    bars = picture.reshape(HEIGHT, BARS, WIDTH // BARS, 3).mean((0, 2, 3)) > 127
    return int((bars << np.arange(BARS)).sum())


def as_ffmpeg_decodes(jpeg):
    with av.open(io.BytesIO(jpeg), format="mjpeg") as alone:
        return next(alone.decode(video=0)).to_ndarray(format="rgb24")


def record(root, codec):
    """Three episodes of two cameras, one after the other in the same videos, as LeRobot records them; without a codec, as
    pictures in Parquet."""
    video = {"dtype": "video" if codec else "image", "shape": (HEIGHT, WIDTH, 3), "names": ["height", "width", "channels"]}
    features = {f"observation.images.{camera}": video for camera in CAMERAS}
    for name, count in [("observation.state", 4), ("action", 2), ("next.reward", 1)]:
        features[name] = {"dtype": "float32", "shape": (count,), "names": None}
    features["next.done"] = {"dtype": "bool", "shape": (1,), "names": None}
    features["grid"] = {"dtype": "int64", "shape": (2, 3), "names": None}
    dataset = LeRobotDataset.create("test/set", fps=FPS, features=features, root=root, use_videos=bool(codec), video_backend="pyav", rgb_encoder=RGBEncoderConfig(vcodec=codec) if codec else None)
    n = 0
    for episode, length in enumerate(LENGTHS):
        for i in range(length):
            dataset.add_frame({
                **{f"observation.images.{camera}": picture(n ^ 255 * c) for c, camera in enumerate(CAMERAS)},
                "observation.state": np.arange(4, dtype=np.float32) / 7 + n,
                "action": np.float32([n, -n / 3]),
                "next.reward": np.float32([n / 2]),
                "next.done": np.array([i == length - 1]),
                "grid": np.arange(6).reshape(2, 3) * 10**5 + n,
                # The second episode has two tasks.
                "task": "näht" if episode == 1 and i >= 20 else f"task {episode % 2}",
            })
            n += 1
        dataset.save_episode()
    dataset.finalize()
    return root


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    return record(tmp_path_factory.mktemp("lerobot") / "set", "h264")


@pytest.fixture(scope="session")
def packed_of(written, tmp_path_factory):
    folder = tmp_path_factory.mktemp("packed")
    run("pack", written, "-o", folder / "set", "--all")
    return folder / "set"


@pytest.fixture(scope="session")
def out(packed_of, tmp_path_factory):
    folder = tmp_path_factory.mktemp("out")
    run("export", "lerobot", packed_of, "-o", folder / "out")
    return folder / "out"


@pytest.mark.parametrize("codec", ["h264", "libsvtav1", None])
def test_what_lerobot_records_comes_in(codec, written, packed_of, tmp_path):
    if codec != "h264":
        written, packed_of = record(tmp_path / "robot", codec), tmp_path / "set"
        run("pack", written, "-o", packed_of, "--all")
    dataset = opened(written)
    first = [sum(LENGTHS[:episode]) for episode in range(len(LENGTHS))]
    found = clips(packed_of)
    assert len(found) == len(LENGTHS) * len(CAMERAS)
    for i, (source, _, _, attributes, jpegs) in enumerate(found):
        episode, camera = divmod(i, len(CAMERAS))
        assert (attributes["episode"], attributes["camera"], attributes["split"]) == (episode, CAMERAS[camera], "train")
        video = f"videos/observation.images.{CAMERAS[camera]}/chunk-000/file-000.mp4"
        assert source == (video if codec else "data/chunk-000/file-000.parquet")
        expected = [(first[episode] + t) ^ 255 * camera for t in range(LENGTHS[episode])]
        assert [number(rgb(jpeg)) for jpeg in jpegs] == expected
        if episode == 1:
            assert sorted(attributes["tasks"].values()) == ["näht", "task 1"]
        else:
            assert attributes["task"] == "task 0"
    assert len(dataset) == sum(LENGTHS)


def test_lerobot_reads_what_goes_out(written, packed_of, out):
    dataset, original = opened(out), opened(written)
    assert (len(dataset), dataset.fps, dataset.num_episodes) == (sum(LENGTHS), FPS, len(LENGTHS))
    assert dataset.meta.camera_keys == [f"observation.images.{camera}" for camera in CAMERAS]
    jpegs = [frames for *_, frames in clips(packed_of)]
    n = 0
    for episode, length in enumerate(LENGTHS):
        for t in range(length):
            item, expected = dataset[n], original[n]
            for name in ["action", "next.reward", "observation.state", "grid", "timestamp", "frame_index", "episode_index",
                         "index"]:
                assert item[name].dtype == expected[name].dtype and torch.equal(item[name], expected[name]), name
            assert item["task"] == expected["task"]
            assert bool(item["next.done"]) == bool(expected["next.done"])
            for camera, name in enumerate(CAMERAS):
                shown = (item[f"observation.images.{name}"].permute(1, 2, 0).numpy() * 255).round().astype(np.uint8)
                jpeg = jpegs[len(CAMERAS) * episode + camera][t]
                assert np.array_equal(shown, as_ffmpeg_decodes(jpeg)), "the pixels of the JPEG, in their full range"
                assert np.abs(shown.astype(int) - rgb(jpeg)).max() <= 3
            n += 1


def test_windows_over_time_are_those_of_the_original(written, out):
    steps = {"action": [0.0, 1 / FPS, 3 / FPS], "observation.images.top": [-2 / FPS, 0.0]}
    open_with = lambda root: LeRobotDataset(  # noqa: E731
        "test/set", root=root, video_backend="pyav", delta_timestamps=steps)
    dataset, original = open_with(out), open_with(written)
    for n in [0, 4, 5, 44, 45, 53]:
        item, expected = dataset[n], original[n]
        assert torch.equal(item["action"], expected["action"]) and torch.equal(item["action_is_pad"], expected["action_is_pad"])
        shown, wanted = [[number(picture.permute(1, 2, 0).numpy() * 255) for picture in i["observation.images.top"]]
                         for i in (item, expected)]
        assert shown == wanted


def test_statistics_are_those_that_lerobot_computes(written, out):
    ours, theirs = [json.loads((root / "meta/stats.json").read_text()) for root in (out, written)]
    assert ours.keys() == theirs.keys()
    for name, expected in theirs.items():
        assert ours[name].keys() == expected.keys()
        for key in ["min", "max", "mean", "std", "count"]:
            found, wanted = np.array(ours[name][key], float), np.array(expected[key], float)
            bound = 0.02 if "images" in name else 1e-5 * max(1, np.abs(wanted).max())
            assert found.shape == wanted.shape and np.allclose(found, wanted, rtol=0, atol=bound), (name, key, found, wanted)


def test_out_and_in_again_keeps_values_and_pictures(packed_of, out, tmp_path):
    run("pack", out, "-o", tmp_path / "set", "--all")
    run("export", "lerobot", tmp_path / "set", "-o", tmp_path / "out")
    again = opened(tmp_path / "out")
    once = opened(out)
    for n in range(len(once)):
        for name in ["action", "next.reward", "observation.state", "grid", "next.done"]:
            assert torch.equal(once[n][name], again[n][name])
        assert once[n]["task"] == again[n]["task"]
    for (*_, one), (*_, other) in zip(clips(packed_of), clips(tmp_path / "set")):
        for a, b in zip(one, other):
            assert np.abs(rgb(a).astype(int) - rgb(b)).mean() < 1.5


def noise(number):
    """A picture that takes many bytes, with the number in bars in its upper half."""
    shown = np.random.default_rng(number).integers(0, 256, (8 * HEIGHT, 8 * WIDTH, 3), np.uint8)
    shown[:4 * HEIGHT] = np.kron(picture(number), np.ones((4, 8, 1), np.uint8))
    return shown


def test_cameras_of_an_episode_have_one_clock(tmp_path):
    """The files of a camera end at other episodes than those of another, whose pictures take fewer bytes, and a third camera is
    in Parquet."""
    shapes = {"top": ("video", (HEIGHT, WIDTH, 3)), "noise": ("video", (8 * HEIGHT, 8 * WIDTH, 3)), "side": ("image", (HEIGHT, WIDTH, 3))}
    names = ["height", "width", "channels"]
    features = {f"observation.images.{camera}": {"dtype": dtype, "shape": shape, "names": names} for camera, (dtype, shape) in shapes.items()}
    features["action"] = {"dtype": "float32", "shape": (1,), "names": None}
    dataset = LeRobotDataset.create(
        "test/set", fps=FPS, features=features, root=tmp_path / "robot", video_backend="pyav", video_files_size_in_mb=1)
    n = 0
    for length in [7, 12, 5]:
        for _ in range(length):
            shown = {"top": picture(n), "noise": noise(n), "side": picture(n)}
            images = {f"observation.images.{camera}": image for camera, image in shown.items()}
            dataset.add_frame({**images, "action": np.float32([n]), "task": "look"})
            n += 1
        dataset.save_episode()
    dataset.finalize()
    videos = [sorted((tmp_path / f"robot/videos/observation.images.{camera}").rglob("*.mp4")) for camera in ["top", "noise"]]
    assert [len(files) for files in videos] == [1, 3]
    run("pack", tmp_path / "robot", "-o", tmp_path / "set", "--all", "--size", "original")
    found = list(open_dataset(tmp_path / "set").clips)
    assert len(found) == 9
    episodes = [found[i:i + 3] for i in range(0, 9, 3)]
    for first, episode in zip([0, 7, 19], episodes):
        seconds = []
        for clip in episode:
            upper = [rgb(clip.jpeg(t)) for t in range(len(clip.frames))]
            upper = [image if image.shape[0] == HEIGHT else image[::4, ::8][:HEIGHT] for image in upper]
            assert [number(image) for image in upper] == list(range(first, first + len(clip.frames)))
            seconds.append([frame.pts * clip.time_base[0] / clip.time_base[1] for frame in clip.frames])
        assert all(np.allclose(times, np.arange(len(times)) / FPS, rtol=0, atol=1e-4) for times in seconds)
    assert "nothing found" in run("check", tmp_path / "set", "--only", "clock")


def test_depth_goes_out_in_millimeters(tmp_path):
    """LeRobot makes 12-bit numbers of depth in a video. What goes out is what LeRobot reads of its own video."""
    key = "observation.images.depth"
    names = ["height", "width", "channels"]
    features = {
        "observation.images.top": {"dtype": "video", "shape": (HEIGHT, WIDTH, 3), "names": names},
        key: {"dtype": "video", "shape": (HEIGHT, WIDTH, 1), "names": names, "info": {"is_depth_map": True}},
    }
    dataset = LeRobotDataset.create("test/set", fps=FPS, features=features, root=tmp_path / "robot", video_backend="pyav")
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    for n in range(6):
        depth = (500 + 20 * rows + 9 * columns + 10 * n).astype(np.uint16)
        dataset.add_frame({"observation.images.top": picture(n), key: depth[:, :, None], "task": "look"})
    dataset.save_episode()
    dataset.finalize()
    run("pack", tmp_path / "robot", "-o", tmp_path / "set", "--all")
    run("export", "lerobot", tmp_path / "set", "-o", tmp_path / "out")
    original, exported = opened(tmp_path / "robot"), opened(tmp_path / "out")
    assert exported.meta.features[key]["info"]["depth_unit"] == "mm"
    for n in range(6):
        wanted, found = original[n][key], exported[n][key]
        assert found.shape == wanted.shape and (found - wanted).abs().max() <= 1, (found, wanted)
    metres = LeRobotDataset("test/set", root=tmp_path / "out", video_backend="pyav", depth_output_unit="m")
    assert torch.allclose(metres[0][key] * 1000, exported[0][key])
    assert np.allclose(metres.meta.stats[key]["max"], original.meta.stats[key]["max"] / 1000, rtol=0.01)
    # And in again: the numbers of 16 bits that LeRobot has read.
    run("pack", tmp_path / "out", "-o", tmp_path / "again", "--all")
    again = next(open_dataset(tmp_path / "again").clips)
    assert json.loads(again.attributes)["depth"] == {key: {"unit": "mm"}}
    (track,) = again.shard.tracks.tracks(0, 6)
    assert np.array_equal(np.frombuffer(bytes(track.numbers), "<u2").reshape(6, HEIGHT, WIDTH)[3], exported[3][key][0])


def test_plain_clips_are_episodes_with_their_class_as_task(packed, tmp_path):
    run("export", "lerobot", packed, "-o", tmp_path / "out", "--fps", "10")
    dataset, expected = opened(tmp_path / "out"), clips(packed)
    assert dataset.num_episodes == len(expected)
    for n, (_, _, name, _, jpegs) in enumerate(expected):
        item = dataset[n * len(jpegs)]
        assert (item["task"], int(item["episode_index"])) == (name, n)
        shown = item["observation.images.main"].permute(1, 2, 0).numpy() * 255
        assert np.array_equal(shown.round(), as_ffmpeg_decodes(jpegs[0]))
        # FFmpeg upsamples chroma in another way than libjpeg; the range shows in the luma.
        luma = (shown - rgb(jpegs[0])) @ [0.299, 0.587, 0.114]
        assert np.abs(luma).mean() < 1.5
