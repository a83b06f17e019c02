#!/usr/bin/env python3
"""Packs videos on a Ray cluster.

    python3 examples/cluster/ray_pack.py /shared/videos /shared/train --cpus 4

All nodes need `pip install "vidrec[ray]"` and see videos and output under the same paths. Call it again after a failure:
shards that are complete stay.
"""
import argparse

import vidrec.ray


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("videos")
    parser.add_argument("output")
    parser.add_argument("--cpus", type=int, default=1, help="cores for each shard")
    parser.add_argument("--shards", help="how many, or each:N, or a size, instead of about 256 MB")
    parser.add_argument("--fps", help="frames a second, instead of 8 of each video")
    given = parser.parse_args()
    frames = 8 if given.fps is None else vidrec.Fps(given.fps)
    report = vidrec.ray.pack(
        given.videos, given.output, shards=given.shards, num_cpus=given.cpus, frames=frames, progress=True
    )
    print(f"{report.clips} clips, {report.frames} frames; {report.failed} videos were skipped")


if __name__ == "__main__":
    main()
