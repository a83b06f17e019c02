"""Everything goes with everything: each pair of features of a loader gives the samples that one rank gets clip by clip,
whatever the number of ranks and wherever a run is resumed. ``docs/reference/together.md`` says what does not."""
import atexit
import functools
import itertools
import re
import shutil
import tempfile
from pathlib import Path

import pytest

import vidrec

torch = pytest.importorskip("torch")
vlm = pytest.importorskip("vidrec.vlm")
from vidrec.torch import MapDataset  # noqa: E402

PAGE = Path(__file__).parents[2] / "docs/reference/together.md"


def mixed(ds):
    return vidrec.mix({"a": (ds[:8], 0.75), "b": (ds[8:], 0.25)}, samples_per_epoch=12, window=4)


def mixed_own(ds):
    own = vidrec.Source(ds[8:], 0.25, frames=vidrec.Run(2, at="center"), crop=vidrec.Cover((32, 24)), flip=0.0)
    return vidrec.mix({"a": (ds[:8], 0.75), "b": own}, samples_per_epoch=12, window=4)


def with_texts(ds):
    """A mix with clips without frames."""
    return vidrec.mix({"a": (ds, 0.75), "texts": (texts_path(), 0.25)}, samples_per_epoch=12, window=4)


@functools.lru_cache(None)
def texts_path():
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    with vidrec.Writer(folder / "texts") as writer:
        for i in range(5):
            writer.add([], fields={"text": str(i), "episode": f"text {i}"})
    return folder / "texts"


class Packed:
    """A batch whose samples are patches in one sequence."""

    def __init__(self, batch):
        self._batch, self._patches = batch, vlm.patchify(batch, patch=4, merge=2)

    def __getattr__(self, name):
        return getattr(self._batch, name)

    def pixels(self, b):
        start, end = self._patches.cu_seqlens[b : b + 2].tolist()
        return self._patches.pixel_values_videos[start:end].numpy().tobytes()


# What each feature asks of a loader. A source is made of the data set of twelve clips in six episodes.
FEATURES = {
    "mix": {"source": mixed},
    "sources with options of their own": {"source": mixed_own},
    "texts": {"source": with_texts},
    "remote data": {"is_remote": True},
    "cameras": {"cameras": vidrec.Cameras(["front", "wrist"])},
    "cameras with options of their own": {
        "cameras": vidrec.Cameras(["front", "wrist"], own={"wrist": vidrec.Camera(flip=0.0, color=vidrec.ColorJitter(contrast=0.4))})
    },
    "frames of each camera": {
        "frames": vidrec.Windows([-2, 0], pad="zero"), "cameras": vidrec.Cameras(["front", "wrist"], own={"wrist": vidrec.Camera(frames=[0])})
    },
    "buckets": {"frames": vidrec.AllFrames(), "batching": vidrec.Buckets([4, 8, 12])},
    "a budget": {"frames": vidrec.AllFrames(), "batching": vidrec.FrameBudget(48, buckets=[6, 12])},
    "several sizes": {"crop": vidrec.Cover(sizes=[(24, 32), (32, 24)])},
    "native sizes": {"crop": vidrec.SmartResize(8, min_pixels=64, max_pixels=1024)},
    "windows": {"frames": vidrec.Windows(2, stride=2, hop=3)},
    "padded windows": {"frames": vidrec.Windows([-3, -1, 0], pad="edge")},
    "views": {"frames": vidrec.Views(3, count=2)},
    "several runs": {"frames": vidrec.Run(2, runs=2)},
    "three crops": {"crop": vidrec.ThreeCrop(24)},
    "tracks": {"tracks": {"action": vidrec.track(missing="mask")}},
    "tracks in a fixed number of dimensions": {"tracks": {"action": vidrec.track(missing="mask", dims=5)}},
    "depth": {"tracks": {"depth": vidrec.track(missing="mask", geometry="mask")}},
    "boxes": {"tracks": {"boxes": vidrec.track(missing="mask", geometry="boxes", size="source")}},
    "lists": {"tracks": {"detections": vidrec.track((-0.2, 0.2), rate=10, missing="mask")}},
    "lists of boxes": {"tracks": {"detections": vidrec.track(missing="mask", geometry="boxes", size="source")}},
    "all values of a window": {"tracks": {"depth": vidrec.track((-0.2, 0.2), missing="mask", geometry="mask")}},
    "fields": {"fields": ("episode",)},
    "weights": {"order": "weights"},
    "homes": {"order": vidrec.Homes(block=2, window=2, homes=2)},
    "substitutes": {"on_bad_frame": "substitute"},
    "a device": {"device": "cpu", "device_cache": "30kB"},
    "decoded_cache": {"decoded_cache": "10MB"},
    "your memory": {"output": "memory"},
    "patches": {"is_packed": True},
    "a process of its own": {"process": True},
}


@pytest.fixture(scope="module")
def url(serve, rig_path):
    return serve(rig_path.parent).url + "/rig"


