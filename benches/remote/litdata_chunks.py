"""LitData: chunks without compression, an item a clip, simplejpeg, OpenCV, its own StreamingDataLoader."""
import os

os.environ.setdefault("DISABLE_VERSION_CHECK", "1")
import litdata  # noqa: E402
from litdata.streaming import downloader  # noqa: E402
from litdata.streaming.cache import Cache  # noqa: E402

import peer  # noqa: E402

# Its faster client, obstore, refuses servers without TLS, and LitData has no option to allow them.
downloader._OBSTORE_CLIENT_OPTIONS["allow_http"] = "true"


def prepare(store, clips, shard_bytes):
    store.mkdir(parents=True)
    cache = Cache(str(store), chunk_bytes=shard_bytes)
    for number, jpegs in enumerate(clips):
        cache[number] = peer.as_fields(jpegs)
    cache.done()
    cache.merge()


def loader(task):
    location = peer.s3_location(task)
    options = {"endpoint_url": task.server, "aws_access_key_id": "any", "aws_secret_access_key": "any",
               "region_name": "us-east-1"}
    clips = litdata.StreamingDataset(location, cache_dir=str(task.cache), shuffle=True, storage_options=options,
                                     max_cache_size=task.cache_bytes)
    batch = peer.collate(task, peer.by_number(task))
    keep = {"persistent_workers": True} if task.workers else {}
    return litdata.StreamingDataLoader(clips, batch_size=peer.BATCH, num_workers=task.workers, collate_fn=batch, **keep)


if __name__ == "__main__":
    peer.main(prepare, loader, ["litdata", "torch", "simplejpeg", "opencv-python-headless"])
