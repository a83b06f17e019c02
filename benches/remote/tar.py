"""WebDataset: tar files through curl, a sample a clip, a shuffle buffer of 1,000, simplejpeg, OpenCV, WebLoader."""
import warnings

import webdataset

import peer


def prepare(store, clips, shard_bytes):
    store.mkdir(parents=True)
    with webdataset.ShardWriter(f"{store}/%05d.tar", maxsize=shard_bytes, maxcount=10**9, verbose=0) as out:
        for number, jpegs in enumerate(clips):
            out.write({"__key__": f"{number:07}", **{f"{t}.jpg": jpeg for t, jpeg in enumerate(jpegs)}})


def loader(task):
    names = [f"{t}.jpg" for t in range(task.frames)]
    urls = [f"pipe:curl -f -s -L {task.server}/{task.path}/{k:05}.tar" for k in range(task.shards)]
    cache = {"cache_dir": str(task.cache), "cache_size": task.cache_bytes or -1} if task.cache else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clips = webdataset.WebDataset(urls, shardshuffle=100, **cache).shuffle(1000)
    batch = peer.collate(task, lambda row: [row[name] for name in names])
    keep = {"persistent_workers": True} if task.workers else {}
    return webdataset.WebLoader(clips, batch_size=peer.BATCH, num_workers=task.workers, collate_fn=batch, **keep)


if __name__ == "__main__":
    peer.main(prepare, loader, ["webdataset", "torch", "simplejpeg", "opencv-python-headless"])
