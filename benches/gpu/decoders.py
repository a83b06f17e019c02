"""The contestants that make batches on a device: vidrec's kernels, and its threads with a copy.

Each is a function that takes a data set, options of a loader and a device, and gives batches without end.
"""
import vidrec


def endless(loader):
    while True:
        yield from loader


def by_kernels(dataset, options, device):
    return endless(vidrec.Loader(dataset, device=device, **options))


def by_threads(dataset, options, device):
    pinned = {"pin_memory": True} if device.type == "cuda" else {}
    return (batch.to(device, non_blocking=True) for batch in endless(vidrec.Loader(dataset, **pinned, **options)))


CONTESTANTS = {
    "vidrec, device": by_kernels,
    "vidrec, threads and a copy": by_threads,
}
