"""vidrec as a training loop has it: its Python package, one thread that decodes."""
import torch  # noqa: F401: vidrec gives its tensors, and would import it only now
import vidrec

import peer
from workloads import MEAN, STD


def loader(task):
    options = {"cache": str(task.cache), "cache_bytes": task.cache_bytes} if task.cache else {}
    clips = vidrec.open(f"{task.server}/{task.path}", **options)
    batches = vidrec.Loader(clips, peer.BATCH, crop=vidrec.RandomResizedCrop(peer.WORKLOAD.size), flip=0.5, dtype="float32",
                            normalize=vidrec.Normalize(MEAN, STD), shuffle=True, threads=max(1, task.workers))
    return batches.map(lambda batch: batch.frames)


if __name__ == "__main__":
    peer.main(None, loader, ["vidrec", "numpy"])
