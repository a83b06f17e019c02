#!/usr/bin/env python3
"""vidrec beside other loaders and beside libjpeg-turbo alone, on the same clips and the same processors.

    benches/peers/setup.sh                  once
    benches/peers/run.py VIDEOS                  prepares everything, measures, prints tables
    benches/peers/run.py VIDEOS --json FILE      writes the medians, as benches/results has them
    benches/peers/run.py VIDEOS --check          looks at the batches of the peers instead

VIDEOS is a folder as `vidrec pack` takes it. Contestants run in turn (A B C, B C A, ...), each alone; a row is the
median of its rounds. Everything is kept below VIDREC_PEERS_CACHE (default: target/peers), and results.json there has
every single run. If a row of vidrec is missing, the exit status is 1.
"""
import argparse
import csv
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from workloads import BATCH, CACHE, DATA, FRAMES, PACKED, PLAIN, REPOSITORY, STORES, VIDEOS, WORKLOADS, reader

sys.path.append(str(REPOSITORY / "scripts/draw"))
from results import called, write  # noqa: E402

RELEASE = REPOSITORY / "target/release"
LARGEST = max(w.size for w in WORKLOADS.values())
RANDOM = ("W1", "W1u8", "W1-112")
JPEGS = (*RANDOM, "W2")
# The columns of the file of results. Those who read video files have theirs in that of the same crop.
COLUMNS = {"W1": "random crop to 224, f32", "W1u8": "random crop to 224, u8", "W2": "center crop of 224, u8", "W1-112": "random crop to 112, f32"}
BUSY = 0.25  # cores in use by others: a run beside more than that counts only if there are no better ones


@dataclass(frozen=True)
class Contestant:
    name: str
    key: str                 # of a peer, the name of its script
    venv: str = ""           # none: ours
    pools: str = "threads"   # what --workers may mean to it
    workloads: tuple = JPEGS
    note: str = ""
    per_frame: bool = False  # whether each frame of a clip gets a crop of its own

    def prepare(self):
        store = STORES / self.key
        # Prepared once for these frames, by this script.
        made_for = f"{reader.open_dataset(PLAIN).shards[0].sha256.hex()} {self.script.read_text()}"
        stamp = store.with_suffix(".made-for")
        if not (stamp.exists() and stamp.read_text() == made_for):
            command("prepare " + self.name, [self.python, self.script, "prepare"])
            stamp.write_text(made_for)

    @property
    def script(self):
        return Path(__file__).with_name(self.key + ".py")

    @property
    def python(self):
        return CACHE / self.venv / "bin/python"

    def settings(self, cores):
        """Values of --workers worth a try, the likeliest first."""
        threads = [str(n) for n in (cores, cores + 1, cores - 1) if n > 0]
        processes = [f"{n}p" for n in (cores, cores + 1)]
        return {"threads": threads, "processes": processes, "both": threads[:2] + processes}[self.pools]

    def run(self, name, workers, seconds):
        return [self.python, self.script, "run", name, "--workers", workers, "--seconds", str(seconds)]


@dataclass(frozen=True)
class Ours(Contestant):
    threads: int = 0  # 0: one for each core

    def prepare(self):
        pass

    def settings(self, cores):
        return [str(self.threads or cores)]


class Vidrec(Ours):
    def run(self, name, workers, seconds):
        w = WORKLOADS[name]
        crop = json.dumps({"RandomResizedCrop": {"size": w.size}}) if w.random else w.size
        options = [f"batch_size={BATCH}", f"crop={crop}", f"flip={0.5 if w.random else 0}", "shuffle=true", "last=wrap",
                   f"dtype={w.dtype}", f"layout=B{w.layout}", f"threads={workers}"]
        options += ["normalize=imagenet"] if w.dtype == "float32" else []
        return [RELEASE / "vidrec", "bench", PACKED, "--json", f"--seconds={seconds}", *options]


class Wall(Ours):
    def run(self, name, workers, seconds):
        return [RELEASE / "examples/decode_wall", PLAIN, "--threads", workers, "--seconds", str(seconds)]


