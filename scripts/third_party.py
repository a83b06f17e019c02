#!/usr/bin/env python3
"""Collect the licences of everything that a release of vidrec contains.

    scripts/third_party.py FOLDER [--ffmpeg PREFIX] [--target TRIPLE]

FOLDER gets NOTICE.txt, which says what is inside and under which licences, sbom.cdx.json, which says it to programs (a bill
of materials, CycloneDX 1.5), crates.txt with the texts of the Rust crates'
licences, and those of libjpeg-turbo and, with PREFIX as scripts/build_ffmpeg.sh left it,
of FFmpeg, dav1d and zlib.
"""

import argparse
import json
import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

OPENING = """vidrec is under the MIT licence or the Apache License 2.0, as you choose. This build contains other people's work, too:

* libjpeg-turbo, under the IJG licence and the modified BSD licence (libjpeg-turbo-LICENSE.md).
  This software is based in part on the work of the Independent JPEG Group.
* {number} Rust crates, each with its licence in crates.txt.
"""

FFMPEG = """* FFmpeg's libraries, under the GNU Lesser General Public License, version 2.1 or later (FFmpeg-LGPL-2.1.txt).
  None of its parts under the GPL is inside.
* dav1d, the decoder for AV1, under the BSD 2-clause licence (dav1d-BSD-2-Clause.txt).
* zlib, under the zlib licence (zlib.txt).

The LGPL gives you the right to change FFmpeg's libraries and to use vidrec with what you made of them, and to look into
vidrec by debugging and reverse engineering for that. They are linked statically. These sources are given with the release:

{sources}
Together with vidrec's own sources they are all that this build was made of. To build it again with libraries that you
changed, put a changed FFmpeg in the place of ffmpeg-*.tar.xz in a folder with the others, and in vidrec's sources run

    scripts/release.sh --sources FOLDER

or build vidrec with feature pack, which takes any FFmpeg that pkg-config finds.
"""


def crates(target):
    """The packages that the Python module is built of, our own left out."""
    said = subprocess.check_output(
        ["cargo", "metadata", "--locked", "--format-version=1", "--features=vidrec-python/static-ffmpeg"]
        + (["--filter-platform", target] if target else []),
        cwd=ROOT,
    )
    metadata = json.loads(said)
    packages = {package["id"]: package for package in metadata["packages"]}
    needs = {node["id"]: node["deps"] for node in metadata["resolve"]["nodes"]}
    todo = [name for name in metadata["workspace_members"] if packages[name]["name"] == "vidrec-python"]
    found = set()
    while todo:
        name = todo.pop()
        if name in found:
            continue
        found.add(name)
        # A kind of None is what is linked; the others build or test.
        todo += [dep["pkg"] for dep in needs[name] if any(kind["kind"] is None for kind in dep["dep_kinds"])]
    foreign = [packages[name] for name in found if packages[name]["source"]]
    return sorted(foreign, key=lambda package: (package["name"], package["version"]))


def checksums():
    """The SHA-256 of each crate's archive, by name and version, as Cargo.lock has them."""
    field = r'name = "(.+)"\nversion = "(.+)"\nsource = ".+"\nchecksum = "(.+)"'
    found = re.findall(field, (ROOT / "Cargo.lock").read_text(encoding="utf-8"))
    return {(name, version): checksum for name, version, checksum in found}


def component(name, version, licence, purl=None, sha256=None):
    """A component of a bill of materials."""
    said = {"type": "library", "name": name, "version": version}
    if licence:
        # Crates used to separate licences by a slash.
        said["licenses"] = [{"expression": re.sub(r" ?/ ?", " OR ", licence)}]
    if purl:
        said["bom-ref"] = said["purl"] = purl
    if sha256:
        said["hashes"] = [{"alg": "SHA-256", "content": sha256}]
    return said


