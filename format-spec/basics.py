"""What the readers of indexes and of track files share: rules that must hold, JSON, files."""
import json
import mmap
from pathlib import Path

class FormatError(Exception):
    """A broken rule; `rule` is its identifier in the table of vidrec-v1.md."""
    def __init__(self, rule: str, message: str):
        super().__init__(f"{message} [{rule}]")
        self.rule = rule

def check(holds: bool, rule: str, message: str) -> None:
    if not holds:
        raise FormatError(rule, message)

def json_object(data: bytes, rule: str, types: dict, needed=()) -> dict:
    """Parses a JSON object and proves the types of the keys in `types`, which are optional unless `needed`."""
    try:
        value = json.loads(data.decode("utf-8"), parse_constant=int)  # so that NaN, which is not JSON, is refused
    except (ValueError, RecursionError) as e:
        raise FormatError(rule, f"not JSON: {e}") from e
    check(isinstance(value, dict), rule, "not a JSON object")
    for key in types:
        check(key in value or key not in needed, rule, f"{key} is missing")
        check(isinstance(value.setdefault(key, types[key]()), types[key]), rule, f"{key} is of the wrong type")
    check("classes" not in types or all(isinstance(s, str) for s in value["classes"]), rule, "classes are not strings")
    return value

def map_file(path: Path):
    with open(path, "rb") as f:
        return mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) if path.stat().st_size else b""

def align(n: int, to: int) -> int:
    return (n + to - 1) // to * to
