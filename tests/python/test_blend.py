"""A blend for a video-language model: long videos with sound, short clips, pictures and texts, in their own sizes, as patches in
packed sequences, by budget, on any ranks."""
import json
import subprocess
import sys

import numpy as np
import pytest
from conftest import make_videos

import vidrec

torch = pytest.importorskip("torch")
vlm = pytest.importorskip("vidrec.vlm")
SECOND = 8000


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    """A data set of each kind."""
    root = tmp_path_factory.mktemp("blend")
    for i in range(3):
        sound = ["-f", "lavfi", "-i", f"sine=frequency={300 + 100 * i}:sample_rate={SECOND}:duration={8 + i}", "-c:a", "pcm_s16le"]
        command = ["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", f"testsrc2=size={160 + 32 * (i % 2)}x120:rate=8:duration={8 + i}"]
        (root / "long-in/things").mkdir(parents=True, exist_ok=True)
        subprocess.run([*command, *sound, "-preset", "ultrafast", root / f"long-in/things/{i}.mkv"], check=True)
    short = {root / f"short-in/things/{i}.mp4": [f"testsrc=size=120x160:rate=8:duration={1 + i % 2}"] for i in range(5)}
    pictures = {root / f"pictures-in/things/{i}.png": [f"testsrc2=size={100 + 30 * (i % 3)}x{90}", "-frames:v", "1"] for i in range(8)}
    make_videos({**short, **pictures})
    vidrec.pack(root / "long-in", root / "long", frames="fps:2", size="original", audio=f"{SECOND}:opus")
    vidrec.pack(root / "short-in", root / "short", frames="all", size="original")
    vidrec.pack(root / "pictures-in", root / "pictures", images=True, size="original")
    (root / "texts.jsonl").write_text("".join(json.dumps({"text": f"the text {i}"}) + "\n" for i in range(7)))
    command = [sys.executable, "-m", "vidrec", "import", "texts", root / "texts.jsonl", "-o", root / "texts"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return {kind: root / kind for kind in ("long", "short", "pictures", "texts")}


def make(sets, **options):
    mix = vidrec.mix(
        {
            "long": vidrec.Source(sets["long"], 0.25, frames=vidrec.AllFrames(max=16)),
            "short": vidrec.Source(sets["short"], 0.25, frames=vidrec.Run(4, stride=2)),
            "pictures": vidrec.Source(sets["pictures"], 0.25, frames=1, flip=0.5),
            "texts": (sets["texts"], 0.25),
        },
        samples_per_epoch=48,
        window=8,
    )
    options = {
        "batching": vidrec.TokenBudget(1200, patch=(2, 28, 28), buckets=[2, 4, 16]),
        "crop": vidrec.SmartResize(28, min_pixels=4 * 28 * 28, max_pixels=30 * 28 * 28),
        "fields": ["text"],
        "tracks": {"audio": vidrec.track(steps=SECOND, missing="mask")},
        "dtype": "float32",
        "normalize": vidrec.CLIP,
        "seed": 3,
        **options,
    }
    return vidrec.Loader(mix, **options)


def samples(batches):
    """Each sample: what it is, and its patches."""
    found = []
    for batch in batches:
        patches = vlm.patchify(batch)
        assert len(patches.pixel_values_videos) == int(patches.cu_seqlens[-1]) <= 4 * 1200
        grids = iter(patches.video_grid_thw.tolist())
        assert len(patches.video_grid_thw) == len(patches.second_per_grid_ts) == len(batch) - batch.source_names.count("texts")
        for i, name in enumerate(batch.source_names):
            start, end = patches.cu_seqlens[i : i + 2].tolist()
            # A text has no row.
            grid = (0, 0, 0) if name == "texts" else tuple(next(grids))
            assert end - start == np.prod(grid) and (batch.fields["text"][i] is None) == (name != "texts")
            heard = batch.tracks["audio"][i][batch.track_masks["audio"][i]]
            facts = (name, int(batch.clips[i]), grid, batch.fields["text"][i] or "", batch.params[i].flip, heard.numpy().tobytes())
            found.append((*facts, patches.pixel_values_videos[start:end].numpy().tobytes()))
    return found


def test_one_loader_feeds_all_kinds(sets):
    found = samples(make(sets))
    names = [name for name, *_ in found]
    assert {name: names.count(name) for name in sets} == dict.fromkeys(sets, 12)
    first = next(clip for name, clip, *_ in sorted(found) if name == "texts")
    for name, clip, (time, rows, columns), text, flip, heard, pixels in found:
        if name == "texts":
            assert text == f"the text {clip - first}" and not pixels and not heard
            continue
        assert rows % 2 == 0 and columns % 2 == 0 and 16 <= rows * columns <= 120
        assert time == {"long": 8, "short": 2, "pictures": 1}[name]
        assert (len(heard) == 2 * SECOND) == (name == "long") and (len(heard) == 0) == (name != "long")
        assert not flip or name == "pictures"
    # The sound is a tone, and Opus left it in its place.
    tones = {clip: np.frombuffer(heard, np.int16) for name, clip, *_, heard, _ in found if name == "long"}
    peaks = {clip: int(np.abs(np.fft.rfft(tone)).argmax()) for clip, tone in tones.items()}
    assert sorted(peaks.values()) == [300, 400, 500]
    assert len({grid for _, _, grid, *_ in found}) >= 6, "sizes differ"


def test_ranks_share_it_and_others_go_on(sets):
    whole = samples(make(sets))
    ranks = [make(sets, rank=(rank, 2)) for rank in range(2)]
    begun = []
    for rank in ranks:
        batches = iter(rank)
        begun += samples([next(batches) for _ in range(3)])
    state = ranks[0].state_dict()
    assert state == ranks[1].state_dict()
    resumed = make(sets)
    resumed.load_state_dict(state)
    rest = samples(resumed)
    assert sorted(begun + rest) == sorted(whole)
