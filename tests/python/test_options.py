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
from vidrec import (
    IMAGENET,
    KINETICS,
    AllFrames,
    Blocks,
    Buckets,
    Cameras,
    CenterCrop,
    ColorJitter,
    Cover,
    DecodedCache,
    FrameBudget,
    Homes,
    MultiScaleCrop,
    Normalize,
    Prefetch,
    Random,
    RandomCrop,
    RandomResizedCrop,
    Run,
    Shuffled,
    SmartResize,
    ThreeCrop,
    TokenBudget,
    Uniform,
    Views,
    Weighted,
    Windows,
    _options,
    _vidrec,
    track,
)

# Each as it is written, with what differs from the defaults, and as it prints.
WRITTEN = [
    (Uniform(8), "Uniform(count=8)"),
    (Uniform(np.int64(8), short="pad", draws="all"), "Uniform(count=8, short='pad', draws='all')"),
    (Random(count=8), "Random(count=8)"),
    (Run(16, fps=12.5, stride=2, at="center"), "Run(count=16, fps=12.5, stride=2, at='center')"),
    (Run(16, fps="30000/1001"), "Run(count=16, fps='30000/1001')"),
    (Windows(16, hop=8), "Windows(count=16, hop=8)"),
    (Windows(2, stride=5, past=1, pad="edge"), "Windows(count=2, stride=5, past=1, pad='edge')"),
    (Views(10, count=16, stride=4), "Views(views=10, count=16, stride=4)"),
    (AllFrames(), "AllFrames()"),
    (AllFrames(max=64, fps=4), "AllFrames(max=64, fps=4)"),
    (CenterCrop(224), "CenterCrop(size=224)"),
    (CenterCrop([224, 320], resize=256), "CenterCrop(size=(224, 320), resize=256)"),
    (RandomCrop(224, resize=(256, 320)), "RandomCrop(size=224, resize=(256, 320))"),
    (RandomResizedCrop(224), "RandomResizedCrop(size=224)"),
    (RandomResizedCrop(224, scale=(0.5, 1)), "RandomResizedCrop(size=224, scale=(0.5, 1))"),
    (MultiScaleCrop(224, fixed=True), "MultiScaleCrop(size=224, fixed=True)"),
    (ThreeCrop(256, resize=256), "ThreeCrop(size=256, resize=256)"),
    (Cover(224, random=True), "Cover(size=224, random=True)"),
    (Cover(sizes=[(48, 64), [64, 48]]), "Cover(sizes=((48, 64), (64, 48)))"),
    (SmartResize(), "SmartResize()"),
    (SmartResize(32, total_pixels=9), "SmartResize(factor=32, total_pixels=9)"),
    (SmartResize.qwen3_vl(max_video_tokens=4), "SmartResize(factor=32, min_pixels=4096, max_pixels=4096, total_pixels=12582912, per_video=True)"),
    (CenterCrop(224, reducing_gap=2), "CenterCrop(size=224, reducing_gap=2)"),
    (ColorJitter(brightness=0.4, grayscale=0.2), "ColorJitter(brightness=0.4, grayscale=0.2)"),
    (Normalize(np.array([0.5, 0.25, 0.125]), 0.5), "Normalize(mean=(0.5, 0.25, 0.125), std=0.5)"),
    (IMAGENET, "Normalize(mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225))"),
    (KINETICS, "Normalize(mean=0.45, std=0.225)"),
    (Shuffled(), "Shuffled()"),
    (Blocks(64, window=32), "Blocks(block=64, window=32)"),
    (Homes(), "Homes()"),
    (Homes(block=2, window=3, homes=4, exchange=0.1), "Homes(block=2, window=3, homes=4, exchange=0.1)"),
    (Weighted(np.array([1, 0.5])), "Weighted(weights=(1.0, 0.5))"),
    (Buckets([8, 16]), "Buckets(lengths=(8, 16))"),
    (FrameBudget(256, buckets=[8, 16]), "FrameBudget(frames=256, buckets=(8, 16))"),
    (TokenBudget(8192, patch=[2, 16, 16]), "TokenBudget(tokens=8192, patch=(2, 16, 16))"),
    (Cameras(["front", "wrist"], missing="mask"), "Cameras(names=('front', 'wrist'), missing='mask')"),
    (Prefetch(8, bytes="4GiB"), "Prefetch(batches=8, bytes='4GiB')"),
    (DecodedCache("200GB", dir="/mnt/planes"), "DecodedCache(size='200GB', dir='/mnt/planes')"),
    (track(), "track()"),
    (track((-0.5, 0.5), 10, "linear", anchor="each"), "track(window=(-0.5, 0.5), rate=10, how='linear', anchor='each')"),
    (track(steps=range(-2, 48), rate=10), "track(rate=10, steps=range(-2, 48))"),
    (track(times=[-0.1, 0, 0.1], missing="mask"), "track(times=(-0.1, 0, 0.1), missing='mask')"),
]


def test_values_print_as_they_are_written():
    for value, written in WRITTEN:
        assert repr(value) == written
        again = eval(written, dict(vars(vidrec)))
        assert again == value and hash(again) == hash(value)
        assert pickle.loads(pickle.dumps(value)) == value
        with pytest.raises(FrozenInstanceError):
            value.other = 1
    assert Uniform(8) != Uniform(9) and Uniform(8) != Random(8) and Uniform(8) != 8
    assert len({Uniform(8), Uniform(8), Random(8)}) == 2


