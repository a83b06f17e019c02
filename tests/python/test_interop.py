"""What vidrec packed is what other programs read: the plain reader, MXNet's way of reading, Pillow, OpenCV, PyAV."""
import io
import json
import statistics
import struct

import av
import cv2
import numpy as np
import pytest
from conftest import run
from PIL import Image
from reader import open_dataset
from verify import verify

MAGIC = struct.pack("<I", 0xCED7230A)


def test_the_plain_reader_agrees_with_inspect(packed):
    dataset, overview = open_dataset(packed.path), packed.inspect()
    assert verify(packed.path) == []
    assert (len(dataset), dataset.meta["classes"]) == (overview["clips"], overview["classes"])
    assert [s.listing() for s in dataset.shards] == overview["shards"]
    for c, clip in enumerate(dataset.clips):
        told = packed.inspect("--clip", str(c))
        assert (clip.source, clip.label, clip.class_name) == (told["source"], told["label"], told["class"])
        assert (clip.width, clip.height, list(clip.time_base)) == (told["width"], told["height"], told["time_base"])
        assert json.loads(clip.attributes or "{}") == told["attributes"]
        for t, (frame, told) in enumerate(zip(clip.frames, told["frames"])):
            assert (frame.offset, frame.length, frame.crc32) == (told["offset"], told["bytes"], told["crc32"])
            assert (frame.pts, frame.source_index) == (told["pts"], told["source_index"])
            assert told["pts_seconds"] == pytest.approx(frame.pts * clip.time_base[0] / clip.time_base[1])
            assert told["frame"] == t


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


def opencv(jpeg):
    return cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)[:, :, ::-1]


def test_pillow_opencv_and_vidrec_decode_to_the_same_pixels(packed, tmp_path):
    for c, clip in enumerate(open_dataset(packed.path).clips):
        for t in range(len(clip.frames)):
            pixels = pillow(clip.jpeg(t))
            assert pixels.shape == (clip.height, clip.width, 3)
            assert np.abs(opencv(clip.jpeg(t)).astype(int) - pixels).max() <= 3, "another decoder's rounding"
        ours = Image.open(io.BytesIO(run("frame_to_ppm", packed.path, str(c), str(t))))
        assert np.array_equal(np.asarray(ours), pixels), "both are libjpeg-turbo's accurate decoding"


def test_extract_gives_the_stored_bytes(packed, tmp_path):
    run("vidrec", "extract", packed.path, "0", "-o", tmp_path)
    clip = next(open_dataset(packed.path).clips)
    files = sorted((tmp_path / "000000").iterdir())
    assert [f.read_bytes() for f in files] == [clip.jpeg(t) for t in range(len(clip.frames))]


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
    print(f"PSNR: least {min(found)}, median {statistics.median(p for p, _, _ in found):.1f}")
    assert min(found)[0] >= 30, min(found)
    assert statistics.median(p for p, _, _ in found) >= 38


def test_fill_bytes_keep_the_magic_off_the_grid_and_change_no_pixel(tmp_path):
    picture = Image.effect_mandelbrot((96, 64), (-2, -1.5, 1, 1.5), 50).convert("RGB")
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=90)
    plain = file.getvalue()
    for shift in range(4):
        comment = b"." * shift + MAGIC + b"...."
        forged = plain[:2] + b"\xff\xfe" + struct.pack(">H", 2 + len(comment)) + comment + plain[2:]
        (tmp_path / f"{shift}.jpg").write_bytes(forged)
        run("from_jpegs", tmp_path / f"set{shift}", tmp_path / f"{shift}.jpg")
        stored = next(open_dataset(tmp_path / f"set{shift}").clips).jpeg(0)
        (record,) = (path.read_bytes() for path in (tmp_path / f"set{shift}").glob("shard-00000-*.rec"))
        heads = [at for at in range(0, len(record), 4) if record[at : at + 4] == MAGIC]
        assert heads == [0], "one part"
        # The comment's own text begins 6 bytes into the JPEG, and the record's header is a multiple of 4.
        needed = (6 + shift) % 4 == 0
        assert (len(stored) > len(forged)) == needed and len(stored) <= len(forged) + 3
        assert np.array_equal(pillow(stored), pillow(plain))
        assert np.array_equal(opencv(stored), opencv(plain))
