"""Grain over ArrayRecord: a record a clip, without compression, simplejpeg, OpenCV, Grain's own threads."""
import random
import struct

import grain
import numpy as np
import simplejpeg
from array_record.python.array_record_module import ArrayRecordWriter

import augment
import common
from workloads import BATCH, FRAMES

LENGTHS = struct.Struct(f"<{FRAMES}I")


def prepare(store, clips):
    out = ArrayRecordWriter(str(store / "clips.array_record"), "group_size:1,uncompressed")
    for clip in clips:
        jpegs = common.jpegs(clip)
        out.write(LENGTHS.pack(*map(len, jpegs)) + b"".join(jpegs))
    out.close()


def images(record):
    record, at = memoryview(record), LENGTHS.size
    for length in LENGTHS.unpack_from(record):
        yield simplejpeg.decode_jpeg(record[at : at + length])
        at += length


def batches(workload, store, workers, shuffle):
    class Clip(grain.transforms.RandomMap):
        def random_map(self, record, rng):
            out = np.empty(workload.clip_shape, workload.dtype)
            augment.write_clip(workload, out, list(images(record)), random.Random(int(rng.integers(1 << 32))))
            return out

    source = grain.sources.ArrayRecordDataSource(str(store / "clips.array_record"))
    clips = grain.MapDataset.source(source).seed(0)
    clips = (clips.shuffle() if shuffle else clips).repeat(None).random_map(Clip())
    options = grain.ReadOptions(num_threads=workers.count, prefetch_buffer_size=2 * BATCH)
    return iter(clips.to_iter_dataset(options).batch(BATCH))


if __name__ == "__main__":
    common.main(prepare, batches, ["grain", "array-record", "simplejpeg", "opencv-python-headless"])
