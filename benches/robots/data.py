"""Makes the data of the two jobs once, and keeps it for each contestant in its own format."""
import json
import shutil
import struct
import subprocess
from pathlib import Path

import numpy as np

RATE, SIDE, NUMBERS = 10, 256, 14  # frames a second; their height and width; numbers of an action
LONGEST = 100                      # frames of an episode
CAMERAS = {"front": "null", "wrist": "hflip"}  # what FFmpeg's filter does for each
FRAMES = 8                         # of a clip of the mix
SHARES = {"a": 0.5, "b": 0.3, "c": 0.2}
LENGTHS = struct.Struct(f"<{FRAMES}I")


def once(make):
    """Makes a folder only as a whole, and only if it is not there."""

    def made(out, *arguments):
        if not out.exists():
            making = out.with_name(out.name + ".making")
            shutil.rmtree(making, ignore_errors=True)
            make(making, *arguments)
            making.rename(out)
        return out

    return made


def run(*words, **options):
    subprocess.run([str(word) for word in words], check=True, stdout=subprocess.DEVNULL, **options)


@once
def episodes(out, videos):
    """The same pictures for all: lossless videos of two cameras, and an action for each frame time."""
    out.mkdir(parents=True)
    rows = []
    for episode, video in enumerate(videos):
        for camera, flip in CAMERAS.items():
            part = f"fps={RATE},scale={SIDE}:{SIDE}:force_original_aspect_ratio=increase,crop={SIDE}:{SIDE},{flip}"
            to = ["-an", "-frames:v", LONGEST, "-c:v", "ffv1", "-pix_fmt", "yuv420p", out / f"{episode}-{camera}.mkv"]
            run("ffmpeg", "-v", "error", "-i", video, "-vf", part, *to, stdin=subprocess.DEVNULL)
            row = {"path": f"{episode}-{camera}.mkv", "episode": episode, "camera": camera}
            rows.append(json.dumps(row | {"actions": f"{episode}.npy"}))
        count = len(pictures(out / f"{episode}-front.mkv"))
        np.save(out / f"{episode}.npy", np.random.default_rng(episode).normal(size=(count, NUMBERS)).astype(np.float32))
    (out / "list.jsonl").write_text("\n".join(rows))


def pictures(video):
    words = ["ffmpeg", "-v", "error", "-i", video, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    raw = subprocess.run(words, check=True, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL).stdout
    return np.frombuffer(raw, np.uint8).reshape(-1, SIDE, SIDE, 3)


@once
def windows_vidrec(out, source, vidrec):
    run(vidrec, "pack", source / "list.jsonl", "-o", out, "--fps", RATE, "--track", f"action=actions,rate={RATE}")


@once
def windows_lerobot(out, source):
    """As LeRobot's own recorder writes it, with its own settings: AV1, a key frame every second frame."""
    from lerobot.datasets.lerobot_dataset import LeRobotDataset

    names = {"names": ["height", "width", "channels"]}
    features = {image_key(camera): {"dtype": "video", "shape": (SIDE, SIDE, 3), **names} for camera in CAMERAS}
    features["action"] = {"dtype": "float32", "shape": (NUMBERS,), "names": None}
    dataset = LeRobotDataset.create("local/robots", RATE, features, root=out, use_videos=True)
    for actions in sorted(source.glob("*.npy"), key=lambda path: int(path.stem)):
        views = {image_key(camera): pictures(source / f"{actions.stem}-{camera}.mkv") for camera in CAMERAS}
        for t, action in enumerate(np.load(actions)):
            dataset.add_frame({key: frames[t] for key, frames in views.items()} | {"action": action, "task": "move"})
        dataset.save_episode()
    dataset.finalize()


def image_key(camera):
    return f"observation.images.{camera}"


@once
def mix_vidrec(out, videos, vidrec):
    """Three data sets of different videos."""
    for i, name in enumerate(SHARES):
        folder = out / "videos" / name
        folder.mkdir(parents=True)
        for video in videos[i :: len(SHARES)]:
            (folder / video.name).symlink_to(video.resolve())
        run(vidrec, "pack", folder, "--outside", "-o", out / name, "--frames", FRAMES)


def jpegs(folder):
    """The JPEGs of each clip."""
    import vidrec

    for clip in vidrec.open(folder):
        yield [clip.jpeg(t) for t in range(FRAMES)]


@once
def mix_streaming(out, source):
    import streaming

    for name in SHARES:
        with streaming.MDSWriter(out=str(out / name), columns={"lengths": "bytes", "jpegs": "bytes"}) as writer:
            for clip in jpegs(source / name):
                writer.write({"lengths": LENGTHS.pack(*map(len, clip)), "jpegs": b"".join(clip)})


@once
def mix_grain(out, source):
    from array_record.python.array_record_module import ArrayRecordWriter

    out.mkdir(parents=True)
    for name in SHARES:
        writer = ArrayRecordWriter(str(out / name), "group_size:1,uncompressed")
        for clip in jpegs(source / name):
            writer.write(LENGTHS.pack(*map(len, clip)) + b"".join(clip))
        writer.close()
