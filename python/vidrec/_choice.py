"""Selections, splits and changes of clips, as the compiled module takes them."""

from __future__ import annotations

import json
import operator
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

Clips = Iterable[Union[int, str]]


def listed(clips: Clips) -> Tuple[List[int], List[str]]:
    """Clips by number and by source."""
    numbers: List[int] = []
    sources: List[str] = []
    for clip in clips:
        if isinstance(clip, str):
            sources.append(clip)
        else:
            numbers.append(operator.index(clip))
    return numbers, sources


def chosen(
    classes: Sequence[Union[str, int]],
    clips: Optional[Clips],
    exclude: Clips,
    where: Optional[Mapping[str, Any]],
    sample: Optional[int],
    seed: int,
) -> Dict[str, Any]:
    """The selection of the arguments of a subset."""
    if isinstance(classes, (str, int)):
        classes = [classes]
    text = {name: value if isinstance(value, str) else json.dumps(value) for name, value in (where or {}).items()}
    return {
        "classes": [str(each) for each in classes],
        "list": None if clips is None else listed(clips),
        "exclude": listed(exclude),
        "attributes": [*text.items()],
        "sample": sample,
        "seed": seed,
    }


def by_ratio(
    ratio: Sequence[Tuple[str, float]],
    seed: int = 0,
    stratify: bool = True,
    keep_sources: bool = True,
    groups: Optional[Sequence[int]] = None,
) -> Dict[str, Any]:
    """The rule of a random split."""
    return {
        "ratio": [(name, float(share)) for name, share in ratio],
        "seed": seed,
        "stratify": stratify,
        "keep_sources": keep_sources,
        "groups": groups,
    }


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
