#!/usr/bin/env python3
"""Lists the public interface of the Rust crate `vidrec` and compares it with the committed listing, public-api.txt.

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
    """rustdoc's JSON of the library and of the crates that have its code, by name, with all features that users have."""
    packages = ["vidrec", *sorted(path.name for path in (ROOT / "crates").glob("vidrec-*"))]
    with tempfile.TemporaryDirectory() as folder:
        wrapper = Path(folder) / "rustdoc"
        wrapper.write_text('#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec rustdoc "$@"\n')
        wrapper.chmod(0o755)
        # As flags, because Cargo runs rustdoc again where they differ from those of its last run. Names may lead through
        # hidden modules. Another check is there for what rustdoc has to say.
        flags = "-Z unstable-options --output-format json --document-hidden-items --cap-lints allow"
        # In one command: so the crates have the features that the library asks them for.
        command = ["cargo", "doc", "--quiet", "--locked", "--no-deps", "--lib"]
        command += [f"--package={package}" for package in packages]
        environment = {**os.environ, "RUSTDOC": str(wrapper), "RUSTDOCFLAGS": flags}
        subprocess.run(command, cwd=ROOT, check=True, env=environment)
    target = ROOT / os.environ.get("CARGO_TARGET_DIR", "target")
    names = [package.replace("-", "_") for package in packages]
    return {name: json.loads((target / f"doc/{name}.json").read_text()) for name in names}


def is_hidden(item):
    return any("doc(hidden)" in str(attribute) for attribute in item["attrs"])


def named_types(node):
    """Numbers of the types that a part of rustdoc's JSON names."""
    if isinstance(node, dict):
        if "resolved_path" in node:
            yield node["resolved_path"]["id"]
        node = list(node.values())
    if isinstance(node, list):
        for part in node:
            yield from named_types(part)


class Crate:
    """rustdoc's JSON of a crate: its items by number, and by where they are defined."""

    def __init__(self, doc):
        self.index = doc["index"]
        self.paths = doc["paths"]
        self.root = self.item(doc["root"])
        own = [number for number, known in self.paths.items() if known["crate_id"] == 0]
        self.defined = {self.place(number): self.item(number) for number in own}

    def item(self, ident):
        """None for what is elsewhere, or hidden."""
        item = self.index.get(str(ident))
        return None if item is None or is_hidden(item) else item

    def place(self, ident):
        """Where an item is defined, in this crate or another one; None for a part of an item."""
        known = self.paths.get(str(ident))
        return known and (*known["path"], known["kind"])

    def implementations(self):
        """Where a type is defined, and the number of an implementation of a trait that names it."""
        for item in self.index.values():
            inner = item["inner"].get("impl")
            if inner and inner["trait"]:
                for ident in {*named_types(inner["trait"]["args"]), *named_types(inner["for"])}:
                    yield self.place(ident), item["id"]


class Interface:
    def __init__(self, docs):
        self.crates = {name: Crate(doc) for name, doc in docs.items()}
        self.lines = set()
        self.traits = {}
        self.sources = {}
        self.done = set()
        # Implementations by where the types are defined that they name, if that is another crate.
        self.elsewhere = {}
        for crate in self.crates.values():
            for place, ident in crate.implementations():
                if place and place[0] in self.crates and self.crates[place[0]] is not crate:
                    self.elsewhere.setdefault(place, []).append((crate, ident))

    def target(self, crate, ident):
        """The item that a `use` names, and its crate; None for one of another project, or a hidden one."""
        place = crate.place(ident)
        if place is None or place[0] not in self.crates:
            return crate, crate.item(ident)
        crate = self.crates[place[0]]
        return crate, crate.defined[place]

    def text(self, item, end):
        """The source of an item up to one of the characters in `end`, on one line."""
        span = item["span"]
        name = span["filename"]
        if name not in self.sources:
            self.sources[name] = (ROOT / name).read_text().splitlines()
        lines = self.sources[name]
        (row, column), (last, _) = span["begin"], span["end"]
        text = "\n".join([lines[row - 1][column - 1 :], *lines[row:last]])
        # Fields that users cannot see.
        text = re.sub(r"(#\[doc\(hidden\)\]\s+pub|pub\(crate\)) ", "", text)
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

    def members(self, path, crate, ids):
        for ident in ids:
            member = crate.item(ident)
            if member and member["name"]:
                kind = next(iter(member["inner"]))
                end = {"struct_field": ",\n", "variant": ",{\n", "function": "{;"}.get(kind, ";=")
                if kind in ("struct_field", "variant", "function", "assoc_const", "assoc_type"):
                    self.add(f"{path}::{member['name']}", member, end)
                inner = member["inner"][kind]
                if kind == "variant" and isinstance(inner["kind"], dict):
                    fields = inner["kind"].get("struct", {}).get("fields", [])
                    self.members(f"{path}::{member['name']}", crate, fields)

    def implementations(self, path, crate, ids):
        for ident in ids:
            item = crate.item(ident)
            inner = item["inner"]["impl"] if item else {}
            if not inner or inner.get("blanket_impl") or inner.get("is_synthetic"):
                continue
            if not inner["trait"]:
                public = [i for i in inner["items"] if (crate.item(i) or {}).get("visibility") == "public"]
                self.members(path, crate, public)
                continue
            name = (inner["trait"].get("path") or inner["trait"].get("name")).split("::")[-1]
            if name in TRAITS:
                self.traits.setdefault(path, set()).add(name)

    def use(self, path, crate, use):
        crate, target = self.target(crate, use["id"])
        if target is None or (path, use["name"], id(target)) in self.done:
            return
        self.done.add((path, use["name"], id(target)))
        if use["is_glob"]:
            for child in next(iter(target["inner"].values()))["items"]:
                self.child(path, crate, child)
        else:
            self.walk(f"{path}::{use['name']}", crate, target)

    def walk(self, path, crate, item):
        kind, inner = next(iter(item["inner"].items()))
        if kind == "use":
            self.use(path, crate, inner)
        elif kind == "module":
            self.lines.add(f"{path}: mod")
            for child in inner["items"]:
                self.child(path, crate, child)
        elif kind in ("struct", "enum", "union", "trait"):
            marks = [m for m in ("non_exhaustive", "must_use") if any(m in str(a).lower().replace("mustuse", "must_use").replace("nonexhaustive", "non_exhaustive") for a in item["attrs"])]
            self.lines.add(f"{path}: {' '.join(f'#[{m}]' for m in marks)} {self.text(item, '{;(')}".replace(":  ", ": "))
            fields = inner.get("variants") or inner.get("items") or []
            if kind == "struct":
                shape = inner["kind"]
                fields = shape["plain"]["fields"] if isinstance(shape, dict) and "plain" in shape else []
            self.members(path, crate, fields)
            self.implementations(path, crate, inner.get("impls") or [])
            for other, ident in self.elsewhere.get(crate.place(item["id"]), []):
                self.implementations(path, other, [ident])
        else:
            self.add(path, item, "{;=" if kind == "constant" else "{;")

    def child(self, path, crate, ident):
        item = crate.item(ident)
        if item is None or item["visibility"] not in ("public", "default"):
            return
        self.walk(path if "use" in item["inner"] else f"{path}::{item['name']}", crate, item)


def main():
    interface = Interface(rustdoc())
    library = interface.crates["vidrec"]
    for child in library.root["inner"]["module"]["items"]:
        interface.child("vidrec", library, child)
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
