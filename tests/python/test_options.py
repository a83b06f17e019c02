"""The options of a loader: values that check, compare, print and are sent; and what the library gets of them."""
import ast
import inspect
import json
import pickle
import re
import subprocess
import sys
from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pytest

import vidrec
from vidrec import KINETICS, Blocks, Buckets, CenterCrop, ColorJitter, Cover, DecodedCache, Normalize, Prefetch, Run, Uniform
from vidrec import _options, _vidrec, track

# Each class, as it is written and as it prints.
WRITTEN = [
    "Uniform(count=8, ends=True, rounding='nearest', short='pad')",
    "Random(count=8)",
    "Run(count=16, fps=12.5, stride=2, at='center', runs=2)",
    "Windows(offsets=(-15, -5, 0), pad='edge')",
    "Views(views=10, count=16, stride=4)",
    "AllFrames()",
    "AllFrames(max=64, fps='30000/1001')",
    "CenterCrop(size=(224, 320), resize=256)",
    "RandomCrop(size=224, resize=(256, 320))",
    "RandomResizedCrop(size=224, scale=(0.5, 1))",
    "MultiScaleCrop(size=224, fixed=True)",
    "ThreeCrop(size=256, resize=256)",
    "Cover(sizes=((48, 64), (64, 48)))",
    "SmartResize(factor=32, total_pixels=9)",
    "ColorJitter(brightness=0.4, grayscale=0.2)",
    "Normalize(mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225))",
    "Shuffled()",
    "Blocks(block=64, window=32)",
    "Homes(block=2, window=3, homes=4, exchange=0.1)",
    "Weighted(weights=(1.0, 0.5))",
    "Buckets(lengths=(8, 16))",
    "FrameBudget(frames=256, buckets=(8, 16))",
    "TokenBudget(tokens=8192, patch=(2, 16, 16))",
    "Cameras(names=('front', 'wrist'), missing='mask')",
    "Camera(frames=Windows(offsets=(-5, 0)), flip=0.5)",
    "Prefetch(batches=8, bytes='4GiB')",
    "DecodedCache(size='200GB', dir='/mnt/planes')",
    "track(window=(-0.5, 0.5), rate=10, how='linear', anchor='each')",
    "track(rate=10, steps=range(-2, 48))",
]


def test_values_print_as_they_are_written():
    for written in WRITTEN:
        value, again = (eval(written, dict(vars(vidrec))) for _ in range(2))
        assert repr(value) == written and again == value and hash(again) == hash(value)
        assert pickle.loads(pickle.dumps(value)) == value
        with pytest.raises(FrozenInstanceError):
            value.other = 1
    assert vidrec.Windows(range(0, 6, 3)) == vidrec.Windows([0, 3]) and vidrec.Camera(frames=[0]).frames == vidrec.Windows([0])
    assert repr(Normalize(np.array([0.5, 0.25]).repeat(2)[1:], [1, 2, 4])) == "Normalize(mean=(0.5, 0.25, 0.25), std=(1, 2, 4))"
    assert Uniform(np.int64(8)) == Uniform(8) != Uniform(9) and len({Uniform(8), Uniform(8), vidrec.Random(8)}) == 2


# A value that makes no sense, and the error about it. The tests of the library try all values of each option.
WRONG = [
    (lambda: Uniform(0), "loader option frames: expected 1 or more, found 0"),
    (lambda: Uniform(True), "loader option frames: invalid type: boolean `true`"),
    (lambda: Uniform(8, short="maybe"), "loader option frames: unknown variant `maybe`, expected one of `repeat`, `pad`, `skip`"),
    (lambda: Run(8, fps=0), "loader option frames: the frame rate is out of range"),
    (lambda: CenterCrop(0), "loader option crop: size: expected sides of 1 to 65500"),
    (lambda: Cover(), "loader option crop: Cover has either a size or sizes"),
    (lambda: ColorJitter(contrast=-1), "loader option color: expected strengths of 0 or more"),
    (lambda: Normalize([1, 2], 1), "loader option normalize: expected a number, or one for each of three channels"),
    (lambda: vidrec.Homes(block=2), "Homes.window: expected both block and window, or neither, found None"),
    (lambda: vidrec.Weighted([1, float("nan")]), "loader option order: Out of range float values"),
    (lambda: Buckets([20, 10]), "loader option batching: buckets: expected ascending lengths of 1 or more, found [20, 10]"),
    (lambda: vidrec.Cameras("front"), "loader option cameras: invalid type: string"),
    (lambda: Prefetch(4, bytes="1.5GiB"), "loader option prefetch: expected a size such as 1GiB"),
    (lambda: track(rate=5), 'loader option tracks["track"]: a rate needs a window or steps'),
    (lambda: track(steps=range(0, 9, 2)), "loader option tracks: expected a number of steps"),
]


def test_a_wrong_value_is_refused_by_the_name_of_its_option():
    for make, told in WRONG:
        with pytest.raises(vidrec.UsageError) as e:
            make()
        assert str(e.value).startswith(told)


def test_only_the_first_value_comes_without_a_name():
    with pytest.raises(TypeError, match="Run: only the first value may come without a name; name the others: fps, stride"):
        Run(16, 4)
    with pytest.raises(TypeError, match="unexpected keyword"):
        Uniform(8, fps=4)


