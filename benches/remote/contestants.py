"""Who reads, and how each is started."""
import shutil
from dataclasses import dataclass

import data
from layout import BATCH, HERE, PYTHON, VIDREC
from watch import Watched

MODES = ("cold", "warm", "quarter")


@dataclass(frozen=True)
class Peer:
    name: str
    key: str
    script: str
    store: str
    modes: tuple = MODES
    cached: bool = True
    local: str = ""       # who does the same with files on this machine
    block: int = 0        # shards to shuffle at a time, where that can be chosen; 0: the peer's default

    def prepare(self, job):
        data.prepare_peer(job, self.script, self.store)

    def command(self, job, server, cache, limit, epochs=1, workers=1):
        words = [PYTHON, HERE / self.script, "read", server, f"{job.name}/{self.store}",
                 "--frames", job.frames_a_clip, "--workers", workers, "--epochs", epochs]
        words += ["--shards", len(list((job.stores / self.store).glob("*.tar")))]
        words += ["--cache", cache] if self.cached else []
        words += ["--cache-bytes", limit] if limit else []
        return words + (["--block", self.block * job.shard_bytes * job.clips // job.bytes] if self.block else [])

    def settings(self, workers):
        return workers

    def measure(self, mode, job, watch, cache, workers):
        """A run: numbers of the epoch that counts, which is the second one for a limited cache."""
        limit = job.bytes // 4 if mode == "quarter" else None
        epochs = 2 if limit else 1
        seen = watch(self.command(job, watch.server, cache, limit, epochs, workers), cache)
        first, end = seen.event("first"), seen.event("epoch")
        before = seen.event("epoch", last=False) if limit else first
        frames = end["frames"] - (0 if limit else first["frames"])
        seconds = end["seconds"] - before["seconds"]
        counts = end["counts"]
        since = before["counts"] if limit else {"requests": 0, "body_bytes": 0}
        last = seen.event("end")
        return {
            "frames_per_second": frames / seconds,
            "first_batch_seconds": first["seconds"],
            "frames": end["frames"],
            "requests": counts["requests"] - since["requests"],
            "bytes": counts["body_bytes"] - since["body_bytes"],
            "cpu_seconds": last["cpu_seconds"],
            "versions": last["versions"],
            **used(seen),
        }


class Vidrec(Peer):
    """Its store is the source of all others."""

    def prepare(self, job):
        data.run([PYTHON, "-c", "import inspect, vidrec; assert 'cache' in inspect.signature(vidrec.open).parameters"])

    def settings(self, workers):
        return [1]


class Program(Peer):
    """`vidrec bench`, without Python."""

    def prepare(self, job):
        pass

    def settings(self, workers):
        return [1]

    def bench(self, job, server, cache, limit, options):
        loader = [f"batch_size={BATCH}", "threads=1", 'crop={"RandomResizedCrop": {"size": 224}}', "flip=0.5", "shuffle=true"]
        loader += ["dtype=float32", "normalize=imagenet"]
        words = [VIDREC, "bench", f"{server}/{job.name}/packed", *loader, "--json", *options]
        words += ["--cache", cache] if cache and self.cached else []
        return words + (["--cache-bytes", limit] if limit else [])

    def measure(self, mode, job, watch, cache, workers):
        limit = job.bytes // 4 if mode == "quarter" else None
        if limit:
            # A cache outlives its processes, so the epoch that fills it can be one of its own.
            watch(self.bench(job, watch.server, cache, limit, ["--cold", "--epochs", "1"]), cache)
        cold = ["--cold"] if mode == "cold" else []
        seen = watch(self.bench(job, watch.server, cache, limit, [*cold, "--epochs", "1"]), cache)
        report = seen.event("report")
        return {
            "frames_per_second": report["frames_per_second"],
            "first_batch_seconds": report["first_batch_ms"] / 1e3,
            "frames": report["stats"]["frames"],
            "requests": report["counts"]["requests"],
            "bytes": report["counts"]["body_bytes"],
            "stats": report["stats"],
            **used(seen),
        }


class LocalVidrec(Vidrec):
    """The same on files: what there is to reach."""

    def measure(self, mode, job, watch, cache, workers):
        return super().measure(mode, job, watch.on(job.served), None, workers)


class LocalProgram(Program):
    """The same on files: what there is to reach."""

    def measure(self, mode, job, watch, cache, workers):
        return super().measure(mode, job, watch.on(job.served), None, workers)


def used(seen):
    return {"memory": seen.memory, "own_memory": seen.own_memory, "disk": seen.disk}


class Watch:
    """Runs commands against a server, and counts what it is asked for."""

    def __init__(self, server, cpus, counts, reset, timeout):
        self.server, self.cpus, self.counts, self.reset, self.timeout = server, cpus, counts, reset, timeout

    def __call__(self, command, cache):
        self.reset()
        return Watched(command, self.cpus, cache, self.counts, timeout=self.timeout)

    def on(self, server):
        return Watch(server, self.cpus, self.counts, self.reset, self.timeout)


def fresh(cache):
    shutil.rmtree(cache, ignore_errors=True)
    cache.mkdir(parents=True)


CONTESTANTS = (
    LocalVidrec("vidrec, files on this machine", "vidrec-local", "vidrec_python.py", "packed", ("warm",), cached=False),
    LocalProgram("vidrec bench, files on this machine", "program-local", "", "packed", ("warm",), cached=False),
    Vidrec("vidrec in Python", "vidrec", "vidrec_python.py", "packed", local="vidrec-local"),
    Program("vidrec bench", "program", "", "packed", local="program-local"),
    Program("vidrec bench, no cache on disk", "program-memory", "", "packed", ("cold",), cached=False, local="program-local"),
    Peer("LitData", "litdata", "litdata_chunks.py", "litdata"),
    Peer("MosaicML Streaming", "mds", "mds.py", "mds"),
    Peer("MosaicML Streaming, blocks of 2 shards", "mds-blocks", "mds.py", "mds", block=2),
    Peer("WebDataset", "webdataset", "tar.py", "tar"),
    Peer("WebDataset, no cache", "webdataset-stream", "tar.py", "tar", ("cold",), cached=False),
)
