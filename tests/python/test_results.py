"""Results have the fields that the library gives, of its types, and lose nothing."""
import ast
import dataclasses
import inspect
import pickle
import re
import shutil
import typing
from pathlib import Path

import pytest

import vidrec
from vidrec import results, words
from vidrec.results import Problem, Result, VerifyReport

ROOT = Path(__file__).parents[2]
@pytest.fixture(scope="module")
def rust():
    """The library's source."""
    files = sorted([*ROOT.glob("crates/*/src/**/*.rs"), *ROOT.glob("src/report/**/*.rs")])
    return "\n".join(path.read_text() for path in files)


def words_of_enums(rust):
    """The words of each enum that has its text by serde or strum: the names of its variants in another case, or what it says."""
    for case, kind, body in re.findall(
            r'^#\[(?:serde|strum)\((?:(?:rename|serialize)_all = "(\w+(?:-\w+)*)")?[^\n]*\n(?:#\[[^\n]*\n)*pub enum (\w+) \{\n(.*?)^\}', rust, re.M | re.S):
        joint = {"snake_case": "_", "kebab-case": "-"}.get(case, "")
        change = str.upper if case == "UPPERCASE" else str.lower
        variants = re.findall(r'((?:    #\[.*\]\n)*)    (\w+),\n', body)
        yield kind, [said[1] if (said := re.search(r'(?:serde\(rename|strum\(serialize) = "([^"]+)"', attributes))
                     else change(re.sub(r"(?<!^)(?=[A-Z])", joint, name)) for attributes, name in variants]


def test_words_are_those_of_the_library(rust):
    lists = dict(words_of_enums(rust))
    lists.update((kind, re.findall(r'"([^"]+)"', body)) for kind, body in re.findall(
        r"^impl (\w+) \{\n(?:(?!^\}).*\n)*?    pub const WORDS: &'static \[&'static str\] =\s+&\[(.*?)\];", rust, re.M))
    ours = {name: typing.get_args(value) for name, value in vars(words).items() if typing.get_origin(value) is typing.Literal}
    # What only the Python package knows.
    del ours["Output"]
    # For the library, this is a layout of memory.
    lists["Layout"].append("channels_last_3d")
    lists["Last"] = lists["LastBatch"]
    assert len(ours) > 15
    for name, known in ours.items():
        assert sorted(known) == sorted(lists[name]), name


def test_every_field_is_described():
    modules = sorted((ROOT / "python/vidrec/results").glob("*.py"))
    classes = [node for module in modules for node in ast.parse(module.read_text()).body if isinstance(node, ast.ClassDef)]
    assert {cls.name for cls in classes} == set(results.__all__)
    for cls in classes:
        for field, text in zip(cls.body, [*cls.body[1:], None]):
            if isinstance(field, ast.AnnAssign):
                assert isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant), f"{cls.name}.{field.target.id}"


def whole(told):
    """Whether a result and all its parts have fields for everything that the program said."""
    if isinstance(told, Result):
        return not told.extra and all(whole(getattr(told, field.name)) for field in dataclasses.fields(told))
    inside = told.values() if isinstance(told, dict) else told if isinstance(told, (tuple, list)) else ()
    return all(map(whole, inside))


def test_nothing_that_is_told_is_without_a_field(train, damaged, videos, tmp_path):
    (tmp_path / "videos").mkdir()
    shutil.copy(videos / "left/0.mp4", tmp_path / "videos/good.mp4")
    (tmp_path / "videos/bad.mp4").write_bytes(b"no video")
    (tmp_path / "videos/notes.xyz").write_text("")
    (tmp_path / "list.csv").write_text(f"path,label\n{videos / 'left/0.mp4'},1\n")
    options = {"frames": 2, "size": 32}
    packed = vidrec.pack(tmp_path / "videos", tmp_path / "set", **options)
    assert packed.failures and packed.passed_over and packed.failures_file
    listed = vidrec.pack(tmp_path / "list.csv", tmp_path / "listed", **options)
    assert listed.manifests
    plan = vidrec.plan(videos, tmp_path / "plan", shards=2, **options)
    part = vidrec.pack_part(tmp_path / "plan", 1)
    status = vidrec.plan_status(tmp_path / "plan")
    mix = vidrec.Loader(vidrec.mix({"a": (train, 1)}), 4, crop=32)
    batch = next(iter(mix))
    found = [
        *(packed, listed, plan, part, status, batch.params, mix.stats()),
        vidrec.pack(tmp_path / "list.csv", tmp_path / "none", dry_run=True, **options),
        vidrec.publish(tmp_path / "plan", allow_missing=True),
        vidrec.inspect(tmp_path / "set"),
        vidrec.verify(damaged),
        vidrec.check([train, damaged, tmp_path / "set"]),
        vidrec.report([train, damaged], tmp_path / "page.html", check=True),
        vidrec.subset(train, tmp_path / "subset", clips=range(3)),
        vidrec.merge([train], tmp_path / "subset", append=True),
        vidrec.split(train, tmp_path / "parts", ratios=[0.5, 0.5]),
        vidrec.add_tracks(tmp_path / "parts/train", fields=[{"n": 1}] * len(vidrec.open(tmp_path / "parts/train"))),
        vidrec.inspect(tmp_path / "parts/train"),
        vidrec.open(ROOT / "format-spec/vectors/good/tracks.vidx").tracks,
        vidrec.open(ROOT / "format-spec/vectors/good/tracks.vidx").track_stats(),
    ]
    for each in found:
        assert whole(each), each
    kinds = {type(part) for each in found for part in parts_of(each)}
    # Those of remote data sets, and of conversions.
    rest = {results.FetchReport, results.PushReport, results.RemoteStats}
    rest |= {results.ExportReport, results.SkippedSample, results.WriteReport}
    assert kinds | rest >= {getattr(results, name) for name in results.__all__} - {Result} - RARE


# Parts that the data sets above do not have.
RARE = {results.TrackFile, results.VideoWarning, results.DecodedStats}


def parts_of(told):
    """A result and all its parts."""
    if isinstance(told, Result):
        yield told
        told = [getattr(told, field.name) for field in dataclasses.fields(told)]
    for each in told.values() if isinstance(told, dict) else told if isinstance(told, (tuple, list)) else ():
        yield from parts_of(each)


def test_what_is_not_known_is_kept():
    told = {"ok": False, "clips": 1, "frames": 2, "problems": [{"kind": "io", "file": "f", "clip": 0, "frame": None,
            "offset": 7, "message": "m", "color": "red"}], "notes": ["n"], "more": {"a": [1]}}
    report = VerifyReport.from_dict(told)
    assert report.problems == (Problem("io", "f", 0, None, 7, "m"),) and report.notes == ("n",)
    assert report.extra == {"more": {"a": [1]}} and report.problems[0].extra == {"color": "red"}
    assert report.to_dict() == told
    again = pickle.loads(pickle.dumps(report))
    assert again == report and again.to_dict() == told
    with pytest.raises(dataclasses.FrozenInstanceError):
        report.ok = True


def test_arguments_have_the_same_names_and_types_everywhere():
    """What type checkers see of `pack`, whose overloads take its arguments as a dict with types."""
    tree = ast.parse((ROOT / "python/vidrec/tools.py").read_text())
    (typed,) = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == "PackArguments"]
    ours = {field.target.id: ast.unparse(field.annotation) for field in typed.body}
    signature = inspect.signature(vidrec.pack).parameters
    signature = {name: it.annotation for name, it in signature.items() if it.kind is it.KEYWORD_ONLY}
    assert ours == {name: kind for name, kind in signature.items() if name != "dry_run"}
