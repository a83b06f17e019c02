"""vidrec on what LeRobot writes."""
import os

import numpy as np
import pytest
from conftest import clips, rgb

vidrec = pytest.importorskip("vidrec", reason="not asked for: the Python package was not built")
os.environ["HF_HUB_OFFLINE"] = "1"
from lerobot.configs import RGBEncoderConfig  # noqa: E402
from lerobot.datasets.lerobot_dataset import LeRobotDataset  # noqa: E402

FPS, WIDTH, HEIGHT, BARS = 30, 96, 64, 8
LENGTHS = [5, 40, 9]
CAMERAS = ["top", "wrist"]


def picture(number):
    """A picture that shows a number: a bar for each of its bits."""
    bits = (number >> np.arange(BARS)) & 1
    return np.broadcast_to(np.repeat(bits * 255, WIDTH // BARS)[None, :, None], (HEIGHT, WIDTH, 3)).astype(np.uint8)


def number(picture):
    bars = picture.reshape(HEIGHT, BARS, WIDTH // BARS, 3).mean((0, 2, 3)) > 127
    return int((bars << np.arange(BARS)).sum())


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
    vidrec.convert.from_lerobot(written, folder / "set", frames="all")
    return folder / "set"


@pytest.mark.parametrize("codec", ["h264", "libsvtav1", None])
def test_what_lerobot_records_comes_in(codec, written, packed_of, tmp_path):
    if codec != "h264":
        written, packed_of = record(tmp_path / "robot", codec), tmp_path / "set"
        vidrec.convert.from_lerobot(written, packed_of, frames="all")
    dataset = LeRobotDataset("test/set", root=written, video_backend="pyav")
    first = [sum(LENGTHS[:episode]) for episode in range(len(LENGTHS))]
    found = clips(packed_of)
    assert len(found) == len(LENGTHS) * len(CAMERAS)
    for i, (source, _, _, attributes, jpegs) in enumerate(found):
        episode, camera = divmod(i, len(CAMERAS))
        assert (attributes["episode"], attributes["camera"], attributes["split"]) == (episode, CAMERAS[camera], "train")
        video = f"videos/observation.images.{CAMERAS[camera]}/chunk-000/file-000.mp4"
        assert source == video or codec is None
        expected = [(first[episode] + t) ^ 255 * camera for t in range(LENGTHS[episode])]
        assert [number(rgb(jpeg)) for jpeg in jpegs] == expected
        if episode == 1:
            assert sorted(attributes["tasks"].values()) == ["näht", "task 1"]
        else:
            assert attributes["task"] == "task 0"
    assert len(dataset) == sum(LENGTHS)


def test_depth_has_the_numbers_that_lerobot_reads_in_meters(tmp_path):
    """LeRobot makes 12-bit numbers of depth in a video, and reads meters."""
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
    vidrec.convert.from_lerobot(tmp_path / "robot", tmp_path / "set", frames="all")
    clip, original = vidrec.open(tmp_path / "set")[0], LeRobotDataset("test/set", root=tmp_path / "robot", video_backend="pyav", depth_output_unit="m")
    made = clip.attributes["depth"][key]
    low, high = np.log(made["depth_min"] + made["shift"]), np.log(made["depth_max"] + made["shift"])
    meters = np.exp(low + clip.track(key).values / 4095 * (high - low)) - made["shift"]
    for n in range(6):
        assert np.abs(original[n][key].numpy()[0] - meters[n]).max() < 1e-3
