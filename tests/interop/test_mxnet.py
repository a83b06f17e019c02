"""MXNet: its readers on what vidrec writes, vidrec on what its writers write."""
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

np.bool = bool  # MXNet 1.9 says it in the old way
import mxnet as mx  # noqa: E402
from conftest import FRAMES, HEIGHT, MAGIC, ROOT, WIDTH, clips, jpeg, pictures, rgb, run, with_magic  # noqa: E402

IM2REC = Path(mx.__file__).parent / "tools/im2rec.py"


@pytest.fixture(scope="module")
def exported(packed, tmp_path_factory):
    out = tmp_path_factory.mktemp("mxnet") / "out"
    run("export", "mxnet", packed, "-o", out)
    return out


def image_record_iter(rec, idx, clips_per_batch, **options):
    """Batches of `clips_per_batch` whole clips: (frames, C, H, W) and labels."""
    batches = mx.io.ImageRecordIter(path_imgrec=str(rec), path_imgidx=str(idx), data_shape=(3, HEIGHT, WIDTH),
                                    batch_size=clips_per_batch * FRAMES, preprocess_threads=2, verbose=False, **options)
    return [(b.data[0].asnumpy(), b.label[0].asnumpy(), b.pad) for b in batches]


def test_indexed_record_io_reads_every_frame_label_and_id(packed, exported):
    records = mx.recordio.MXIndexedRecordIO(str(exported / "shard-00000.idx"), str(exported / "shard-00000.rec"), "r")
    expected = pictures(packed)
    assert records.keys == list(range(len(expected)))
    for key in reversed(records.keys):
        header, image = mx.recordio.unpack(records.read_idx(key))
        assert (image, header.label, header.id) == (expected[key][0], expected[key][1], key)


def test_image_record_iter_reshaped_is_our_batch(packed, exported, tmp_path):
    run(packed, 2, tmp_path / "batches", program="batches")
    ours = np.fromfile(tmp_path / "batches", np.uint8).reshape(-1, 2, FRAMES, 3, HEIGHT, WIDTH)
    theirs = image_record_iter(exported / "shard-00000.rec", exported / "shard-00000.idx", 2)
    assert len(theirs) == len(ours) == 3
    labels = [label for _, label in pictures(packed)]
    for k, (data, label, pad) in enumerate(theirs):
        assert (pad, list(label)) == (0, labels[k * 2 * FRAMES:][:2 * FRAMES])
        difference = np.abs(data.reshape(ours[k].shape) - ours[k])
        # Another build of libjpeg, with another inverse DCT.
        assert difference.max() <= 4 and difference.mean() < 0.5, (difference.max(), difference.mean())


def test_several_record_files_with_one_index(shards, tmp_path):
    run("export", "mxnet", shards, "-o", tmp_path / "out")
    files = sorted((tmp_path / "out").glob("*.rec"))
    batches = image_record_iter(";".join(map(str, files)), tmp_path / "out/all.idx", 3)
    expected = pictures(shards)
    assert len(files) == 2 and len(batches) * 3 * FRAMES == len(expected)
    for k, (data, labels, _) in enumerate(batches):
        for image, label, (picture, right) in zip(data, labels, expected[k * 3 * FRAMES:]):
            assert label == right
            assert np.abs(image.transpose(1, 2, 0) - rgb(picture)).max() <= 4


def test_the_list_relabels(packed, exported, tmp_path):
    lines = [line.split("\t") for line in (exported / "shard-00000.lst").read_text().splitlines()]
    assert [path for _, _, path in lines][:2] == ["jump/d.mkv/000.jpg", "jump/d.mkv/001.jpg"]
    assert [float(label) for _, label, _ in lines] == [label for _, label in pictures(packed)]
    (tmp_path / "new.lst").write_text("".join(f"{id}\t{float(label) + 7}\t{path}\n" for id, label, path in lines))
    batches = image_record_iter(exported / "shard-00000.rec", exported / "shard-00000.idx", 6,
                                path_imglist=str(tmp_path / "new.lst"))
    assert list(batches[0][1]) == [label + 7 for _, label in pictures(packed)]


def write(path, records, index=True):
    """Records of (header, picture), by MXNet's own writer. Keys are ids."""
    record = mx.recordio.MXIndexedRecordIO(str(path.with_suffix(".idx")), str(path), "w")
    for header, picture in records:
        record.write_idx(header.id, mx.recordio.pack(header, picture))
    record.close()
    if not index:
        path.with_suffix(".idx").unlink()


def header(label, id):
    return mx.recordio.IRHeader(0, label, id, 0)


