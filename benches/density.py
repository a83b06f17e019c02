#!/usr/bin/env python3
"""Bytes of a frame against quality: libjpeg-turbo, mozjpeg, jpegli and vidrec, with the same planes and the same decoder.

    benches/density.py VIDEOS...              prints a table
    benches/density.py VIDEOS... --json FILE  writes the figures, as benches/results has them

Packs three frames of each video at quality 100, and encodes the middle one again in each way at five qualities
(benches/density/, which takes some minutes to compile). The table says how many bytes fewer each way needs for the PSNR, and
for the SSIMULACRA2, that libjpeg-turbo has at each quality: on lines, logarithmic in bytes, between its own qualities. Needs
cargo, CMake and a C++ compiler. VIDREC_PROGRAM names vidrec's program; without it, it is the one on PATH.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "scripts/draw"))
from results import called, write  # noqa: E402

PROGRAM = os.environ.get("VIDREC_PROGRAM", "vidrec")
NAMES = {
    "--effort 0": "libjpeg-turbo",
    "mozjpeg": "mozjpeg 0.10, no restart markers",
    "jpegli": "jpegli 0.1, progressive, no restart markers",
    "--effort 1": "with --effort 1",
}


def pack(videos, out):
    """Packs three frames of each video; what fails is skipped."""
    command = [PROGRAM, "pack", *videos, "-o", out, "--frames", "3", "--quality", "100", "--effort", "0"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode not in (0, 3):
        sys.exit(f"{command}: {done.stderr}")


def measure(data_sets):
    manifest = ["--release", "--quiet", "--manifest-path", ROOT / "benches/density/Cargo.toml"]
    subprocess.run(["cargo", "build", "--workspace", *map(str, manifest)], check=True)
    command = ["cargo", "run", *manifest, "--bin", "vidrec-density", "--", *data_sets]
    return json.loads(subprocess.run(list(map(str, command)), check=True, stdout=subprocess.PIPE).stdout)


def bytes_at(curve, wanted):
    """Bytes on the line, logarithmic in bytes, through the two points of (score, bytes) next to a score."""
    curve = sorted(curve)
    after = next((i for i in range(1, len(curve)) if curve[i][0] >= wanted), len(curve) - 1)
    (low, few), (high, many) = curve[after - 1 : after + 1]
    return few * (many / few) ** ((wanted - low) / (high - low))


def rows(measured):
    """Of each way and quality: bytes, PSNR, SSIMULACRA2, and percent fewer bytes at equal PSNR and at equal SSIMULACRA2."""
    first = measured["ways"]["--effort 0"]
    for way, curve in measured["ways"].items():
        for quality, (length, *scores), (whole, *wanted) in zip(measured["qualities"], curve, first):
            fewer = [
                round(100 * (1 - bytes_at([(point[1 + i], point[0]) for point in curve], score) / whole), 1)
                for i, score in enumerate(wanted)
            ]
            yield f"{NAMES[way]}, {quality}", [round(length), round(scores[0], 2), round(scores[1], 1), *fewer]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("videos", nargs="+", type=Path)
    parser.add_argument("--json", type=Path, metavar="FILE")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        pack(given.videos, Path(folder) / "set")
        measured = measure([Path(folder) / "set"])
    columns = ["bytes", "PSNR of RGB in dB", "SSIMULACRA2", "fewer bytes at equal PSNR, %", "fewer bytes at equal SSIMULACRA2, %"]
    table = list(rows(measured))
    print(f"{measured['frames']} frames\n| | {' | '.join(columns)} |\n|{'---|' * (1 + len(columns))}")
    for name, (length, *others) in table:
        print(f"| {name} | {length:,} | {' | '.join(map(str, others))} |")
    if given.json:
        data = (f"the middle one of three frames of each of {measured['frames']} clips, short side 256, 4:2:0; against the same planes, as libjpeg-turbo decodes "
                "and turns both into RGB; means of all frames")
        write(given.json, "Bytes of a frame against quality", columns, [{"name": name, "values": values} for name, values in table], data=data,
              command=called("VIDEOS..."), unit="bytes", units=["bytes", "dB", "points", "%", "%"], better="less")


if __name__ == "__main__":
    main()
