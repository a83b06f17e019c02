"""vidrec as a training loop has it: its Python package, one thread that decodes."""
import torch  # noqa: F401: vidrec gives its tensors, and would import it only now
import vidrec

import peer
from workloads import MEAN, STD


def loader(task):
    options = {"cache": str(task.cache), "cache_bytes": task.cache_bytes} if task.cache else {}
    clips = vidrec.open(f"{task.server}/{task.path}", **options)
    return Frames(vidrec.Loader(clips, peer.BATCH, size=peer.WORKLOAD.size, crop="random-resized", flip=0.5,
                                dtype="float32", mean=MEAN, std=STD, shuffle=True, threads=max(1, task.workers)))


class Frames:
    """The frames that count: the last batch of an epoch may be padded."""

    def __init__(self, loader):
        self.loader = loader

    def __iter__(self):
        return (batch.frames[: int(batch.mask.sum())] for batch in self.loader)


if __name__ == "__main__":
    peer.main(None, loader, ["vidrec", "numpy"])