@pytest.fixture(scope="module")
def grown_path(rig_path):
    """The path of the data set after clips were appended."""
    more, grown = rig_path.with_name("more"), rig_path.with_name("grown")
    vidrec.subset(rig_path, more, clips=range(5))
    shutil.copytree(rig_path, grown)
    assert vidrec.merge([more], grown, append=True).clips == 5
    return grown


def loader_of(rig_path, url, features, **more):
    """A loader with these features."""
    options = {"frames": 4, "crop": vidrec.RandomResizedCrop(24), "seed": 3, "flip": 0.5}
    for name in features:
        options.update(FEATURES[name])
    ds = vidrec.open(url if options.pop("is_remote", False) else rig_path, clips=12)
    source = options.pop("source", lambda ds: ds)(ds)
    is_packed = options.pop("is_packed", False)
    options.update(more)
    if options.get("order") == "weights":
        count = vidrec.Loader(source, **{**options, "order": None, "output": None}).state_dict()["samples"]
        options["order"] = vidrec.Weighted([1.0 + i % 12 for i in range(count)])
    if options.get("output") == "memory":
        without = vidrec.Loader(source, **{**options, "output": "torch"})
        options["output"] = [torch.zeros(without.shape, dtype=torch.uint8) for _ in range(2)]
    loader = vidrec.Loader(source, **options)
    return loader.map(Packed) if is_packed else loader


def samples(batches):
    """What the training loop gets of each sample, without padding."""
    found = []
    for batch in batches:
        for b, params in enumerate(batch.params):
            shown = repr((params, int(batch.labels[b]), int(batch.clips[b])))
            shown += repr([(name, values[b]) for name, values in batch.fields.items()])
            shown += repr([(name, t[b][batch.track_masks[name][b]].tolist()) for name, t in batch.tracks.items()])
            shown += repr([counts[b].tolist() for counts in batch.track_counts.values()])
            shown += repr([times[b] for times in batch.track_times.values()])
            shown += f"|{batch.source_names[b]}" if batch.source_names else ""
            found.append((shown, pixels(batch, b)))
    return sorted(found)


def pixels(batch, b):
    if isinstance(batch, Packed):
        return batch.pixels(b)
    real = batch.frame_mask[b]
    frames = batch.frames[b]
    return frames[real].contiguous().numpy().tobytes()


def run(make, epoch=0):
    loader = make()
    loader.set_epoch(epoch)
    return samples(loader)


def check(make):
    """Two ranks have what one has that takes one sample at a time, and any ranks go on where two of them stop."""
    one = [run(lambda: make(batch_size=1), epoch) for epoch in range(2)]
    assert len(one[0]) >= 6
    for epoch in range(2):
        ranks = [run(lambda rank=rank: make(batch_size=2, rank=(rank, 2)), epoch) for rank in range(2)]
        assert sorted(ranks[0] + ranks[1]) == one[epoch]
    begun, states = [], []
    for rank in range(2):
        loader = make(batch_size=2, rank=(rank, 2))
        begun += samples(itertools.islice(loader, 1))
        states.append(loader.state_dict())
        sources = loader.stats().sources
    for name, use in (sources or {}).items():
        assert use.samples == sum(sample.endswith(f"|{name}") for sample, _ in begun)
    resumed = make(batch_size=3)
    resumed.load_state_dict(states[0])
    assert states[0] == states[1] and sorted(begun + samples(resumed)) == one[0]


def check_same(make):
    """A rank has the same batches from a process of its own, and goes on there where threads of this process stop."""
    of_rank = {"batch_size": 2, "rank": (1, 2)}
    apart, here = make(**of_rank), make(process=False, **of_rank)
    assert samples(apart) == samples(here) != []
    begun = make(process=False, **of_rank)
    before = samples(itertools.islice(begun, 1))
    resumed = make(batch_size=3)
    resumed.load_state_dict(begun.state_dict())
    other = make(process=False, batch_size=2, rank=(0, 2))
    assert sorted(before + samples(itertools.islice(other, 1)) + samples(resumed)) == run(lambda: make(process=False, batch_size=1))


# What is about batches and their order.
OF_BATCHES = {"buckets", "a budget", "several sizes", "weights", "homes", "your memory", "patches", "a process of its own"}


def check_single(rig_path, url, features):
    """Samples that are asked for together are those that are asked for alone, as a loader of one sample at a time has them."""
    alone = loader_of(rig_path, url, features, batch_size=1)
    samples = MapDataset.__new__(MapDataset)
    samples._loader, samples._epoch = loader_of(rig_path, url, features, batch_size=1), 1
    places = [3, 0, len(samples) - 1, 3]
    for sample, place in zip(samples.__getitems__(places), places):
        batch = alone.batch(1, place)
        assert torch.equal(sample["frames"], batch.frames[0]) and sample["label"] == int(batch.labels[0])
        assert torch.equal(sample["frame_mask"], batch.frame_mask[0])
        assert all(torch.equal(sample["tracks"][name], values[0]) for name, values in batch.tracks.items())


