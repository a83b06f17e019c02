"""The defaults of ``vidrec.Loader`` are those of the library, in the signature and in the docstring."""

import ast
import inspect
import re

import vidrec
from vidrec import _options, _vidrec

# What the library does not have, or has in another form.
OTHER = {
    "self", "dataset", "shuffle", "weights", "channels_last_3d", "pin_memory", "out", "output", "collate",
    # Parts of an option of the library.
    "max_frames", "batch_frames", "batch_tokens", "patch",
    # None stands for the library's default.
    "reducing_gap", "order",
    # None stands for those of torch.distributed, or else the library's.
    "rank", "world_size",
}  # fmt: skip
# How the arguments become what the library has.
FORMS = {
    "buckets": list,
    "sizes": list,
    "fields": list,
    "tracks": _options.tracks,
    "cameras": list,
    "size": lambda value: _options.pair("size", value)[::-1],
    "color": _options.color,
    "mean": lambda value: _options.channels("mean", value),
    "std": lambda value: _options.channels("std", value),
}


def signature():
    return {name: p.default for name, p in inspect.signature(vidrec.Loader.__init__).parameters.items()}


def test_the_signature_has_the_librarys_defaults():
    given, library = signature(), _vidrec.loader_defaults()
    assert set(given) == set(library) | OTHER
    for name in set(library) - OTHER:
        assert FORMS.get(name, lambda value: value)(given[name]) == library[name], name
    assert given["shuffle"] is False and library["order"] == "sequential"
    assert (library["rank"], library["world_size"]) == vidrec.loader.distributed()
    assert all(given[name] is None for name in ("reducing_gap", "order", "rank", "world_size"))


def test_the_docstring_has_the_signatures_defaults():
    found = dict(re.findall(r"^ {4}(\w+) : .*, default (.+)$", vidrec.Loader.__doc__, re.M))
    assert len(found) > 20
    for name, default in found.items():
        expected = 1 << 30 if default == "1 GiB" else ast.literal_eval(default)
        assert signature()[name] == expected, name
