"""DALI: `fn.readers.mxnet` and `fn.decoders.image` on what vidrec writes."""
import struct

import numpy as np
from conftest import FRAMES, MAGIC, jpeg, pictures, rgb, run, with_magic
from nvidia.dali import fn, pipeline_def, types


def read(files, index, count):
    """(label, pixels) of the first `count` records."""

    @pipeline_def(batch_size=count, num_threads=2, device_id=None)
    def pipeline():
        jpegs, labels = fn.readers.mxnet(path=[str(f) for f in files], index_path=[str(index)])
        return fn.decoders.image(jpegs, device="cpu", output_type=types.RGB), labels

    reader = pipeline()
    reader.build()
    images, labels = reader.run()
    return [(float(labels.at(i)[0]), np.asarray(images.at(i))) for i in range(count)]


def same(found, expected):
    assert len(found) == len(expected)
    for (label, image), (picture, right) in zip(found, expected):
        assert label == right
        difference = np.abs(image.astype(int) - rgb(picture))
        # Another build of libjpeg, with another inverse DCT.
        assert difference.max() <= 4 and difference.mean() < 0.5


def test_every_frame_and_label_in_order(packed, tmp_path):
    run("export", "mxnet", packed, "-o", tmp_path / "out")
    expected = pictures(packed)
    same(read([tmp_path / "out/shard-00000.rec"], tmp_path / "out/shard-00000.idx", len(expected)), expected)


def test_several_record_files_with_one_index(shards, tmp_path):
    run("export", "mxnet", shards, "-o", tmp_path / "out")
    files, expected = sorted((tmp_path / "out").glob("*.rec")), pictures(shards)
    assert len(files) == 2
    same(read(files, tmp_path / "out/all.idx", len(expected)), expected)


def split(payload):
    """A record as dmlc's writer has it: parted where the magic stands on the grid."""
    parts, start = [], 0
    for at in range(0, len(payload) & ~3, 4):
        if payload[at:at + 4] == MAGIC:
            parts.append(payload[start:at])
            start = at + 4
    parts.append(payload[start:])
    flags = [0] if len(parts) == 1 else [1] + [2] * (len(parts) - 2) + [3]
    return b"".join(MAGIC + struct.pack("<I", flag << 29 | len(part)) + part + bytes(-len(part) % 4)
                    for flag, part in zip(flags, parts))


def test_records_in_parts(tmp_path):
    plain = [jpeg(seed, subsampling="4:2:0") for seed in range(FRAMES)]
    records = [split(struct.pack("<IfQQ", 0, 3.0, n, 0) + with_magic(picture)) for n, picture in enumerate(plain)]
    assert b"".join(records).count(MAGIC) == 3 * FRAMES
    (tmp_path / "a.rec").write_bytes(b"".join(records))
    expected = [(picture, 3.0) for picture in plain]
    run("import", "mxnet", tmp_path / "a.rec", "-n", FRAMES, "-o", tmp_path / "anew")
    run("export", "mxnet", tmp_path / "anew", "-o", tmp_path / "again")
    same(read([tmp_path / "again/shard-00000.rec"], tmp_path / "again/shard-00000.idx", FRAMES), expected)
