#!/usr/bin/env python3
"""Packing videos from a server 50 ms away: as they are read, against downloading first.

    benches/remote/pack_videos.py VIDEOS... [--count 200] [--threads 2,8] [--rounds 3]

Each of VIDEOS is a folder. Of its videos, COUNT names go into a manifest of URLs, and vidrec takes 8 frames of each.
The other way is curl with as many transfers at a time as vidrec has threads, then vidrec on the local files. The server
and the proxy use the second CPU only; vidrec and curl may use all. Needs nginx (scripts/servers.sh), curl, and
`cargo build --release --bin vidrec --package vidrec --package fault-proxy`.
"""
import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from serve import TARGET, Serving

PROGRAM = TARGET / "release/vidrec"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("videos", type=Path, nargs="+", metavar="VIDEOS")
    p.add_argument("--count", type=int, default=200)
    p.add_argument("--threads", type=lambda text: [int(n) for n in text.split(",")], default=[2, 8])
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--latency-ms", type=float, default=50)
    a = p.parse_args()
    print("| videos | threads | read from the server | download, then pack | videos/s | bytes fetched |\n" + "| --- " * 6 + "|")
    for videos in a.videos:
        for threads in a.threads:
            compare(videos, threads, a)


def compare(videos, threads, a):
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        served = scratch / "served"
        served.mkdir()
        files = sorted(f for f in videos.iterdir() if f.is_file())
        names = [f"{i:04}{files[i % len(files)].suffix}" for i in range(a.count)]
        for i, name in enumerate(names):
            (served / name).symlink_to(files[i % len(files)].resolve())
        total = sum(files[i % len(files)].stat().st_size for i in range(a.count))
        direct, first, fetched = [], [], 0
        with Serving(served, cpu=1, latency_ms=a.latency_ms, connect_latency_ms=a.latency_ms) as serving:
            urls = scratch / "urls.txt"
            urls.write_text("".join(f"{serving.proxy.url}/{name}\n" for name in names))
            for _ in range(a.rounds):
                before = serving.proxy.counts()["body_bytes"]
                direct.append(timed(lambda: pack(urls, scratch / "out", threads)))
                fetched = serving.proxy.counts()["body_bytes"] - before
                first.append(timed(lambda: download_then_pack(serving, names, scratch, threads)))
        one, two = statistics.median(direct), statistics.median(first)
        print(f"| {videos.name}, {total / 1e6:.0f} MB | {threads} | {one:.1f} s | {two:.1f} s | "
              f"{a.count / one:.1f}, {a.count / two:.1f} | {100 * fetched / total:.1f} % |", flush=True)


def timed(work):
    began = time.monotonic()
    work()
    return time.monotonic() - began


def pack(inputs, out, threads):
    shutil.rmtree(out, ignore_errors=True)
    run([PROGRAM, "pack", inputs, "-o", out, "--threads", threads])


def download_then_pack(serving, names, scratch, threads):
    local = scratch / "local"
    shutil.rmtree(local, ignore_errors=True)
    config = "".join(f'url = "{serving.proxy.url}/{name}"\noutput = "{local / name}"\n' for name in names)
    (scratch / "curl.txt").write_text(config)
    run(["curl", "--silent", "--fail", "--create-dirs", "--parallel", "--parallel-max", threads, "--config", scratch / "curl.txt"])
    pack(local, scratch / "out", threads)


def run(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command[0]} failed:\n{done.stderr[-2000:]}")


if __name__ == "__main__":
    main()
