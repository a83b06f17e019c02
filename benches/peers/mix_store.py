"""Makes three data sets once, and keeps them for each contestant in its own format."""
import shutil
import struct
import subprocess

FRAMES = 8  # of a clip
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


def run(*words):
    subprocess.run([str(word) for word in words], check=True, stdout=subprocess.DEVNULL)


@once
def make_vidrec(out, videos, vidrec):
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
def make_streaming(out, source):
    import streaming

    for name in SHARES:
        with streaming.MDSWriter(out=str(out / name), columns={"lengths": "bytes", "jpegs": "bytes"}) as writer:
            for clip in jpegs(source / name):
                writer.write({"lengths": LENGTHS.pack(*map(len, clip)), "jpegs": b"".join(clip)})


@once
def make_grain(out, source):
    from array_record.python.array_record_module import ArrayRecordWriter

    out.mkdir(parents=True)
    for name in SHARES:
        writer = ArrayRecordWriter(str(out / name), "group_size:1,uncompressed")
        for clip in jpegs(source / name):
            writer.write(LENGTHS.pack(*map(len, clip)) + b"".join(clip))
        writer.close()
