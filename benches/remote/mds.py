"""MosaicML Streaming: MDS shards without compression, a sample a clip, simplejpeg, OpenCV, PyTorch's DataLoader."""
import streaming
from torch.utils.data import DataLoader

import peer


def prepare(store, clips, shard_bytes):
    clips = iter(clips)
    first = peer.as_fields(next(clips))
    with streaming.MDSWriter(out=str(store), columns=dict.fromkeys(first, "bytes"), size_limit=shard_bytes) as out:
        out.write(first)
        for jpegs in clips:
            out.write(peer.as_fields(jpegs))


def loader(task):
    streaming.base.util.clean_stale_shared_memory()
    clips = streaming.StreamingDataset(remote=peer.s3_location(task), local=str(task.cache), batch_size=peer.BATCH,
                                       shuffle=True, cache_limit=task.cache_bytes, shuffle_block_size=task.block)
    batch = peer.collate(task, peer.by_number(task))
    keep = {"persistent_workers": True} if task.workers else {}
    return DataLoader(clips, peer.BATCH, num_workers=task.workers, collate_fn=batch, **keep)


if __name__ == "__main__":
    peer.main(prepare, loader, ["mosaicml-streaming", "torch", "simplejpeg", "opencv-python-headless"])
