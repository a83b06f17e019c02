"""A data set in object storage behind a network that fails: it arrives there, and gives the batches of the local one."""
import shutil

import batches
from machine import check, same_files
from program import built
from proxy import Proxy
from servers import S3

# What a repeated request gets through, in reading; what a checksum finds on the way; what a reader may refuse; and in writing.
CUTS = [("reset", {"after": 700}), ("short", {"after": 500}), ("stall", {"after": 300}), ("latency", {"ms": 80}),
        ("slow", {"bits_per_second": 3_000_000}), ("unavailable", {"retry_after_seconds": 0}), ("slow-down", None), ("status", 500),
        ("not-http", None), ("no-answer", None)]
LIES = [("flipped-byte", {"at": 40}), ("wrong-bytes", {"shift": 64})]
WRITING = [("lost", None), ("slow-down", None), ("status", 500), ("reset-upload", {"after": 50}), ("reset", {"after": 0}),
           ("short", {"after": 0}), ("not-http", None), ("latency", {"ms": 50})]


# Seconds for a read with all tries: longer than others keep this machine busy.
PATIENT = 600


class Storage:
    """A server of S3 and a proxy in front of it."""

    def __init__(self, machine):
        folder = machine.path("server")
        folder.mkdir()
        self.rng = machine.rng
        self.server = S3(folder)
        self.proxy = Proxy(built("fault-proxy"), "--to", f"127.0.0.1:{self.server.process.port}")
        self.environment = {**S3.KEYS, "AWS_ENDPOINT_URL": self.proxy.url, "AWS_ALLOW_HTTP": "true"}
        self.options = {"endpoint": self.proxy.url, "allow_http": "true", "region": S3.KEYS["AWS_REGION"],
                        "access_key_id": S3.KEYS["AWS_ACCESS_KEY_ID"], "secret_access_key": S3.KEYS["AWS_SECRET_ACCESS_KEY"]}

    def fail(self, kinds, lies=(), **rule):
        """Two or three kinds of faults, each for a few answers in a hundred; and one lie: of two, the second could be about
        what was asked for again, and vidrec asks twice, no more."""
        self.proxy.tell("clear")
        if lies:
            self.proxy.fault(*self.rng.choice(lies), path=".rec", when={"nth": self.rng.randint(1, 40)})
        for kind in self.rng.sample(kinds, self.rng.randint(2, 3)):
            chance = {"p": self.rng.choice([0.02, 0.05, 0.1]), "seed": self.rng.randrange(1000)}
            self.proxy.fault(*kind, **rule, when={"chance": chance})

    def stop(self):
        counts = self.proxy.stop()
        self.server.stop()
        return counts


def read(storage, machine, reader, location, local):
    """The batches of the local one, with a cache and without, in the long-lived process."""
    rng = machine.rng
    # The default order of a local and of a remote data set differ.
    given = {**batches.options(rng), "order": rng.choice([["Shuffled"], ["Blocks", 2, {"window": 2}]])}
    cache, limit = machine.path("cache"), rng.choice(["1MB", "4MB", "64MB"])
    opening = {"storage_options": storage.options, "timeout": PATIENT}
    for how in ({}, {"cache": str(cache), "cache_bytes": limit}, {"cache": str(cache), "cache_bytes": limit}):
        storage.fail(CUTS, LIES, method="GET")
        job = {"sets": {"": {"path": location, "open": {**opening, **how}}}, "options": given, "epochs": 2}
        machine.last = f"read {job}"
        found = reader.lines(job)
        expected = reader.lines({**job, "sets": {"": {"path": str(local)}}})
        check(found == expected, f"batches of {location} are not those of {local}: {job}")
        machine.counts["epochs read from S3"] += 2
    storage.proxy.tell("clear")
    if cache.exists():
        shutil.rmtree(cache)


def step(machine, reader, local):
    storage, patient = Storage(machine), ["--storage", f"timeout={PATIENT}"]
    try:
        location = storage.server.location("soak/set")
        storage.fail(WRITING)
        machine.vidrec("push", local, location, *patient, environment=storage.environment)
        storage.fail(CUTS, LIES, method="GET")
        back = machine.path("back")
        machine.vidrec("fetch", location, "-o", back, *patient, environment=storage.environment)
        same_files(back, local)
        machine.vidrec("verify", location, *patient, environment=storage.environment)
        read(storage, machine, reader, location, local)
        storage.proxy.tell("clear")
    finally:
        machine.counts["faults of the network"] += storage.stop()["faults"]
