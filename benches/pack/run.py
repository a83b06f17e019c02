#!/usr/bin/env python3
"""`vidrec pack` beside other ways to get frames out of videos, on the same frames, size and quality.

    benches/pack/setup.sh                    once
    benches/peers/setup.sh                   once, for TorchCodec
    benches/pack/run.py FOLDER...            one table for each folder of videos
    benches/pack/run.py FOLDER... --short    two rounds, at most 40 videos of each folder
    benches/pack/run.py FOLDER... --json FILE --kinds "short clips,HD videos"    writes the medians, as benches/results has them

vidrec packs each folder once and so says which frames they are: 8 of each video, the centers of equal segments, short side
256, never enlarged, quality 90. Then everybody, vidrec too, does that again, in turn (A B C, B C A, ...), with as many
threads or processes as there are processors in --cores. A row is the median of its rounds. All that is written lies in a
temporary folder; every single run is in pack-results.json below VIDREC_PEERS_CACHE (default: target/peers).
"""
import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

REPOSITORY = Path(__file__).resolve().parents[2]
CACHE = Path(os.environ.get("VIDREC_PEERS_CACHE", REPOSITORY / "target/peers")).absolute()
RELEASE = REPOSITORY / "target/release"
PEERS = Path(__file__).with_name("peers.py")
# TorchCodec needs PyTorch, which benches/peers/setup.sh installs.
ENVIRONMENTS = {"torchcodec": "main"}

sys.path.append(str(REPOSITORY / "format-spec"))
sys.path.append(str(REPOSITORY / "scripts/draw"))
import reader  # noqa: E402: the format's own reader
from results import called, write  # noqa: E402

BOUND, OPENED = "bound", "opened"
OWN = ("vidrec", BOUND, OPENED)
ROWS = {
    "vidrec": "vidrec pack",
    "decord": "decord and simplejpeg",
    "pyav": "PyAV and simplejpeg",
    "torchcodec": "TorchCodec and simplejpeg",
    "ffmpeg": "the ffmpeg program",
    "gulpio2": "GulpIO2",
    BOUND: "decoding alone, of the packets that the frames need",
    OPENED: "the same with opening and reading the files",
}


