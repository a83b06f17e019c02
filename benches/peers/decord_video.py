"""decord from video files: it seeks to each frame and scales while it decodes."""
import decord

import videos


def decode(video):
    size = {"width": video.width, "height": video.height} if video.scaled else {}
    reader = decord.VideoReader(video.path, decord.cpu(0), **size, num_threads=1)
    return reader.get_batch(video.indices).asnumpy()


if __name__ == "__main__":
    videos.main(decode, ["decord", "opencv-python-headless", "torch"])
