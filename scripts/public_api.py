#!/usr/bin/env python3
"""Lists the public interface of the Rust crate and compares it with the committed listing, public-api.txt.

    scripts/public_api.py             fails, with the difference, where the interface is not the one listed
    scripts/public_api.py --update    writes the listing

rustdoc says what is public (its JSON, which stable toolchains write only when asked twice: RUSTC_BOOTSTRAP); the
signatures are the source's own text. A line that goes away or changes breaks programs that use it: say so in
CHANGELOG.md, and raise the version as semantic versioning wants it.
"""
import difflib
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LISTING = ROOT / "public-api.txt"
# Derived or automatic, of interest where they go away.
TRAITS = {"Clone", "Copy", "Debug", "Default", "Display", "Eq", "Hash", "PartialEq", "Ord", "PartialOrd", "Error", "FromStr",
          "Iterator", "Serialize", "Deserialize", "From", "TryFrom", "Drop", "Deref", "AsRef", "AsMut", "Index", "IntoIterator"}


def rustdoc():
    """rustdoc's JSON of the library with all features that users have."""
    with tempfile.TemporaryDirectory() as folder:
        wrapper = Path(folder) / "rustdoc"
        wrapper.write_text('#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec rustdoc "$@"\n')
        wrapper.chmod(0o755)
        # As flags, because Cargo runs rustdoc again where they differ from those of its last run.
        flags = {"RUSTDOC": str(wrapper), "RUSTDOCFLAGS": "-Z unstable-options --output-format json"}
        command = ["cargo", "rustdoc", "--quiet", "--locked", "--lib"]
        subprocess.run(command, cwd=ROOT, check=True, env={**os.environ, **flags})
    return json.loads((ROOT / "target/doc/vidrec.json").read_text())


class Interface:
    def __init__(self, doc):
        self.index = doc["index"]
        self.lines = set()
        self.traits = {}
        self.sources = {}
        self.done = set()

    def item(self, ident):
        return self.index.get(str(ident))

    def text(self, item, end):
        """The source of an item up to one of the characters in `end`, on one line."""
        span = item["span"]
        name = span["filename"]
        if name not in self.sources:
            self.sources[name] = (ROOT / name).read_text().splitlines()
        lines = self.sources[name]
        (row, column), (last, _) = span["begin"], span["end"]
        text = "\n".join([lines[row - 1][column - 1 :], *lines[row:last]])
        text = re.sub(r"^\s*(///|//|#\[).*$", "", text, flags=re.M)
        depth = 0
        for at, c in enumerate(text):
            depth += {"(": 1, "[": 1, "<": 1, ")": -1, "]": -1}.get(c, 0)
            depth -= c == ">" and text[at - 1] not in "-="
            if c in end and depth == 0:
                text = text[:at]
                break
        text = re.sub(r"\s+", " ", text).strip().rstrip(",")
        return re.sub(r"([(\[<]) | ([)\]>])|,( [)\]>])", lambda m: (m[1] or m[2] or m[3]).strip(), text)

    def add(self, path, item, end="{;"):
        self.lines.add(f"{path}: {self.text(item, end)}")

    def members(self, path, ids):
        for ident in ids:
            member = self.item(ident)
            if member and member["name"]:
                kind = next(iter(member["inner"]))
                end = {"struct_field": ",\n", "variant": ",{\n", "function": "{;"}.get(kind, ";=")
                if kind in ("struct_field", "variant", "function", "assoc_const", "assoc_type"):
                    self.add(f"{path}::{member['name']}", member, end)
                inner = member["inner"][kind]
                if kind == "variant" and isinstance(inner["kind"], dict):
                    fields = inner["kind"].get("struct", {}).get("fields", [])
                    self.members(f"{path}::{member['name']}", fields)

    def implementations(self, path, ids):
        for ident in ids:
            item = self.item(ident)
            inner = item["inner"]["impl"] if item else {}
            if not inner or inner.get("blanket_impl") or inner.get("is_synthetic"):
                continue
            if not inner["trait"]:
                public = [i for i in inner["items"] if (self.item(i) or {}).get("visibility") == "public"]
                self.members(path, public)
                continue
            name = (inner["trait"].get("path") or inner["trait"].get("name")).split("::")[-1]
            if name in TRAITS:
                self.traits.setdefault(path, set()).add(name)

    def walk(self, path, item):
        kind, inner = next(iter(item["inner"].items()))
        if kind == "use":
            target = self.item(inner.get("id"))
            if target is None or (path, inner["id"]) in self.done:
                return
            self.done.add((path, inner["id"]))
            if inner["is_glob"]:
                for child in next(iter(target["inner"].values()))["items"]:
                    self.child(path, child)
            else:
                self.walk(f"{path.rsplit('::', 1)[0]}::{inner['name']}" if item["name"] else f"{path}::{inner['name']}", target)
        elif kind == "module":
            self.lines.add(f"{path}: mod")
            for child in inner["items"]:
                self.child(path, child)
        elif kind in ("struct", "enum", "union", "trait"):
            marks = [m for m in ("non_exhaustive", "must_use") if any(m in str(a).lower().replace("mustuse", "must_use").replace("nonexhaustive", "non_exhaustive") for a in item["attrs"])]
            self.lines.add(f"{path}: {' '.join(f'#[{m}]' for m in marks)} {self.text(item, '{;(')}".replace(":  ", ": "))
            fields = inner.get("variants") or inner.get("items") or []
            if kind == "struct":
                shape = inner["kind"]
                fields = shape["plain"]["fields"] if isinstance(shape, dict) and "plain" in shape else []
            self.members(path, [f for f in fields if f])
            self.implementations(path, inner.get("impls") or [])
        else:
            self.add(path, item, "{;=" if kind == "constant" else "{;")

    def child(self, path, ident):
        item = self.item(ident)
        if item is None or item["visibility"] not in ("public", "default"):
            return
        self.walk(path if "use" in item["inner"] else f"{path}::{item['name']}", item)


def main():
    doc = rustdoc()
    interface = Interface(doc)
    root = interface.item(doc["root"])
    for child in root["inner"]["module"]["items"]:
        interface.child("vidrec", child)
    traits = {f"{path}: impl {', '.join(sorted(names))}" for path, names in interface.traits.items()}
    found = sorted(interface.lines | traits)
    if "--update" in sys.argv:
        LISTING.write_text("\n".join(found) + "\n")
        return 0
    listed = LISTING.read_text().splitlines()
    difference = list(difflib.unified_diff(listed, found, "public-api.txt", "the sources", lineterm="", n=0))
    if difference:
        print("\n".join(difference))
        print("the public interface changed; if that is meant, run scripts/public_api.py --update", file=sys.stderr)
        return 1
    print(f"{len(found)} lines of public interface, as listed")
    return 0


sys.exit(main())
