"""vidrec on what LeRobot writes, and LeRobot on what vidrec packed of it."""
import os
import shutil
import sys
import tempfile

import numpy as np
import pytest
from conftest import ROOT, built, clips, rgb

sys.path.append(str(ROOT / "tests/remote"))
from proxy import Proxy  # noqa: E402

vidrec = pytest.importorskip("vidrec", reason="not asked for: the Python package was not built")
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_LEROBOT_HOME"] = tempfile.mkdtemp()
from lerobot.configs import RGBEncoderConfig  # noqa: E402
from lerobot.datasets.lerobot_dataset import LeRobotDataset  # noqa: E402
from lerobot.datasets.sampler import EpisodeAwareSampler  # noqa: E402

torch = pytest.importorskip("torch")
import vidrec.lerobot  # noqa: E402

PackedDataset = vidrec.lerobot.LeRobotDataset

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
    options = {"depth_output_unit": "m", "delta_timestamps": {key: [-1 / FPS, 0.0]}}
    own, packed = both(tmp_path / "robot", tmp_path / "set", **options)
    for n in range(6):
        assert np.abs(original[n][key].numpy()[0] - meters[n]).max() < 1e-3
        assert torch.allclose(packed[n][key], own[n][key], atol=1e-3) and packed[n][key].shape == (2, 1, HEIGHT, WIDTH)


# The first and the last frame of an episode, those beside it, and one in the middle.
PLACES = [0, 4, 5, 6, 25, 44, 45, -1]
WINDOWS = {
    "observation.images.top": [-2 / FPS, 0.0],
    "observation.images.wrist": [2 / FPS, -4 / FPS, 0.0, 2 / FPS],
    "observation.state": [-3 / FPS, 0.0],
    "action": [t / FPS for t in range(-1, 6)],
    "frame_index": [-1 / FPS, 0.0],
}


def both(written, packed, **options):
    """LeRobot's own data set, and the packed one."""
    own = LeRobotDataset("test/set", root=written, video_backend="pyav", **options)
    return own, PackedDataset("test/set", root=packed, **options)


def check_item(found, expected, least=30):
    """The same keys, types, shapes and values; frames have at least this PSNR in dB."""
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        if isinstance(value, (str, list)):
            assert found[key] == value, key
            continue
        assert (found[key].dtype, found[key].shape) == (value.dtype, value.shape), key
        if key.startswith("observation.images"):
            a, b = (image.float() / (255 if image.dtype == torch.uint8 else 1) for image in (found[key], value))
            assert -10 * torch.log10(((a - b) ** 2).mean()) > least, key
        else:
            assert torch.equal(found[key], value), key


@pytest.mark.parametrize("options", [{}, {"delta_timestamps": WINDOWS}, {"return_uint8": True, "episodes": [2, 0]}], ids=["plain", "windows", "some"])
def test_lerobot_has_the_items_of_what_vidrec_packed(options, written, packed_of):
    own, packed = both(written, packed_of, **options)
    assert (len(packed), packed.num_episodes, packed.fps) == (len(own), own.num_episodes, own.fps)
    assert packed.absolute_to_relative_idx == own.absolute_to_relative_idx
    places = [place % len(own) for place in PLACES]
    for found, place in zip(packed.__getitems__(places), places):
        check_item(found, own[place])
        check_item(packed[place], found, least=200)
    check_item(packed[-1], own[len(own) - 1])
    assert [item["index"] for item in packed[:3]] == [own[i]["index"] for i in range(3)]
    for index in (len(own), -len(own) - 1):
        with pytest.raises(IndexError):
            packed[index]


def test_pictures_and_transforms_are_those_of_lerobot(tmp_path):
    record(tmp_path / "robot", None)
    vidrec.convert.from_lerobot(tmp_path / "robot", tmp_path / "set", frames="all")
    windows = {"observation.images.top": [0.0], "action": [0.0]}
    own, packed = both(tmp_path / "robot", tmp_path / "set", delta_timestamps=windows, image_transforms=lambda image: image.flip(-1))
    for place in (0, 30):
        check_item(packed[place], own[place])


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_lerobots_sampler_and_workers_of_a_dataloader_go_on_where_they_stopped(method, written, packed_of):
    """A tiny policy, trained for two steps, resumed after one."""
    packed = PackedDataset("test/set", root=packed_of, delta_timestamps={"action": [0.0, 1 / FPS]})
    packed[0]  # in use before the workers start

    def train(steps, sampler, policy):
        batches = torch.utils.data.DataLoader(packed, 4, sampler=sampler, num_workers=2, multiprocessing_context=method)
        optimizer = torch.optim.SGD(policy.parameters(), 0.01)
        for _, batch in zip(range(steps), batches):
            image, state = batch["observation.images.top"].mean((2, 3)), batch["observation.state"] / 50
            loss = ((policy(torch.cat([image, state], 1)) - batch["action"].flatten(1) / 50) ** 2)[~batch["action_is_pad"].repeat_interleave(2, 1)].mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return loss.item()

    def made():
        torch.manual_seed(0)
        episodes = packed.meta.episodes
        return EpisodeAwareSampler(episodes["dataset_from_index"], episodes["dataset_to_index"], shuffle=True, seed=3), torch.nn.Linear(7, 4)

    sampler, policy = made()
    expected = train(2, sampler, policy)
    sampler, policy = made()
    train(1, sampler, policy)
    resumed, _ = made()
    resumed.load_state_dict({"epoch": 0, "start_index": 4})
    assert train(1, resumed, policy) == expected


def test_a_data_set_in_a_bucket_is_read_there(written, packed_of, tmp_path, monkeypatch):
    server = Proxy(built("fault-proxy"), "--folder", tmp_path, "--writable")
    for name, value in {"ENDPOINT_URL": server.url, "REGION": "us-east-1", "ACCESS_KEY_ID": "me", "SECRET_ACCESS_KEY": "secret"}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    vidrec.push(packed_of, "s3://bucket/set")
    own, packed = both(written, "s3://bucket/set", delta_timestamps=WINDOWS)
    for found, place in zip(packed.__getitems__([0, 30]), (0, 30)):
        check_item(found, own[place])
    vidrec.convert.from_lerobot(written, "s3://bucket/other", frames="all", scratch=tmp_path)
    check_item(both(written, "s3://bucket/other")[1][30], PackedDataset("test/set", root=packed_of)[30], least=200)
    with pytest.raises(FileNotFoundError, match="no data set of vidrec"):
        vidrec.lerobot.localize_root("test/set", "s3://bucket/set/meta")
    server.stop()


def test_meta_of_another_data_set_is_refused(packed_of, tmp_path):
    clips = vidrec.open(packed_of)
    vidrec.merge([clips.select([2, 3]), clips.select([0, 1, 4, 5])], tmp_path / "other")
    shutil.copytree(packed_of / "meta", tmp_path / "other/meta")
    with pytest.raises(vidrec.FormatError, match="expected episode 0, found 1"):
        PackedDataset("test/set", root=tmp_path / "other")[0]
    vidrec.subset(packed_of, tmp_path / "fewer", clips=[0, 1])
    shutil.copytree(packed_of / "meta", tmp_path / "fewer/meta")
    with pytest.raises(vidrec.FormatError, match="expected 54 frames of each camera, .* found 5"):
        PackedDataset("test/set", root=tmp_path / "fewer")
