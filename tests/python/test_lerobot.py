"""Data sets of LeRobot, versions 2 and 3, in files that are made here. What LeRobot itself writes is in tests/interop."""
import io
import json
import subprocess

import numpy as np
import pytest
from PIL import Image

import vidrec
from vidrec.convert import from_lerobot, lerobot_manifest

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError:  # Only the tests of the level `full` have it, and this module is imported for each level.
    pa = pq = None

pytestmark = [pytest.mark.full, pytest.mark.usefixtures("pyarrow")]

LENGTHS, CAMERAS, FPS = [7, 1, 30, 12], ["front", "wrist"], 30
FIRST = [sum(LENGTHS[:episode]) for episode in range(4)]
TASKS = [["pick"], ["place"], ["pick", "sew ü"], ["place"]]
KEYS = [f"observation.images.{camera}" for camera in CAMERAS]


@pytest.fixture(scope="module")
def pyarrow():
    return pytest.importorskip("pyarrow")


def picture(number):
    """A picture that shows a number: a bar for each of its bits."""
    bits = (number >> np.arange(8)) & 1
    return np.broadcast_to(np.repeat(30 + bits * 190, 8)[None, :, None], (48, 64, 3)).astype(np.uint8)


def shown(frame):
    return int(((frame[24].reshape(8, 8, 3).mean((1, 2)) > 127) << np.arange(8)).sum())


def png(array):
    file = io.BytesIO()
    Image.fromarray(array).save(file, "PNG")
    return {"bytes": file.getvalue(), "path": None}


def values(episode):
    """The features of an episode, and the numbers in which a track has them."""
    n, first = LENGTHS[episode], FIRST[episode]
    return {
        "action": (["float32", [7]], np.arange(7 * n, dtype=np.float32).reshape(n, 7) / 8 - episode),
        "done": (["bool", [1]], np.arange(n) == n - 1),
        "note": (["string", [1]], [f"é{episode} {t}" for t in range(n)]),
        "table": (["int64", [2, 3]], np.arange(6 * n).reshape(n, 2, 3) * 1_000_000_007 - episode),
        "reward": (["float64", [1]], np.where(np.arange(n) % 3, np.arange(n) / 3, np.nan)),
        "small": (["int8", [1]], np.arange(n).astype(np.int8) - 3),
        "said": (["language", [1]], [[{"role": "user", "at": t / 2}] if t % 2 else [] for t in range(n)]),
        "touch": (["image", [3, 5, 1]], [(np.arange(15).reshape(3, 5) * 7 + first + t).astype(np.uint16) for t in range(n)]),
    }


def column(name, found):
    if name == "touch":
        return pa.array([png(array) for array in found])
    if name == "said":
        return pa.array(found, pa.list_(pa.struct([("role", pa.string()), ("at", pa.float64())])))
    return pa.array(found.tolist() if name in ("table", "action") else found)


def video(path, numbers, gray=False):
    path.parent.mkdir(parents=True, exist_ok=True)
    pictures = [np.full((48, 64), 100 * n, np.uint16) if gray else picture(n) for n in numbers]
    codec = ["-c:v", "ffv1", "-f", "matroska"] if gray else ["-c:v", "libx264", "-bf", "2", "-g", "12", "-pix_fmt", "yuv420p"]
    given = ["-f", "rawvideo", "-pix_fmt", "gray16le" if gray else "rgb24", "-s", "64x48", "-r", str(FPS), "-i", "-"]
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-y", *given, *codec, path], input=b"".join(p.tobytes() for p in pictures), check=True)