WALL = Wall("libjpeg-turbo alone: whole frames to RGB, nothing else", "wall")
CONTESTANTS = (
    Vidrec("vidrec", "vidrec"),
    WALL,
    Vidrec("vidrec, one thread", "vidrec-1", threads=1),
    Contestant("best Python by hand: mmap, simplejpeg, OpenCV, threads", "python_best", "main"),
    Contestant("GulpIO2", "gulpio2_loader", "main", "both", note="fast DCT, no chroma smoothing"),
    Contestant("MosaicML Streaming", "streaming_loader", "main", "both"),
    Contestant("Grain with ArrayRecord", "grain_loader", "main"),
    Contestant("WebDataset", "webdataset_loader", "main", "processes"),
    Contestant("FFCV (crops each frame by itself)", "ffcv_loader", "main", note="fast DCT", per_frame=True),
    Contestant("DALI on CPU, one crop per clip", "dali", "dali", note="order fixed"),
    Contestant("DALI on CPU (crops each frame by itself)", "dali_per_frame", "dali", "threads", RANDOM, "order fixed", per_frame=True),
    Contestant("MXNet ImageRecordIter (crops each frame by itself)", "mxnet_iter", "mxnet", note="order fixed", per_frame=True),
    Contestant("SPDL", "spdl_loader", "main", note="FFmpeg's JPEG decoder"),
    Contestant("TorchCodec", "torchcodec_video", "main", "both", ("W3",)),
    Contestant("decord", "decord_video", "main", "both", ("W3",)),
    Contestant("PyAV", "pyav_video", "main", "both", ("W3",)),
    Contestant("OpenCV", "opencv_video", "main", "both", ("W3",)),
)


def main():
    a = arguments()
    build()
    pack(a.videos)
    chosen = [c for c in CONTESTANTS if (not a.only or c.key in a.only) and set(c.workloads) & set(a.workloads)]
    ready = []
    for c in chosen:
        try:
            c.prepare()
            ready.append(c)
        except (Failed, OSError) as e:
            print(f"left out: {c.name}: {e}", file=sys.stderr)
    if a.check:
        return check(ready)
    results = {"machine": machine(a.cores), "frames": frames(), "workloads": a.workloads, "runs": []}
    for name in a.workloads:
        compete(name, [c for c in ready if name in c.workloads], a, results)
        (CACHE / "results.json").write_text(json.dumps(results, indent=1))
    print(report(results))
    found = medians(results["runs"])
    if lost := [f"{c.name}, {w}" for c in chosen if isinstance(c, Ours) for w in a.workloads if w in c.workloads and (c.key, w) not in found]:
        print(f"no figures of {'; '.join(lost)}", file=sys.stderr)
    elif a.json:
        write_results(a.json, found, results, a)
    return int(bool(lost))


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    some = lambda text: text.split(",")  # noqa: E731
    p.add_argument("videos", type=Path, metavar="VIDEOS")
    p.add_argument("--workloads", type=some, default=list(WORKLOADS), help=", ".join(WORKLOADS))
    p.add_argument("--only", type=some, default=[], help=", ".join(c.key for c in CONTESTANTS))
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--seconds", type=float, default=4, help="of a run, after a second of warming up")
    p.add_argument("--tune-seconds", type=float, default=1.5, help="of a run that chooses --workers; 0: do not choose")
    p.add_argument("--quiet-wait", type=float, default=30, help="seconds to wait for others to end, before each run")
    p.add_argument("--cores", type=some, default=["0", "1"], help="processors to use, as in 0,1")
    p.add_argument("--check", action="store_true")
    p.add_argument("--json", type=Path, metavar="FILE", help="write the medians to this file")
    a = p.parse_args()
    for word in {*a.workloads} - {*WORKLOADS} | {*a.only} - {c.key for c in CONTESTANTS}:
        p.error(f"no such thing: {word}")
    return a


class Failed(Exception):
    pass


def command(title, words, cores=None, timeout=300, fine=(0,)):
    """Runs it to its end and returns its output; says what went wrong if something did."""
    print(title, file=sys.stderr, flush=True)
    pinned = ["taskset", "--cpu-list", ",".join(cores)] if cores else []
    words, env = [*pinned, *map(str, words)], os.environ | {"OMP_NUM_THREADS": "1", "VIDREC_PEERS_CACHE": str(CACHE)}
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=timeout, env=env)
    except subprocess.TimeoutExpired:
        raise Failed(f"not done after {timeout} s") from None
    if done.returncode not in fine:
        raise Failed(f"exit status {done.returncode}: {(done.stderr or done.stdout).strip()[-400:]}")
    return done.stdout


def build():
    words = "cargo build --quiet --release --locked --bin vidrec --example decode_wall --example plain_jpegs".split()
    subprocess.run(words, cwd=REPOSITORY, check=True)


