"""PyAV from video files: from the start to the last frame that is wanted; only the wanted ones are converted."""
import av

import videos


def decode(video):
    size = {"width": video.width, "height": video.height, "interpolation": "AREA"}
    images = []
    with av.open(video.path) as container:
        stream = container.streams.video[0]
        stream.thread_type, stream.codec_context.thread_count = "NONE", 1
        for i, frame in enumerate(container.decode(stream)):
            if wanted := video.indices.count(i):
                images += [frame.to_ndarray(**size, format="rgb24")] * wanted
            if i == video.indices[-1]:
                return images


if __name__ == "__main__":
    videos.main(decode, ["av", "opencv-python-headless", "torch"])