# A value that makes no sense, and the error about it. The tests of the library try all values of each option.
WRONG = [
    (lambda: Uniform(0), "loader option frames: expected 1 or more, found 0"),
    (lambda: Uniform(True), "loader option frames: invalid type: boolean `true`"),
    (lambda: Uniform(8, short="maybe"), "loader option frames: unknown variant `maybe`, expected one of `repeat`, `pad`, `skip`, `error`"),
    (lambda: Run(8, fps=0), "loader option frames: the frame rate is out of range"),
    (lambda: CenterCrop(0), "loader option crop: size: expected sides of 1 to 65500"),
    (lambda: Cover(), "loader option crop: Cover has either a size or sizes"),
    (lambda: ColorJitter(contrast=-1), "loader option color: expected strengths of 0 or more"),
    (lambda: Normalize([1, 2], 1), "loader option normalize: expected a number, or one for each of three channels"),
    (lambda: Homes(block=2), "Homes.window: expected both block and window, or neither, found None"),
    (lambda: Weighted([1, float("nan")]), "loader option order: Out of range float values"),
    (lambda: Buckets([20, 10]), "loader option batching: buckets: expected ascending lengths of 1 or more, found [20, 10]"),
    (lambda: Cameras("front"), "loader option cameras: invalid type: string"),
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
    assert told["frames"] == {"Uniform": {"count": 8, "short": "repeat", "draws": "rotate"}}
    assert told["crop"] == {"CenterCrop": {"size": 224, "reducing_gap": 1.125}}
    assert (told["batch_size"], told["last"], told["shuffle"]) == (16, "keep", False)
    assert told["prefetch"] == {"batches": 4, "bytes": "1GiB", "readahead": 4}
    assert not {"output", "pin_memory", "order", "normalize", "tracks"} & set(told), "what is not given is not told"
    assert told["rank"] == [0, 1]
    more = dict(
        frames=Run(8, fps=12.5),
        crop=Cover(sizes=[(48, 64), (64, 48)], reducing_gap=float("inf")),
        dtype="float32",
        normalize=KINETICS,
        layout="channels_last_3d",
        decoded_cache=DecodedCache(8_000_000),
        order=[3, 0],
        batching=TokenBudget(64, patch=(2, 16, 16)),
        tracks={"state": track(steps=5), "action": track(steps=range(-2, 3))},
    )
    told = json.loads(_options.to_json(_options.Options(**more), False, 1, 2))
    assert told["frames"]["Run"]["fps"] == "12.5" and told["order"] == [3, 0] and told["rank"] == [1, 2]
    assert told["layout"] == "BTHWC" and told["decoded_cache"] == {"size": 8_000_000}
    assert told["crop"]["Cover"]["sizes"] == [[48, 64], [64, 48]] and told["crop"]["Cover"]["reducing_gap"] > 1e300
    assert told["normalize"] == {"mean": 0.45, "std": 0.225}
    assert told["batching"] == {"TokenBudget": {"tokens": 64, "patch": [2, 16, 16], "buckets": []}}
    assert told["tracks"]["state"]["steps"] == 5 and told["tracks"]["action"]["steps"] == [-2, 3]
    assert json.loads(_options.to_json(_options.Options(order=Shuffled()), False))["order"] == "Shuffled"
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
    dict(frames=Uniform(8, short="pad", draws="all"), crop=CenterCrop([48, 64], resize=96), flip=0.5, seed=2**63, order=Blocks(3, window=2)),
    dict(frames=Random(3), crop=RandomCrop(32, resize=(40, 50)), dtype="float16", normalize=Normalize([0.5, 0.25, 0.125], 0.5), order=[3, 1, 2]),
    dict(frames=Run(3, fps=2.5, at="center"), crop=RandomResizedCrop(32, scale=(0.5, 1)), order=Weighted(np.arange(12)), on_bad_frame="substitute"),
    dict(frames=Windows(2, hop=3), crop=MultiScaleCrop(32, fixed=True), order=Homes(block=2, window=3, homes=4, exchange=0.1), rank=(0, 2)),
    dict(frames=Views(3, count=2, fps="5/2"), crop=ThreeCrop(32), fields=["video.codec"], layout="channels_last_3d", output="numpy"),
    dict(frames=AllFrames(max=8), crop=Cover(sizes=[(48, 64), (64, 48)]), batching=TokenBudget(8192, patch=[2, 16, 16], buckets=[8]), last="pad"),
    dict(frames=AllFrames(), crop=Cover(32, reducing_gap=float("inf")), batching=Buckets([8]), color=ColorJitter(grayscale=0.2), threads=1),
    dict(frames=AllFrames(), crop=SmartResize(14, min_pixels=196, max_pixels=9800), batching=FrameBudget(64, buckets=[8]), dtype="bfloat16"),
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


def test_a_loader_has_few_options():
    assert len(signature()) <= 28
    assert [*signature()] == ["dataset", *_options.DEFAULTS]


def given(told):
    """JSON without what is null or empty."""
    return {name: given(value) for name, value in told.items() if value not in (None, [], {})} if isinstance(told, dict) else told


def test_the_signature_has_the_librarys_defaults():
    told, library = (json.loads(text) for text in (_options.to_json(_options.Options(), False), _vidrec.loader_defaults()))
    # What none stands for, and a number of bytes in words.
    assert (library.pop("frames"), library.pop("order")) == ("Stored", "Sequential")
    assert not any(library.pop("color").values())
    told["prefetch"]["bytes"] = 1 << 30
    assert given(told) == given(library)
    assert signature() == {"dataset": inspect.Parameter.empty, **_options.DEFAULTS}


def test_the_docstring_has_the_signatures_defaults():
    found = dict(re.findall(r"^ {4}(\w+) : .*, default (.+)$", vidrec.Loader.__doc__, re.M))
    assert len(found) > 12
    for name, default in found.items():
        assert signature()[name] == ast.literal_eval(default), name