# What does not go together, what the error says, and why.
REFUSED = {
    ("mix", "weights"): ("a mix has an order of its own", "The weights of a mix are those of its sources."),
    ("mix", "homes"): ("a mix has an order of its own", "Each source has its own blocks."),
    ("sources with options of their own", "weights"): ("a mix has an order of its own", "They are a mix."),
    ("sources with options of their own", "homes"): ("a mix has an order of its own", "They are a mix."),
    ("texts", "weights"): ("a mix has an order of its own", "They are in a mix."),
    ("texts", "homes"): ("a mix has an order of its own", "They are in a mix."),
    ("a device", "decoded_cache"): ("choose one of decoded_cache and device", "The device decodes; it has `device_cache`."),
    ("a device", "your memory"): ("leave out output", "Frames are in memory of torch."),
    ("cameras", "patches"): ("expected frames of shape (B, T, C, H, W)", "A sample is one video."),
    ("cameras with options of their own", "patches"): ("expected frames of shape (B, T, C, H, W)", "A sample is one video."),
    ("frames of each camera", "patches"): ("expected frames of shape (B, T, C, H, W)", "A sample is one video."),
}
# What both say by the same option.
ALIKE = [
    ("weights", "homes"),
    ("tracks", "tracks in a fixed number of dimensions", "depth", "boxes", "lists", "lists of boxes", "all values of a window"),
    ("mix", "sources with options of their own", "texts"),
    ("cameras", "cameras with options of their own", "frames of each camera"),
    ("several sizes", "native sizes", "three crops"),
    ("frames of each camera", "buckets", "a budget", "windows", "padded windows", "views", "several runs"),
]
SAME = {pair for alike in ALIKE for pair in itertools.combinations(alike, 2)}
# With the kernels of a device, which are another package.
DEVICE = "a device"
ORDER = list(FEATURES)
# In larger groups hardly a sample is left of twelve clips.
MOST = 6


def goes(a, b):
    pair = tuple(sorted((a, b), key=ORDER.index))
    return pair not in SAME and pair not in REFUSED


def groups(left):
    """Groups of features that go together, until each of the pairs is in one: to a pair that is left comes, again and again, the
    feature that brings most of the others."""
    left = [set(pair) for pair in left]
    while left:
        group = sorted(left[0], key=ORDER.index)
        while len(group) < MOST:
            fitting = [name for name in ORDER if name not in (*group, DEVICE) and all(goes(name, other) for other in group)]
            brings = {name: sum({name, other} in left for other in group) for name in fitting}
            best = max(brings, key=brings.get, default=None)
            if not brings.get(best):
                break
            group.append(best)
        left = [pair for pair in left if not pair <= set(group)]
        yield sorted(group, key=ORDER.index)


PAIRS = [pair for pair in itertools.combinations(FEATURES, 2) if goes(*pair)]
GROUPS = list(groups(pair for pair in PAIRS if DEVICE not in pair))
OF_DEVICE = [pytest.param(group, marks=pytest.mark.full) for group in groups(pair for pair in PAIRS if DEVICE in pair)]


@pytest.mark.filterwarnings("ignore::vidrec.LoaderWarning")
@pytest.mark.parametrize("features", [*GROUPS, *OF_DEVICE], ids=", ".join)
def test_features_give_every_rank_its_part_of_the_same_samples(rig_path, url, features):
    if DEVICE in features:
        pytest.importorskip("warp")
    of_group = check_same if "a process of its own" in features else check
    of_group(lambda **more: loader_of(rig_path, url, features, **more))
    check_single(rig_path, url, [name for name in features if name not in OF_BATCHES])


@pytest.mark.filterwarnings("ignore::vidrec.LoaderWarning")
@pytest.mark.parametrize("features", GROUPS, ids=", ".join)
def test_a_state_from_before_an_append_goes_on_with_the_same_samples(rig_path, grown_path, url, features):
    batches = iter(old := loader_of(rig_path, url, features, batch_size=2))
    next(batches)
    state = old.state_dict()
    resumed = loader_of(grown_path, url.replace("/rig", "/grown"), features, batch_size=2)
    resumed.load_state_dict(state)
    assert samples(resumed) == samples(batches) != []


@pytest.mark.filterwarnings("ignore::vidrec.LoaderWarning")
@pytest.mark.parametrize("pair", [pytest.param(pair, marks=pytest.mark.full) if DEVICE in pair else pair for pair in REFUSED], ids=" with ".join)
def test_what_does_not_go_together_is_refused(rig_path, url, pair):
    with pytest.raises((vidrec.UsageError, vidrec.MapError), match=re.escape(REFUSED[pair][0])):
        next(iter(loader_of(rig_path, url, pair)))


def test_the_page_says_what_does_not_go_together():
    page = PAGE.read_text()
    rows = [f"| {a} | {b} | {why} |" for (a, b), (_, why) in REFUSED.items()]
    assert page.split("why |\n| --- | --- | --- |\n")[1].split("\n\n")[0].splitlines() == rows
    assert all(f"**{name}**" in page for name in FEATURES)
