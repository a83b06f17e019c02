#!/usr/bin/env python3
"""Batches made by a GPU: frames a second, training steps, tests and checks of memory accesses; a file of results.

    pip install 'vidrec[gpu]' torchvision pytest                 the others where you want them measured
    python benches/gpu/run.py                                    clips that FFmpeg makes
    python benches/gpu/run.py --data FOLDER                      a data set, or videos to pack
    python benches/gpu/run.py --device cpu --quick               a try without a GPU; its figures mean nothing

Contestants run in turn (A B C, A B C); a figure is the median of its rounds, with the least and the most. A contestant that
is not installed, or that fails, has no figure, and the file says why.
"""
import argparse
import datetime
import json
import shlex
import sys
import tempfile
from pathlib import Path
from statistics import median

import checks
import data
import decoders
import step
import torch
from machine import machine
from speed import speed
from workloads import workloads


def main():
    a = arguments()
    device = torch.device(a.device)
    if device.type == "cuda" and not torch.cuda.is_available():
        sys.exit("torch finds no GPU; a try without one: --device cpu --quick")
    with tempfile.TemporaryDirectory() as home:
        dataset, words = data.data_set(a.data, Path(home), a.quick)
        jobs = workloads(*((2, 32) if a.quick else (16, 224)))
        rates, processor, failed = batches(a, dataset, jobs, device)
        steps = step.steps(dataset, jobs["W1"], device, a.rounds, 2 if a.quick else 30)
        told = machine(device)
        common = {
            "processor": told["processor"],
            "cores": told["cores"],
            "date": datetime.date.today().isoformat(),
            "command": shlex.join(["benches/gpu/run.py", *sys.argv[1:]]),
            "data": f"{words}; {told.get('gpu', 'no GPU')}",
        }
        results = {
            "batches": table(common, "Batches on a device", "frames/s", "more", list(jobs), rates),
            "processor": table(common, "Processor time", "microseconds of a processor a frame", "less", list(jobs), processor),
            "steps": table(common, "Training R3D-18", "steps/s", "more", ["W1"], {n: {"W1": v} for n, v in steps.items()}),
        }
        whole = median(steps["one batch again and again"])
        report = {
            "machine": told,
            "results": results,
            "failed": failed,
            "steps_of_the_possible": {name: median(values) / whole for name, values in steps.items()},
        }
        # What was measured is there even if a check takes too long.
        save(report, a.out)
        report["tests"] = checks.tests(device, a.quick)
        save(report, a.out)
        report["sanitizer"] = checks.sanitizer(dataset, device)
        save(report, a.out)
    show(report)
    print(f"all of it is in {a.out}")
    return int(not report["tests"]["passed"])


def save(report, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(report, indent=1) + "\n")


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--data", type=Path, help="a data set, or a folder of videos to pack")
    p.add_argument("--device", default="cuda")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--seconds", type=float, default=4, help="length of a run, after a second of warming up")
    p.add_argument("--quick", action="store_true", help="tiny pictures and short runs, to see whether everything works")
    p.add_argument("--out", type=Path, default=Path("target/gpu.json"), help="default: %(default)s")
    a = p.parse_args()
    if a.quick:
        a.rounds, a.seconds = 2, 0.05
    return a


def batches(a, dataset, jobs, device):
    """Frames a second and processor time of each contestant and job, one value a round; and why some have none."""
    rates, processor, failed = {}, {}, {}
    for job, options in jobs.items():
        frames = options["batch_size"] * options["frames"]
        for _ in range(a.rounds):
            for name, contestant in decoders.CONTESTANTS.items():
                if (name, job) in failed:
                    continue
                try:
                    rate, cost = speed(iter(contestant(dataset, options, device)), frames, device, a.seconds)
                except Exception as e:
                    failed[name, job] = f"{type(e).__name__}: {e}"
                    continue
                rates.setdefault(name, {}).setdefault(job, []).append(rate)
                processor.setdefault(name, {}).setdefault(job, []).append(cost)
    return rates, processor, [{"name": name, "job": job, "why": why} for (name, job), why in failed.items()]


def table(common, title, unit, better, columns, found):
    """Results as files in benches/results have them: the median, the least and the most."""
    def values(of_name):
        return [spread(of_name[column]) if column in of_name else None for column in columns]

    rows = [{"name": name, "values": values(of_name)} for name, of_name in found.items()]
    return {"title": title, **common, "unit": unit, "better": better, "columns": columns, "rows": rows}


def spread(values):
    return [round(value, 1) for value in (median(values), min(values), max(values))]


def show(report):
    for each in report["results"].values():
        print(f"\n{each['title']}, {each['unit']}: {', '.join(each['columns'])}")
        for row in each["rows"]:
            print(f"  {row['name']}: " + ", ".join(f"{v[0]:,}" if v else "none" for v in row["values"]))
    for each in report["failed"]:
        print(f"no {each['job']} by {each['name']}: {each['why']}")
    print(f"tests: {report['tests']['told']}\nsanitizer: {report['sanitizer']}")


if __name__ == "__main__":
    sys.exit(main())