def pack(videos):
    """Anew if the folder is another one than last time."""
    if (PLAIN / "dataset.json").exists() and VIDEOS.resolve() == videos.resolve():
        return
    shutil.rmtree(DATA, ignore_errors=True)
    DATA.mkdir(parents=True)
    VIDEOS.symlink_to(videos.resolve(strict=True))
    # Smaller frames would have to be scaled up, and every loader has its own idea of that. Sizes are known once packed.
    survey, manifest = DATA / "survey", DATA / "videos.csv"
    pack_frames(VIDEOS, survey)
    clips = list(reader.open_dataset(survey).clips)
    large = [clip for clip in clips if min(clip.width, clip.height) >= LARGEST]
    print(f"{len(clips)} clips, of which {len(clips) - len(large)} are too small", file=sys.stderr)
    with manifest.open("w", newline="") as out:
        csv.writer(out).writerows([["path"], *([f"{VIDEOS.name}/{clip.source}"] for clip in large)])
    pack_frames(manifest, PACKED)
    shutil.rmtree(survey)
    command("plain JPEGs", [RELEASE / "examples/plain_jpegs", PACKED, PLAIN], timeout=None)


def pack_frames(videos, out):
    settings = ["--frames", FRAMES, "--size", 256, "--quality", 90]
    command("pack", [RELEASE / "vidrec", "pack", videos, "-o", out, *settings], timeout=None, fine=(0, 3))


def check(contestants):
    failed = False
    for c in contestants:
        if isinstance(c, Ours):
            continue
        try:
            found = command("check " + c.key, [c.python, c.script, "check"])
        except Failed as e:
            found, failed = f"FAIL   {e}\n", True
        print(f"{c.name}\n{found}", end="", flush=True)
    return int(failed)


def compete(name, contestants, a, results):
    workers = {c.key: tune(c, name, a) for c in contestants}
    for r in range(a.rounds):
        for c in contestants[r % len(contestants) :] + contestants[: r % len(contestants)]:
            wait_until_quiet(a)
            setting = workers[c.key]
            if run := attempt(c, name, setting, a.seconds, a):
                where = {"contestant": c.key, "workload": name, "round": r, "setting": setting}
                results["runs"].append(where | run)


def tune(c, name, a):
    """The setting that is fastest in a short run."""
    settings = c.settings(len(a.cores))
    if len(settings) == 1 or a.tune_seconds == 0:
        return settings[0]
    return max(settings, key=lambda setting: undisturbed_speed(c, name, setting, a))


def undisturbed_speed(c, name, setting, a):
    speed = 0
    for _ in range(3):
        wait_until_quiet(a)
        run = attempt(c, name, setting, a.tune_seconds, a)
        if not run:
            return 0
        speed = max(speed, run["frames_per_second"])
        if run["others"] < BUSY:
            break
    return speed


def attempt(c, name, setting, seconds, a):
    """One run, with the number of cores that others kept busy meanwhile; none if it failed."""
    busy, own, started = busy_seconds(), own_seconds(), time.monotonic()
    try:
        out = command(f"{name} {c.key} {setting}", c.run(name, setting, seconds), a.cores)
    except Failed as e:
        print(f"failed: {c.name}, {name}: {e}", file=sys.stderr)
        return None
    others = (busy_seconds() - busy - (own_seconds() - own)) / (time.monotonic() - started)
    run = json.loads(out[out.rindex("\n{") :] if "\n{" in out else out)
    if "first_batch_ms" in run:
        run["first_batch_seconds"] = run["first_batch_ms"] / 1e3
    return run | {"others": max(0, others)}


def wait_until_quiet(a):
    end = time.monotonic() + a.quiet_wait
    while time.monotonic() < end:
        busy = busy_seconds()
        time.sleep(0.5)
        if (busy_seconds() - busy) / 0.5 < BUSY:
            return


def busy_seconds():
    """Of all processors, in any process: user, nice, system, irq, softirq of proc(5)."""
    fields = [int(field) for field in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    return sum(fields[i] for i in (0, 1, 2, 5, 6)) / os.sysconf("SC_CLK_TCK")


def own_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def machine(cores):
    info = Path("/proc/cpuinfo").read_text()
    model = next((line.split(":")[1].strip() for line in info.splitlines() if line.startswith("model name")), "?")
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=REPOSITORY, capture_output=True, text=True)
    return {"cpu": model, "cores": cores, "system": platform.platform(), "vidrec": commit.stdout.strip()}


