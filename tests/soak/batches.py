"""Loaders from a description in JSON, and digests of what they and data sets give. Used in processes of their own."""
import hashlib
import json

import numpy as np

import vidrec


def made(value):
    """`["Uniform", 4]` is `vidrec.Uniform(4)`; a last dict has arguments by name."""
    if not isinstance(value, list) or not value or not isinstance(value[0], str) or not hasattr(vidrec, value[0]):
        return value
    *positional, named = value[1:] if value[1:] and isinstance(value[-1], dict) else [*value[1:], {}]
    return getattr(vidrec, value[0])(*positional, **named)


def options(rng):
    given = {
        "batch_size": rng.choice([1, 2, 3]), "seed": rng.randrange(1000), "last": rng.choice(["keep", "keep", "wrap", "pad"]),
        "frames": rng.choice([["Uniform", 4], ["Random", 3], ["Run", 4], ["Run", 3, {"at": "center", "stride": 2}]]),
        "crop": rng.choice([["CenterCrop", 48], ["RandomCrop", 40], ["RandomResizedCrop", 48], ["MultiScaleCrop", 48]]),
        "flip": rng.choice([0.0, 0.5]), "channels": rng.choice(["rgb", "gray", "ycbcr"]),
        "dtype": rng.choice(["uint8", "float16", "float32"]), "layout": rng.choice(["BTCHW", "BCTHW", "BTHWC"]),
    }
    if rng.random() < 0.4:
        given["color"] = ["ColorJitter", {"brightness": 0.3, "saturation": 0.2}]
    if rng.random() < 0.3:
        given["frames"] = ["AllFrames", {"max": 8}]
        given["batching"] = rng.choice([["Buckets", [2, 4, 8]], ["FrameBudget", 16, {"buckets": [2, 4, 8]}]])
    return given


def opened(given):
    return vidrec.open(given["path"], **given.get("open", {}))


def loader(job):
    """Of one data set, or of a mix."""
    options = {name: made(value) for name, value in job["options"].items()}
    sets = job["sets"]
    if len(sets) == 1:
        (given,) = sets.values()
        data = opened(given)
    else:
        data = vidrec.mix({name: (opened(given), given["weight"]) for name, given in sets.items()}, **job["mix"])
    rank = job.get("rank")
    return vidrec.Loader(data, output="numpy", rank=rank and tuple(rank), **options)


def digest(*values):
    """Of arrays with their types and shapes, and of what JSON has."""
    sha = hashlib.sha256()
    for value in values:
        if isinstance(value, np.ndarray):
            sha.update(f"{value.dtype} {value.shape}".encode())
            value = np.ascontiguousarray(value).tobytes()
        else:
            value = json.dumps(value, default=str).encode()
        sha.update(value)
    return sha.hexdigest()[:24]


def line(batch):
    """What is in a batch: a digest, and the samples by the name of their set and their source."""
    names = batch.source_names if batch.source_ids is not None else [""] * len(batch)
    samples = [list(sample) for sample in zip(names, batch.sources, batch.mask.tolist())]
    values = digest(batch.frames, batch.labels, batch.clips, batch.mask, batch.frame_mask, batch.times, batch.fields, names)
    return {"epoch": batch.epoch, "number": batch.number, "digest": values, "samples": samples}


def lines(job):
    """A line for each batch of the first epochs."""
    of = loader(job)
    return [line(batch) for _ in range(job["epochs"]) for batch in of]


def clips(path):
    """What is in each clip of a data set: source, class, attributes, and digests of times and of JPEGs."""
    found = []
    for clip in vidrec.open(path):
        tracks = {name: digest(np.asarray(clip.track(name).values)) for name in clip.track_names}
        found.append({
            "source": clip.source, "class": clip.class_name, "attributes": clip.attributes, "tracks": tracks,
            "pts": clip.pts.tolist(), "jpegs": [hashlib.sha256(clip.jpeg(t)).hexdigest()[:24] for t in range(len(clip))],
        })
    return found
