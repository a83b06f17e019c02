"""Other ways to get frames out of videos and into JPEGs, each in a number of processes that decode with one thread.

    peers.py NAME JOBS OUT PROCESSES      one line of JSON

JOBS is a JSON list of videos: path, ordinals of the wanted frames, width and height to store. The frames are stored one
after the other in a file for each process below OUT; GulpIO2 stores them its own way. Imports are over when the clock starts.
"""
import json
import multiprocessing
import os
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path

QUALITY = 90


def pyav(job):
    """PyAV from the start to the last wanted frame; the wanted ones are scaled to full-range 4:2:0 planes.

    Its arrays of planes need even sides; other sizes go through RGB.
    """
    import av
    import simplejpeg

    width, height = job["width"], job["height"]
    size = {"width": width, "height": height, "interpolation": "BICUBIC"}
    even = width % 2 == 0 and height % 2 == 0
    with av.open(job["path"]) as container:
        stream = container.streams.video[0]
        stream.thread_type, stream.codec_context.thread_count = "NONE", 1
        for i, frame in enumerate(container.decode(stream)):
            for _ in range(job["frames"].count(i)):
                if even:
                    planes = frame.to_ndarray(**size, format="yuvj420p")
                    luma, chroma = planes[:height], planes[height:].reshape(2, height // 2, width // 2)
                    yield simplejpeg.encode_jpeg_yuv_planes(luma, chroma[0], chroma[1], quality=QUALITY)
                else:
                    rgb = frame.to_ndarray(**size, format="rgb24")
                    yield simplejpeg.encode_jpeg(rgb, quality=QUALITY, colorsubsampling="420")
            if i == job["frames"][-1]:
                return


def decord(job):
    """decord, which seeks to each frame and scales while it decodes."""
    import decord
    import simplejpeg

    reader = decord.VideoReader(job["path"], decord.cpu(0), job["width"], job["height"], num_threads=1)
    for frame in reader.get_batch(job["frames"]).asnumpy():
        yield simplejpeg.encode_jpeg(frame, quality=QUALITY, colorsubsampling="420")


def torchcodec(job):
    """TorchCodec, which seeks to each frame, after a scan of the file, and scales in its filter graph."""
    import simplejpeg
    from torchcodec.decoders import VideoDecoder
    from torchcodec.transforms import Resize

    scale = [Resize((job["height"], job["width"]))]
    decoder = VideoDecoder(job["path"], num_ffmpeg_threads=1, dimension_order="NHWC", transforms=scale)
    for frame in decoder.get_frames_at(job["frames"]).data.numpy():
        yield simplejpeg.encode_jpeg(frame, quality=QUALITY, colorsubsampling="420")


def ffmpeg(job):
    """The ffmpeg program, once for each video. Its JPEG quality 2, the best, comes nearest to libjpeg's 90."""
    wanted = "+".join(f"eq(n\\,{i})" for i in job["frames"])
    graph = f"select='{wanted}',scale={job['width']}:{job['height']}:flags=bicubic:out_range=full,format=yuvj420p"
    command = ["ffmpeg", "-v", "error", "-nostdin", "-threads", "1", "-i", job["path"], "-an", "-filter_threads", "1"]
    command += ["-vf", graph, "-vsync", "passthrough", "-frames:v", str(len(job["frames"])), "-threads", "1"]
    command += ["-q:v", "2", "-f", "image2pipe", "-c:v", "mjpeg", "-"]
    run = subprocess.run(command, check=True, capture_output=True)
    count = run.stdout.count(b"\xff\xd8\xff")
    if count != len(job["frames"]):
        raise RuntimeError(f"{job['path']}: {count} frames")
    yield run.stdout
    for _ in range(count - 1):
        yield b""


def gulpio2(job):
    """GulpIO2's own way: ffmpeg writes every frame to shared memory as JPEG, the wanted ones are read, scaled, encoded."""
    from gulpio2 import utils

    with utils.temp_dir_for_bursting() as folder:
        names = sorted(utils.burst_video_into_frames(job["path"], folder))
        side = min(job["width"], job["height"])
        for image in utils.resize_images([names[i] for i in job["frames"]], img_size=side):
            yield utils.img_to_jpeg_bytes(image)


PEERS = {
    "pyav": (pyav, ["av", "simplejpeg"]),
    "decord": (decord, ["decord", "simplejpeg"]),
    "ffmpeg": (ffmpeg, []),
    "torchcodec": (torchcodec, ["torchcodec", "torch", "simplejpeg"]),
    "gulpio2": (gulpio2, ["gulpio2", "simplejpeg"]),
}


def store(arguments):
    name, jobs, out = arguments
    frames = size = 0
    failed = []
    with open(out, "wb") as file:
        for job in jobs:
            try:
                # Whole or not at all.
                jpegs = list(PEERS[name][0](job))
            except Exception as e:  # a peer that fails on a video says so and goes on
                failed.append(f"{job['path']}: {e}")
                continue
            frames += len(jpegs)
            size += sum(map(len, jpegs))
            file.writelines(jpegs)
    return frames, size, failed


def main():
    name, jobs, out, processes = sys.argv[1], json.loads(Path(sys.argv[2]).read_text()), sys.argv[3], int(sys.argv[4])
    packages = PEERS[name][1]
    for package in packages:
        __import__({"torchcodec": "torchcodec.decoders"}.get(package, package))
    with multiprocessing.Pool(processes) as pool:
        pool.map(len, ["warm"] * processes)
        started = time.perf_counter()
        # Small portions, so that no process waits long for the other at the end.
        portions = [(name, jobs[k : k + 2], os.path.join(out, f"{k}.bin")) for k in range(0, len(jobs), 2)]
        results = list(pool.imap_unordered(store, portions))
        seconds = time.perf_counter() - started
    report = {
        "seconds": seconds,
        "frames": sum(frames for frames, _, _ in results),
        "bytes": sum(size for _, size, _ in results),
        "failed": [line for _, _, failed in results for line in failed],
        "versions": {package: metadata.version(package) for package in packages},
    }
    print("\n" + json.dumps(report))


if __name__ == "__main__":
    multiprocessing.set_start_method("fork")
    main()
