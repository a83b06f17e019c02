#!/usr/bin/env python3
"""Serves a folder for benchmarks: nginx, as one process, and the proxy in front of it, on CPUs of their own.

    benches/remote/serve.py FOLDER --cpu 1 --latency-ms 50 --gbit 1

prints both addresses and runs until its input ends; lines of input go to the proxy (`counts`, `latency-ms 0`, …), and
its answers come out. Needs nginx (scripts/servers.sh) and `cargo build --release --package fault-proxy`. In Python:

    with Serving(folder, cpu=1, latency_ms=50) as serving:
        read(serving.proxy.url)
        print(serving.proxy.counts())
"""
import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests/remote"))
from process import Process  # noqa: E402
from program import TARGET  # noqa: E402
from proxy import Proxy  # noqa: E402
from web import nginx_command  # noqa: E402


class Serving:
    """nginx and the proxy while they run.

    `cpu` is the number or the list of CPUs that both may use, as for taskset; None lets them use all.
    """

    def __init__(self, folder, cpu=None, latency_ms=0, connect_latency_ms=0, gbit=0):
        self.pinned = [] if cpu is None else ["taskset", "-c", str(cpu)]
        self.files = Path(folder).resolve(strict=True)
        self.options = ["--latency-ms", str(latency_ms), "--connect-latency-ms", str(connect_latency_ms),
                        "--gbit", str(gbit)]

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="vidrec-serve-"))
        self.proxy = self.nginx = None
        try:
            self.nginx = Process(lambda port: [*self.pinned, *nginx_command(self.folder, self.files, port)],
                                 self.folder / "nginx.log")
            self.proxy = Proxy(TARGET / "release/fault-proxy", "--to", f"127.0.0.1:{self.nginx.port}", *self.options,
                               before=self.pinned)
        except BaseException:
            self.__exit__()
            raise
        self.url = f"http://127.0.0.1:{self.nginx.port}"
        return self

    def __exit__(self, *_):
        if self.proxy is not None:
            self.proxy.stop()
        if self.nginx is not None:
            self.nginx.stop()
        shutil.rmtree(self.folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cpu", help="CPUs for both servers, as for taskset (default: all)")
    parser.add_argument("--latency-ms", type=float, default=0)
    parser.add_argument("--connect-latency-ms", type=float, default=0)
    parser.add_argument("--gbit", type=float, default=0, help="bandwidth of all connections; 0 is no limit")
    arguments = parser.parse_args()
    with Serving(**vars(arguments)) as serving:
        print(f"nginx {serving.url}\nproxy {serving.proxy.url}", flush=True)
        for line in sys.stdin:
            try:
                print(serving.proxy.tell(line.strip()), flush=True)
            except ValueError as error:
                print(error, flush=True)
        print(json.dumps(serving.proxy.counts()))


if __name__ == "__main__":
    main()