def frames():
    """What is stored, and the bytes of a JPEG with and without restart markers."""
    sizes = {}
    for key, path in ("packed", PACKED), ("plain", PLAIN):
        clips = list(reader.open_dataset(path).clips)
        lengths = [frame.length for clip in clips for frame in clip.frames]
        sizes |= {"clips": len(clips), "frames": len(lengths), f"{key}_bytes": sum(lengths) / len(lengths)}
    return sizes


def report(results):
    m, f = results["machine"], results["frames"]
    text = [
        f"{m['cpu']}, processors {','.join(m['cores'])}; {m['system']}; vidrec {m['vidrec']}",
        f"{f['clips']} clips, {f['frames']} frames; bytes a JPEG: {f['packed_bytes']:.0f} as vidrec packs them, "
        f"{f['plain_bytes']:.0f} without restart markers, as the peers have them",
    ]
    text += [table(name, results["runs"]) for name in results["workloads"]]
    versions = {}
    for run in results["runs"]:
        versions |= {name: v for name, v in run.get("versions", {}).items() if name not in ("python", "numpy")}
    return "\n\n".join([*text, ", ".join(f"{name} {v}" for name, v in sorted(versions.items()))])


def table(name, runs):
    runs = [run for run in runs if run["workload"] == name]
    rows = []
    for c in CONTESTANTS:
        own = [run for run in runs if run["contestant"] == c.key]
        if own:
            rows.append((c, quiet(own)))
    speed = {c.key: median(run["frames_per_second"] for run in own) for c, own in rows}
    peer = max((speed[c.key] for c, _ in rows if not isinstance(c, Ours)), default=None)
    rows.sort(key=lambda row: -speed[row[0].key])
    lines = [
        f"### {name}: {WORKLOADS[name].text}\n",
        "| | workers | frames/s (least–most) | × best peer | × wall | CPU s/1000 frames | first batch, s | |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for c, own in rows:
        spread = sorted(run["frames_per_second"] for run in own)
        cells = [
            c.name,
            own[0]["setting"],
            f"{speed[c.key]:.0f} ({spread[0]:.0f}–{spread[-1]:.0f})",
            ratio(speed[c.key], peer),
            ratio(speed[c.key], speed.get(WALL.key)),
            middle(own, "cpu_seconds_per_1000_frames", 3),
            middle(own, "first_batch_seconds", 2),
            "; ".join(notes(c, name, own)),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def medians(runs):
    """Frames a second of each contestant at each workload."""
    own = {}
    for run in runs:
        own.setdefault((run["contestant"], run["workload"]), []).append(run)
    return {key: round(median(run["frames_per_second"] for run in quiet(of_key))) for key, of_key in own.items()}


def write_results(path, found, results, a):
    """vidrec first, then the wall, then the others, those first that load fastest."""
    rows = {c: [found.get((c.key, c.workloads[0] if c.workloads == ("W3",) and name == "W2" else name)) for name in COLUMNS] for c in CONTESTANTS}
    ranks = sorted(rows, key=lambda c: (not isinstance(c, Ours), *(-(value or 0) for value in rows[c])))
    f, disturbed = results["frames"], any(run["others"] >= BUSY for run in results["runs"])
    data = (f"{f['frames']:,} frames of {f['clips']} clips, short side 256, quality 90, in the page cache; batches of {BATCH} clips x {FRAMES} frames; "
            f"medians of {a.rounds} rounds{'' if disturbed else ' on a quiet machine'}")
    write(path, "Loading: shuffled batches of clips", list(COLUMNS.values()), [{"name": c.name, "values": rows[c]} for c in ranks if any(rows[c])],
          data=data, command=called("VIDEOS"), unit="frames/s", reference=WALL.name, cores=len(a.cores))


def quiet(runs):
    """Those that nobody disturbed, if they are at least half."""
    undisturbed = [run for run in runs if run["others"] < BUSY]
    return undisturbed if 2 * len(undisturbed) >= len(runs) else runs


def ratio(speed, base):
    return f"{speed / base:.2f}" if base else ""


def notes(c, name, runs):
    if c.note:
        yield c.note
    if c.per_frame and WORKLOADS[name].random:
        yield "another crop for each frame"
    if any(run["others"] >= BUSY for run in runs):
        yield "disturbed"


def middle(runs, key, digits):
    values = [run[key] for run in runs if run.get(key) is not None]
    return f"{median(values):.{digits}f}" if values else ""


if __name__ == "__main__":
    sys.exit(main())
