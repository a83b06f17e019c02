"""LeRobot's ``meta`` of a data set in object storage."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path as LocalPath
from typing import Any, Dict, Iterator, Optional, Tuple, Union

from lerobot.utils.constants import HF_LEROBOT_HOME  # type: ignore[import-not-found, unused-ignore]

from .. import _storage, _vidrec

# Files in a folder of episodes, by LeRobot's ``info.json`` if it says so.
_CHUNK = 1000


def storage_of(token: Union[str, bool, None]) -> Dict[str, str]:
    """The options of the storage for a token of the Hugging Face Hub."""
    return {"token": token} if isinstance(token, str) else {"token": ""} if token is False else {}


def localize_root(
    repo_id: Optional[str],
    root: _storage.Path,
    revision: Optional[str] = None,
    token: Union[str, bool, None] = None,
    force_cache_sync: bool = False,
) -> LocalPath:
    """Copy the ``meta`` of a data set in object storage to this machine, as LeRobot asks for it.

    Frames and values stay where they are.

    Parameters
    ----------
    root : str
        The location of the data set, such as ``"s3://bucket/robot"``.
    repo_id, revision, token, force_cache_sync
        As LeRobot gives them. The copy is a new one each time, and is kept by its contents.

    Returns
    -------
    pathlib.Path
        The folder with the copy, below LeRobot's cache.

    Raises
    ------
    FileNotFoundError
        There is no data set of vidrec with LeRobot's ``meta``.
    """
    files = dict(_files(location_of(root), storage_of(token)))
    digest = hashlib.sha256()
    for name, data in files.items():
        digest.update(f"{name}:{len(data)}:".encode())
        digest.update(data)
    folder = LocalPath(HF_LEROBOT_HOME) / "vidrec" / digest.hexdigest()[:32]
    for name, data in files.items():
        file = folder / name
        if file.is_file() and file.stat().st_size == len(data):
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        # Several processes may do this at once.
        with tempfile.NamedTemporaryFile(dir=file.parent, prefix=".", delete=False) as out:
            out.write(data)
        os.replace(out.name, file)
    return folder


def location_of(root: _storage.Path) -> str:
    """A location whose slashes a ``Path`` may have eaten, and a file's URL as a path."""
    text = os.fspath(root).rstrip("/")
    scheme, rest = (text.split(":/", 1) + [""])[:2]
    if not rest:
        return text
    return "/" + rest.strip("/") if scheme == "file" else f"{scheme}://{rest.lstrip('/')}"


def _files(root: str, options: Dict[str, str]) -> Iterator[Tuple[str, bytes]]:
    """The names and bytes of the files of a remote ``meta``."""
    storage = _storage.given(options)

    def read(name: str) -> Optional[bytes]:
        if _vidrec.is_remote(root):
            return _vidrec.read_object(f"{root}/{name}", storage)
        file = LocalPath(root) / name
        return file.read_bytes() if file.is_file() else None

    info = read("meta/info.json")
    known: Any = {}
    try:
        known = json.loads(info or b"{}")
    except ValueError:
        pass
    if info is None or not isinstance(known, dict) or known.get("storage_format") != "vidrec":
        raise FileNotFoundError(f"{root}: there is no data set of vidrec with LeRobot's meta/info.json")
    yield "meta/info.json", info
    for name in ("meta/stats.json", "meta/tasks.parquet"):
        data = read(name)
        if data is not None:
            yield name, data
    # LeRobot numbers its files without a gap.
    chunk, size = 0, int(known.get("chunks_size") or _CHUNK)
    while True:
        for file in range(size):
            name = f"meta/episodes/chunk-{chunk:03d}/file-{file:03d}.parquet"
            data = read(name)
            if data is None:
                return
            yield name, data
        chunk += 1
