"""MosaicML Streaming: MDS shards without compression, a sample a clip, simplejpeg, OpenCV."""
import shutil

import simplejpeg
import streaming

import augment
import common
import loaders
from workloads import FRAMES

COLUMNS = [f"frame{t}" for t in range(FRAMES)]


def prepare(store, clips):
    shutil.rmtree(store)
    with streaming.MDSWriter(out=str(store), columns=dict.fromkeys(COLUMNS, "bytes")) as out:
        for clip in clips:
            out.write(dict(zip(COLUMNS, common.jpegs(clip))))


def batches(workload, store, workers, shuffle):
    streaming.base.util.clean_stale_shared_memory()
    clips = streaming.StreamingDataset(local=str(store), batch_size=1)

    def fill(out, clip, rng):
        sample = clips[clip]
        augment.write_clip(workload, out, [simplejpeg.decode_jpeg(sample[column]) for column in COLUMNS], rng)

    return loaders.batches(workload, clips.num_samples, lambda: fill, workers, shuffle)


if __name__ == "__main__":
    common.main(prepare, batches, ["mosaicml-streaming", "simplejpeg", "opencv-python-headless", "torch"])
