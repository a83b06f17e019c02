"""The batches that are measured: those of benches/README.md that a GPU can make."""
import vidrec


def workloads(clips, side):
    """Options of a loader by name. `side` is 224 but for a try."""
    random = dict(crop=vidrec.RandomResizedCrop(side), flip=0.5)
    normalized = dict(dtype="float32", normalize=vidrec.IMAGENET)
    found = {
        "W1": {**random, **normalized},
        "W1u8": {**random, "layout": "BTHWC"},
        "W1-112": {**random, **normalized, "crop": vidrec.RandomResizedCrop(side // 2)},
        "W2": dict(crop=vidrec.CenterCrop(side)),
    }
    return {name: dict(batch_size=clips, frames=8, shuffle=True, last="wrap", **options) for name, options in found.items()}
