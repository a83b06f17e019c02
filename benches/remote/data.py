"""Makes what is read, and keeps it: the data set as vidrec packs it, copied to some size."""
import shutil
import subprocess
import sys

from layout import HERE, PYTHON, SETTINGS, VIDREC, Job, reader

GENERATED = 24  # videos, for those who give none
A_MERGE = 500   # data sets that one merge takes


def videos_job(home, videos, size):
    """The clips of a folder of videos, or of generated ones, as often as makes `size` bytes."""
    stamp, made_for = home / "made-for", str(videos.resolve() if videos else None)
    if not (stamp.exists() and stamp.read_text() == made_for):
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        say("pack")
        run([VIDREC, "pack", videos or generate(home / "videos"), "-o", home / "base", *SETTINGS], fine=(0, 3))
        stamp.write_text(made_for)
    clips = list(reader.open_dataset(home / "base").clips)
    base = sum(frame.length for clip in clips for frame in clip.frames)
    copies = max(1, round(size / base))
    return with_store(Job(home, f"set-{copies}", home / "base", copies))


def generate(folder):
    """Moving pictures with some noise, by ffmpeg."""
    if shutil.which("ffmpeg") is None:
        raise SystemExit("give a folder of videos, or install ffmpeg, which can generate some")
    folder.mkdir()
    for number in range(GENERATED):
        source = f"mandelbrot=size=340x256:rate=30:start_scale={3 - number / 10}"
        noise = f"noise=alls=12:allf=t:all_seed={number}"
        run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", source, "-vf", noise, "-t", "4", "-pix_fmt", "yuv420p",
             folder / f"{number:03}.mp4"])
    return folder


def with_store(job):
    """With vidrec's own store: the same data set again and again, merged."""
    store = job.stores / "packed"
    if not store.exists():
        say(f"merge {job.clips} clips, {job.bytes / 1e6:.0f} MB of JPEGs")
        job.stores.mkdir(parents=True, exist_ok=True)
        merge([job.source] * job.copies, store)
    return job


def merge(parts, out):
    """In steps, as a command takes only so many words."""
    if len(parts) > A_MERGE:
        step = out.with_suffix(".step")
        merge(parts[:A_MERGE], step)
        whole, rest = divmod(len(parts), A_MERGE)
        merge([step] * whole + parts[:rest], out)
        shutil.rmtree(step)
    else:
        run([VIDREC, "merge", *parts, "-o", out, "--shards", "1GiB"])


def prepare_peer(job, script, name):
    """A peer's store, unless it is there for this script; its path."""
    store = job.stores / name
    stamp, made_for = store.with_suffix(".made-for"), (HERE / script).read_text() + str(job.shard_bytes)
    if not (stamp.exists() and stamp.read_text() == made_for):
        say(f"write {store.parent.name}/{name}")
        shutil.rmtree(store, ignore_errors=True)
        run([PYTHON, HERE / script, "prepare", store, job.source, job.copies, job.shard_bytes])
        stamp.write_text(made_for)
    return store


class Failed(Exception):
    pass


def run(words, fine=(0,)):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode not in fine:
        command = " ".join(map(str, words))[:200]
        raise Failed(f"{command}: exit status {done.returncode}: {(done.stderr or done.stdout).strip()[-400:]}")
    return done.stdout


def say(text):
    print(text, file=sys.stderr, flush=True)
