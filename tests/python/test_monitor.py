"""What a loader tells another process."""
import gc
import json
import os
import subprocess
import sys
import threading

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


def test_a_path_that_cannot_be_is_an_error_at_once(ds, tmp_path):
    with pytest.raises(OSError):
        vidrec.Loader(ds, 4, crop=32).monitor(tmp_path / "no" / "folder")