def test_options_are_json():
    told = json.loads(_options.to_json(_options.Options(frames=8), False))
    assert told["frames"] == {"Uniform": {"count": 8, "ends": False, "rounding": "down", "short": "repeat"}}
    assert told["prefetch"] == {"batches": 4, "bytes": "1GiB", "readahead": 4}
    assert not {"output", "pin_memory", "order", "normalize", "tracks"} & set(told), "what is not given is not told"
    more = dict(frames=Run(8, fps=12.5), crop=Cover(sizes=[(48, 64), (64, 48)]), reducing_gap=float("inf"), layout="channels_last_3d")
    more.update(order=[3, 0], tracks={"state": track(steps=5), "action": track(steps=range(-2, 3))})
    told = json.loads(_options.to_json(_options.Options(**more), False, 1, 2))
    assert told["frames"]["Run"]["fps"] == "12.5" and told["order"] == [3, 0] and told["rank"] == [1, 2]
    assert told["layout"] == "BTHWC" and told["reducing_gap"] > 1e300
    assert told["tracks"]["state"]["steps"] == 5 and told["tracks"]["action"]["steps"] == [-2, 3]
    assert json.loads(_options.to_json(_options.Options(shuffle=True), True))["shuffle"] is False


def test_a_loader_prints_how_it_was_made(train, monkeypatch):
    monkeypatch.chdir(train.parent)
    loader = vidrec.Loader("train", frames=4, crop=64, output="numpy")
    assert repr(loader) == "vidrec.Loader('train', batch_size=16, frames=Uniform(count=4), crop=CenterCrop(size=64), output='numpy')"
    again = eval(repr(loader), {**vars(vidrec), "vidrec": vidrec})
    assert repr(again) == repr(loader) and np.array_equal(again.batch(0, 0).frames, loader.batch(0, 0).frames)

    def pair(batch):
        return batch.frames, batch.labels

    long = vidrec.Loader(vidrec.open("train"), 4, crop=64, order=list(range(12)) * 100, output=np.empty((4, 8, 3, 64, 64), np.uint8))
    told = repr(long.map(pair))
    assert told.startswith(f"vidrec.Loader(<vidrec.Dataset {str(train)!r}: 12 clips>, batch_size=4, crop=CenterCrop(size=64), order=(0, 1,")
    assert told.endswith("..., output=[...]).map(test_a_loader_prints_how_it_was_made.<locals>.pair)") and len(told) < 500


# Each class is in one of these, and each form of a value.
ASKED = [
    dict(frames=Uniform(8, ends=True, short="pad"), crop=CenterCrop([48, 64], resize=96), flip=0.5, seed=2**63, order=Blocks(3, window=2)),
    dict(frames=vidrec.Random(3), crop=vidrec.RandomCrop(32, resize=(40, 50)), dtype="float16", normalize=Normalize([0.5, 0.25, 0.125], 0.5), order=[3, 1, 2]),
    dict(frames=Run(3, runs=2, fps=2.5, at="center"), crop=vidrec.RandomResizedCrop(32, scale=(0.5, 1)), order=vidrec.Weighted(np.arange(12)), on_bad_frame="substitute"),
    dict(frames=vidrec.Windows([-3, 0], hop=3), crop=vidrec.MultiScaleCrop(32, fixed=True), order=vidrec.Homes(block=2, window=3, homes=4, exchange=0.1), rank=(0, 2)),
    dict(frames=vidrec.Views(3, count=2, fps="5/2"), crop=vidrec.ThreeCrop(32), fields=["video.codec"], layout="channels_last_3d", output="numpy"),
    dict(frames=vidrec.AllFrames(max=8), crop=Cover(sizes=[(48, 64), (64, 48)]), batching=vidrec.TokenBudget(8192, patch=[2, 16, 16], buckets=[8]), last="pad"),
    dict(frames=vidrec.AllFrames(), crop=Cover(32), reducing_gap=float("inf"), batching=Buckets([8]), color=ColorJitter(grayscale=0.2), threads=1),
    dict(frames=vidrec.AllFrames(), crop=vidrec.SmartResize(14, min_pixels=196, max_pixels=9800), batching=vidrec.FrameBudget(64, buckets=[8]), dtype="bfloat16"),
]
ASKED[-1].update(normalize=KINETICS, channels="gray", prefetch=Prefetch(2, bytes="1GiB"))
if sys.platform.startswith("linux"):
    # Linux alone shares memory.
    ASKED[0]["decoded_cache"] = DecodedCache("50MB")


@pytest.mark.parametrize("options", ASKED, ids=[f"{i}" for i in range(len(ASKED))])
def test_the_program_takes_the_options_of_a_loader(train, options):
    loader = vidrec.Loader(train, 4, **options)
    ranks = options.get("rank", (0, 1))
    command = [Path(sys.executable).with_name("vidrec"), "bench", train, _options.to_json(loader._asked, False, *ranks)]
    command += ["--seconds", "0", "--json"]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert report["loader"] == loader.state_dict()["options"]


def signature():
    return {name: p.default for name, p in inspect.signature(vidrec.Loader.__init__).parameters.items() if name != "self"}


def given(told):
    """JSON without what is null or empty."""
    return {name: given(value) for name, value in told.items() if value not in (None, [], {})} if isinstance(told, dict) else told


def test_a_loader_has_few_options():
    assert len(signature()) <= 29
    assert signature() == {"dataset": inspect.Parameter.empty, **_options.DEFAULTS}
    asked, library = (json.loads(text) for text in (_options.to_json(_options.Options(), False), _vidrec.loader_defaults()))
    assert given(asked["crop"]) == given(library["crop"]) and asked["prefetch"]["batches"] == library["prefetch"]["batches"]


def test_the_docstring_has_the_signatures_defaults():
    found = dict(re.findall(r"^ {4}(\w+) : .*, default (.+)$", vidrec.Loader.__doc__, re.M))
    assert len(found) > 12
    for name, default in found.items():
        assert signature()[name] == ast.literal_eval(default), name
