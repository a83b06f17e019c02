"""Clips of different length with a caption and an id each: packed by vidrec, and kept as each peer keeps its own."""
import json
import random
import shutil
import subprocess
import sys
from pathlib import Path

from workloads import CACHE

HOME = CACHE / "captions"
MANIFEST, PACKED, MDS, TAR = HOME / "clips.jsonl", HOME / "packed", HOME / "mds", HOME / "tar"
SETTINGS = ["--fps", "8", "--max-frames", "64", "--size", "256"]
CLIPS_A_SHARD = 64


def prepare(program, folders, clips_a_video):
    """Packs and copies unless it was done with the same arguments. Returns why a store is missing, by its folder."""
    stamp = HOME / "made-for"
    made_for = json.dumps([sorted(map(str, files(folders))), clips_a_video, *SETTINGS])
    if not (stamp.exists() and stamp.read_text() == made_for):
        shutil.rmtree(HOME, ignore_errors=True)
        HOME.mkdir(parents=True)
        write_manifest(files(folders), clips_a_video)
        print("pack", file=sys.stderr, flush=True)
        subprocess.run([program, "pack", MANIFEST, "-o", PACKED, *SETTINGS, "--max-failures", "0"], check=True)
        stamp.write_text(made_for)
    return {store: why for store, write in ((MDS, write_mds), (TAR, write_tar)) if (why := attempt(store, write))}


def files(folders):
    return [path.resolve() for folder in folders for path in sorted(folder.iterdir())]


def write_manifest(videos, clips_a_video):
    """Of each video all of it, and its beginning up to a drawn second: a decoder of videos never has to seek."""
    rng, lines = random.Random(0), []
    for video in videos:
        for k in range(clips_a_video):
            end = {"end": round(rng.uniform(1, 10), 2)} if k else {}
            words = " ".join(video.stem.replace("_", " ").split())
            about = f"up to second {end['end']}" if end else "from its start to its end"
            clip = {"path": str(video), "label": 0, "start": 0, **end} if end else {"path": str(video), "label": 0}
            lines.append(clip | {"id": f"clip-{len(lines):05}", "caption": f"what {words} shows, {about}"})
    MANIFEST.write_text("".join(json.dumps(line) + "\n" for line in lines))


def attempt(store, write):
    """Writes a store that is not there; says why if its package is missing or fails."""
    part = store.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    if store.exists():
        return None
    print(f"write {store.name}", file=sys.stderr, flush=True)
    try:
        write(part)
        part.rename(store)
    except Exception as e:  # whatever a peer raises: the others go on without it, and the report names it
        return f"{type(e).__name__}: {e}"


def clips():
    """Id, caption and clip of all that is packed."""
    import vidrec

    for clip in vidrec.open(PACKED):
        yield clip.attributes["id"], clip.attributes["caption"], clip


def write_mds(store):
    import numpy as np
    import streaming

    columns = {"id": "str", "caption": "str", "jpegs": "bytes", "lengths": "ndarray:int32"}
    with streaming.MDSWriter(out=str(store), columns=columns) as out:
        for name, caption, clip in clips():
            jpegs = [clip.jpeg(t) for t in range(len(clip))]
            lengths = np.array([len(jpeg) for jpeg in jpegs], np.int32)
            out.write({"id": name, "caption": caption, "jpegs": b"".join(jpegs), "lengths": lengths})


def write_tar(store):
    import webdataset

    Path(store).mkdir()
    with webdataset.ShardWriter(f"{store}/%05d.tar", maxcount=CLIPS_A_SHARD, verbose=0) as out:
        for name, caption, clip in clips():
            frames = {f"{t:03}.jpg": clip.jpeg(t) for t in range(len(clip))}
            out.write({"__key__": name, "json": {"id": name, "caption": caption}, **frames})
