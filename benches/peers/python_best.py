"""What a good engineer would write in Python: a mapped file, simplejpeg into memory kept for it, OpenCV, threads.

Where the crop is at least twice the output (never at 224 from frames of 340x256), the inverse DCT does the halving.
"""
import numpy as np
import simplejpeg

import augment
import common
import loaders
from packed_file import PackedFile, prepare


def batches(workload, store, workers, shuffle):
    clips = PackedFile(store)

    def make_fill():
        buffer = np.empty(0, np.uint8)

        def fill(out, clip, rng):
            nonlocal buffer
            jpegs = clips[clip]
            height, width = simplejpeg.decode_jpeg_header(jpegs[0])[:2]
            if buffer.size < height * width * 3:
                buffer = np.empty(height * width * 3, np.uint8)
            view = augment.view(workload, width, height, rng)
            shrink = 2 if min(view.width, view.height) >= 2 * workload.size else 1
            part = augment.View(*(round(side / shrink) for side in view[:4]), view.flip)
            least = -(-height // shrink), -(-width // shrink)
            for target, jpeg in zip(out, jpegs):
                image = simplejpeg.decode_jpeg(jpeg, "RGB", False, False, *least, shrink, buffer)
                augment.write(workload, target, image, part)

        return fill

    return loaders.batches(workload, len(clips), make_fill, workers, shuffle)


if __name__ == "__main__":
    common.main(prepare, batches, ["simplejpeg", "opencv-python-headless", "numpy"])
