#!/usr/bin/env python3
"""What an engine costs: the same videos packed by vidrec alone, by Ray, and by other packers.

    benches/cluster/engines.py VIDEOS [--count 200] [--rounds 3] [--only pack,ray] [--shards 2]

VIDEOS is a folder of videos, of which each contestant gets COUNT links, and takes one frame a second with a short side of
256 pixels. Contestants take turns; the table has medians of the rounds.

    pack     vidrec pack, one process with two threads
    ray      vidrec.ray.pack on a Ray cluster of two cores that is up, in SHARDS tasks of one core
    ray-data ray.data.read_videos (decord) at 1 frame a second, JPEGs by Pillow, written as Parquet; the same cluster
    v2d      video2dataset with two processes: mp4 with a height of 256, in tar files. It stores videos, because it takes no
             frames out of them; its own way to fewer frames a second (FrameSubsampler) fails in version 1.3 on Python 3.11
             ("dictionary keys changed during iteration"). It needs pyarrow below 18 and pandas below 2.3

The Python of this script needs vidrec, and for `ray` and `ray-data` Ray, decord, Pillow and pyarrow. `v2d` runs in an
environment of its own: --v2d-python, with video2dataset and the program ffmpeg.
"""
import argparse
import io
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FPS, SIZE = 1, 256
ORDER = ["pack", "ray", "ray-data", "v2d"]

V2D = """
import sys
from video2dataset import video2dataset
from video2dataset.subsamplers import ResolutionSubsampler
ResolutionSubsampler.encode_formats = {"video": "mp4"}  # version 1.3 asks for it, and has none
config = {
    "subsampling": {
        "ResolutionSubsampler": {"args": {"height": 256, "resize_mode": ["scale"]}},
    },
    "reading": {"yt_args": {"download_size": 360, "download_audio_rate": 44100, "yt_metadata_args": None},
                "timeout": 60, "sampler": None},
    "storage": {"number_sample_per_shard": 100, "oom_shard_count": 5, "captions_are_subtitles": False},
    "distribution": {"processes_count": 2, "thread_count": 1, "subjob_size": 1000, "distributor": "multiprocessing"},
}
if __name__ == "__main__":
    video2dataset(url_list=sys.argv[1], output_folder=sys.argv[2], output_format="webdataset", input_format="txt",
                  config=config)
"""


def main():
    a = arguments()
    with tempfile.TemporaryDirectory(dir=a.scratch) as scratch:
        scratch = Path(scratch)
        videos = link(a.videos, scratch / "videos", a.count)
        if {"ray", "ray-data"} & set(a.only):
            start_ray()
        times = {name: [] for name in a.only}
        for _ in range(a.rounds):
            for name in a.only:
                out = scratch / "out"
                shutil.rmtree(out, ignore_errors=True)
                seconds = CONTESTANTS[name](a, videos, out)
                times[name].append(seconds)
                print(f"{name:9} {seconds:7.2f} s  {a.count / seconds:6.1f} videos/s  {size(out):7.1f} MB", flush=True)
    first = statistics.median(times[a.only[0]])
    for name in a.only:
        middle = statistics.median(times[name])
        spread = f"{min(times[name]):.2f} to {max(times[name]):.2f}"
        print(f"| {name} | {middle:.2f} s | {spread} | {a.count / middle:.1f} videos/s | {middle / first:.3f} |")


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("videos", type=Path, metavar="VIDEOS")
    p.add_argument("--count", type=int, default=200)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--shards", type=int, default=2)
    p.add_argument("--only", type=lambda text: text.split(","), default=ORDER, help=",".join(ORDER))
    p.add_argument("--program", default="vidrec", help="the program [vidrec]")
    p.add_argument("--v2d-python", default=sys.executable, help="a Python with video2dataset")
    p.add_argument("--scratch", type=Path, help="where to write [the system's temporary folder]")
    a = p.parse_args()
    for name in a.only:
        if name not in CONTESTANTS:
            p.error(f"no such contestant: {name}")
    return a


def link(videos, folder, count):
    files = sorted(p for p in videos.rglob("*") if p.suffix in {".mp4", ".avi", ".mkv", ".webm"})
    folder.mkdir()
    for i in range(count):
        (folder / f"{i:05}{files[i % len(files)].suffix}").symlink_to(files[i % len(files)].resolve())
    return folder


def size(out):
    return sum(p.stat().st_size for p in out.rglob("*") if p.is_file()) / 1e6


def timed(command):
    began = time.monotonic()
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command[0]} failed:\n{done.stderr[-2000:]}")
    return time.monotonic() - began


def flags():
    return ["--outside", "--fps", FPS, "--size", SIZE]


def pack(a, videos, out):
    return timed([a.program, "pack", videos, "-o", out, "--threads", 2, *flags()])


def start_ray():
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    # Ray gives its workers a lower priority than other programs have (15), which would measure the others.
    os.environ["RAY_worker_niceness"] = "0"
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")


def by_ray(a, videos, out):
    import vidrec
    import vidrec.ray

    began = time.monotonic()
    vidrec.ray.pack(videos, out, shards=a.shards, num_cpus=1, frames=vidrec.Fps(FPS), size=SIZE)
    return time.monotonic() - began


def by_ray_data(a, videos, out):
    import ray
    from PIL import Image

    def encoded(row):
        jpeg = io.BytesIO()
        Image.fromarray(row["frame"]).save(jpeg, "JPEG", quality=90)
        return {"path": row["path"], "frame_index": row["frame_index"], "jpeg": jpeg.getvalue()}

    began = time.monotonic()
    rows = ray.data.read_videos(str(videos), fps=1, resize=(256, 340), include_paths=True)
    rows.map(encoded).write_parquet(str(out))
    return time.monotonic() - began


def by_video2dataset(a, videos, out):
    links = out.with_name("links.txt")
    links.write_text("".join(f"{path}\n" for path in sorted(videos.iterdir())))
    script = out.with_name("v2d.py")
    script.write_text(V2D)
    seconds = timed([a.v2d_python, script, links, out])
    stats = [json.loads(path.read_text()) for path in out.glob("*_stats.json")]
    if sum(s["successes"] for s in stats) != a.count:
        sys.exit(f"video2dataset packed {sum(s['successes'] for s in stats)} of {a.count} videos")
    return seconds


CONTESTANTS = {"pack": pack, "ray": by_ray, "ray-data": by_ray_data, "v2d": by_video2dataset}

if __name__ == "__main__":
    main()