def bill(packages, jpeg, sources):
    """A bill of materials: what is inside, where it is from, and the digest of what it was built of."""
    known = checksums()
    components = []
    for package in packages:
        name, version = package["name"], package["version"]
        purl = f"pkg:cargo/{name}@{version}"
        components.append(component(name, version, package["license"], purl, known.get((name, version))))
    licences = {
        "ffmpeg": "LGPL-2.1-or-later",
        "dav1d": "BSD-2-Clause",
        "zlib": "Zlib",
        "libjpeg-turbo": "IJG AND BSD-3-Clause AND Zlib",
    }
    for digest, name, version in re.findall(rf"(\S+) +\*?({'|'.join(licences)})-(\S+)\.tar\.xz", sources):
        components.append(component(name, version, licences[name], sha256=digest))
    if not sources:
        # Then the crate turbojpeg-sys builds its own.
        version = re.search(r"set\(VERSION ([0-9.]+)\)", (jpeg / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
        components.append(component("libjpeg-turbo", version, licences["libjpeg-turbo"]))
    version = re.search(r'^version = "(.+)"', (ROOT / "Cargo.toml").read_text(encoding="utf-8"), re.MULTILINE)[1]
    vidrec = {**component("vidrec", version, "MIT OR Apache-2.0"), "type": "application", "bom-ref": "vidrec"}
    head = {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1}
    return {**head, "metadata": {"component": vidrec}, "components": components}


def is_licence(path):
    return path.is_file() and path.name.upper().startswith(("LICEN", "COPYING", "NOTICE", "UNLICENSE", "COPYRIGHT"))


def crates_text(packages):
    """All licences: which crate has which, then each text once."""
    texts, without, lines = {}, [], []
    for package in packages:
        name = f"{package['name']} {package['version']}"
        lines.append(f"{name}: {package['license'] or 'see its licence file'}")
        files = sorted(filter(is_licence, Path(package["manifest_path"]).parent.iterdir()))
        for file in files:
            texts.setdefault(file.read_text(encoding="utf-8", errors="replace").strip(), []).append(name)
        if not files:
            without.append(f"{name}, by {', '.join(package['authors']) or 'its authors'}")
    parts = ["\n".join(lines)]
    parts.append("These come without a text of their licence:\n\n" + "\n".join(without))
    parts += [f"{', '.join(dict.fromkeys(names))}:\n\n{text}" for text, names in texts.items()]
    return ("\n\n" + "-" * 100 + "\n\n").join(parts) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--ffmpeg", type=Path, metavar="PREFIX", help="what scripts/build_ffmpeg.sh made")
    parser.add_argument("--target", metavar="TRIPLE", help="what is built for; default: crates for any machine")
    args = parser.parse_args()

    packages = crates(args.target)
    if args.ffmpeg is None:
        packages = [package for package in packages if not package["name"].startswith("ffmpeg-")]
    args.folder.mkdir(parents=True, exist_ok=True)
    for old in args.folder.iterdir():
        old.unlink()
    (args.folder / "crates.txt").write_text(crates_text(packages), encoding="utf-8")
    notice = OPENING.format(number=len(packages))
    jpeg = next(Path(p["manifest_path"]).parent for p in packages if p["name"] == "turbojpeg-sys") / "libjpeg-turbo"
    shutil.copy(jpeg / "LICENSE.md", args.folder / "libjpeg-turbo-LICENSE.md")
    shutil.copy(jpeg / "README.ijg", args.folder / "libjpeg-turbo-README.ijg")
    sources = ""
    if args.ffmpeg is not None:
        licences = args.ffmpeg / "licences"
        for file in licences.iterdir():
            shutil.copy(file, args.folder)
        sources = (licences / "sources.sha256").read_text()
        notice += FFMPEG.format(sources="".join(f"    {line}\n" for line in sources.splitlines()))
    materials = json.dumps(bill(packages, jpeg, sources), indent=1) + "\n"
    (args.folder / "sbom.cdx.json").write_text(materials, encoding="utf-8")
    (args.folder / "NOTICE.txt").write_text(notice, encoding="utf-8")


if __name__ == "__main__":
    main()
