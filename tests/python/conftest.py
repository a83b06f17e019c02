"""Small data sets, packed from videos that are made here, for the tests of the installed package."""
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "format-spec"))
sys.path += [str(ROOT / "tests/python"), str(ROOT / "tests/remote")]
from skips import pytest_make_collect_report, pytest_runtest_makereport  # noqa: E402, F401

# More threads for torch than that only wait for each other where tests run side by side.
os.environ.setdefault("OMP_NUM_THREADS", "1")
NAMES = "0123456789ab"
COLORS = ["orange", "navy", "lime", "maroon", "white", "teal"]


def make_videos(sources):
    """Videos, of what they show and options, by one ffmpeg, which takes longer to start than to make one."""
    inputs, outputs = [], []
    for i, (video, (source, *options)) in enumerate(sources.items()):
        video.parent.mkdir(parents=True, exist_ok=True)
        inputs += ["-f", "lavfi", "-i", source]
        outputs += ["-map", str(i), "-pix_fmt", "yuv420p", *options, video]
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", *inputs, *outputs], check=True)


@pytest.fixture(scope="session")
def videos(tmp_path_factory):
    """Twelve short videos in two classes."""
    root = tmp_path_factory.mktemp("videos")
    sources = {}
    for i, name in enumerate(NAMES):
        # Without colors of their own, gradients have others in each run.
        colors = f"c0={COLORS[i % 6]}:c1={COLORS[(i + 2 + i // 6) % 6]}"
        sources[root / ("left" if i < 6 else "right") / f"{name}.mp4"] = [f"gradients=size=96x72:rate=12:duration=1:seed={i}:{colors}"]
    make_videos(sources)
    return root


@pytest.fixture(scope="session")
def train(videos, tmp_path_factory):
    """The path of a data set of twelve clips of eight frames of 96x72."""
    import vidrec

    path = tmp_path_factory.mktemp("set") / "train"
    report = vidrec.pack(videos, path)
    assert (report.clips, report.failed) == (12, 0)
    return path


@pytest.fixture(scope="session")
def rig_path(videos, tmp_path_factory):
    """The path of the twelve videos as six episodes of two cameras, of other lengths, with tracks of numbers, of depth and of lists."""
    import numpy as np

    import vidrec

    root = tmp_path_factory.mktemp("rig")
    rows, boxes = ["path,camera,episode,end,action,depth,detections"], []
    for i, video in enumerate(sorted(videos.glob("*/*.mp4"))):
        values = json.dumps([[k, i] for k in range(12)]).replace('"', '""')
        detections = [[[k, i, 90 - k, 60 + i]] * ((k + i) % 4) for k in range(12)]
        row = f'{video},{"front" if i % 2 else "wrist"},{i // 2},{0.5 + i // 2 % 3 / 4},"{values}",{i}.npy,"{detections}"'
        rows.append(row)
        boxes.append(np.random.default_rng(i).uniform(-20, 110, (12, 3, 4)))
        np.save(root / f"{i}.npy", np.random.default_rng(i).integers(0, 9000, (12, 18, 24), np.uint16))
    (root / "list.csv").write_text("\n".join(rows))
    tracks = ["action=action,rate=12", "depth=depth,frames", "detections=detections,every-frame,type=f16,list"]
    report = vidrec.pack(root / "list.csv", root / "rig", frames="all", size=(48, 64), track=tracks)
    assert report.clips == 12
    # Whatever goes with tracks goes with those that were added.
    vidrec.add_tracks(root / "rig", {"boxes": (boxes[clip.index][: len(clip)] for clip in vidrec.open(root / "rig"))})
    return root / "rig"


@pytest.fixture
def rig(rig_path):
    import vidrec

    return vidrec.open(rig_path)


@pytest.fixture(scope="session")
def serve():
    """Serves a folder by HTTP, or with options as the server of faults has them; gives the server."""
    from programs import built
    from proxy import Proxy

    servers = []

    def serve(folder, *options):
        try:
            servers.append(Proxy(built("fault-proxy"), "--folder", folder, *options))
        except FileNotFoundError as error:
            pytest.skip(str(error))
        return servers[-1]

    yield serve
    for server in servers:
        server.stop()


@pytest.fixture
def ds(train):
    import vidrec

    return vidrec.open(train)


@pytest.fixture
def damaged(train, tmp_path):
    """A copy in which frame 3 of clip 5 has one bit changed."""
    import vidrec

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
