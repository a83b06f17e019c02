"""OpenCV from video files: from the start to the last frame that is wanted; only the wanted ones are converted."""
import cv2

import videos


def decode(video):
    images = []
    capture = cv2.VideoCapture(video.path, cv2.CAP_FFMPEG, [cv2.CAP_PROP_N_THREADS, 1])
    for i in range(video.indices[-1] + 1):
        if not capture.grab():
            raise RuntimeError(f"{video.path}: no frame {i}")
        if wanted := video.indices.count(i):
            image = capture.retrieve()[1]
            if video.scaled:
                image = cv2.resize(image, (video.width, video.height), interpolation=cv2.INTER_AREA)
            images += [cv2.cvtColor(image, cv2.COLOR_BGR2RGB)] * wanted
    return images


if __name__ == "__main__":
    videos.main(decode, ["opencv-python-headless", "torch"])
