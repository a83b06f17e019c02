"""A small data set, packed from videos that are made here, for the tests of the installed package."""
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import vidrec

sys.path.append(str(Path(__file__).parents[1]))
from skips import pytest_make_collect_report, pytest_runtest_makereport  # noqa: E402, F401

NAMES = "0123456789ab"
COLORS = ["orange", "navy", "lime", "maroon", "white", "teal"]


def patch_lightning(monkeypatch):
    """Lets Lightning begin with Debian's torch 1.13 on Python 3.11, which cannot import what this asks of it."""
    if importlib.util.find_spec("pytorch_lightning"):
        asks = "pytorch_lightning.LightningModule._register_sharded_tensor_state_dict_hooks_if_available"
        monkeypatch.setattr(asks, lambda self: None, raising=False)


@pytest.fixture(scope="session")
def videos(tmp_path_factory):
    """Twelve short videos in two classes."""
    root = tmp_path_factory.mktemp("videos")
    for i, name in enumerate(NAMES):
        video = root / ("left" if i < 6 else "right") / f"{name}.mp4"
        video.parent.mkdir(exist_ok=True)
        # Without colors of their own, gradients have others in each run.
        colors = f"c0={COLORS[i % 6]}:c1={COLORS[(i + 2 + i // 6) % 6]}"
        source = f"gradients=size=96x72:rate=12:duration=1:seed={i}:{colors}"
        command = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", source, "-pix_fmt", "yuv420p", video]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    return root


@pytest.fixture(scope="session")
def train(videos, tmp_path_factory):
    """The path of a data set of twelve clips of eight frames of 96x72."""
    path = tmp_path_factory.mktemp("set") / "train"
    report = vidrec.pack(videos, path)
    assert (report.clips, report.failed) == (12, 0)
    return path


@pytest.fixture(scope="session")
def rig_path(videos, tmp_path_factory):
    """The path of the twelve videos as six episodes of two cameras, of other lengths, with tracks of numbers and of depth."""
    root = tmp_path_factory.mktemp("rig")
    rows = ["path,camera,episode,end,action,depth"]
    for i, video in enumerate(sorted(videos.glob("*/*.mp4"))):
        values = json.dumps([[k, i] for k in range(12)]).replace('"', '""')
        rows.append(f'{video},{"front" if i % 2 else "wrist"},{i // 2},{0.5 + i // 2 % 3 / 4},"{values}",{i}.npy')
        np.save(root / f"{i}.npy", np.random.default_rng(i).integers(0, 9000, (12, 18, 24), np.uint16))
    (root / "list.csv").write_text("\n".join(rows))
    report = vidrec.pack(root / "list.csv", root / "rig", frames="all", size=(48, 64), track=["action=action,rate=12", "depth=depth,frames"])
    assert report.clips == 12
    return root / "rig"


@pytest.fixture
def rig(rig_path):
    return vidrec.open(rig_path)


@pytest.fixture
def ds(train):
    return vidrec.open(train)


@pytest.fixture
def damaged(train, tmp_path):
    """A copy in which frame 3 of clip 5 has one bit changed."""
    copy = tmp_path / "damaged"
    copy.mkdir()
    for file in train.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    jpeg = vidrec.open(copy)[5].jpeg(3)
    (record,) = copy.glob("shard-00000-*.rec")
    whole = bytearray(record.read_bytes())
    at = whole.index(jpeg)
    whole[at + len(jpeg) // 2] ^= 4
    record.write_bytes(whole)
    return copy
