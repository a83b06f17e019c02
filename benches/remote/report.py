"""Tables out of runs: a row is the median of its rounds."""
from statistics import median

MODES = {"cold": "cold", "warm": "warm", "quarter": "cache of a quarter, second epoch"}


def text(results, contestants, links):
    m, runs = results["machine"], results["runs"]
    parts = [f"{m['cpu']}; contestants on CPU {m['cpus']}, server on CPU {m['server_cpus']}; {m['system']}; vidrec "
             f"{m['vidrec']}"]
    parts += [f"{name}: {job['clips']:,} clips, {job['frames']:,} frames, {job['bytes'] / 1e9:.2f} GB of JPEGs, "
              f"{job['bytes'] / job['frames']:.0f} bytes a frame; peers' shards of {job['shard_bytes'] / 1e6:.0f} MB"
              for name, job in results["jobs"].items()]
    for link, (title, _) in links.items():
        for mode, words in MODES.items():
            own = [r for r in runs if (r["job"], r["link"], r["mode"]) == ("videos", link, mode)]
            if own:
                parts.append(f"### {title}: {words}\n\n"
                             + table(own, contestants, local_speeds(runs, link)))
    first = [r for r in runs if r["job"] == "million"]
    if first:
        clips = results["jobs"]["million"]["clips"]
        parts.append(f"### The first batch of {clips:,} clips, 50 ms of latency\n\n" + first_table(first, contestants))
    return "\n\n".join([*parts, versions(runs)])


def local_speeds(runs, link):
    """Of those who read files on this machine, by key."""
    found = {}
    for r in runs:
        if r["contestant"].endswith("-local") and r["link"] == link:
            found.setdefault(r["contestant"], []).append(r["frames_per_second"])
    return {key: median(speeds) for key, speeds in found.items()}


def table(runs, contestants, local):
    lines = ["| | workers | frames/s (least–most) | of local | first batch, s | bytes a frame | requests per 1000 frames "
             "| memory, MB | of it no files, MB | disk, MB |", "|---|---|---|---|---|---|---|---|---|---|"]
    for c, own in rows(runs, contestants):
        speeds = sorted(r["frames_per_second"] for r in own)
        middle = lambda value: median(map(value, own))  # noqa: E731
        lines.append(row(
            c.name, own[0]["workers"], f"{median(speeds):.0f} ({speeds[0]:.0f}–{speeds[-1]:.0f})",
            f"{100 * median(speeds) / local[c.local]:.0f} %" if c.local in local else "",
            f"{middle(lambda r: r['first_batch_seconds']):.2f}", f"{middle(lambda r: r['bytes'] / r['frames']):.0f}",
            f"{middle(lambda r: 1000 * r['requests'] / r['frames']):.2f}", *used(own)))
    return "\n".join(lines)


def first_table(runs, contestants):
    lines = ["| | workers | first batch, s (least–most) | MB until then | requests | memory, MB | of it no files, MB "
             "| disk, MB |", "|---|---|---|---|---|---|---|---|"]
    for c, own in rows(runs, contestants):
        times = sorted(r["first_batch_seconds"] for r in own)
        lines.append(row(
            c.name, own[0]["workers"], f"{median(times):.2f} ({times[0]:.2f}–{times[-1]:.2f})",
            f"{median(r['bytes'] for r in own) / 1e6:.2f}", f"{median(r['requests'] for r in own):.0f}", *used(own)))
    return "\n".join(lines)


def rows(runs, contestants):
    found = [(c, [r for r in runs if r["contestant"] == c.key]) for c in contestants]
    return [(c, own) for c, own in found if own]


def used(own):
    return [f"{median(r[name] for r in own) / 1e6:.0f}" for name in ("memory", "own_memory", "disk")]


def row(*cells):
    return f"| {' | '.join(map(str, cells))} |"


def versions(runs):
    found = {}
    for r in runs:
        found |= r.get("versions", {})
    return ", ".join(f"{name} {version}" for name, version in sorted(found.items()))
