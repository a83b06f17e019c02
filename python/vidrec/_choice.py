"""Selections, splits and changes of clips, as JSON that the compiled module takes."""

from __future__ import annotations

import json
import operator
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

Clips = Iterable[Union[int, str]]


def listed(clips: Clips) -> Dict[str, Any]:
    """Clips by number and by source."""
    found: Dict[str, Any] = {"clips": [], "sources": []}
    for clip in clips:
        found["sources" if isinstance(clip, str) else "clips"].append(clip if isinstance(clip, str) else operator.index(clip))
    return found


def chosen(
    classes: Sequence[Union[str, int]],
    clips: Optional[Clips],
    exclude: Clips,
    where: Optional[Mapping[str, Any]],
    sample: Optional[int],
    seed: int,
) -> str:
    """The selection of the arguments of a subset."""
    if isinstance(classes, (str, int)):
        classes = [classes]
    text = {name: value if isinstance(value, str) else json.dumps(value) for name, value in (where or {}).items()}
    selection = {
        "classes": [str(each) for each in classes],
        "list": None if clips is None else listed(clips),
        "exclude": listed(exclude),
        "attributes": [*text.items()],
        "sample": sample,
        "seed": seed,
    }
    return json.dumps(selection)


def by_ratio(
    ratio: Sequence[Tuple[str, float]],
    seed: int = 0,
    stratify: bool = True,
    keep_sources: bool = True,
    groups: Optional[Sequence[int]] = None,
) -> str:
    """The rule of a random split."""
    together = {"Groups": [int(group) for group in groups]} if groups is not None else "Sources" if keep_sources else "Draws"
    parts = [(name, float(share)) for name, share in ratio]
    return json.dumps({"parts": parts, "seed": seed, "stratify": stratify, "keep_together": together})


def changes(
    labels: Mapping[Union[int, str], Union[int, str]], attributes: Mapping[Union[int, str], Mapping[str, Any]]
) -> List[Tuple[Optional[int], str, Optional[str], str]]:
    """New labels and attributes of clips: for each number or source, the label, and the attributes as JSON."""
    found = []
    for key in dict.fromkeys([*labels, *attributes]):
        number, source = (None, key) if isinstance(key, str) else (int(key), "")
        label = str(labels[key]) if key in labels else None
        found.append((number, source, label, json.dumps(dict(attributes.get(key, {})))))
    return found
