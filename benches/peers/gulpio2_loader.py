"""GulpIO2: its container and its decoder (simplejpeg with the fast DCT and plain upsampling), OpenCV, threads.

Its own writer stores 4:4:4, which is larger and slower to decode; here its chunks hold the common JPEGs.
"""
import json

import gulpio2

import augment
import common
import loaders

CLIPS_A_CHUNK = 100


def prepare(store, clips):
    for chunk, first in enumerate(range(0, len(clips), CLIPS_A_CHUNK)):
        meta = {}
        with open(store / f"data_{chunk}.gulp", "wb") as out:
            for number, clip in enumerate(clips[first : first + CLIPS_A_CHUNK], first):
                meta[str(number)] = {"meta_data": [{}], "frame_info": [append(out, j) for j in common.jpegs(clip)]}
        (store / f"meta_{chunk}.gmeta").write_text(json.dumps(meta))


def append(out, jpeg):
    """Place, padding and padded length of a frame."""
    at, padding = out.tell(), -len(jpeg) % 4
    out.write(jpeg + bytes(padding))
    return [at, padding, len(jpeg) + padding]


def batches(workload, store, workers, shuffle):
    def make_fill():
        # One each: a chunk has one file position.
        clips = gulpio2.GulpDirectory(str(store))
        return lambda out, clip, rng: augment.write_clip(workload, out, clips[clip][0], rng)

    count = len(gulpio2.GulpDirectory(str(store)).merged_meta_dict)
    return loaders.batches(workload, count, make_fill, workers, shuffle)


if __name__ == "__main__":
    common.main(prepare, batches, ["gulpio2", "simplejpeg", "opencv-python-headless", "torch"])
