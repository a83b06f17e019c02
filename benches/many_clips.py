#!/usr/bin/env python3
"""What commands cost with very many clips, locally and from a server that answers after 50 ms.

    cargo build --release --workspace --examples
    python3 benches/many_clips.py target/release /scratch/many --clips 1000000 10000000 --shards 1000

Needs some 600 bytes of disk for each clip, and as much again for the outputs, which are removed. Prints a line for each command:
seconds, seconds of a processor, MB of memory (with mapped files) and, from the server, requests and MB.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path


def measured(command, name, proxy=None):
    """Runs a command in a child of its own, whose use of memory is known at its end."""
    if proxy:
        ask(proxy, "reset")
    began = time.monotonic()
    child = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True)
    said = child.stdout.read()
    _, status, used = os.wait4(child.pid, 0)
    seconds = time.monotonic() - began
    if os.waitstatus_to_exitcode(status) not in (0, 3):
        raise SystemExit(f"{command} failed")
    told = f"{name:34} {seconds:8.2f} s {used.ru_utime + used.ru_stime:8.2f} s {used.ru_maxrss / 1000:9.1f} MB"
    first = re.search(r"first batch after ([0-9.,]+) (m?s)", said)
    if first:
        told += f"   first batch after {first[1]} {first[2]}"
    if proxy:
        counts = json.loads(ask(proxy, "counts"))
        told += f"   {counts['requests']} requests, {counts['body_bytes'] / 1e6:.1f} MB"
    print(told, flush=True)


def ask(proxy, line):
    proxy.stdin.write(line + "\n")
    proxy.stdin.flush()
    return proxy.stdout.readline()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--clips", type=int, nargs="+", required=True)
    parser.add_argument("--shards", type=int, default=1000)
    given = parser.parse_args()
    vidrec, folder = given.programs / "vidrec", given.folder
    folder.mkdir(exist_ok=True)
    proxy = subprocess.Popen(
        [given.programs / "fault-proxy", "--folder", folder, "--latency-ms", "50"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )
    port = int(proxy.stdout.readline())
    for clips in given.clips:
        name = f"{clips}-{given.shards}"
        data, out = folder / name, folder / "out"
        if not (data / "dataset.json").exists():
            measured([given.programs / "examples/many_clips", data, clips, given.shards], f"{name} write")
        loads = ["batch_size=64", "frames=1", "shuffle=True", "threads=2", "--seconds", "0.1", "--memory-bytes", "600MB"]
        measured([vidrec, "inspect", data], f"{name} inspect")
        measured([vidrec, "bench", data, *loads], f"{name} first batch")
        measured([vidrec, "bench", f"http://127.0.0.1:{port}/{name}", *loads], f"{name} first batch, 50 ms", proxy)
        measured([vidrec, "inspect", data, "--stats"], f"{name} inspect --stats")
        for command in (["subset", data, "--class", "7"], ["subset", data, "--sample", "1000"], ["merge", data, data]):
            measured([vidrec, *command, "-o", out], f"{name} {command[0]} {Path(command[2]).name}")
            shutil.rmtree(out)
    proxy.stdin.close()
    proxy.wait()


if __name__ == "__main__":
    main()