class Videos:
    """A folder of videos, and what is to be taken from them."""

    def __init__(self, folder, work, most, cores):
        self.name, self.work, self.cores = folder.name, work, cores
        videos = sorted(path.absolute() for path in folder.iterdir() if path.is_file())
        step = max(1, -(-len(videos) // most)) if most else 1
        self.inputs = [str(path) for path in videos[::step]]
        by_name = {Path(path).name: path for path in self.inputs}
        self.pack()
        clips = list(reader.open_dataset(work / "packed").clips)
        self.count = len(clips)
        self.jobs = [
            {
                "path": by_name[clip.source],
                "frames": [frame.source_index for frame in clip.frames],
                "width": clip.width,
                "height": clip.height,
            }
            for clip in clips
        ]
        (work / "jobs.json").write_text(json.dumps(self.jobs))
        lines = [f"{job['path']}\t{' '.join(map(str, job['frames']))}\n" for job in self.jobs]
        (work / "jobs.txt").write_text("".join(lines))

    def pack(self):
        out = self.work / "packed"
        command = [RELEASE / "vidrec", "pack", *self.inputs, "--output", out, "--if-exists", "replace", "--json"]
        report = json.loads(run([*command, "--threads", str(self.cores)], accept=(0, 3)))
        return {"frames": report["frames"], "bytes": report["bytes"], "failed": report["failures"]}

    def peer(self, name):
        out = self.work / name
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        command = [python_of(name), PEERS, name, self.work / "jobs.json", out, str(self.cores)]
        return json.loads(run(command).splitlines()[-1])

    def bound(self, seconds):
        example = RELEASE / "examples/decode_bound"
        report = json.loads(run([example, self.work / "jobs.txt", "--threads", str(self.cores)]))
        return {"seconds": report[seconds], "decoded_frames": report["decoded_frames"]}

    def measure(self, name):
        before, started = cpu(), time.perf_counter()
        ways = {"vidrec": self.pack, BOUND: lambda: self.bound("decode_seconds"), OPENED: lambda: self.bound("seconds")}
        found = ways.get(name, lambda: self.peer(name))()
        # vidrec from its start to its end; the peers without their imports; the bound without opening and reading.
        found = {"seconds": time.perf_counter() - started, **found}
        return {"folder": self.name, "row": name, "videos": self.count, "cpu_seconds": cpu() - before, **found}


def python_of(name):
    return CACHE / ENVIRONMENTS.get(name, "pack") / "bin/python"


def cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(command, accept=(0,)):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode not in accept:
        sys.exit(f"{' '.join(map(str, command))[:300]}\n{done.stderr[-3000:]}")
    return done.stdout


def table(videos, runs):
    rows = {name: [r for r in runs if r["folder"] == videos.name and r["row"] == name] for name in ROWS}
    rate = {name: median(r["videos"] / r["seconds"] for r in own) for name, own in rows.items() if own}
    peers = [v for name, v in rate.items() if name not in OWN]
    lines = [
        f"### {videos.name}: {videos.count} videos\n",
        "| | videos/s (least–most) | × best peer | × decoding alone | CPU ms a video | KB a frame | |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in sorted(rate, key=lambda name: -rate[name]):
        own = rows[name]
        spread = sorted(r["videos"] / r["seconds"] for r in own)
        size = own[0].get("bytes", 0) / max(1, own[0].get("frames", 1)) / 1000
        failed = len(own[0].get("failed", []))
        cells = [
            ROWS[name],
            f"{rate[name]:.1f} ({spread[0]:.1f}–{spread[-1]:.1f})",
            f"{rate[name] / max(peers):.2f}" if peers else "",
            f"{rate[name] / rate[BOUND]:.2f}" if BOUND in rate else "",
            f"{median(1000 * r['cpu_seconds'] / r['videos'] for r in own):.1f}",
            f"{size:.1f}" if size else "",
            f"{failed} failed" if failed else "",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def write_results(a, rounds, counts, runs):
    """Videos a second: the median, the least and the most."""
    rows = []
    for name, title in ROWS.items():
        rates = [[r["videos"] / r["seconds"] for r in runs if (r["folder"], r["row"]) == (folder, name)] for folder in counts]
        if any(rates):
            rows.append({"name": title, "values": [[round(each, 1) for each in (median(of), min(of), max(of))] if of else None for of in rates]})
    kinds = a.kinds.split(",") if a.kinds else [f"videos of {folder}" for folder in counts]
    columns = [f"{count} {kind}" for count, kind in zip(counts.values(), kinds, strict=True)]
    data = f"short side 256, quality 90; {', '.join(columns)}; medians of {rounds} rounds, from the least to the most"
    write(a.json, "Packing: 8 uniform frames of each video", columns, rows, data=data, command=called("VIDEOS..."), unit="videos/s", reference=ROWS[BOUND])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--rounds", type=int, help="default 5; 2 with --short")
    parser.add_argument("--short", action="store_true", help="fewer rounds, fewer videos")
    parser.add_argument("--only", help="some of: " + ", ".join(ROWS))
    parser.add_argument("--cores", help="the processors to use, such as 0,1; default: all")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the medians to this file")
    parser.add_argument("--kinds", metavar="WORDS,...", help="what the videos of each folder are, for --json")
    a = parser.parse_args()
    names = a.only.split(",") if a.only else [name for name in ROWS if name in OWN or python_of(name).exists()]
    if unknown := set(names) - set(ROWS):
        parser.error(f"no rows {', '.join(unknown)}")
    if a.cores:
        os.sched_setaffinity(0, {int(core) for core in a.cores.split(",")})
    cores = len(os.sched_getaffinity(0))
    rounds = a.rounds or (2 if a.short else 5)

    runs, counts = [], {}
    # Not in memory: the same disk for everybody.
    with tempfile.TemporaryDirectory(dir=CACHE, prefix="pack-") as work:
        for folder in a.folders:
            place = Path(work) / folder.name
            place.mkdir()
            videos = Videos(folder, place, 40 if a.short else 0, cores)
            counts[folder.name] = videos.count
            for turn in range(rounds):
                for k in range(len(names)):
                    name = names[(turn + k) % len(names)]
                    runs.append(videos.measure(name))
                    print(f"{folder.name}, round {turn + 1}: {name} {runs[-1]['seconds']:.2f} s", file=sys.stderr)
            print(table(videos, runs), end="\n\n", flush=True)
    versions = {name: v for r in runs for name, v in r.get("versions", {}).items()}
    ffmpeg = run(["ffmpeg", "-version"]).split()[2]
    print(", ".join(f"{name} {v}" for name, v in sorted(versions.items())) + f", ffmpeg {ffmpeg}; {cores} processors")
    (CACHE / "pack-results.json").write_text(json.dumps(runs, indent=1))
    if a.json:
        write_results(a, rounds, counts, runs)


if __name__ == "__main__":
    main()
