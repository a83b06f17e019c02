"""What the readers of video files share: which frames of which files, and the center crop."""
import json
from typing import NamedTuple

import augment
import common
import loaders
from workloads import DATA


class Video(NamedTuple):
    path: str
    indices: list  # of the wanted frames, among those that decode
    width: int     # after scaling to a short side of 256
    height: int
    scaled: bool   # whether that is another size than the video's own

    @classmethod
    def of(cls, clip):
        source = json.loads(clip.attributes)["video"]
        scaled = (source["coded_width"], source["coded_height"]) != (clip.width, clip.height)
        indices = [frame.source_index for frame in clip.frames]
        return cls(str(DATA / clip.source), indices, clip.width, clip.height, scaled)


def prepare(store, clips):
    """Videos are read as they are."""


def batches_of(decode):
    """`decode(video)` gives the wanted frames in RGB, scaled."""

    def batches(workload, store, workers, shuffle):
        videos = [Video.of(clip) for clip in common.clips()]

        def fill(out, clip, rng):
            augment.write_clip(workload, out, decode(videos[clip]), rng)

        return loaders.batches(workload, len(videos), lambda: fill, workers, shuffle)

    return batches


def main(decode, packages):
    common.main(prepare, batches_of(decode), packages, from_video=True)
