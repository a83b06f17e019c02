"""What a loader does, in the text format of Prometheus."""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Mapping, Tuple

# What only grows while a loader lives.
COUNTERS = frozenset(
    {
        "batches",
        "frames",
        "bytes",
        "tiles_decoded",
        "tiles_skipped",
        "device_declined",
        "substituted_clips",
        "consumer_wait_seconds",
        "producer_wait_seconds",
        "remote_requests",
        "remote_fetched_bytes",
        "remote_cached_bytes",
        "remote_retries",
        "remote_cache_failures",
        "remote_network_wait_seconds",
        "source_samples",
    }
)
# What Prometheus knows itself, or computes from counters.
_LEFT_OUT = frozenset({"time", "rank", "ended", "frames_per_second", "waiting", "loader_waiting", "fetched_per_second"})


def text(told: Mapping[str, Any], **labels: str) -> str:
    """What a line of a monitor says, as metrics with these labels."""
    samples: Dict[str, List[Tuple[Mapping[str, str], float]]] = {"running": [(labels, 0 if told.get("ended") else 1)]}
    for name, more, value in _numbers(told):
        samples.setdefault(name, []).append(({**labels, **more}, value))
    lines = []
    for name, values in samples.items():
        kind, ending = ("counter", "_total") if name in COUNTERS else ("gauge", "")
        metric = f"vidrec_loader_{name}{ending}"
        lines.append(f"# TYPE {metric} {kind}")
        lines += [f"{metric}{{{_written(pairs)}}} {value}" for pairs, value in values]
    return "\n".join(lines) + "\n"


def _numbers(told: Mapping[str, Any], prefix: str = "") -> Iterator[Tuple[str, Dict[str, str], float]]:
    for name, value in told.items():
        if name == "sources" and value:
            for source, use in value.items():
                yield from ((f"source_{key}", {"source": source}, number) for key, number in use.items())
        elif isinstance(value, dict):
            yield from _numbers(value, f"{name}_")
        elif name not in _LEFT_OUT and isinstance(value, (int, float)):
            yield prefix + name, {}, value


def _written(labels: Mapping[str, str]) -> str:
    def escaped(value: str) -> str:
        return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")

    return ",".join(f'{name}="{escaped(value)}"' for name, value in labels.items())
