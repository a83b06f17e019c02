"""TorchCodec from video files: it seeks to each frame and scales in its filter graph."""
from torchcodec.decoders import VideoDecoder
from torchvision.transforms import v2

import videos


def decode(video):
    scale = [v2.Resize((video.height, video.width))] if video.scaled else []
    options = {"num_ffmpeg_threads": 1, "seek_mode": "approximate", "dimension_order": "NHWC"}
    decoder = VideoDecoder(video.path, **options, transforms=scale)
    return decoder.get_frames_at(video.indices).data.numpy()


if __name__ == "__main__":
    videos.main(decode, ["torchcodec", "torch", "torchvision"])
