"""Depth: pictures of numbers that are cropped, resized and mirrored with the frames, against a plain model in NumPy."""
import json

import numpy as np
import pytest
from conftest import make_videos

import vidrec

FRAMES, HEIGHT, WIDTH = 24, 36, 52


def depth_of(clip):
    """Numbers of a clip: a slope, which PNG makes shorter, and noise."""
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    noise = np.random.default_rng(clip).integers(0, 40, (FRAMES, HEIGHT, WIDTH))
    return (noise + 900 * clip + 300 * rows + 1000 * (columns // 9) + np.arange(FRAMES)[:, None, None]).astype(np.uint16)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Clips of 64x48 with depth of 52x36: of each frame, and with times of their own."""
    root = tmp_path_factory.mktemp("depth")
    rows, sources = [], {}
    for clip in range(5):
        source = f"gradients=size=64x48:rate=12:duration=2:seed={clip}:c0=orange:c1=navy"
        sources[root / f"{clip}.mp4"] = [source]
        np.save(root / f"{clip}.npy", depth_of(clip))
        rows.append(json.dumps({"path": f"{clip}.mp4", "label": clip, "depth": f"{clip}.npy", "episode": clip, "camera": "top"}))
    make_videos(sources)
    (root / "list.jsonl").write_text("\n".join(rows))
    tracks = ["depth=depth,frames", "timed=depth,every-frame"]
    vidrec.pack(root / "list.jsonl", root / "set", frames="all", size="original", track=tracks)
    return root / "set"


def seen(depth, window, flip, size):
    """What a sample of this size shows of a frame of 64x48, of which the window is a part."""
    def places(start, length, out, frame, stored):
        centers = start + (np.arange(out) + 0.5) * (length / out)
        return np.minimum(np.floor(centers * stored / frame).astype(int), stored - 1)

    left, top, width, height = window
    columns, rows = places(left, width, size[1], 64, WIDTH), places(top, height, size[0], 48, HEIGHT)
    return depth[rows][:, columns[::-1] if flip else columns]


CROPS = [
    vidrec.RandomResizedCrop(17),
    vidrec.CenterCrop(20, resize=24),
    vidrec.Cover((24, 32)),
    vidrec.ThreeCrop(24),
    vidrec.Cover(sizes=[(24, 32), (32, 24)]),
]
FRAMINGS = [vidrec.Run(3, stride=2), vidrec.Windows([-1, 0, 1], stride=2, hop=5, pad="edge"), vidrec.Uniform(30, short="pad")]


@pytest.mark.filterwarnings("ignore::vidrec.LoaderWarning")
@pytest.mark.parametrize("crop, frames", list(zip(CROPS, FRAMINGS + FRAMINGS)), ids=repr)
def test_depth_follows_the_frames(path, crop, frames):
    tracks = {"depth": vidrec.track(geometry="mask"), "timed": vidrec.track(geometry="mask", times=[0, 0.1])}
    options = {"frames": frames, "crop": crop, "flip": 0.5, "seed": 7, "output": "numpy", "last": "keep"}
    flips = set()
    for batch in vidrec.Loader(path, 3, tracks=tracks, **options):
        depth, timed = batch.tracks["depth"], batch.tracks["timed"]
        assert depth.dtype == np.uint16 and depth.shape == batch.frame_mask.shape + batch.frames.shape[-2:]
        assert (batch.track_masks["depth"] == batch.frame_mask).all()
        for b, params in enumerate(batch.params):
            stored = depth_of(int(batch.clips[b]))
            flips.add(params.flip)
            times = batch.times[b]
            for t in np.flatnonzero(~np.isnan(times)):
                frame = round(times[t] * 12)
                assert (depth[b, t] == seen(stored[frame], params.window, params.flip, batch.frames.shape[-2:])).all()
            assert (depth[b, np.isnan(times)] == 0).all()
            if batch.track_masks["timed"][b].all() and isinstance(frames, vidrec.Run):
                for k, frame in enumerate((round(times[0] * 12), round(times[0] * 12 + 1.2))):
                    assert (timed[b, k] == seen(stored[frame], params.window, params.flip, batch.frames.shape[-2:])).all()
    assert flips == {False, True}


def test_depth_follows_the_camera_that_it_names(path):
    cameras = vidrec.Cameras(["top"], own={"top": vidrec.Camera(flip=1.0)})
    options = {"frames": 2, "crop": vidrec.Cover((24, 32)), "cameras": cameras, "output": "numpy", "shuffle": False}
    (batch,) = vidrec.Loader(path, 5, tracks={"depth": vidrec.track(geometry="mask", camera="top")}, **options)
    for b, params in enumerate(batch.params):
        stored = depth_of(int(batch.clips[b]))[params.frames[0]]
        assert params.flip and (batch.tracks["depth"][b, 0] == seen(stored, params.window, True, (24, 32))).all()
    with pytest.raises(vidrec.UsageError, match="camera.*no such camera.*top"):
        vidrec.Loader(path, 5, tracks={"depth": vidrec.track(geometry="mask", camera="wrist")}, **options)
