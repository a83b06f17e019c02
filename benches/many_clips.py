#!/usr/bin/env python3
"""What commands cost with very many clips, locally and from a server that answers after 50 ms.

    cargo build --release --workspace --examples
    python3 benches/many_clips.py target/release /scratch/many --clips 10000000 --shards 1000 [--json FILE]

Needs some 600 bytes of disk for each clip, and twice as much again for the outputs, which are removed. Prints a line for each command:
seconds, seconds of a processor, MB of memory (without mapped files) and, from the server, requests and MB. FILE gets seconds and memory
as benches/results has them.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "scripts/draw"))
from results import called, write  # noqa: E402


def measured(command, name, proxy=None):
    """Runs a command in a child of its own, whose use of memory is known at its end. Returns seconds, those until the first batch
    if there is one, and MB of memory."""
    if proxy:
        ask(proxy, "reset")
    began, memory, ended = time.monotonic(), 0, 0
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen([str(word) for word in command], stdout=out)
        while not ended:
            memory = max(memory, own_memory(child.pid))
            time.sleep(0.01)
            ended, status, used = os.wait4(child.pid, os.WNOHANG)
        seconds, child.returncode = time.monotonic() - began, os.waitstatus_to_exitcode(status)
        out.seek(0)
        said = out.read()
    if child.returncode not in (0, 3):
        raise SystemExit(f"{command} failed")
    told = f"{name:34} {seconds:8.2f} s {used.ru_utime + used.ru_stime:8.2f} s {memory / 1e6:9.1f} MB"
    first = re.search(r"first batch after ([0-9.,]+) (m?s)", said)
    if first:
        told += f"   first batch after {first[1]} {first[2]}"
    if proxy:
        counts = json.loads(ask(proxy, "counts"))
        told += f"   {counts['requests']} requests, {counts['body_bytes'] / 1e6:.1f} MB"
    print(told, flush=True)
    if first:
        seconds = float(first[1].replace(",", "")) / (1000 if first[2] == "ms" else 1)
    return [float(f"{seconds:.2g}"), round(memory / 1e6)]


def own_memory(process):
    """Bytes that no file has: pages of mapped files are the system's, which keeps as many as it likes."""
    status = Path(f"/proc/{process}/status").read_text()
    return 1024 * sum(int(kb) for kb in re.findall(r"^Rss(?:Anon|Shmem):\s+(\d+)", status, re.M))


def ask(proxy, line):
    proxy.stdin.write(line + "\n")
    proxy.stdin.flush()
    return proxy.stdout.readline()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--clips", type=int, required=True)
    parser.add_argument("--shards", type=int, default=1000)
    parser.add_argument("--json", type=Path, metavar="FILE")
    given = parser.parse_args()
    vidrec, folder = given.programs / "vidrec", given.folder
    folder.mkdir(exist_ok=True)
    proxy = subprocess.Popen(
        [given.programs / "fault-proxy", "--folder", folder, "--latency-ms", "50"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )
    port = int(proxy.stdout.readline())
    name = f"{given.clips}-{given.shards}"
    data, out = folder / name, folder / "out"
    if not (data / "dataset.json").exists():
        measured([given.programs / "examples/many_clips", data, given.clips, given.shards], "write")
    loads = ["batch_size=64", "frames=1", "shuffle=true", "threads=2", "--seconds", "0.1"]
    found = {
        "first shuffled batch": measured([vidrec, "bench", data, *loads], "first batch"),
        "the same from a server": measured([vidrec, "bench", f"http://127.0.0.1:{port}/{name}", *loads], "first batch, 50 ms", proxy),
        "vidrec inspect": measured([vidrec, "inspect", data], "inspect"),
        "vidrec inspect --stats": measured([vidrec, "inspect", data, "--stats"], "inspect --stats"),
    }
    edits = {"subset --class": ["--class", "7"], "subset --sample": ["--sample", "1000"], "merge": [data]}
    for edit, words in edits.items():
        found[f"vidrec {edit}"] = measured([vidrec, edit.split()[0], data, *words, "-o", out], edit)
        shutil.rmtree(out)
    if given.json:
        write(given.json, "Very many clips", ["seconds", "MB of memory"], [{"name": row, "values": values} for row, values in found.items()],
              data=f"{given.clips:,} clips of one frame of 8x8 pixels in {given.shards:,} shards, with a caption; a server 50 ms away; "
                   "memory without mapped files", command=called("PROGRAMS"), unit="", units=["s", "MB"], better="less")
    proxy.communicate()


if __name__ == "__main__":
    main()
