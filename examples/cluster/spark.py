#!/usr/bin/env python3
"""Packs the parts of a plan as the tasks of a Spark job, then publishes.

    vidrec plan /shared/videos -o /shared/train
    spark-submit --conf spark.task.cpus=4 examples/cluster/spark.py /shared/train

All nodes need vidrec and see the plan and the videos under the same paths. Spark tries a task that fails four times
(spark.task.maxFailures). Call it again after a failure: parts that are done stay done.
"""
import json
import subprocess
import sys
from typing import Any, Dict, Iterable, Iterator, Tuple

from pyspark.sql import SparkSession

# Exit statuses of vidrec: done; done, and videos were skipped, or parts are not done yet.
FINE = (0, 3)


def vidrec(*arguments: str) -> Dict[str, Any]:
    """Runs the program; what it reports."""
    done = subprocess.run(["vidrec", *arguments, "--json"], capture_output=True, text=True)
    if done.returncode not in FINE:
        raise RuntimeError(f"vidrec {' '.join(arguments)}: {done.stderr}")
    told: Dict[str, Any] = json.loads(done.stdout)
    return told


def main() -> None:
    plan = sys.argv[1]
    spark = SparkSession.builder.appName(f"vidrec {plan}").getOrCreate()
    threads = spark.conf.get("spark.task.cpus", "1")

    def pack(parts: Iterable[int]) -> Iterator[Tuple[int, int, int]]:
        for part in parts:
            report = vidrec("pack", plan, "--part", str(part), "--threads", threads)
            yield part, report["clips"], report["failed"]

    todo = vidrec("status", plan)["missing"]
    if todo:
        packed = spark.sparkContext.parallelize(todo, len(todo)).mapPartitions(pack).collect()
        print(f"packed {len(packed)} parts: {sum(clips for _, clips, _ in packed)} clips")
    report = vidrec("publish", plan)
    print(f"published {report['clips']} clips; {report['failed']} videos were skipped")
    spark.stop()


if __name__ == "__main__":
    main()