def video_records(videos, frames=FRAMES, but=()):
    """As mxnet-videoio's video2rec.py writes them, without the records whose pictures it could not read."""
    ids = (v * frames + t for v in range(videos) for t in range(frames))
    return [(header(float(id // frames % 2), id), jpeg(id)) for id in ids if id not in but]


def test_records_in_parts_come_in_and_go_out(tmp_path):
    """The magic on the grid: MXNet splits the records, and an import reads them right."""
    plain = [jpeg(seed, subsampling="4:2:0") for seed in range(8)]
    forged = [with_magic(picture) for picture in plain]
    write(tmp_path / "a.rec", [(header(1.0, i), picture) for i, picture in enumerate(forged)])
    assert (tmp_path / "a.rec").read_bytes().count(MAGIC) > 8, "records are in parts"
    # Written anew, fill bytes keep the magic off the grid, and records in one part.
    run("import", "mxnet", tmp_path / "a.rec", "-n", FRAMES, "-o", tmp_path / "anew")
    record = next((tmp_path / "anew").glob("*.rec")).read_bytes()
    assert sum(record[at:at + 4] == MAGIC for at in range(0, len(record), 4)) == 8
    assert all(np.array_equal(rgb(new), rgb(old)) for (new, _), old in zip(pictures(tmp_path / "anew"), plain))


def im2rec(folder, *options):
    environment = {**os.environ, "PYTHONPATH": str(Path(mx.__file__).parents[1])}
    program = f"import numpy; numpy.bool = bool; import sys, runpy; sys.argv = sys.argv[1:]; runpy.run_path({str(IM2REC)!r}, run_name='__main__')"
    command = [sys.executable, "-c", program, str(IM2REC), str(folder / "set"), str(folder / "images"), *options]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, stdin=subprocess.DEVNULL)
    assert (folder / "set.rec").stat().st_size > 0, done.stdout + done.stderr


def image_list(folder, labels, **options):
    """Images and the list of them, in an order that is not that of the ids."""
    (folder / "images").mkdir()
    ending = options.get("form", "JPEG").lower().replace("jpeg", "jpg")
    lines = []
    for id, label in enumerate(labels):
        (folder / f"images/{id}.{ending}").write_bytes(jpeg(id, **options))
        lines.append("\t".join([str(id), *map(str, label), f"{id}.{ending}"]))
    lines = lines[::2] + lines[1::2]
    (folder / "set.lst").write_text("\n".join(lines) + "\n")
    return [int(line.split("\t")[0]) for line in lines]


def test_im2rec_with_one_label(tmp_path):
    order = image_list(tmp_path, [(n % 3,) for n in range(7)])
    im2rec(tmp_path, "--pass-through")
    run("import", "mxnet", tmp_path / "set.rec", "-o", tmp_path / "out")
    expected = [(f"{id}.jpg", id % 3, "", {}, [jpeg(id)]) for id in order]
    assert clips(tmp_path / "out") == expected


def test_im2rec_with_several_labels(tmp_path):
    labels = [(3, 1), (0, 2), (5, 5), (0.5, 1)]
    order = image_list(tmp_path, labels)
    im2rec(tmp_path, "--pass-through", "--pack-label")
    run("import", "mxnet", tmp_path / "set.rec", "-o", tmp_path / "out")
    key = {id: "label_values" if id == 3 else "labels" for id in order}
    expected = [(None, {key[id]: list(labels[id])}, [jpeg(id)]) for id in order]
    assert [(label, attributes, jpegs) for _, label, _, attributes, jpegs in clips(tmp_path / "out")] == expected


def test_im2rec_with_png(tmp_path):
    image_list(tmp_path, [(n,) for n in range(4)], form="PNG")
    im2rec(tmp_path, "--encoding", ".png", "--quality", "3")
    assert "not a JPEG" in run("import", "mxnet", tmp_path / "set.rec", "-o", tmp_path / "out", status=1)
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").glob("*.rec"))


@pytest.mark.parametrize("gone", [0, 9, 19])
def test_a_shifted_file_is_found(tmp_path, gone):
    """The silent failure of mxnet-videoio: one frame that could not be read shifts all clips behind it."""
    write(tmp_path / "v.rec", video_records(5, but={gone}))
    video = gone // FRAMES
    told = run("import", "mxnet", tmp_path / "v.rec", "-n", FRAMES, "-o", tmp_path / "out", status=1)
    assert "not a complete clip, according to their ids" in told and f"records {video * FRAMES} to " in told
    run("import", "mxnet", tmp_path / "v.rec", "-n", FRAMES, "-o", tmp_path / "out", "--salvage", status=3)
    kept = [v for v in range(5) if v != video]
    assert [(label, jpegs) for _, label, _, _, jpegs in clips(tmp_path / "out")] == [
        (v % 2, [jpeg(v * FRAMES + t) for t in range(FRAMES)]) for v in kept]


def cut_index(rec):
    index = rec.with_suffix(".idx")
    index.write_text(index.read_text()[:-20])


def torn_record(rec):
    rec.with_suffix(".idx").unlink()
    rec.write_bytes(rec.read_bytes()[:-100])


def zeros_in_the_middle(rec):
    at = int(rec.with_suffix(".idx").read_text().split()[2 * 5 + 1])
    rec.with_suffix(".idx").unlink()
    whole = rec.read_bytes()
    rec.write_bytes(whole[:at] + b"\0" * 64 + whole[at + 64:])


@pytest.mark.parametrize("damage, words, left", [
    (cut_index, "v.idx", [0, 1, 2, 3]),
    (torn_record, "the file is truncated or damaged", [0, 1, 2]),
    (zeros_in_the_middle, "the file is truncated or damaged", [0, 2, 3]),
])
def test_damage_is_said_and_the_rest_salvaged(tmp_path, damage, words, left):
    rec, out = tmp_path / "v.rec", tmp_path / "out"
    write(rec, video_records(4))
    damage(rec)
    assert words in run("import", "mxnet", rec, "-n", FRAMES, "-o", out, status=1)
    run("import", "mxnet", rec, "-n", FRAMES, "-o", out, "--salvage", status=3)
    assert "intact" in run("verify", "--deep", out)
    assert [jpegs for *_, jpegs in clips(out)] == [[jpeg(v * FRAMES + t) for t in range(FRAMES)] for v in left]


def test_vectors_in_parts_are_read_by_mxnet():
    path = ROOT / "format-spec/vectors/good/multi-part.rec"
    records = mx.recordio.MXRecordIO(str(path), "r")
    expected = [picture for picture, _ in pictures(path)]
    assert [mx.recordio.unpack(records.read())[1] for _ in expected] == expected
    assert records.read() is None
