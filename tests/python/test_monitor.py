"""What a loader tells another process."""
import dataclasses
import gc
import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import vidrec


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_file_gets_lines_until_the_loader_is_gone(ds, tmp_path):
    loader = vidrec.Loader(ds, 4, crop=32, output="numpy")
    with loader.monitor(tmp_path / "log", every=0.01):
        for _ in range(5):
            list(loader)
    told = lines(tmp_path / "log")
    assert told[-1]["batches"] == 15 and told[-1]["frames"] == 480 and told[-1]["epoch"] == 5
    assert all(a["time"] <= b["time"] and a["batches"] <= b["batches"] for a, b in zip(told, told[1:]))
    assert [line.get("ended", False) for line in told] == [False] * (len(told) - 1) + [True]
    assert all(0 <= line[share] <= 1 for line in told for share in ("waiting", "loader_waiting"))
    assert all(line["frames_per_second"] >= 0 for line in told)

    thread = loader.monitor(tmp_path / "other", every=0.01)._thread
    del loader
    gc.collect()
    thread.join(60)
    assert not thread.is_alive()
    assert lines(tmp_path / "other")[-1]["ended"] is True


def test_a_program_that_ends_says_so(train, tmp_path):
    program = f"import vidrec; loader = vidrec.Loader({str(train)!r}, 4, crop=32, output='numpy'); loader.monitor({str(tmp_path / 'log')!r}, every=60)"
    subprocess.run([sys.executable, "-c", program], check=True)
    told = lines(tmp_path / "log")
    assert len(told) == 1 and told[0]["ended"] is True and told[0]["batches"] == 0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_nobody_waits_for_a_pipe(ds, tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    loader = vidrec.Loader(ds, 4, crop=32, output="numpy")
    with loader.monitor(fifo, every=0.001) as monitor:
        assert len(list(loader)) == 3, "nobody reads"
        reader = os.open(fifo, os.O_RDONLY)
        # Whoever has it open but does not read fills it: 64 KiB on Linux.
        waited = threading.Event()
        for _ in range(600):
            waited.wait(0.001)
        assert len(list(loader)) == 3, "full"
        told = os.read(reader, 1 << 16).decode().splitlines()
        assert json.loads(told[0])["prefetch"] == 4
        os.close(reader)
        assert len(list(loader)) == 3, "nobody reads any more"
    assert not monitor._thread.is_alive()


def test_a_folder_has_a_file_for_each_rank(train, tmp_path):
    for rank in range(3):
        loader = vidrec.Loader(train, 2, crop=32, output="numpy", rank=(rank, 3))
        with loader.monitor(tmp_path, every=60):
            assert list(loader)
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"rank-{rank:05}.jsonl" for rank in range(3)]
    assert [lines(tmp_path / f"rank-{rank:05}.jsonl")[-1]["rank"] for rank in range(3)] == [0, 1, 2]


def test_a_file_for_prometheus_is_whole_whenever_it_is_read(ds, tmp_path):
    parser = pytest.importorskip("prometheus_client.parser")
    path = tmp_path / 'a "b\\ \n.prom'
    loader = vidrec.Loader(ds, 4, crop=32, output="numpy", shuffle=True)

    def scrape():
        return {family.name: family for family in parser.text_string_to_metric_families(path.read_text())}

    with loader.monitor(path, every=0.001):
        for _ in range(5):
            list(loader)
            assert scrape()["vidrec_loader_running"].samples[0].value == 1
    found = scrape()
    assert found["vidrec_loader_running"].samples[0].value == 0
    (batches,) = found["vidrec_loader_batches"].samples
    assert batches.labels == {"loader": 'a "b\\ \n', "rank": "0"} and batches.value == 15
    kinds = {name: family.type for name, family in found.items()}
    assert kinds["vidrec_loader_batches"] == "counter" and kinds["vidrec_loader_ready"] == "gauge"
    assert {"vidrec_loader_consumer_wait_seconds", "vidrec_loader_epoch"} <= kinds.keys()
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_all_counters_of_a_loader_are_known(ds):
    from vidrec import _prometheus
    from vidrec.results import LoaderStats, RemoteStats

    names = {field.name for field in dataclasses.fields(LoaderStats)}
    names |= {f"remote_{field.name}" for field in dataclasses.fields(RemoteStats)} | {"source_samples"}
    assert _prometheus.COUNTERS <= names


def test_the_dashboard_shows_metrics_that_exist():
    from vidrec import _prometheus

    dashboard = (Path(__file__).parents[2] / "examples/grafana.json").read_text()
    shown = set(re.findall(r"vidrec_loader_(\w+)", dashboard))
    gauges = {"ready", "running"}
    assert gauges < shown <= gauges | {f"{name}_total" for name in _prometheus.COUNTERS}


def test_a_mix_has_metrics_of_each_source(ds):
    from vidrec import _prometheus

    told = {"rank": 3, "epoch": 1, "sources": {"a": {"samples": 5, "epochs": 0.5}, "b": {"samples": 7, "epochs": 1.5}}}
    text = _prometheus.text(told, rank="3")
    assert 'vidrec_loader_source_samples_total{rank="3",source="b"} 7' in text
    assert text.count("# TYPE vidrec_loader_source_epochs gauge") == 1


def test_a_path_that_cannot_be_is_an_error_at_once(ds, tmp_path):
    with pytest.raises(OSError):
        vidrec.Loader(ds, 4, crop=32).monitor(tmp_path / "no" / "folder")