def write(path, version=3, images=False, deep=False):
    """A data set: in videos or pictures, and with depth in videos if wanted. The files of the wrist end at other episodes."""
    features = {key: {"dtype": "image" if images else "video", "shape": [48, 64, 3]} for key in KEYS}
    features.update({name: {"dtype": dtype, "shape": shape} for name, ((dtype, shape), _) in values(0).items()})
    features["touch"]["info"] = {"is_depth_map": True, "depth_unit": "mm"}
    features.update({"deep": {"dtype": "video", "shape": [48, 64, 1], "info": {"is_depth_map": True, "video.depth_max": 5.0}}} if deep else {})
    features.update({name: {"dtype": "int64", "shape": [1]} for name in ("frame_index", "episode_index", "task_index")})
    fields = ("episode_chunk", "episode_index") if version == 2 else ("chunk_index", "file_index")
    place = "chunk-{%s:03d}/file-{%s:03d}" % fields
    info = {"codebase_version": f"v{version}.1", "fps": FPS, "total_episodes": 4, "chunks_size": 1000, "splits": {"train": "0:3", "test": "3:4"}}
    info.update(data_path=f"data/{place}.parquet", video_path=f"videos/{{video_key}}/{place}.mp4", features=features)
    (path / "meta").mkdir(parents=True)
    (path / "meta/info.json").write_text(json.dumps(info))
    numbers, rows = {task: n for n, task in enumerate(["place", "pick", "sew ü"])}, []
    for e, n in enumerate(LENGTHS):
        tasks = [numbers[TASKS[e][0] if t < 20 else TASKS[e][-1]] for t in range(n)]
        table = {"episode_index": [e] * n, "frame_index": list(range(n)), "task_index": tasks}
        table.update({name: column(name, found) for name, (_, found) in values(e).items()})
        if images:
            table.update({key: [png(picture((FIRST[e] + t) ^ 255 * c)) for t in range(n)] for c, key in enumerate(KEYS)})
        rows.append(pa.table(table))
    of_cameras = {} if images else {key: [[(FIRST[e] + t) ^ 255 * c for t in range(n)] for e, n in enumerate(LENGTHS)] for c, key in enumerate(KEYS)}
    of_cameras.update({"deep": [[FIRST[e] + t for t in range(n)] for e, n in enumerate(LENGTHS)]} if deep else {})
    listed = {"episode_index": list(range(4)), "tasks": TASKS, "length": LENGTHS, "data/chunk_index": [0] * 4, "data/file_index": [0] * 4}
    tables = {"data/chunk-000/file-000": pa.concat_tables(rows)}
    for key, of_episodes in of_cameras.items():
        parts = [[e] for e in range(4)] if version == 2 else [[0, 1], [2, 3]] if key == KEYS[1] else [[0, 1, 2, 3]]
        for file, part in enumerate(parts):
            video(path / f"videos/{key}/chunk-000/file-{file:03}.mp4", [n for e in part for n in of_episodes[e]], key == "deep")
        places = [next((file, FIRST[e] - FIRST[part[0]]) for file, part in enumerate(parts) if e in part) for e in range(4)]
        listed.update({f"videos/{key}/chunk_index": [0] * 4, f"videos/{key}/file_index": [file for file, _ in places]})
        listed[f"videos/{key}/from_timestamp"] = [round(start / FPS, 5) for _, start in places]
    if version == 2:
        lines = [{"episode_index": e, "tasks": TASKS[e], "length": n} for e, n in enumerate(LENGTHS)]
        (path / "meta/episodes.jsonl").write_text("\n".join(map(json.dumps, lines)))
        (path / "meta/tasks.jsonl").write_text("\n".join(json.dumps({"task": task, "task_index": n}) for task, n in numbers.items()))
        tables = {f"data/chunk-000/file-{e:03}": table for e, table in enumerate(rows)}
    else:
        tables.update({"meta/episodes/chunk-000/file-000": pa.table(listed), "meta/tasks": pa.table({"task": list(numbers), "task_index": [0, 1, 2]})})
    for name, table in tables.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, path / f"{name}.parquet")
    return path


@pytest.mark.parametrize("how", [{}, {"version": 2}, {"images": True}, {"deep": True}, {"version": 2, "deep": True}])
def test_each_episode_is_a_clip_of_each_camera(how, tmp_path):
    report = from_lerobot(write(tmp_path / "robot", **how), tmp_path / "set", frames="all", size="original", first_episode=10)
    assert (report.clips, report.failed) == (8, 0) and sorted(path.name for path in tmp_path.iterdir()) == ["robot", "set"]
    for i, clip in enumerate(vidrec.open(tmp_path / "set")):
        (e, c), about = divmod(i, 2), clip.attributes
        assert [shown(frame) for frame in clip.frames()] == [(FIRST[e] + t) ^ 255 * c for t in range(LENGTHS[e])]
        assert (about["episode"], about["camera"], about["split"]) == (10 + e, CAMERAS[c], "test" if e == 3 else "train")
        assert np.allclose(clip.pts_seconds, np.arange(LENGTHS[e]) / FPS, atol=1e-4) and about["depth"]["touch"] == {"unit": "mm"}
        assert about.get("task") == (None if e == 2 else TASKS[e][0]) and ("tasks" in about) == (e == 2)
        assert e != 2 or (about["tasks"] == {"1": "pick", "2": "sew ü"} and clip.track("task_index").values.tolist() == [1] * 20 + [2] * 10)
        for name, (_, expected) in values(e).items():
            found = clip.track(name).values
            if name == "said":
                assert [json.loads(text) for text in found] == expected
            else:
                assert found == expected if name == "note" else np.array_equal(found, expected, equal_nan=name == "reward"), name
        if how.get("deep"):
            assert clip.track("deep").values[:, 5, 5].tolist() == [100 * (FIRST[e] + t) for t in range(LENGTHS[e])]
            assert about["depth"]["deep"] == {"depth_min": 0.01, "depth_max": 5.0, "shift": 3.5, "use_log": True}


