"""What vidrec packed is what other programs read: the plain reader, MXNet's way of reading, Pillow, PyAV."""
import io
import statistics
import struct
import types

import av
import numpy as np
import pytest
from conftest import make_videos
from PIL import Image
from reader import open_dataset
from verify import verify

import vidrec

MAGIC = struct.pack("<I", 0xCED7230A)
# ffmpeg's own moving pictures, pale and a little soft: in full color, what 4:2:0 takes away would hide what goes wrong.
PALE = ["-vf", "hue=s=0.3,gblur=1"]
CLIPS = {
    "shapes/pattern.mp4": ["testsrc2=size=320x240:rate=25:duration=1", *PALE],
    "shapes/counter.mkv": ["testsrc=size=180x320:rate=30:duration=1", *PALE],
    "fractal/zoom.mp4": ["mandelbrot=size=240x180:rate=30000/1001", *PALE, "-t", "1", "-bf", "2"],
    "fractal/full range.mp4": ["mandelbrot=size=320x240:rate=12", "-vf", PALE[1] + ",scale=out_range=full", "-t", "1", "-color_range", "pc"],
    "color/odd.avi": ["gradients=size=322x182:rate=15:duration=1:seed=2:c0=cyan:c1=maroon", "-c:v", "mpeg4", "-q:v", "2"],
}


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """A data set, and the folder of its videos."""
    folder = tmp_path_factory.mktemp("packed")
    make_videos({folder / "videos" / name: source for name, source in CLIPS.items()})
    vidrec.pack(folder / "videos", folder / "set", frames=5, size=180)
    (record_file,) = (folder / "set").glob("shard-00000-*.rec")
    return types.SimpleNamespace(videos=folder / "videos", path=folder / "set", record_file=record_file)


def test_the_plain_reader_finds_it_whole(packed):
    assert verify(packed.path) == []
    told = vidrec.inspect(packed.path)
    assert [s.listing() for s in open_dataset(packed.path).shards] == told.to_dict()["shards"]


def records(path):
    """The records of a .rec file as MXNet's recordio.py reads them: header fields and image."""
    with open(path, "rb") as f:
        while head := f.read(8):
            magic, lrec = struct.unpack("<4sI", head)
            length = lrec & ((1 << 29) - 1)
            assert (magic, lrec >> 29) == (MAGIC, 0)
            payload = f.read((length + 3) // 4 * 4)[:length]
            yield (*struct.unpack("IfQQ", payload[:24]), payload[24:])


def test_mxnet_reads_the_records_in_order(packed):
    expected = []
    for c, clip in enumerate(open_dataset(packed.path).clips):
        for t in range(len(clip.frames)):
            expected.append((0, float(clip.label), len(expected), c << 32 | t, clip.jpeg(t)))
    assert list(records(packed.record_file)) == expected


def pillow(jpeg):
    return np.asarray(Image.open(io.BytesIO(jpeg)).convert("RGB"))


def test_pillow_and_vidrec_decode_to_the_same_pixels(packed):
    """Both are libjpeg-turbo's accurate decoding."""
    for clip, ours in zip(open_dataset(packed.path).clips, vidrec.open(packed.path)):
        assert np.array_equal(ours.frames(), np.stack([pillow(clip.jpeg(t)) for t in range(len(clip.frames))]))


def decoded(video):
    """All frames of a video by their presentation time, as PyAV gives them."""
    with av.open(str(video)) as container:
        stream = container.streams.video[0]
        return {frame.pts: frame for frame in container.decode(stream)}, stream.time_base


def psnr(a, b):
    error = np.mean((a.astype(float) - b) ** 2)
    return 10 * np.log10(255**2 / error) if error else 99.0


def test_every_stored_frame_is_the_one_that_pyav_decodes_at_its_time(packed):
    found = []
    for clip in open_dataset(packed.path).clips:
        frames, time_base = decoded(packed.videos / clip.source)
        assert (time_base.numerator, time_base.denominator) == clip.time_base
        places = {pts: n for n, pts in enumerate(sorted(frames))}
        for t, frame in enumerate(clip.frames):
            assert places[frame.pts] == frame.source_index
            # Scaled as planes first, because the stored picture has a quarter of the color samples too.
            small = frames[frame.pts].reformat(clip.width, clip.height, "yuv420p", interpolation="BICUBIC")
            expected = small.to_ndarray(format="rgb24")
            found.append((psnr(pillow(clip.jpeg(t)), expected), clip.source, t))
    assert min(found)[0] >= 30, min(found)
    assert statistics.median(p for p, _, _ in found) >= 38
