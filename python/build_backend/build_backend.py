"""Builds the package with maturin, and with packing where FFmpeg's development files are.

The hooks are maturin's. Features that the caller names, in MATURIN_PEP517_ARGS or build-args, are taken as they are.
"""

import glob
import os
import shlex
import shutil
import subprocess
import sys

import maturin
from maturin import (  # noqa: F401
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
)

LIBRARIES = ("libavcodec", "libavformat", "libavutil", "libswscale", "libswresample")
# What bindgen reads FFmpeg's headers with.
CLANG = ("/usr/lib/llvm-*/lib/libclang*.so*", "/usr/lib*/libclang*.so*", "/usr/lib/*/libclang*.so*", "/usr/local/lib/libclang*")
ADVICE = "apt-get install clang libclang-dev pkg-config " + " ".join(f"{name}-dev" for name in LIBRARIES)


def can_pack():
    """Whether FFmpeg's development files are here, and what reads them."""
    if shutil.which("pkg-config") is None:
        return False
    found = subprocess.run(["pkg-config", "--exists", *LIBRARIES], check=False).returncode == 0
    return found and ("LIBCLANG_PATH" in os.environ or sys.platform == "darwin" or any(map(glob.glob, CLANG)))


def settings(given):
    """The caller's settings, with the feature that packs where it can be built."""
    given = dict(given or {})
    args = given.get("maturin.build-args", given.get("build-args", os.environ.get("MATURIN_PEP517_ARGS", "")))
    args = shlex.split(args) if isinstance(args, str) else list(args)
    if not any(arg.startswith(("--features", "-F")) for arg in args):
        if can_pack():
            args += ["--features", "pack"]
        else:
            print(
                "vidrec: FFmpeg's development files are missing, so this build cannot pack videos. To change that, run\n"
                f"    {ADVICE}\nand build again.",
                file=sys.stderr,
            )
    given.pop("build-args", None)
    given["maturin.build-args"] = args
    return given


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return maturin.build_wheel(wheel_directory, settings(config_settings), metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return maturin.build_editable(wheel_directory, settings(config_settings), metadata_directory)


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    return maturin.prepare_metadata_for_build_wheel(metadata_directory, settings(config_settings))


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel
