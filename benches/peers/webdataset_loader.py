"""WebDataset: tar shards, a sample a clip, a shuffle buffer of 100 clips, simplejpeg, OpenCV, DataLoader processes."""
import os
import random

import simplejpeg
import webdataset

import augment
import common
import loaders
from workloads import FRAMES

CLIPS_A_SHARD = 32


def prepare(store, clips):
    with webdataset.ShardWriter(f"{store}/%05d.tar", maxcount=CLIPS_A_SHARD, verbose=0) as out:
        for number, clip in enumerate(clips):
            frames = {f"{t}.jpg": jpeg for t, jpeg in enumerate(common.jpegs(clip))}
            out.write({"__key__": f"{number:07}", **frames})


def batches(workload, store, workers, shuffle):
    shards = sorted(map(str, store.glob("*.tar")))

    def make_batches(samples):
        rng, samples = random.Random(os.getpid()), iter(samples)
        while True:
            batch = loaders.shared_batch(workload)
            for out, sample in zip(batch.numpy(), samples):
                images = [simplejpeg.decode_jpeg(sample[f"{t}.jpg"]) for t in range(FRAMES)]
                augment.write_clip(workload, out, images, rng)
            yield batch

    order = [webdataset.ResampledShards(shards)] if shuffle else [webdataset.SimpleShardList(shards)]
    mix = [webdataset.shuffle(100)] if shuffle else []
    dataset = webdataset.DataPipeline(*order, webdataset.tarfile_to_samples(), *mix, make_batches)
    return iter(webdataset.WebLoader(dataset, batch_size=None, num_workers=workers.count))


if __name__ == "__main__":
    common.main(prepare, batches, ["webdataset", "simplejpeg", "opencv-python-headless", "torch"])