def test_some_episodes_and_frames(tmp_path):
    write(tmp_path / "robot")
    from_lerobot(tmp_path / "robot", tmp_path / "set", episodes=[3, 0], frames=3, size=32, scratch=tmp_path / "scratch")
    ds = vidrec.open(tmp_path / "set")
    assert [(clip.attributes["episode"], len(clip), len(clip.track("action"))) for clip in ds] == [(3, 3, 12)] * 2 + [(0, 3, 7)] * 2
    with pytest.raises(vidrec.UsageError, match="there is no episode 4"):
        from_lerobot(tmp_path / "robot", tmp_path / "none", episodes=[4])
    assert not (tmp_path / "none").exists() and not list((tmp_path / "scratch").iterdir())
    with pytest.raises(vidrec.UsageError, match="from_lerobot"):
        vidrec.pack(tmp_path / "robot", tmp_path / "none")


def test_an_interrupted_pack_is_resumed_and_parts_give_the_same(tmp_path):
    path, how = write(tmp_path / "robot", images=True), {"frames": "all", "size": 32, "shards": 4}

    def interrupt(done, total):
        if done >= 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        from_lerobot(path, tmp_path / "set", threads=1, progress=interrupt, **how)
    assert (tmp_path / ".set.lerobot").is_dir()
    report = from_lerobot(path, tmp_path / "set", if_exists="resume", **how)
    assert report.clips == 8 and not (tmp_path / ".set.lerobot").exists()
    given = lerobot_manifest(path, tmp_path / "work")
    plan = vidrec.plan(given.pop("inputs"), tmp_path / "plan", **given, **how)
    for part in range(plan.parts):
        vidrec.pack_part(tmp_path / "plan", part)
    vidrec.publish(tmp_path / "plan")
    one, other = (vidrec.open(tmp_path / name) for name in ("set", "plan"))
    assert [clip.jpeg(0) for clip in one] == [clip.jpeg(0) for clip in other]


def test_what_is_wrong_is_named(tmp_path):
    path = write(tmp_path / "robot")
    info, whole = path / "meta/info.json", (path / "meta/info.json").read_text()
    for change, words in [
        ({"codebase_version": "v1.6"}, "version 2 or 3"),
        ({"total_episodes": 5}, "expected episodes 0 to 4"),
        ({"features": {"action": {"dtype": "float32", "shape": [7]}}}, "no cameras"),
    ]:
        info.write_text(json.dumps({**json.loads(whole), **change}))
        with pytest.raises(vidrec.Error, match=words):
            from_lerobot(path, tmp_path / "set")
    for pattern in ["../{file_index}", "/etc/{chunk_index}", "{0.__class__}/a"]:
        info.write_text(json.dumps({**json.loads(whole), "video_path": pattern}))
        report = from_lerobot(path, tmp_path / "set", if_exists="replace")
        assert report.clips == 0 and "episode 0, observation.images.front" in report.failures[0].error, pattern
    info.write_text(whole)
    table = pq.read_table(path / "data/chunk-000/file-000.parquet")
    pq.write_table(table.slice(1), path / "data/chunk-000/file-000.parquet")
    report = from_lerobot(path, tmp_path / "set", frames="all", if_exists="replace")
    assert (report.clips, report.failed) == (6, 2) and "expected 7 rows in order" in report.failures[0].error
    features = {**json.loads(whole)["features"], "odd": {"dtype": "complex64", "shape": [1]}}
    info.write_text(json.dumps({**json.loads(whole), "features": features}))
    with pytest.warns(vidrec.PackWarning, match="'odd' of type 'complex64' is not packed"):
        from_lerobot(path, tmp_path / "set", episodes=[1], if_exists="replace")
